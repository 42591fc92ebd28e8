"""Sites: the wind states in which a farm is evaluated, and their probabilities.

All sites give the same thing, ``WindStates``: a list of directions, each with its own wind speeds,
probabilities and turbulence intensities. A time series is the same list with one entry a time step, grouped
by direction. The wind is the same over the whole farm and at every height.

Between its sectors a site is interpolated over direction as PyWake's ``XRSite`` does: a value given for a
sector is that of its centre; ``linear`` joins the centres, ``nearest`` keeps a sector's value up to its
border, which belongs to the next sector clockwise. A sector's frequency is spread evenly over its width, and a
direction gets the share of its own bin. Turbulence intensity is linear between the centres either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError
from vindeby.text import plural

Interpolation = Literal["linear", "nearest"]

DEFAULT_DIRECTIONS: FloatArray = np.arange(360.0)
DEFAULT_SPEEDS: FloatArray = np.arange(3.0, 26.0)


@dataclass(frozen=True, eq=False)
class TurbulenceTable:
    """Turbulence intensity (a fraction) at points of direction (degrees), of wind speed (m/s), or of both.

    ``values`` has one entry per direction, one per wind speed, or one row per direction and one column per wind
    speed. Both axes must increase; directions are from 0 up to 360. Between its points turbulence is always linear and
    periodic in direction, whatever the interpolation of a site's sectors, as in PyWake's ``XRSite``. Outside the wind
    speeds of its points it is refused, as in PyWake: turbulence rises steeply at low wind speeds, so that a held end
    value would be a guess.
    """

    values: npt.ArrayLike
    wind_directions: npt.ArrayLike | None = None
    wind_speeds: npt.ArrayLike | None = None

    def __repr__(self) -> str:
        axes = {"direction": self.wind_directions, "wind speed": self.wind_speeds}
        by = " and ".join(name for name, axis in axes.items() if axis is not None)
        return f"<TurbulenceTable: by {by or 'nothing'}>"

    def at(self, directions: FloatArray, speeds: FloatArray) -> FloatArray:
        """Return the intensity by direction and wind speed; an axis that it does not depend on has length 1."""
        values, direction_points, speed_points = self._checked()
        if speed_points is None:
            assert direction_points is not None, "one of both is there"
            return _around(values, direction_points, directions)[:, None]
        table = values[None, :] if direction_points is None else _around(values, direction_points, directions)
        return _along(table, speed_points, speeds)

    def _checked(self) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
        values = checked("turbulence values", self.values, low=0, high=5)
        directions = _axis("wind_directions", self.wind_directions, 360.0)
        speeds = _axis("wind_speeds", self.wind_speeds, 200.0)
        shape = tuple(len(axis) for axis in (directions, speeds) if axis is not None)
        if not shape:
            raise ArgumentError("a turbulence table needs wind_directions, wind_speeds or both")
        if values.shape != shape:
            raise ArgumentError(f"turbulence values must have the shape {shape}, not {values.shape}")
        return values, directions, speeds


def _axis(name: str, points: npt.ArrayLike | None, end: float) -> FloatArray | None:
    if points is None:
        return None
    axis = np.atleast_1d(checked(f"{name} of a turbulence table", points, low=0, high=end))
    if axis.ndim != 1 or not len(axis) or axis[-1] == end or np.any(np.diff(axis) <= 0):
        raise ArgumentError(f"{name} of a turbulence table must increase, from 0 to below {end:g}")
    return axis


def _around(values: FloatArray, points: FloatArray, directions: FloatArray) -> FloatArray:
    """Interpolate linearly in direction along the first axis, from the last point on to the first."""
    angle = np.mod(directions, 360.0)
    right = np.searchsorted(points, angle, side="right")
    left = right - 1  # -1 is the last point, before north
    start, end = points[left], points[right % len(points)]
    width = np.where(end > start, end - start, end - start + 360.0)
    share = np.mod(angle - start, 360.0) / width
    share = share.reshape((-1,) + (1,) * (values.ndim - 1))
    return np.asarray(values[left] * (1 - share) + values[right % len(points)] * share)


def _along(values: FloatArray, points: FloatArray, speeds: FloatArray) -> FloatArray:
    """Interpolate linearly in wind speed along the second axis; ArgumentError outside the points."""
    outside = (speeds < points[0]) | (speeds > points[-1])
    if outside.any():
        raise ArgumentError(
            f"the turbulence intensity is known from {points[0]:g} to {points[-1]:g} m/s, not at "
            f"{speeds[np.argmax(outside)]:g} m/s; add points, or leave these wind speeds out"
        )
    if len(points) == 1:
        return np.repeat(values, len(speeds), axis=1)
    left = np.clip(np.searchsorted(points, speeds, side="right") - 1, 0, len(points) - 2)
    share = (speeds - points[left]) / (points[left + 1] - points[left])
    return np.asarray(values[:, left] * (1 - share) + values[:, left + 1] * share)


@dataclass(frozen=True, eq=False)
class WindStates:
    """Wind states grouped by direction: those of direction ``d`` are ``first[d]`` up to ``first[d + 1]``.

    ``shape`` is how results per state are handed out: (directions, speeds), or (steps,) for a time series, in
    which case ``step`` tells which step each state is.
    """

    direction: FloatArray
    first: IntArray
    speed: FloatArray
    probability: FloatArray
    turbulence: FloatArray
    shape: tuple[int, ...]
    step: npt.NDArray[np.intp] | None = None

    def __repr__(self) -> str:
        kind = "steps" if self.step is not None else "directions x speeds"
        return f"<WindStates: {' x '.join(map(str, self.shape))} {kind}>"


class Site(Protocol):
    """The interface of a site: it returns wind states."""

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """Return the wind states for these direction and speed bins (degrees, m/s), by default the site's."""
        ...


