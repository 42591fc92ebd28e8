"""Wind that differs from place to place, as a campaign describes it: quantities over a grid.

What a file holds is read when the campaign file is, so that here and in the stored campaign there are only numbers.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from pydantic import model_validator

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.packed_lists import digest_of_numbers
from vindeby.campaign.sections.values import (
    SUM_TOLERANCE,
    Coordinates,
    Heights,
    Numbers,
    Section,
    Sectors,
    Text,
    flattened,
    length_of,
    refusal,
    require,
)
from vindeby.units import count_sectors

Axis = Literal["x", "y", "height", "wind_directions"]
AXES: tuple[Axis, ...] = ("x", "y", "height", "wind_directions")
"""The axes in the order of the numbers: the last axis changes fastest."""
RANGES: dict[str, tuple[float, float]] = {
    "speedup": (0.01, 5.0),
    "turning": (-180.0, 180.0),
    "weibull_a": (0.05, 60.0),
    "weibull_k": (0.2, 20.0),
    "sector_frequency": (0.0, 1.0),
    "turbulence_intensity": (0.001, 1.0),
}
"""The quantities that a grid may hold, with the range of their plausible values."""
WEIBULL = ("weibull_a", "weibull_k", "sector_frequency")
_UNITS = {
    "speedup": "give it as a factor",
    "turning": "give it in degrees",
    "weibull_a": "give it in m/s",
    "weibull_k": "give the shape parameter",
    "sector_frequency": "give it as a fraction of the year",
    "turbulence_intensity": "give it as a fraction, not in percent",
}


class GridValues(Section):
    """Numbers over some of the axes of a grid, in the order of ``AXES``, as one list."""

    short_form = {"type": ["array", "number"]}  # noqa: RUF012

    axes: tuple[Axis, ...] = ()
    """The axes that the values depend on, in the order x, y, height, wind_directions."""
    values: Numbers
    """The numbers, as nested lists in the order of the axes."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        in_order = list(self.axes) == [axis for axis in AXES if axis in self.axes]
        remedy = f"list some of {', '.join(AXES)} in this order, x and y together"
        together = in_order and ("x" in self.axes) == ("y" in self.axes)
        require(together, "are not axes in the order of a grid", remedy, "axes")
        return self


