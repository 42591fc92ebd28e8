"""The study file: which stored layouts are evaluated, in what wind, with which wakes, among which neighbours.

It is read and checked like a campaign file: unknown keys are refused, files that it names are read once, and every
problem says where it stands. What only the database can tell (is there such a farm, such a seed) is in ``selection``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from vindeby.campaign.reading import source
from vindeby.campaign.reading.packed_lists import put_back, set_aside
from vindeby.campaign.reading.problems import explain
from vindeby.campaign.reading.yaml_text import Document, Origin, write
from vindeby.campaign.sections.run_options import RunOptions
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.values import PACKED, Name, Section, Text, refusal
from vindeby.campaign.sections.wake_model import WakeModel
from vindeby.errors import CampaignError, InputError
from vindeby.evaluation.rows import Neighbours, no_neighbours
from vindeby.evaluation.table_file import with_combination_file

InternalWakes = Literal["on", "off", "both"]


def _one_is_a_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _seeds(value: Any) -> str | tuple[int, ...]:
    if value in ("best", "all"):
        return str(value)
    values = [value] if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(values, list | tuple) or not values:
        raise refusal("says no seeds", remedy="write best, all, a seed, or a list of seeds", value=value)
    for index, seed in enumerate(values):
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise refusal("is no seed", remedy="write a whole number from 0 on", at=(index,), value=seed)
        if seed in values[:index]:
            raise refusal("a seed is listed twice", remedy="list each seed once", at=(index,), value=seed)
    return tuple(values)


def _wakes(value: Any) -> Any:
    names = {True: "on", False: "off", "both": "both", "on": "on", "off": "off"}
    if not isinstance(value, bool | str) or value not in names:
        raise refusal("is not known", remedy="write true, false or both", value=value)
    return names[value]


Names = Annotated[tuple[Name, ...], BeforeValidator(_one_is_a_list), Field(min_length=1)]


class Layouts(Section):
    """Which stored layouts are evaluated: every farm with every type and seed that is named."""

    farms: Names | None = None
    types: Names | None = None
    seeds: Annotated[Literal["best", "all"] | tuple[int, ...], BeforeValidator(_seeds)] = "best"


class Study(Section):
    """What is evaluated, and how."""

    name: Name
    description: Text = ""
    layouts: Layouts = Layouts()
    site: Site | None = None
    wake: WakeModel | None = None
    neighbours: Annotated[Neighbours | None, BeforeValidator(no_neighbours)] = None
    internal_wakes: Annotated[InternalWakes, BeforeValidator(_wakes)] = "on"
    output: Literal["aep", "power"] = "aep"
    power_type: Literal["float32", "float64"] = "float32"
    run: RunOptions = RunOptions()

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> tuple[Self, Document]:
        """Read a study file, with overrides such as ``"output=power"``; also where each value was written."""
        if not Path(path).is_file():
            raise InputError(f"{path}: there is no such study file; --with names a YAML file")
        document = source.load_study(Path(path))
        return cls.from_document(with_combination_file(document, Path(path).parent), overrides)

    @classmethod
    def from_data(cls, data: dict[str, Any], overrides: Sequence[str] = ()) -> tuple[Self, Document]:
        """Make a study of plain data, as a study file has it."""
        return cls.from_document(Document(data, {(): Origin("study")}), overrides)

    @classmethod
    def from_document(cls, document: Document, overrides: Sequence[str] = ()) -> tuple[Self, Document]:
        """Check data that was read, with overrides put in."""
        source.override(document, overrides)
        try:
            return cls.model_validate(document.data), document
        except ValidationError as error:
            raise CampaignError(explain(cls, error, document)) from None

    def dumps(self) -> str:
        """The study as YAML text; nothing in it refers to another file."""
        aside: dict[str, str] = {}
        data = self.model_dump(mode="json", by_alias=True, exclude_none=True, context={PACKED: True})
        return put_back(write(set_aside(data, aside)), aside)

    @model_validator(mode="after")
    def _power_needs_steps(self) -> Self:
        if self.power_type == "float64" and self.output != "power":
            raise refusal(
                "has a meaning only with output: power",
                remedy="leave it out",
                at=("power_type",),
                value="float64",
            )
        return self