def checked(name: str, values: npt.ArrayLike, *, low: float = -np.inf, high: float = np.inf) -> FloatArray:
    """Return an array of numbers from ``low`` to ``high``; raise ArgumentError for anything else."""
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"{name} must be numbers: {problem}") from None
    bad = ~(np.isfinite(array) & (array >= low) & (array <= high))
    if bad.any():
        place = np.unravel_index(int(np.argmax(bad)), bad.shape)
        where = f"{name}[{', '.join(map(str, place))}]" if place else name
        raise ArgumentError(f"{where} is {array[place]}; it must be a finite number in [{low:g}, {high:g}]")
    return array


def _span(values: npt.ArrayLike) -> str:
    """Return the range of values for a ``repr``, which must not fail even if they are invalid."""
    try:
        array = np.asarray(values, np.float64)
        low, high = array.min(), array.max()
    except (TypeError, ValueError):
        return "?"
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _sectors(values: npt.ArrayLike) -> str:
    try:
        return plural(len(np.atleast_1d(np.asarray(values))), "sector")
    except ValueError:
        return "? sectors"


def _intensity(site: WeibullSite | TableSite | UniformSite | TimeSeriesSite) -> str:
    given = site.turbulence_intensity
    return f"turbulence intensity {_span(given.values if isinstance(given, TurbulenceTable) else given)}"


def _centres(sectors: int) -> FloatArray:
    return np.asarray(np.arange(sectors) * (360.0 / sectors), np.float64)


def direction_bin(directions: FloatArray) -> float:
    """Return the width of the bins of these directions in degrees."""
    steps = np.diff(directions)
    if len(directions) > 1 and np.all(steps == steps[0]):
        return float(steps[0])
    return 360.0 / len(directions)


def speed_edges(speeds: FloatArray) -> FloatArray:
    """Return the bin edges: half-way between speeds, outer bins symmetric, never below 0."""
    if len(speeds) == 1:
        return np.array([speeds[0] - 0.5, speeds[0] + 0.5])
    half = np.diff(speeds) / 2
    edges = np.concatenate([[speeds[0] - half[0]], speeds[:-1] + half, [speeds[-1] + half[-1]]])
    return np.maximum(edges, 0.0)


