"""Layouts given by a file, a database or as x and y; what is read becomes part of the campaign."""

from functools import cached_property
from itertools import product
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, Strict, model_validator

from vindeby.campaign.sections.values import FARTHEST_M, Name, Numbers, Section, Text, one_is_a_list, require

MAX_TURBINES = 10_000
"""The most turbines in one farm."""
_Positions = Annotated[Numbers, Field(max_length=MAX_TURBINES)]
_PLACE = ("x", "y", "type")


class GivenLayout(Section):
    """The positions of turbines, with the farm, turbine type and seed of the layout unless it is for all."""

    farm: Name | None = None
    """The farm; any if left out."""
    turbine: Name | None = None
    """The turbine type; any if left out."""
    seed: Annotated[int, Strict(), Field(ge=0)] | None = None
    """The seed; any if left out."""
    x: _Positions
    """Metres east, for each turbine."""
    y: _Positions
    """Metres north, for each turbine."""
    type: Annotated[tuple[Name, ...], BeforeValidator(one_is_a_list, Name | tuple[Name, ...])] | None = None
    """The type of all turbines, or a type for each; needed for a farm that mixes types."""

    @model_validator(mode="after")
    def _one_for_each_turbine(self) -> Self:
        wrong = f"has {len(self.y):,} entries, but x has {len(self.x):,}"
        require(len(self.y) == len(self.x), wrong, "give one of each for each turbine", "y")
        for axis, values in (("x", self.x), ("y", self.y)):
            far = next((place for place, value in enumerate(values) if abs(value) > FARTHEST_M), None)
            wrong, remedy = f"is farther than {FARTHEST_M:g} m from the origin", "give coordinates in metres"
            require(far is None, wrong, remedy, axis, *(() if far is None else (far,)))
        wrong = f"has {len(self.type or ()):,} names, but there are {len(self.x):,} turbines"
        is_right = self.type is None or len(self.type) in (1, len(self.x))
        require(is_right, wrong, "give one name for all, or one for each turbine", "type")
        return self

    @property
    def type_names(self) -> tuple[str, ...] | None:
        """The type of each turbine; None if types are not given."""
        return self.type * len(self.x) if self.type and len(self.type) == 1 else self.type


class LayoutsSection(Section):
    """Layouts to start from: x and y, or those of a file or a database."""

    may_be_in_a_file = True
    keys_of_reading = ("x", "y", "type", "database", "farms", "types", "seeds")
    short_form = {"type": "object", "anyOf": [{"required": ["database"]}, {"required": ["x", "y"]}]}  # noqa: RUF012

    layouts: Annotated[tuple[GivenLayout, ...], Field(min_length=1)]
    """The layouts; written when they are read from a file."""
    source: Text | None = None
    """The origin of the layouts in words; written when they are read from a file."""
    repair: Annotated[bool, Strict()] = False
    """Move turbines that stand where they may not to the nearest places where they may."""

    @model_validator(mode="before")
    @classmethod
    def _one_layout_is_a_list(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "layouts" in data:
            return data
        given = {key: value for key, value in data.items() if key in _PLACE}
        rest = {key: value for key, value in data.items() if key not in _PLACE}
        return {"layouts": [given], **rest}

    @cached_property
    def _by_place(self) -> dict[tuple[str | None, str | None, int | None], GivenLayout]:
        return {(one.farm, one.turbine, one.seed): one for one in reversed(self.layouts)}

    def of(self, farm: str, turbine: str, seed: int | None) -> GivenLayout | None:
        """Return the layout for a farm, the type or types in words, and a seed; None if there is none."""
        places = product((farm, None), (turbine, None), (seed, None))
        return next((self._by_place[place] for place in places if place in self._by_place), None)
