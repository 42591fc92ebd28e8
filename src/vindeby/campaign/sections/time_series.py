"""Wind given state by state, as a time series or as states with a probability each; and its turbulence intensity."""

import math
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, TypeAdapter, model_validator

from vindeby.campaign.reading.packed_lists import digest_of_numbers
from vindeby.campaign.reading.tables import find_time_problem
from vindeby.campaign.sections.values import (
    Directions,
    Fraction,
    Increasing,
    Intensities,
    Normalise,
    Number,
    Probabilities,
    RisingDirections,
    Section,
    Speeds,
    Times,
    Weights,
    refusal,
    refuse_bad_sum,
    require,
    require_length,
    require_shape,
)
from vindeby.text import plural

Intensity = Annotated[Number, Field(gt=0.0, lt=1.0)]
_Row = Annotated[tuple[Intensity, ...], Field(min_length=1)]


class TurbulenceSection(Section):
    """Turbulence intensity at points; linear between them, and from the last direction on to the first.

    ``values`` has one entry per direction or wind speed, or, with both, one row per direction.
    """

    wind_directions: RisingDirections | None = None
    """Directions of the points, in degrees."""
    wind_speeds: Increasing | None = None
    """Wind speeds of the points, in m/s."""
    values: Annotated[tuple[Intensity | _Row, ...], Field(min_length=1)]
    """The intensities: a value for each point; with both axes, a row for each direction."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        axes = {"wind_directions": self.wind_directions, "wind_speeds": self.wind_speeds}
        given = {name: len(axis) for name, axis in axes.items() if axis is not None}
        require(given, "has no points", "give wind_directions, wind_speeds or both")
        require_shape(self.values, given, "values")
        return self


def known_speeds(turbulence: object) -> tuple[float, ...]:
    """Return the wind speeds (m/s) between which a turbulence intensity is known, which a number always is."""
    given = turbulence.wind_speeds if isinstance(turbulence, TurbulenceSection) else None
    return given or (0.0, math.inf)


def refuse_speeds_outside(turbulence: object, speeds: tuple[float, ...], *at: str | int) -> None:
    """Refuse wind speeds at which the turbulence intensity is not known: PyWake has no value there, either."""
    known = known_speeds(turbulence)
    for speed in speeds:
        wrong = (
            f"the turbulence intensity is known from {known[0]:g} to {known[-1]:g} m/s, not at {speed:g} m/s"
        )
        remedy = "add points to the turbulence intensity, or leave these wind speeds out"
        require(known[0] <= speed <= known[-1], wrong, remedy, *at)


TurbulenceIntensity = Intensity | TurbulenceSection
"""The turbulence intensity of a rose: a number or a table."""

StepIntensity = Intensity | Intensities
"""The turbulence intensity of wind states: a number for all of them, or a list with one for each."""


def turbulence_text(value: float | TurbulenceSection | tuple[float, ...]) -> str:
    """Return the turbulence intensity in a few words."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return f"{min(value):g} to {max(value):g}"
    axes = {"wind direction": value.wind_directions, "wind speed": value.wind_speeds}
    by = " and ".join(name for name, axis in axes.items() if axis is not None)
    return f"{np.min(value.values):g} to {np.max(value.values):g} by {by}"


class WindStateSection(Section):
    """A wind state with its probability."""

    wind_direction: Annotated[Number, Field(ge=0.0, le=360.0)]
    """The direction that the wind comes from, in degrees."""
    wind_speed: Annotated[Number, Field(ge=0.0, le=100.0)]
    """The wind speed in m/s."""
    probability: Fraction
    """The probability of the state."""
    turbulence_intensity: Intensity
    """Turbulence intensity as a fraction."""


_STATES = TypeAdapter(tuple[WindStateSection, ...])
_STATE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        name: {"type": "number", "description": "Of this state."} for name in WindStateSection.model_fields
    },
    "required": [*WindStateSection.model_fields],
}


class _StateByState(Section):
    may_be_in_a_file = True

    wind_direction: Directions
    """Directions that the wind comes from, in degrees."""
    wind_speed: Speeds
    """Wind speeds in m/s."""
    turbulence_intensity: StepIntensity
    """The turbulence intensity as a fraction: a number, or a list with one for each state."""

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        count = len(self.wind_direction)
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, tuple):
                require_length(len(value), "wind_direction", count, name)
        return self

    def identity(self) -> dict[str, Any]:
        """Return the data that decide a result; each list is a digest of its numbers, which is quick for long ones."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "times"}
        return {
            name: digest_of_numbers(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not None
        }


class TimeSeries(_StateByState):
    """Wind direction and speed step by step; AEP is the mean over the steps, weighted by ``weight`` if given.

    Weights are relative: only their ratios matter, so they may be hours, counts or probabilities.
    """

    weight: Weights | None = None
    """The weight of each step, relative to the others."""
    times: Times | None = None
    """ISO 8601 times of the steps."""

    @cached_property
    def moments(self) -> list[datetime]:
        """The times of the steps as datetimes; none if they are not given."""
        return [datetime.fromisoformat(text) for text in self.times or ()]

    @property
    def title(self) -> str:
        """The series in words, e.g. ``time series, 504 steps``."""
        return f"time series, {plural(len(self.wind_speed), 'step')}"

    @model_validator(mode="after")
    def _weights_and_times(self) -> Self:
        weighted = self.weight is None or sum(self.weight) > 0.0
        require(weighted, "the weights are all 0", "give some step a weight", "weight")
        if self.times is not None and (problem := find_time_problem(self.times)):
            entry, why, remedy = problem
            shown = self.times[entry]
            raise refusal(f"entry {entry} {why}", remedy=remedy, at=("times", entry), value=shown)
        return self


class States(_StateByState):
    """Wind states with a probability each; also written as a list with a mapping for each state."""

    short_form = {"type": "array", "items": _STATE}  # noqa: RUF012

    probability: Probabilities
    """The probability of each state."""
    normalise: Normalise = False
    """Divide the probabilities by their sum."""

    @property
    def title(self) -> str:
        """The states in words, e.g. ``list of 16 states``."""
        return f"list of {plural(len(self.wind_speed), 'state')}"

    @model_validator(mode="before")
    @classmethod
    def _list_of_states(cls, data: Any) -> Any:
        if not isinstance(data, list | tuple):
            return data
        states = _STATES.validate_python(data)
        return {name: [getattr(state, name) for state in states] for name in WindStateSection.model_fields}

    @model_validator(mode="after")
    def _sum_is_one(self) -> Self:
        refuse_bad_sum(sum(self.probability), "probabilities", "probability", self.normalise)
        return self