def _bins(
    directions: npt.ArrayLike | None, speeds: npt.ArrayLike | None, own: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    direction = (
        own[0] if directions is None else np.atleast_1d(checked("directions", directions, low=-360, high=720))
    )
    speed = own[1] if speeds is None else np.atleast_1d(checked("speeds", speeds, low=0, high=200))
    if direction.ndim != 1 or speed.ndim != 1 or len(direction) == 0 or len(speed) == 0:
        raise ArgumentError("directions and speeds must be non-empty lists of numbers")
    if np.any(np.diff(speed) <= 0):
        raise ArgumentError("speeds must increase")
    return direction, speed


def _grid(
    direction: FloatArray, speed: FloatArray, probability: FloatArray, turbulence: FloatArray
) -> WindStates:
    shape = (len(direction), len(speed))
    return WindStates(
        direction=direction,
        first=np.arange(len(direction) + 1, dtype=np.int64) * len(speed),
        speed=np.tile(speed, len(direction)),
        probability=np.ascontiguousarray(np.broadcast_to(probability, shape)).ravel(),
        turbulence=np.ascontiguousarray(np.broadcast_to(turbulence, shape)).ravel(),
        shape=shape,
    )


def over_directions(sectors: FloatArray, directions: FloatArray, how: str) -> FloatArray:
    """Interpolate values of equal sectors, the first centred on north, along their first axis."""
    if how not in get_args(Interpolation):
        raise ArgumentError(f"interpolation must be 'linear' or 'nearest', not {how!r}")
    pair, part = around(directions, len(sectors), how)
    share = part.reshape((-1,) + (1,) * (sectors.ndim - 1))
    return np.asarray(sectors[pair[:, 0]] * (1 - share) + sectors[pair[:, 1]] * share)


def _shares_of_bins(sectors: FloatArray, directions: FloatArray, how: Interpolation) -> FloatArray:
    """Return the frequencies of the bins of these directions, from equal sectors along the first axis."""
    return over_directions(sectors, directions, how) * (len(sectors) / 360.0 * direction_bin(directions))


def around(directions: FloatArray, sectors: int, how: str) -> tuple[IntArray, FloatArray]:
    """Return, by direction, the sectors before and after it and the weight of the latter."""
    place = np.mod(directions, 360.0) / (360.0 / sectors)
    if how == "nearest":
        place = np.floor(place + 0.5)
    before = np.floor(place)
    pair = np.stack([before, before + 1.0], axis=1).astype(np.int64) % sectors
    return pair, np.asarray(place - before, np.float64)


@dataclass(frozen=True, eq=False)
class WeibullSite:
    """Weibull-distributed wind speed in equal direction sectors, the first centred on north.

    Args:
        frequency: The share of the year with wind from each sector, shape (sectors,).
        weibull_a: Scale in m/s, shape (sectors,).
        weibull_k: Shape parameter, shape (sectors,).
        turbulence_intensity: A fraction: one number, one per sector, or a ``TurbulenceTable``.
        interpolation: ``"linear"`` between the sectors, or ``"nearest"``.
        default_directions: The directions of the wind states in degrees; every whole degree if not given.
        default_speeds: The wind speeds of the wind states in m/s; 3, 4, ... 25 if not given.
    """

    frequency: npt.ArrayLike
    weibull_a: npt.ArrayLike
    weibull_k: npt.ArrayLike
    turbulence_intensity: npt.ArrayLike | TurbulenceTable = 0.1
    interpolation: Interpolation = "linear"
    default_directions: npt.ArrayLike | None = None
    default_speeds: npt.ArrayLike | None = None

    def __repr__(self) -> str:
        a, k = _span(self.weibull_a), _span(self.weibull_k)
        return f"<WeibullSite: {_sectors(self.frequency)}, A {a} m/s, k {k}, {_intensity(self)}>"

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """Return the wind states for these bins; default 0, 1, ... 359 degrees and 3, 4, ... 25 m/s."""
        own = _bins(self.default_directions, self.default_speeds, (DEFAULT_DIRECTIONS, DEFAULT_SPEEDS))
        direction, speed = _bins(directions, speeds, own)
        frequency = np.atleast_1d(checked("frequency", self.frequency, low=0, high=1))
        scale = np.atleast_1d(checked("weibull_a", self.weibull_a, low=1e-6, high=1e3))
        shape = np.atleast_1d(checked("weibull_k", self.weibull_k, low=1e-3, high=1e3))
        if not (frequency.shape == scale.shape == shape.shape) or frequency.ndim != 1:
            raise ArgumentError(
                "frequency, weibull_a and weibull_k must have one value per sector, "
                f"not shapes {frequency.shape}, {scale.shape}, {shape.shape}"
            )
        a, k = (over_directions(v, direction, self.interpolation)[:, None] for v in (scale, shape))
        below = 1.0 - np.exp(-((speed_edges(speed)[None, :] / a) ** k))
        turbulence = _turbulence(self.turbulence_intensity, direction, speed)
        in_direction = _shares_of_bins(frequency, direction, self.interpolation)
        return _grid(direction, speed, in_direction[:, None] * np.diff(below, axis=1), turbulence)


@dataclass(frozen=True, eq=False)
class TableSite:
    """A site with a table of probabilities.

    Args:
        probability: Shape (sectors, speeds); the first sector is centred on north.
        wind_speed: In m/s, shape (speeds,).
        turbulence_intensity: A fraction: one number, one per sector, or a ``TurbulenceTable``.
        interpolation: ``"linear"`` between the sectors, or ``"nearest"``.
    """

    probability: npt.ArrayLike
    wind_speed: npt.ArrayLike
    turbulence_intensity: npt.ArrayLike | TurbulenceTable = 0.1
    interpolation: Interpolation = "nearest"

    def __repr__(self) -> str:
        sectors, speeds = _sectors(self.probability), _span(self.wind_speed)
        return f"<TableSite: {sectors}, wind speed {speeds} m/s, {_intensity(self)}>"

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """Return the wind states, by default one per cell; speeds other than the table's are refused."""
        table = checked("probability", self.probability, low=0, high=1)
        table_speed = np.atleast_1d(checked("wind_speed", self.wind_speed, low=0, high=200))
        if table.ndim != 2 or table_speed.ndim != 1 or table.shape[1] != len(table_speed) or len(table) == 0:
            raise ArgumentError(
                f"probability must have one row per direction and one column per speed, "
                f"not shape {table.shape} with {len(table_speed)} speeds"
            )
        direction, speed = _bins(directions, speeds, (_centres(len(table)), table_speed))
        column = np.searchsorted(table_speed, speed)
        if np.any(column >= len(table_speed)) or np.any(
            table_speed[np.minimum(column, len(table_speed) - 1)] != speed
        ):
            raise ArgumentError(
                f"speeds must be among the table's own ({table_speed.tolist()}), not {speed.tolist()}"
            )
        probability = _shares_of_bins(table, direction, self.interpolation)[:, column]
        return _grid(direction, speed, probability, _turbulence(self.turbulence_intensity, direction, speed))


@dataclass(frozen=True, eq=False)
class UniformSite:
    """A site with one wind speed and one frequency per direction sector.

    Args:
        frequency: The share of the year with wind from each sector, shape (sectors,); the first is centred on north.
        wind_speed: In m/s.
        turbulence_intensity: A fraction: one number, one per sector, or a ``TurbulenceTable``.
        interpolation: ``"linear"`` between the sectors, or ``"nearest"``.
    """

    frequency: npt.ArrayLike = (1.0,)
    wind_speed: float = 12.0
    turbulence_intensity: npt.ArrayLike | TurbulenceTable = 0.1
    interpolation: Interpolation = "nearest"

    def __repr__(self) -> str:
        sectors, speed = _sectors(self.frequency), _span(self.wind_speed)
        return f"<UniformSite: {sectors}, wind speed {speed} m/s, {_intensity(self)}>"

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """Return the wind states, by default one per sector; with several speeds, each has the whole frequency."""
        frequency = np.atleast_1d(checked("frequency", self.frequency, low=0, high=1))
        own = (_centres(len(frequency)), np.full(1, float(self.wind_speed)))
        direction, speed = _bins(directions, speeds, own)
        probability = _shares_of_bins(frequency, direction, self.interpolation)
        turbulence = _turbulence(self.turbulence_intensity, direction, speed)
        return _grid(direction, speed, probability[:, None], turbulence)


@dataclass(frozen=True, eq=False)
class TimeSeriesSite:
    """A site with measured or modelled wind, step by step.

    Args:
        wind_speed: In m/s, shape (steps,).
        wind_direction: Where the wind comes from in degrees, shape (steps,).
        turbulence_intensity: A fraction, one number or shape (steps,).
        weight: How much each step counts, shape (steps,); without it, every step counts the same.
        relative: A step's probability is its weight over the sum of all weights, or, if False, the weight itself.
    """

    wind_speed: npt.ArrayLike
    wind_direction: npt.ArrayLike
    turbulence_intensity: npt.ArrayLike = 0.1
    weight: npt.ArrayLike | None = None
    relative: bool = True

    def __repr__(self) -> str:
        steps, speeds = plural(np.size(self.wind_speed), "step"), _span(self.wind_speed)
        return f"<TimeSeriesSite: {steps}, wind speed {speeds} m/s, {_intensity(self)}>"

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """Return the wind states, one per step; there are no bins to choose."""
        if directions is not None or speeds is not None:
            raise ArgumentError(
                "a time series has its own directions and speeds; leave directions and speeds out"
            )
        speed = checked("wind_speed", self.wind_speed, low=0, high=200)
        direction = checked("wind_direction", self.wind_direction, low=-360, high=720)
        turbulence = checked("turbulence_intensity", self.turbulence_intensity, low=0, high=5)
        if (
            speed.ndim != 1
            or speed.shape != direction.shape
            or turbulence.shape not in ((), speed.shape)
            or not len(speed)
        ):
            raise ArgumentError(
                "wind_speed, wind_direction and turbulence_intensity must have one value a step, "
                f"not shapes {speed.shape}, {direction.shape}, {turbulence.shape}"
            )
        step = np.argsort(direction, kind="stable")
        distinct, first = np.unique(direction[step], return_index=True)
        return WindStates(
            direction=distinct,
            first=np.append(first, len(step)).astype(np.int64),
            speed=speed[step],
            probability=_shares(self.weight, len(step), self.relative)[step],
            turbulence=np.ascontiguousarray(np.broadcast_to(turbulence, speed.shape)[step]),
            shape=(len(step),),
            step=step,
        )


def _shares(weight: npt.ArrayLike | None, count: int, relative: bool) -> FloatArray:
    if weight is None:
        return np.full(count, 1.0 / count)
    weights = checked("weight", weight, low=0)
    if weights.shape != (count,):
        raise ArgumentError(f"weight must have one value per step, {count}, not shape {weights.shape}")
    total = weights.sum()
    if not relative:
        return weights
    if not 0 < total < np.inf:
        raise ArgumentError(f"weight must have a finite sum above 0, not {total}")
    return np.asarray(weights / total)


def _turbulence(
    value: npt.ArrayLike | TurbulenceTable, directions: FloatArray, speeds: FloatArray
) -> FloatArray:
    """Return the turbulence intensity in these directions and speeds, always linear between points, as in PyWake."""
    if isinstance(value, TurbulenceTable):
        return value.at(directions, speeds)
    turbulence = checked("turbulence_intensity", value, low=0, high=5)
    if turbulence.ndim == 0:
        return turbulence
    if turbulence.ndim != 1:
        raise ArgumentError("turbulence_intensity must be one number or one a direction sector")
    return over_directions(turbulence, directions, "linear")[:, None]


def chunks_of(states: WindStates, steps: int) -> Iterator[tuple[slice, WindStates]]:
    """Yield the steps of a time series in order, a limited number at a time, as wind states.

    Each keeps the probabilities that its steps have in the whole series.
    """
    if states.step is None:
        raise ArgumentError(
            "this site is not a time series: it has no steps; call power() for its wind states"
        )
    if steps < 1:
        raise ArgumentError(f"steps_per_chunk must be a whole number >= 1, not {steps!r}")
    in_order = np.empty_like(states.step)
    in_order[states.step] = np.arange(len(states.step))
    direction_index = np.repeat(np.arange(len(states.direction)), np.diff(states.first))
    for begin in range(0, len(in_order), steps):
        chosen = np.sort(in_order[begin : begin + steps])  # by direction, as all states are
        index, first = np.unique(direction_index[chosen], return_index=True)
        yield (
            slice(begin, begin + len(chosen)),
            replace(
                states,
                direction=states.direction[index],
                first=np.append(first, len(chosen)).astype(np.int64),
                speed=states.speed[chosen],
                probability=states.probability[chosen],
                turbulence=states.turbulence[chosen],
                shape=(len(chosen),),
                step=states.step[chosen] - begin,
            ),
        )
