"""Wind given state by state: a time series, or a list of states with a probability each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import model_validator

from vindeby.campaign.reading.packed_lists import digest_of_numbers
from vindeby.campaign.reading.times import find_time_problem
from vindeby.campaign.sections.long_lists import Directions, Probabilities, Speeds, Times, Weights
from vindeby.campaign.sections.normalising import Normalise, refuse_bad_sum
from vindeby.campaign.sections.turbulence import StepIntensity
from vindeby.campaign.sections.values import Section, refusal
from vindeby.text import plural

_STATE_KEYS = ("wind_direction", "wind_speed", "probability", "turbulence_intensity")


class _StateByState(Section):
    """What both have: a direction, a speed and a turbulence intensity for each state."""

    may_be_in_a_file = True

    wind_direction: Directions
    """Directions that the wind comes from, in degrees."""
    wind_speed: Speeds
    """Wind speeds in m/s."""
    turbulence_intensity: StepIntensity
    """One number, or one for each state."""

    @property
    def speed_range(self) -> tuple[float, float]:
        """The lowest and the highest wind speed."""
        return min(self.wind_speed), max(self.wind_speed)

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        count = len(self.wind_direction)
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, tuple) and len(value) != count:
                raise refusal(
                    f"has {plural(len(value), 'value')}, but wind_direction has {count:,}",
                    remedy="give one for each",
                    at=(name,),
                )
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
        if self.weight is not None and not sum(self.weight) > 0.0:
            raise refusal("the weights are all 0", remedy="give some step a weight", at=("weight",))
        if self.times is not None and (problem := find_time_problem(self.times)):
            told = f"entry {problem.entry} {problem.message}"
            shown = self.times[problem.entry]
            raise refusal(told, remedy=problem.remedy, at=("times", problem.entry), value=shown)
        return self


class States(_StateByState):
    """Wind states with a probability each; also written as a list with a mapping for each state."""

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

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """A list of states."""
        about = {"type": "number", "description": "Of this state."}
        state = {"properties": dict.fromkeys(_STATE_KEYS, about), "required": [*_STATE_KEYS]}
        return {"type": "array", "items": {"type": "object", "additionalProperties": False, **state}}

    @model_validator(mode="before")
    @classmethod
    def _list_of_states(cls, data: Any) -> Any:
        return _columns(data) if isinstance(data, list | tuple) else data

    @model_validator(mode="after")
    def _sum_is_one(self) -> Self:
        refuse_bad_sum(sum(self.probability), "probabilities", "probability", self.normalise)
        return self


def _columns(states: list[Any] | tuple[Any, ...]) -> dict[str, list[Any]]:
    """A list of states as one list for each quantity."""
    for index, state in enumerate(states):
        if not isinstance(state, Mapping):
            raise refusal(
                "must be a mapping", remedy=f"give {', '.join(_STATE_KEYS)}", at=(index,), value=state
            )
        unknown = [key for key in state if key not in _STATE_KEYS]
        if unknown:
            known = ", ".join(_STATE_KEYS)
            raise refusal("is not a known key", remedy=f"known here: {known}", at=(index, unknown[0]))
        for key in _STATE_KEYS:
            value = state.get(key)
            if isinstance(value, bool) or not isinstance(value, int | float):
                told = "is missing" if value is None else "must be a number"
                remedy = "add it" if value is None else "write a number, without quotes"
                raise refusal(told, remedy=f"{remedy}: {key} of state {index}", at=(index, key), value=value)
    return {key: [state[key] for state in states] for key in _STATE_KEYS}
