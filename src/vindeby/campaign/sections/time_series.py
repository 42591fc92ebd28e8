"""Wind given state by state, as a time series or as states with a probability each; and its turbulence intensity."""

import math
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from vindeby.campaign.reading.packed_lists import digest_of_numbers
from vindeby.campaign.reading.tables import find_time_problem
from vindeby.campaign.sections.values import (
    Directions,
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
    """One value for each point; with both axes, one row for each direction."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        axes = {"wind_directions": self.wind_directions, "wind_speeds": self.wind_speeds}
        given = {name: axis for name, axis in axes.items() if axis is not None}
        require(given, "has no points", "give wind_directions, wind_speeds or both")
        has_rows = all(isinstance(row, tuple) for row in self.values)
        name, axis = next(iter(given.items()))
        form = "one row per direction" if len(given) == 2 else f"one entry for each of {name}"
        require(has_rows == (len(given) == 2), f"must have {form}", "give them in this form", "values")
        require_length(len(self.values), name, len(axis), "values")
        for index, row in enumerate(self.values):
            if isinstance(row, tuple):
                require_length(len(row), "wind_speeds", len(self.wind_speeds or ()), "values", index)
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
"""Of a rose: a number or a table."""

StepIntensity = Intensity | Intensities
"""Of states one by one: a number for all of them, or a list with one for each."""


def turbulence_text(value: float | TurbulenceSection | tuple[float, ...]) -> str:
    """Turbulence intensity in a few words."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return f"{min(value):g} to {max(value):g}"
    axes = {"wind direction": value.wind_directions, "wind speed": value.wind_speeds}
    by = " and ".join(name for name, axis in axes.items() if axis is not None)
    return f"{np.min(value.values):g} to {np.max(value.values):g} by {by}"


_STATE_KEYS = ("wind_direction", "wind_speed", "probability", "turbulence_intensity")
_STATE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {key: {"type": "number", "description": "Of this state."} for key in _STATE_KEYS},
    "required": [*_STATE_KEYS],
}


class _StateByState(Section):
    may_be_in_a_file = True

    wind_direction: Directions
    """Directions that the wind comes from, in degrees."""
    wind_speed: Speeds
    """Wind speeds in m/s."""
    turbulence_intensity: StepIntensity
    """One number, or one for each state."""

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        count = len(self.wind_direction)
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, tuple):
                require_length(len(value), "wind_direction", count, name)
        return self

    def identity(self) -> dict[str, Any]:
        """What decides a result: of each list a digest of its numbers, which is quick for long ones."""
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
    """How much each step counts, relative to the others."""
    times: Times | None = None
    """ISO 8601 times of the steps."""

    @cached_property
    def moments(self) -> list[datetime]:
        """The times of the steps as datetimes; none where they are not given."""
        return [datetime.fromisoformat(text) for text in self.times or ()]

    @property
    def title(self) -> str:
        """For example ``time series, 504 steps``."""
        return f"time series, {plural(len(self.wind_speed), 'step')}"

    @property
    def about(self) -> str:
        """Number of steps, period and weights, in words."""
        period = f", {self.times[0]} to {self.times[-1]}" if self.times else ""
        weights = ", every step counts the same"
        if self.weight is not None:
            weights = f", weights that sum to {sum(self.weight):.10g}: each counts by its share of the sum"
        return f"{self.title}{period}{weights}"

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
        """For example ``list of 16 states``."""
        return f"list of {plural(len(self.wind_speed), 'state')}"

    @property
    def about(self) -> str:
        """Number of states and the sum of their probabilities, in words."""
        divided = ", by which they are divided" if self.normalise else ""
        return f"{self.title}, probabilities that sum to {sum(self.probability):.10g}{divided}"

    @model_validator(mode="before")
    @classmethod
    def _list_of_states(cls, data: Any) -> Any:
        return _columns(data) if isinstance(data, list | tuple) else data

    @model_validator(mode="after")
    def _sum_is_one(self) -> Self:
        refuse_bad_sum(sum(self.probability), "probabilities", "probability", self.normalise)
        return self


def _columns(states: list[Any] | tuple[Any, ...]) -> dict[str, list[Any]]:
    for index, state in enumerate(states):
        known = ", ".join(_STATE_KEYS)
        require(isinstance(state, Mapping), "must be a mapping", f"give {known}", index)
        for key in state:
            require(key in _STATE_KEYS, "is not a known key", f"known here: {known}", index, key)
        for key in _STATE_KEYS:
            value = state.get(key)
            require(value is not None, "is missing", f"add it: {key} of state {index}", index, key)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            remedy = f"write a number, without quotes: {key} of state {index}"
            require(is_number, "must be a number", remedy, index, key)
    return {key: [state[key] for state in states] for key in _STATE_KEYS}