class LocalWindSection(Section):
    """Local wind over x and y in metres and, where it depends on them, height and wind direction."""

    may_be_in_a_file = True

    source: Text | None = None
    """The origin of the grid, in words."""
    x: Coordinates
    """Eastings of the grid in metres."""
    y: Coordinates
    """Northings of the grid in metres."""
    height: Heights | None = None
    """Heights of the grid in metres above ground."""
    wind_directions: Sectors | None = None
    """Wind directions of the grid in degrees."""
    speedup: GridValues | None = None
    """Local wind speed divided by that of the site."""
    turning: GridValues | None = None
    """Local wind direction less that of the site, in degrees."""
    weibull_a: GridValues | None = None
    """Weibull scale parameter in m/s."""
    weibull_k: GridValues | None = None
    """Weibull shape parameter."""
    sector_frequency: GridValues | None = None
    """Frequency of each wind direction."""
    turbulence_intensity: GridValues | None = None
    """Turbulence intensity as a fraction."""
    interpolation: Literal["linear", "nearest"] | None = None
    """The interpolation over wind direction; by default that of the site, or linear."""
    position_interpolation: Literal["linear", "nearest"] = "linear"
    """Between the points of the grid."""
    turned_wakes: bool = False
    """True if wakes follow the turned wind."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """The names of the quantities that the grid holds."""
        return tuple(name for name in RANGES if getattr(self, name) is not None)

    @property
    def has_weibull(self) -> bool:
        """Return whether probabilities differ from place to place."""
        return self.weibull_a is not None

    def weibull_in_the_middle(self) -> list[list[float]]:
        """Scale, shape and frequency of each sector at the point in the middle of the grid."""
        arrays = [self.array(name) for name in WEIBULL]
        columns = [one[tuple(length // 2 for length in one.shape[:3])] for one in arrays]
        rows: list[list[float]] = np.stack(np.broadcast_arrays(*columns), axis=1).tolist()
        return rows[:-1] if self._repeats else rows

    def array(self, name: str) -> FloatArray:
        """Return a quantity over (x, y, height, direction), with length 1 along axes that it does not depend on."""
        given: GridValues = getattr(self, name)
        shape = [len(getattr(self, axis)) if axis in given.axes else 1 for axis in AXES]
        return np.array(given.values, np.float64).reshape(shape)

    def identity(self) -> dict[str, Any]:
        """Return the data that decide a result: a digest of the numbers, and the options."""
        axes = {axis: list(given) for axis in AXES if (given := getattr(self, axis)) is not None}
        numbers = {
            name: [list(getattr(self, name).axes), digest_of_numbers(getattr(self, name).values)]
            for name in self.quantities
        }
        options = [self.interpolation, self.position_interpolation, self.turned_wakes]
        return {"axes": axes, "values": numbers, "options": options}

    @model_validator(mode="before")
    @classmethod
    def _nested_lists(cls, data: Any) -> Any:
        """Convert nested lists, and a number for the whole grid, to axes and values."""
        if not isinstance(data, dict):
            return data
        changed = dict(data)
        for name in RANGES:
            given = data.get(name)
            if isinstance(given, int | float) and not isinstance(given, bool):
                changed[name] = {"axes": [], "values": [given]}
            elif (
                isinstance(given, dict) and "values" in given and isinstance(axes := given.get("axes"), list)
            ):
                lengths = {axis: length_of(data.get(axis)) for axis in axes if isinstance(axis, str)}
                changed[name] = {**given, "values": flattened(given["values"], lengths, name, "values")}
        return changed

    @model_validator(mode="after")
    def _complete(self) -> Self:
        what = f"give one or more of: {', '.join(RANGES)}"
        require(self.quantities, "holds nothing about the wind", what)
        missing = [name for name in WEIBULL if getattr(self, name) is None]
        everything = f"give all of {', '.join(WEIBULL)}, or none"
        require(len(missing) in (0, len(WEIBULL)), f"{' and '.join(missing)} is missing", everything)
        is_turned = self.turning is not None or not self.turned_wakes
        require(is_turned, "needs turning in the grid", "give it, or leave this out", "turned_wakes")
        for name in self.quantities:
            self._refuse_numbers(name, getattr(self, name))
        self._refuse_bad_sums()
        return self

    def _refuse_numbers(self, name: str, given: GridValues) -> None:
        lengths, at = {axis: len(getattr(self, axis) or ()) for axis in given.axes}, (name, "values")
        need, over = (
            math.prod(lengths.values()),
            " x ".join(f"{count} {axis}" for axis, count in lengths.items()),
        )
        wrong = f"has {len(given.values)} numbers, but the grid has {need} ({over or 'one for all'})"
        require(need == len(given.values), wrong, "give one for each point", *at)
        array, (low, high) = self.array(name), RANGES[name]
        for place in np.argwhere((array < low) | (array > high))[:1].tolist():
            wrong = f"is {array[*place]:.6g} {self._places(place)}, which is not between {low:g} and {high:g}"
            raise refusal(wrong, remedy=_UNITS[name], at=at)
        once = not self._repeats or "wind_directions" not in given.axes
        wrong = "differs between the directions 0 and 360, which are the same"
        remedy = "leave 360 out, or repeat the values of 0"
        require(once or np.array_equal(array[..., 0], array[..., -1]), wrong, remedy, *at)

    def _refuse_bad_sums(self) -> None:
        """Raise if the frequencies at any place do not sum to 1; a repeated direction of 360 counts once."""
        if self.sector_frequency is None or "wind_directions" not in self.sector_frequency.axes:
            return
        frequency = self.array("sector_frequency")
        sums = (frequency[..., :-1] if self._repeats else frequency).sum(axis=-1)
        place = tuple(int(i) for i in np.unravel_index(int(np.abs(sums - 1.0).argmax()), sums.shape))
        wrong = f"the frequencies sum to {sums[place]:.6g}, not to 1, {self._places(place)}"
        remedy = "give fractions of the year that sum to 1 at each place"
        require(abs(sums[place] - 1.0) <= SUM_TOLERANCE, wrong, remedy, "sector_frequency", "values")

    @property
    def _repeats(self) -> bool:
        directions = self.wind_directions
        return directions is not None and count_sectors(directions) < len(directions)

    def _places(self, place: Sequence[int]) -> str:
        return "at " + ", ".join(
            f"{axis} {given[index]:.10g}"
            for axis, index in zip(AXES, place, strict=False)
            if (given := getattr(self, axis)) is not None and index < len(given)
        )
