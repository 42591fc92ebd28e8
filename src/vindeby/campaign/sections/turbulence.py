"""Turbulence intensity as a campaign gives it: a number, or by wind direction, wind speed or both."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from vindeby.campaign.sections.long_lists import Intensities
from vindeby.campaign.sections.values import Increasing, Number, Section, refusal

Intensity = Annotated[Number, Field(gt=0.0, lt=1.0)]
_Row = Annotated[tuple[Intensity, ...], Field(min_length=1)]


class TurbulenceTable(Section):
    """Turbulence intensity at points; linear between them, and from the last direction on to the first.

    ``values`` has one entry per direction or wind speed, or, with both, one row per direction.
    """

    wind_directions: (
        Annotated[tuple[Annotated[Number, Field(ge=0.0, lt=360.0)], ...], Field(min_length=1)] | None
    ) = None
    """Directions of the points, in degrees."""
    wind_speeds: Increasing | None = None
    """Wind speeds of the points, in m/s."""
    values: Annotated[
        Annotated[_Row, Tag("list")] | Annotated[tuple[_Row, ...], Tag("rows")],
        Discriminator(lambda values: "rows" if _has_rows(values) else "list"),
    ]
    """One value for each point; with both axes, one row for each direction."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        axes = {"wind_directions": self.wind_directions, "wind_speeds": self.wind_speeds}
        given = {name: axis for name, axis in axes.items() if axis is not None}
        if not given:
            raise refusal("has no points", remedy="give wind_directions, wind_speeds or both")
        if self.wind_directions is not None:
            _refuse_disorder(self.wind_directions)
        if _has_rows(self.values) != (len(given) == 2):
            form = (
                "one row per direction" if len(given) == 2 else f"one entry for each of {next(iter(given))}"
            )
            raise refusal(f"must have {form}", remedy="give them in this form", at=("values",))
        name, axis = next(iter(given.items()))
        _refuse_length(len(self.values), name, len(axis), ("values",))
        if len(given) == 2:
            for index, row in enumerate(self.values):
                assert isinstance(row, tuple), "rows are looked for above"
                _refuse_length(len(row), "wind_speeds", len(self.wind_speeds or ()), ("values", index))
        return self

    @property
    def lowest_and_highest(self) -> tuple[float, float]:
        """The range of the values."""
        flat = [value for row in self.values for value in (row if isinstance(row, tuple) else (row,))]
        return min(flat), max(flat)

    @property
    def by(self) -> str:
        """What it depends on, in words."""
        names = {"wind direction": self.wind_directions, "wind speed": self.wind_speeds}
        return " and ".join(name for name, axis in names.items() if axis is not None)

    def refuse_speeds_outside(self, speeds: tuple[float, ...], name: str) -> None:
        """Refuse wind speeds at which the turbulence is not known: PyWake has no value there, either."""
        known = self.wind_speeds
        outside = [] if known is None else [speed for speed in speeds if not known[0] <= speed <= known[-1]]
        if known is not None and outside:
            raise refusal(
                f"is known from {known[0]:g} to {known[-1]:g} m/s, but {name} has {outside[0]:g} m/s",
                remedy="add points to it, or leave these wind speeds out",
                at=("turbulence_intensity", "wind_speeds"),
            )


def _has_rows(values: Any) -> bool:
    return isinstance(values, list | tuple) and bool(values) and isinstance(values[0], list | tuple)


def _refuse_disorder(directions: tuple[float, ...]) -> None:
    for index in range(1, len(directions)):
        if directions[index] <= directions[index - 1]:
            raise refusal(
                f"must increase, but entry {index} is not above entry {index - 1}",
                remedy="list the directions from north clockwise, each once; 360 is 0",
                at=("wind_directions", index),
                value=directions[index],
            )


def _refuse_length(count: int, name: str, wanted: int, at: tuple[str | int, ...]) -> None:
    if count != wanted:
        raise refusal(f"has {count} entries, but {name} has {wanted}", remedy="give one for each", at=at)


def _form(value: Any) -> str:
    if isinstance(value, dict | TurbulenceTable):
        return "table"
    return (
        "list"
        if isinstance(value, list | tuple) or (isinstance(value, str) and "packed:" in value)
        else "number"
    )


def _no_list(value: Any) -> str:
    return "table" if isinstance(value, dict | TurbulenceTable) else "number"


TurbulenceIntensity = Annotated[
    Annotated[Intensity, Tag("number")] | Annotated[TurbulenceTable, Tag("table")], Discriminator(_no_list)
]
"""Of a rose: a number or a table."""

StepIntensity = Annotated[
    Annotated[Intensity, Tag("number")] | Annotated[Intensities, Tag("list")],
    Discriminator(lambda value: "number" if _form(value) != "list" else "list"),
]
"""Of states one by one: a number for all of them, or a list with one for each."""


def turbulence_text(value: float | TurbulenceTable | tuple[float, ...]) -> str:
    """Turbulence intensity in a few words."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return f"{min(value):g} to {max(value):g}"
    low, high = value.lowest_and_highest
    return f"{low:g} to {high:g} by {value.by}"
