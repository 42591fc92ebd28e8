"""The campaign, complete and checked before anything runs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from vindeby.campaign.cells import cells_of
from vindeby.campaign.fields import ABOUT_WIND, MAX_TASKS, CampaignFields
from vindeby.campaign.reading import source
from vindeby.campaign.reading.farm_files import columns_of, layouts_by_farm
from vindeby.campaign.reading.places import set_whole
from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.stored_rows import stored_in, with_database
from vindeby.campaign.reading.yaml_text import Document, Origin, write
from vindeby.campaign.refusals import (
    refuse_bad_neighbours,
    refuse_bad_scenarios,
    refuse_costs,
    refuse_counts,
    refuse_misplaced,
    refuse_outside_local_wind,
    refuse_unknown_wind,
    refuse_unsuitable_wake_model,
)
from vindeby.campaign.sections.method import Step
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.sections.values import PACKED, require
from vindeby.campaign.sections.vary import axes_in_words
from vindeby.campaign.sections.wake_model import NamedCode, WakeSection
from vindeby.campaign.starts import has_starts, refuse_bad_starts, refuse_missing_starts
from vindeby.campaign.stored import refuse_unsuitable_stored
from vindeby.campaign.tasks import Cell, Place, Task, parse_key
from vindeby.campaign.variants import Combination, checked_axes, variants_of, worlds_of
from vindeby.text import plural


class Campaign(CampaignFields):
    """Every farm x every turbine type x every combination of axes x every seed, and how each is computed."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.vary is None:
            return self._checked_whole()
        seen = set[object]()
        vars(self)["_variants"] = variants_of(self, check=lambda one: one._checked_whole(seen))  # noqa: SLF001 - itself, varied
        same = len({variant.returned_arrays for variant in self.variants}) == 1
        wrong = "has functions that return different arrays"
        require(same, wrong, "let all of them return the same, or make a campaign of each", "vary")
        tasks = f"the campaign has {self.total_configs:,} tasks"
        require(self.total_configs <= MAX_TASKS, tasks, f"stay below {MAX_TASKS:,}", "vary")
        return self

    def _checked_whole(self, seen: set[object] | None = None) -> Self:
        """Check what only the whole campaign shows; ``seen`` holds the checks already done in other combinations."""
        seen = set() if seen is None else seen
        for check, fields in (CHECKS if self.is_about_wind else _WITHOUT_WIND).items():
            key = (check, *(id(getattr(self, name)) for name in fields))
            if key not in seen:
                check(self)
                seen.add(key)
        if self.scenarios:
            vars(self)["worlds"] = worlds_of(self, check=lambda one: one._checked_whole(seen))  # noqa: SLF001 - as above
        return self

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Self:
        """Read a campaign file, or a preset by its name; overrides are like ``"seeds=2"``.

        Raises CampaignError with everything that is wrong with it.
        """
        return cls.from_document(source.load(path), overrides)

    @classmethod
    def loads(cls, text: str, name: str = "campaign", overrides: Sequence[str] = ()) -> Self:
        """Read a campaign from YAML text; ``name`` is used in messages, overrides are like ``"seeds=2"``."""
        return cls._checked(source.from_text(text, name), overrides)

    @classmethod
    def from_document(cls, document: Document, overrides: Sequence[str] = ()) -> Self:
        """Check data that was read, with overrides put in, and make a campaign of it and of the code it names."""
        return cls._checked(document, overrides).with_code()

    @classmethod
    def _checked(cls, document: Document, overrides: Sequence[str]) -> Self:
        source.override(document, overrides)
        stored = stored_in(document.data)
        if stored is not None and "layouts" not in stored:
            document = readers().stored_campaign(document)
        return checked(cls, document)

    @classmethod
    def of_stored(
        cls,
        database: str | Path,
        campaign: str | Path | dict[str, Any],
        overrides: Sequence[str] = (),
    ) -> Self:
        """Read a campaign that evaluates the layouts of this database, which its file need not name.

        Raises CampaignError with everything that is wrong with it.
        """
        if isinstance(campaign, dict):
            document = Document(dict(campaign), {(): Origin("campaign")})
        else:
            document = source.load(campaign)
        with_database(document, str(database))
        return cls.from_document(document, overrides)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Make a campaign of plain data, as a campaign file has it."""
        return cls.from_document(Document(data, {(): Origin("campaign")}))

    def with_start(self, layout: Any, method: Any = None, *, repair: bool = False) -> Self:
        """Return the campaign with searches that start from a layout.

        Args:
            layout: Where turbines stand, in metres: a pair of x and y, an array of shape (2, n), a ``Layout``, or a
                ``DataFrame`` (or mapping) with the columns x and y. Of its columns, ``type`` names the type of each
                turbine, for farms that mix types, and ``farm`` the farm, where several have layouts.
            method: How it is improved, as in a campaign file, e.g. ``"auto"``; the campaign's method by default.
            repair: Move turbines that stand where they may not to the nearest places where they may.

        Raises:
            CampaignError: The layout has no finite x and y, or the method does not begin with a layout.
        """
        data = self.to_data()
        data["start"] = {"layouts": layouts_by_farm(columns_of(layout)), "repair": repair}
        data["farms"] = [
            {key: value for key, value in farm.items() if key != "start"} for farm in data["farms"]
        ]
        data |= {} if method is None else {"method": method}
        return self.from_data(data)

    def with_code(self) -> Self:
        """Return the campaign with digests of the code and files that it names, unless it has them.

        A campaign that is kept with results has that of the code which computed them, and ``loads`` leaves it.
        """
        if not self.named_code and not any(
            step.call for one in self.distinct("method") for step in one.method
        ):
            return self
        changed = {name: _with_code(name, getattr(self, name)) for name in ("wake", "method")}
        axes = self.vary and checked_axes(type(self), self.vary, _with_code)
        return self.model_copy(update={**changed, "vary": axes})

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values, which are not checked."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("_variants", "_cells", "_cells_by_place", "worlds"):  # they follow from the values
            vars(copied).pop(name, None)
        return copied

    @property
    def variants(self) -> tuple[Self, ...]:
        """The campaign in each combination of its axes, without axes; the campaign itself if it has none."""
        return (self,) if self.vary is None else self._variants

    @cached_property
    def _variants(self) -> tuple[Self, ...]:
        return variants_of(self)

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The combinations of the axes, in the order of ``variants``; one without values if there are no axes."""
        return tuple(variant.combination for variant in self.variants)

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """The names of the values of each axis, in the order of the file; empty without ``vary``."""
        return {axis: tuple(values) for axis, values in (self.vary or {}).items()}

    def distinct(self, *fields: str) -> tuple[Self, ...]:
        """Return one of the variants for each different set of these fields, in order."""
        found = {tuple(id(getattr(one, name)) for name in fields): one for one in reversed(self.variants)}
        return tuple(reversed(found.values()))

    def one_at_a_time(self) -> tuple[Self, ...]:
        """Return the first variant, and the variants that differ from it in one axis only."""
        first = self.variants[0].combination.values
        return tuple(
            one
            for one in self.variants
            if sum(name != first[axis] for axis, name in one.combination.values.items()) < 2
        )

    @property
    def named_code(self) -> list[NamedCode]:
        """The Python code that the campaign names for its wakes and its search steps, in any combination."""
        if self.vary is None:
            return super().named_code
        return [code for one in self.distinct("wake", "method") for code in one.named_code]

    def of(self, cell: Cell) -> Self:
        """Return the campaign that a cell is computed with."""
        return self if self.vary is None else self.variants[cell.combination]

    def to_data(self, *, packed: bool = False) -> dict[str, Any]:
        """Return the complete campaign as plain data, which refer to no other file; long lists may be packed."""
        left_out = None if self.is_about_wind else {*ABOUT_WIND}
        data = self.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude=left_out, context={PACKED: packed}
        )
        if self.seeds == tuple(range(len(self.seeds))):
            data["seeds"] = len(self.seeds)
        chosen = self.run.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        data.pop("run")  # an option that stands in no file binds no database to the version that has it
        data |= {"run": chosen} if chosen else {}
        for field in set_whole(data, type(self).model_fields):
            data.pop(field, None)
        return data

    def dumps(self) -> str:
        """Return the campaign as YAML text that ``loads`` turns into an equal campaign."""
        return write(self.to_data(packed=True))

    def root_attributes(self) -> dict[str, str | int | float | bool]:
        """Return the root attributes by which a database describes the campaign that it holds."""
        root: dict[str, str | int | float | bool] = {
            "total_configs": self.total_configs,
            "campaign": self.dumps(),
        }
        for step in self.method if len(self.distinct("method")) == 1 else ():
            if step.smart_start is not None:
                root["grid_size"] = step.smart_start.grid_size
                root["random_pct"] = float(step.smart_start.random_pct)
        if (stored := self.stored) is not None:
            said = {"database": stored.database, "digest": stored.digest, "campaign": stored.campaign}
            root |= {f"source_{name}": text for name, text in said.items() if text}
        return root

    def tasks(self) -> tuple[Task, ...]:
        """Return every task, in order of farm, turbine type and seed, whatever the order of keys in the file."""
        return tuple(task for cell in self.cells() for task in cell.tasks(self.seeds))

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprint of every task by its key, in the order of tasks; results are compared with these."""
        return {task.key: task.fingerprint for task in self.tasks()}

    def cells(self) -> tuple[Cell, ...]:
        """Return every farm with every type and combination, with the identity that the tasks of the cell share."""
        return self._cells

    @cached_property
    def _cells(self) -> tuple[Cell, ...]:
        if self.vary is None:
            return tuple(cells_of(self))
        memo: dict[object, Any] = {}
        every = (cell for variant in self.variants for cell in cells_of(variant, memo))
        return tuple(sorted(every, key=lambda cell: (cell.farm_idx, cell.type_idx, cell.combination)))

    def cell_of(self, key: str) -> Cell | None:
        """Return the cell of the task that a key names; None if the campaign has no such cell."""
        parts = parse_key(key)
        return None if parts is None else self._cells_by_place.get(parts.place)

    @cached_property
    def _cells_by_place(self) -> dict[Place, Cell]:
        return {cell.place: cell for cell in self._cells}

    @property
    def total_configs(self) -> int:
        """The number of tasks."""
        if self.vary is None:
            return super().total_configs
        kinds = Counter(tuple(id(getattr(one, name)) for name in _AMOUNT) for one in self.variants)
        each = self.distinct(*_AMOUNT)
        return sum(
            one.total_configs * kinds[tuple(id(getattr(one, name)) for name in _AMOUNT)] for one in each
        )

    def turbines_of(self, cell: Cell) -> list[TurbineSection]:
        """Return the turbine types of a cell."""
        return [self.turbines[index] for index in cell.type_indices]

    def rated_mw(self, cell: Cell) -> float:
        """Return the rated power (MW) of all turbines of a cell.

        If the search chooses how many or which mix, it is that of the most turbines or of one mix.
        """
        mix = cell.mix or ((cell.type_idx, cell.n_turbines),)
        return sum(count * self.turbines[kind].rated_power_mw for kind, count in mix)

    @property
    def farm_names(self) -> tuple[str, ...]:
        """The farms that results are counted by; one for a campaign of functions without wind."""
        return tuple(farm.name for farm in self.farms) or ("all",)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The turbine types that results are counted by; one for a campaign of functions without wind."""
        return tuple(turbine.name for turbine in self.turbines) or ("function",)

    @property
    def counts(self) -> str:
        """The tasks in words: ``6 tasks = 3 farms x 2 types x 1 seed``; mixed: ``4 tasks = 4 cells x 1 seed``."""
        axes = [plural(len(self.farms), "farm"), plural(len(self.turbines), "type")]
        if any(self.mix_of(farm) is not None for farm in self.farms):
            axes = [plural(self.total_configs // len(self.seeds) // len(self.variants), "cell")]
        if not self.is_about_wind:
            axes = []
        axes += [f"{len(values):,} {axis}" for axis, values in self.axes.items()]
        axes += [plural(len(self.seeds), "seed")]
        return f"{plural(self.total_configs, 'task')} = {' x '.join(axes)}"

    @property
    def search_in_words(self) -> str:
        """The wake model, where there is wind, and the search steps: ``wake jensen; search smart-start``."""
        search = "search " + " -> ".join(step.title for step in self.method)
        words = f"wake {self.wake.title}; {search}" if self.is_about_wind else search
        return f"varied: {axes_in_words(self.vary)}; otherwise {words}" if self.vary else words

    def wind_farm(self, farm: str | int = 0, turbine: str | int = 0) -> Any:
        """Return the ``vindeby.WindFarm`` of a farm, in the campaign's wind, with its wakes and neighbours.

        Farm and turbine type are named, or numbered from 0; a farm that mixes types has those of its mix.
        """
        return readers().wind_farm_of(self, farm, turbine)

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r}: {self.counts}; {self.search_in_words}>"


def _refuse_unsuitable_starts(campaign: CampaignFields) -> None:
    if has_starts(campaign):
        refuse_bad_starts(campaign, tuple(cells_of(campaign)))


_AMOUNT = ("n_turbines", "capacity_mw", "mix")
CHECKS: Mapping[Callable[[CampaignFields], None], tuple[str, ...]] = {
    CampaignFields.refuse_unlike_amounts: _AMOUNT,
    refuse_missing_starts: ("method", "start"),
    refuse_unsuitable_stored: ("method", "neighbours", "site"),
    refuse_bad_neighbours: ("neighbours",),
    refuse_misplaced: ("neighbours", "costs"),
    refuse_counts: (*_AMOUNT, "objective", "method"),
    refuse_costs: (*_AMOUNT, "costs", "objective", "site"),
    _refuse_unsuitable_starts: (*_AMOUNT, "start"),
    refuse_unknown_wind: ("site", "method"),
    refuse_outside_local_wind: ("site", "neighbours"),
    refuse_unsuitable_wake_model: ("site", "wake", "method"),
    refuse_bad_scenarios: ("scenarios", "wake", "objective", "method"),
}
"""The checks of a campaign about wind, in their order, each with the fields it reads that an axis may vary."""
_WITHOUT_WIND: Mapping[Callable[[CampaignFields], None], tuple[str, ...]] = {refuse_missing_starts: ()}


def _with_code(name: str, section: Any) -> Any:
    """Return the section of a field with digests of the code and files of others that it names."""
    if isinstance(section, WakeSection):
        given = section.named_code
        return section.model_copy(update={given.key: given.with_code()}) if given else section
    return tuple(map(_step_with_code, section)) if name == "method" else section


def _step_with_code(step: Step) -> Step:
    code, call = step.python and step.python.with_code(), step.call and step.call.with_files()
    return step.model_copy(update={"python": code, "call": call})
