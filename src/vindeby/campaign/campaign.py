"""The campaign: what is to be computed, complete and checked before anything runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from vindeby.campaign.cells import cells_of
from vindeby.campaign.fields import ABOUT_WIND, CampaignFields
from vindeby.campaign.neighbours import neighbours_in_words
from vindeby.campaign.reading import source
from vindeby.campaign.reading.extending import KEY
from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.yaml_text import Document, Origin, write
from vindeby.campaign.refusals import (
    refuse_bad_neighbours,
    refuse_cases,
    refuse_costs,
    refuse_counts,
    refuse_outside_local_wind,
    refuse_unknown_wind,
    refuse_unsuitable_wake_model,
)
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.sections.values import PACKED, under
from vindeby.campaign.tasks import Cell, Task
from vindeby.campaign.worlds import in_scenario, refuse_bad_scenarios
from vindeby.notebook import heading, table
from vindeby.text import plural

TYPE_TITLES = ("type", "name", "rated MW", "rotor m", "hub m", "spacing m")


class Campaign(CampaignFields):
    """Every farm x every turbine type x every seed, and how each is computed."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        refuse_cases(self)
        if self.is_about_wind:
            refuse_bad_neighbours(self)
            refuse_counts(self)
            refuse_costs(self)
            for number, scenario in enumerate([None, *(self.scenarios or ())], -1):
                with under(*(() if scenario is None else ("scenarios", number))):
                    inside = in_scenario(self, scenario)
                    refuse_unknown_wind(inside.site, inside.method)
                    refuse_outside_local_wind(inside)
                    refuse_unsuitable_wake_model(inside)
            refuse_bad_scenarios(self)
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
        if KEY in document.data:
            remedy = "write it in a campaign file, and load that by its path"
            document.refuse((KEY,), "is for files only", remedy, document.data[KEY])
        return checked(cls, document)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Make a campaign of plain data, as a campaign file has it."""
        return cls.from_document(Document(data, {(): Origin("campaign")}))

    def with_code(self) -> Self:
        """This campaign with a digest of the code of others that it names for wakes and searches, unless it has one.

        A campaign that is kept with results has that of the code which computed them, and ``loads`` leaves it.
        """
        if all(named.code for named in self.named_code):
            return self
        given = self.wake.named_code
        wake = self.wake.model_copy(update={given.key: given.with_code()}) if given else self.wake
        method = tuple(
            step.model_copy(update={"python": step.python.with_code()}) if step.python else step
            for step in self.method
        )
        return self.model_copy(update={"wake": wake, "method": method})

    def to_data(self, *, packed: bool = False) -> dict[str, Any]:
        """The campaign as plain data, complete: nothing in it refers to another file; long lists may be packed."""
        left_out = None if self.is_about_wind else {*ABOUT_WIND}
        data = self.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude=left_out, context={PACKED: packed}
        )
        if self.seeds == tuple(range(len(self.seeds))):
            data["seeds"] = len(self.seeds)
        return data

    def dumps(self) -> str:
        """The campaign as YAML text that ``loads`` turns into an equal campaign."""
        return write(self.to_data(packed=True))

    def published_text(self) -> str:
        """The same without ``run.notify``, which may contain a password: for databases, exports and reports."""
        run = self.run.model_copy(update={"notify": None})
        return self.model_copy(update={"run": run}).dumps()

    def root_attributes(self) -> dict[str, str | int | float | bool]:
        """What a database says in its root attributes about the campaign it holds."""
        root: dict[str, str | int | float | bool] = {
            "total_configs": self.total_configs,
            "campaign": self.published_text(),
        }
        for step in self.method:
            if step.smart_start is not None:
                root["grid_size"] = step.smart_start.grid_size
                root["random_pct"] = float(step.smart_start.random_pct)
            if step.call is not None:
                root = {**(step.call.context or {}), **root}
        return root

    def tasks(self) -> tuple[Task, ...]:
        """Every task, in order of farm, turbine type and seed, whatever the order of keys in the file."""
        return tuple(task for cell in self.cells() for task in cell.tasks(self.seeds))

    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of every task by its key, in the same order: what results are compared with."""
        return {task.key: task.fingerprint for task in self.tasks()}

    def cells(self) -> tuple[Cell, ...]:
        """Every farm with every turbine type, with the identity that the tasks of the cell share."""
        return tuple(cells_of(self))

    def turbines_of(self, cell: Cell) -> list[Turbine]:
        """The turbine types of a cell."""
        return [self.turbines[index] for index in cell.type_indices]

    def rated_mw(self, cell: Cell) -> float:
        """The rated power of all turbines of a cell; where the search chooses how many, of the most or of one mix."""
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
        """For example ``6 tasks = 3 farms x 2 types x 1 seed``; with mixed farms, ``4 tasks = 4 cells x 1 seed``."""
        axes = [plural(len(self.farms), "farm"), plural(len(self.turbines), "type")]
        if any(self.mix_of(farm) is not None for farm in self.farms):
            axes = [plural(self.total_configs // len(self.seeds), "cell")]
        axes = [*(axes if self.is_about_wind else ()), plural(len(self.seeds), "seed")]
        return f"{plural(self.total_configs, 'task')} = {' x '.join(axes)}"

    @property
    def search_in_words(self) -> str:
        """The wake model, where there is wind, and the search steps: ``wake jensen; search smart-start``."""
        search = "search " + " -> ".join(step.title for step in self.method)
        return f"wake {self.wake.title}; {search}" if self.is_about_wind else search

    def wind_farm(self, farm: str | int = 0, turbine: str | int = 0) -> Any:
        """What layouts of a farm are worth, in the campaign's wind, wakes and neighbours: a ``vindeby.WindFarm``.

        Farm and turbine type are named, or numbered from 0; a farm that mixes types has those of its mix.
        """
        return readers().wind_farm_of(self, farm, turbine)

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r}: {self.counts}; {self.search_in_words}>"

    def _repr_html_(self) -> str:
        lines = [heading(self.name, self.counts), heading("", self.search_in_words)]
        if self.is_about_wind:
            lines += [table(TYPE_TITLES, self.type_rows()), self._table_of_farms()]
        lines += [heading("", f"neighbours of {where}: {what}") for where, what in neighbours_in_words(self)]
        return "".join(lines)

    def type_rows(self) -> list[tuple[str, ...]]:
        """The turbine types in words, a row for each, with the columns ``TYPE_TITLES``."""
        return [
            (
                f"t{index}",
                turbine.name,
                f"{turbine.rated_power_mw:g}",
                f"{turbine.rotor_diameter_m:g}",
                f"{turbine.hub_height_m:g}",
                f"{self.min_spacing.in_metres(turbine.rotor_diameter_m):g}",
            )
            for index, turbine in enumerate(self.turbines)
        ]

    def _table_of_farms(self) -> str:
        cells, rows = self.cells(), []
        for index, farm in enumerate(self.farms):
            own = [cell for cell in cells if cell.farm_idx == index]
            few, many = min(cell.fewest for cell in own), max(cell.n_turbines for cell in own)
            turbines = f"{few:,}" if few == many else f"{few:,} to {many:,}"
            rows.append((f"farm{index}", farm.name, f"{farm.boundary.area_km2:.1f}", turbines))
        return table(("farm", "name", "km2", "turbines"), rows)
