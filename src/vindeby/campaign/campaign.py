"""The campaign: what is to be computed, complete and checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Strict,
    ValidationError,
    field_validator,
    model_validator,
)

from vindeby.campaign.cells import cells_of
from vindeby.campaign.checks.local_wind_cover import refuse_outside_local_wind
from vindeby.campaign.checks.mixes import refuse_empty_zones, refuse_mixes
from vindeby.campaign.checks.objectives import refuse_objective
from vindeby.campaign.checks.search_wind import refuse_unknown_wind
from vindeby.campaign.checks.wake_suits import refuse_unsuitable_wake_model
from vindeby.campaign.neighbours import refuse_bad_neighbours
from vindeby.campaign.no_wind import put_in_what_is_left_out
from vindeby.campaign.reading import source
from vindeby.campaign.reading.packed_lists import put_back, set_aside
from vindeby.campaign.reading.problems import explain
from vindeby.campaign.reading.yaml_text import Document, Origin, write
from vindeby.campaign.sections.amount import even_shares
from vindeby.campaign.sections.coordinate_system import CoordinateSystem
from vindeby.campaign.sections.farm import MAX_TURBINES, Amount, Farm
from vindeby.campaign.sections.long_lists import PACKED
from vindeby.campaign.sections.method import Step, begins_with_a_start, one_step_is_a_pipeline
from vindeby.campaign.sections.neighbours import Neighbours
from vindeby.campaign.sections.objective import Objective
from vindeby.campaign.sections.run_options import RunOptions
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.spacing import Spacing
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.sections.values import Count, Name, Text, computing, refusal
from vindeby.campaign.sections.wake_model import WakeModel
from vindeby.campaign.tasks import RESULT_REVISION, Cell, Task, digest
from vindeby.errors import ArgumentError, CampaignError
from vindeby.text import plural
from vindeby.units import LONG_SERIES

MAX_TASKS = 10_000_000

Seed = Annotated[int, Strict(), Field(ge=0, lt=2**32)]
_Seeds = Annotated[tuple[Seed, ...], Field(min_length=1)]
_Steps = Annotated[tuple[Step, ...], Field(min_length=1)]


def _count_is_a_range(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MAX_TASKS:
            raise refusal(
                "is no number of seeds", remedy=f"give 1 to {MAX_TASKS:,}, or a list of seeds", value=value
            )
        return tuple(range(value))
    if not isinstance(value, list | tuple):
        raise refusal("is neither a number nor a list", remedy="write e.g. 50, or [0, 7, 12]", value=value)
    return value


_Named = TypeVar("_Named", tuple[Farm, ...], tuple[Turbine, ...])


def _number(kind: str, given: str | int, names: Sequence[str]) -> int:
    """Which farm or type a name or a number means."""
    if given in names:
        return names.index(str(given))
    if isinstance(given, int) and 0 <= given < len(names):
        return given
    raise ArgumentError(f"wind_farm: the campaign has no {kind} {given!r}; it has: {', '.join(names)}")


class Campaign(Amount):
    """Every farm x every turbine type x every seed, and how each is computed."""

    name: Name
    """The campaign's name."""
    description: Text = ""
    """Words for people."""
    crs: CoordinateSystem | None = None
    """The coordinate reference system whose metres all coordinates are, where it is known; decides no result."""
    farms: Annotated[tuple[Farm, ...], Field(min_length=1)]
    """The farms."""
    turbines: Annotated[tuple[Turbine, ...], Field(min_length=1)]
    """The turbine types."""
    neighbours: Neighbours | None = None
    """Turbines that stand already, around every farm."""
    min_spacing: Spacing
    """The least distance between two turbines, such as 3 D or 720 m."""
    objective: Objective | None = None
    """What tells the better of two counts or mixes, where the search chooses them; AEP by default."""
    site: Site
    """The wind."""
    wake: WakeModel
    """The wake model."""
    method: Annotated[
        tuple[Step, ...],
        BeforeValidator(one_step_is_a_pipeline, Step | _Steps),
        Field(min_length=1),
        AfterValidator(begins_with_a_start),
    ]
    """How layouts are searched: one step, or a list of steps."""
    seeds: Annotated[
        tuple[Seed, ...], BeforeValidator(_count_is_a_range, Count | _Seeds), Field(min_length=1)
    ]
    """A number n of seeds (0 to n - 1), or a list of them."""
    run: RunOptions = RunOptions()
    """How the campaign is run; decides no result."""

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Self:
        """Read a campaign file, or a preset by its name; overrides are like ``"seeds=2"``.

        Raises CampaignError with everything that is wrong with it.
        """
        return cls.from_document(source.load(path, overrides), overrides)

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
        try:
            return cls.model_validate(document.data)
        except ValidationError as error:
            raise CampaignError(explain(cls, error, document)) from None

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Make a campaign of plain data, as a campaign file has it."""
        return cls.from_document(Document(data, {(): Origin("campaign")}))

    def with_code(self) -> Self:
        """This campaign with a digest of the user's own code that its wake model names, unless it has one.

        A campaign that is kept with results has that of the code which computed them, and ``loads`` leaves it.
        """
        given = self.wake.named_code
        if given is None or given.code:
            return self
        wake = self.wake.model_copy(update={given.key: given.with_code()})
        return self.model_copy(update={"wake": wake})

    def to_data(self) -> dict[str, Any]:
        """The campaign as plain data, complete: nothing in it refers to another file."""
        return self._plain_data()

    def _plain_data(self, context: dict[str, Any] | None = None) -> dict[str, Any]:
        data = self.model_dump(mode="json", by_alias=True, exclude_none=True, context=context)
        if self.seeds == tuple(range(len(self.seeds))):
            data["seeds"] = len(self.seeds)
        return data

    def dumps(self) -> str:
        """The campaign as YAML text that ``loads`` turns into an equal campaign."""
        aside: dict[str, str] = {}
        return put_back(write(set_aside(self._plain_data({PACKED: True}), aside)), aside)

    def root_attributes(self) -> dict[str, str | int | float | bool]:
        """What a database says in its root attributes about the campaign it holds."""
        root: dict[str, str | int | float | bool] = {
            "total_configs": self.total_configs,
            "campaign": self.dumps(),
        }
        for step in self.method:
            if step.smart_start is not None:
                root["grid_size"] = step.smart_start.grid_size
                root["random_pct"] = float(step.smart_start.random_pct)
            if step.call is not None:
                root = {**(step.call.context or {}), **root}
        return root

    def __repr__(self) -> str:
        steps = " -> ".join(step.chosen[0] for step in self.method)
        return f"<Campaign {self.name!r}: {self.counts}; wake {self.wake.title}; search {steps}>"

    def _repr_html_(self) -> str:
        from vindeby.campaign.notebook_table import campaign_table  # only a notebook asks for it

        return campaign_table(self)

    @property
    def counts(self) -> str:
        """For example ``6 tasks = 3 farms x 2 types x 1 seed``; with mixed farms, ``4 tasks = 4 cells x 1 seed``."""
        axes = [plural(len(self.farms), "farm"), plural(len(self.turbines), "type")]
        if any(self.mix_of(farm) is not None for farm in self.farms):
            axes = [plural(self.total_configs // len(self.seeds), "cell")]
        axes.append(plural(len(self.seeds), "seed"))
        return f"{plural(self.total_configs, 'task')} = {' x '.join(axes)}"

    @property
    def total_configs(self) -> int:
        """How many tasks there are."""
        cells = sum(len(self.turbines) if self.mix_of(farm) is None else 1 for farm in self.farms)
        return cells * len(self.seeds)

    def tasks(self) -> tuple[Task, ...]:
        """Every task, in order of farm, turbine type and seed, whatever the order of keys in the file."""
        return tuple(task for cell in self.cells() for task in cell.tasks(self.seeds))

    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of every task by its key, in the same order: what results are compared with."""
        return {task.key: task.fingerprint for task in self.tasks()}

    def cells(self) -> tuple[Cell, ...]:
        """Every farm with every turbine type, with the identity that the tasks of the cell share."""
        shared = {
            "revision": RESULT_REVISION,
            "site": self.site.identity(),
            "wake": self.wake.identity(),
            "method": [step.identity() for step in self.method],
        }
        series = self.site.time_series or self.site.states
        long = series is not None and len(series.wind_speed) >= LONG_SERIES and self.wake.engine is None
        if long and any(step.begins_coarse for step in self.method):
            shared["series"] = "in a rose first"
        cells = tuple(cells_of(self, digest(shared)))
        cases = self._case_digests()
        return tuple(replace(cell, cases=cases) for cell in cells) if cases else cells

    def _case_digests(self) -> dict[int, str]:
        """By seed, what tells its case from others; empty where the method lists no cases."""
        cases = next((step.call.cases for step in self.method if step.call is not None), None) or ()
        return {seed: digest(case)[:32] for seed, case in zip(self.seeds, cases, strict=False)}

    def wind_farm(self, farm: str | int, turbine: str | int = 0) -> Any:
        """What layouts of a farm are worth, in the campaign's wind, wakes and neighbours: a ``vindeby.WindFarm``.

        Farm and turbine type are named, or numbered from 0; a farm that mixes types has those of its mix.
        """
        number = _number("farm", farm, [one.name for one in self.farms])
        kind = _number("turbine type", turbine, [one.name for one in self.turbines])
        mix = self.mix_of(self.farms[number])
        return computing("wind_farm")(self, kind if mix is None else [one for one, _ in mix], number)

    def turbine_count(self, farm: Farm, turbine: Turbine) -> int:
        """How many turbines of this type stand in this farm; 0 where not even one fits the capacity."""
        if farm.zones is not None:
            return sum(farm.zone_counts(turbine.rated_power_mw))
        return self._level(farm).count(turbine.rated_power_mw)

    def _level(self, farm: Farm) -> Amount:
        """Where it is said how many turbines stand in a farm without zones."""
        return farm if farm.amount_is_said else self

    def fewest_turbines(self, farm: Farm) -> int | None:
        """Where the search chooses how many turbines stand in a farm, the fewest; None for a fixed number."""
        chosen = self._level(farm).count_range
        return None if chosen is None else chosen.fewest

    def mix_of(self, farm: Farm) -> tuple[tuple[int, int], ...] | None:
        """The types, by their numbers, that a farm mixes, and how many of each; None for a farm of one type.

        Where the search chooses how many, one of the mixes that are allowed.
        """
        if ranges := self.mix_ranges_of(farm):
            level = self._level(farm)
            shares = even_shares(ranges, level.count(1.0))
            return tuple(
                (kind, share)
                for (kind, _), share in zip(self.in_order(level.fixed_mix()), shares, strict=True)
            )
        mix = farm.whole_mix() if farm.amount_is_said else self.fixed_mix() or None
        return None if mix is None else self.in_order(mix)

    def mix_ranges_of(self, farm: Farm) -> tuple[tuple[int, int], ...]:
        """The fewest and the most of each type of a mix that the search chooses, in the order of ``mix_of``."""
        level = self._level(farm)
        given = level.mix_ranges() if level.mix_is_chosen else {}
        return tuple(given[one.name] for one in self.turbines if one.name in given)

    def in_order(self, mix: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """A mix by the numbers of its types, in the order of the campaign's list: that of keys never matters."""
        return tuple((index, mix[one.name]) for index, one in enumerate(self.turbines) if one.name in mix)

    @model_validator(mode="before")
    @classmethod
    def _wind_may_be_left_out(cls, data: Any) -> Any:
        return put_in_what_is_left_out(data)

    @field_validator("farms", "turbines", mode="after")
    @classmethod
    def _names_differ(cls, parts: _Named) -> _Named:
        first: dict[str, int] = {}
        for index, part in enumerate(parts):
            if part.name in first:
                raise refusal(
                    f"entry {first[part.name]} has the same name",
                    remedy="names must differ",
                    at=(index, "name"),
                    value=part.name,
                )
            first[part.name] = index
        return parts

    @field_validator("seeds", mode="after")
    @classmethod
    def _seeds_differ(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            twice = next(seed for index, seed in enumerate(seeds) if seed in seeds[:index])
            raise refusal("a seed is listed twice", remedy="list each seed once", value=twice)
        return seeds

    @model_validator(mode="after")
    def _counts_are_known(self) -> Self:
        for index, farm in enumerate(self.farms):
            if not farm.amount_is_said and not self.amount_is_said:
                raise refusal(
                    f"how many turbines stand in farm {farm.name!r} is not said",
                    remedy="give n_turbines or capacity_mw, or a mix, for the campaign or for the farm",
                    at=("farms", index),
                )
        refuse_mixes(self)
        refuse_objective(self)
        self._refuse_impossible_counts()
        refuse_unknown_wind(self.site, self.method)
        return self

    @model_validator(mode="after")
    def _neighbours_are_known(self) -> Self:
        refuse_bad_neighbours(self)
        refuse_outside_local_wind(self)
        return self

    @model_validator(mode="after")
    def _wake_model_suits(self) -> Self:
        refuse_unsuitable_wake_model(self)
        return self

    @model_validator(mode="after")
    def _one_case_for_each_seed(self) -> Self:
        for index, step in enumerate(self.method):
            cases = None if step.call is None else step.call.cases
            if cases is not None and len(cases) != len(self.seeds):
                raise refusal(
                    f"has {plural(len(cases), 'case')}, but there are {plural(len(self.seeds), 'seed')}",
                    remedy="give one case for each seed",
                    at=("method", index, "call", "cases"),
                )
        return self

    def _refuse_impossible_counts(self) -> None:
        for index, farm in enumerate(self.farms):
            for turbine in self.turbines:
                refuse_empty_zones(farm, index, turbine)
                count = self.turbine_count(farm, turbine)
                if not 1 <= count <= MAX_TURBINES:
                    own = farm.capacity_mw is not None
                    raise refusal(
                        f"makes {count:,} turbines of type {turbine.name!r} ({turbine.rated_power_mw:g} MW) in farm "
                        f"{farm.name!r}",
                        remedy=f"it must come to 1 to {MAX_TURBINES:,}; the unit is MW",
                        at=("farms", index, "capacity_mw") if own else ("capacity_mw",),
                        value=farm.capacity_mw if own else self.capacity_mw,
                    )
        if self.total_configs > MAX_TASKS:
            raise refusal(
                f"the campaign has {self.total_configs:,} tasks",
                remedy=f"stay below {MAX_TASKS:,}",
                at=("seeds",),
            )
