"""Wakes between the points of a regular grid, computed once for all steps and seeds.

Smart start puts every turbine on a point of one grid, so a wake from one point to another depends only on how
many rows and columns lie between the two: a grid of 18 x 18 has 105,000 pairs of points, but 1,225 such
offsets, of which the wake of one wind direction reaches about one in twenty. Only offsets that lie between two of
the points inside the boundary are kept. For these the deficit (or its square, where squares are added up) is kept as
a function of the thrust coefficient: polynomials of degree 5, each over a short piece of thrust, good to about 1e-9
of the value.

Wakes that depend on more than thrust and place (added turbulence, a turbulence that differs between the wind speeds of
a direction), thrust coefficients near the model's kink, and wakes that follow the turned wind are not tabulated: no
turbine is on the grid then, and each pair is computed when it is needed.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake import GriddedSite, WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import turn_arrays
from vindeby.wake.models.contract import Pair, once_per_model

COEFFICIENTS = 6
_PIECE = 0.05
_UNSEEN = 1e-9
"""A deficit, as a fraction of the wind speed, that no other wake would make visible in a layout's worth."""


class GridWakes(NamedTuple):
    """The offsets that a wake reaches, by wind direction: those of ``d`` are ``first[d]`` to ``first[d + 1]``.

    In a direction they are in the order of rows: those that are ``n - size + 1`` rows or more to the north begin with
    ``first_in_row[d, n]``. ``most`` is the largest number of a direction. ``step`` is an offset in cells of the padded
    grid (``stride`` cells a row). ``table`` has a polynomial (constant first) for each piece of thrust and each pair.
    Pairs are numbered by offset, source type and target: 0 for a point at the hub height of type 0, t + 1 for a rotor
    of type t.
    """

    size: int
    stride: int
    first: IntArray
    first_in_row: IntArray
    most: int
    step: npt.NDArray[np.int32]
    table: FloatArray
    lowest_thrust: float
    per_piece: float


def thrust_range(farm: WindFarm) -> tuple[float, float]:
    """Return the smallest and largest thrust coefficient at any wind speed up to the farm's highest."""
    top = float(farm.states.speed.max()) * _highest_speedup(farm)
    values = []
    for turbine in farm.turbines:
        starts = turbine.start[turbine.start <= top]
        ends = np.nextafter(np.append(starts[1:], top), 0.0)
        values += [turbine.thrust_coefficient_at(starts), turbine.thrust_coefficient_at(ends)]
        values.append(turbine.thrust_coefficient_at([top]))
    together = np.concatenate(values)
    return float(together.min()), float(together.max())


def _highest_speedup(farm: WindFarm) -> float:
    speedup = farm.site.grid.speedup if isinstance(farm.site, GriddedSite) else None
    return 1.0 if speedup is None else float(speedup.max())


def can_be_tabulated(farm: WindFarm) -> bool:
    """Return whether wakes depend on thrust and position alone in each wind direction, smoothly."""
    model = farm.model
    if model.added_turbulence is not None or thrust_range(farm)[1] > min(0.955, model.thrust_limit):
        return False
    if farm.locality == "turned":
        return False
    if not model.needs_turbulence:
        return True
    if isinstance(farm.site, GriddedSite) and farm.site.grid.turbulence_intensity is not None:
        return False
    states = farm.states
    lowest = np.minimum.reduceat(states.turbulence, states.first[:-1])
    return bool((lowest == np.maximum.reduceat(states.turbulence, states.first[:-1])).all())


def grid_wakes(
    farm: WindFarm, size: int, pitches: tuple[float, float], row: IntArray, column: IntArray
) -> GridWakes:
    """Compute the wakes between points in these rows and columns of a grid of ``size`` x ``size``.

    ``pitches`` (m) are those between columns and between rows.
    """
    low, high = thrust_range(farm)
    pieces = max(1, int(np.ceil((high - low) / _PIECE)))
    width = max((high - low) / pieces, 1e-6)
    rows, columns = _offsets(size, row, column)
    stride = 3 * size - 2
    wind = farm.wind
    far, aside = turn_arrays(
        wind.cosine[:, None], wind.sine[:, None], columns * pitches[0], rows * pitches[1]
    )
    seen = np.zeros(far.shape, np.bool_)
    kernels = _kernels(farm.model)
    turbulence = np.maximum.reduceat(wind.turbulence, wind.first[:-1])
    turbines = farm.turbine_arrays
    if can_be_tabulated(farm):
        kernels["see"](farm.data, turbines, far, aside, high, turbulence, _UNSEEN, seen)
    direction, offset = np.nonzero(seen)
    far, aside, types = far[seen], aside[seen], len(farm.turbines)
    table = np.zeros((pieces, len(direction) * types * (types + 1), COEFFICIENTS))
    nodes = np.cos(np.pi * (np.arange(COEFFICIENTS) + 0.5) / COEFFICIENTS)
    to_powers = np.linalg.inv(np.vander(nodes, increasing=True))
    thrust = low + width * (np.arange(pieces)[:, None] + 0.5 * (1.0 + nodes))
    if len(direction):
        kernels["fit"](farm.data, turbines, far, aside, turbulence[direction], thrust, to_powers, table)
    first = np.searchsorted(direction, np.arange(len(wind.cosine) + 1)).astype(np.int64)
    return GridWakes(
        size=size,
        stride=stride,
        first=first,
        first_in_row=_first_in_row(size, len(wind.cosine), direction, rows[offset]),
        most=int(np.diff(first).max()),
        step=(rows * stride + columns)[offset].astype(np.int32),
        table=table,
        lowest_thrust=low,
        per_piece=1.0 / width,
    )


def _offsets(size: int, row: IntArray, column: IntArray) -> tuple[IntArray, IntArray]:
    """Return the offsets in rows and columns between any two of these points, each pair of numbers once."""
    inside = np.zeros((size, size), np.bool_)
    inside[row, column] = True
    occurs = np.zeros((2 * size - 1, 2 * size - 1), np.bool_)
    for r, c in zip(row, column, strict=True):
        occurs[size - 1 - r : 2 * size - 1 - r, size - 1 - c : 2 * size - 1 - c] |= inside
    rows, columns = np.nonzero(occurs)
    return rows - size + 1, columns - size + 1


def _first_in_row(size: int, directions: int, direction: IntArray, row: IntArray) -> IntArray:
    """Return the index of a direction's first offset in each row or farther north, in sorted order."""
    bounds = np.arange(directions)[:, None] * 2 * size + np.arange(2 * size)
    return np.searchsorted(direction * 2 * size + row + size - 1, bounds).astype(np.int64)


@once_per_model
def _kernels(model: WakeModel) -> dict[str, Any]:  # noqa: C901  two loop nests side by side
    deficit, reach, term = model.deficit, model.reach, superposition_of(model).term

    @kernel()
    def see(data, turbines, far, aside, thrust, turbulence, unseen, seen):
        types = turbines.diameter.size
        for d in range(far.shape[0]):
            for o in range(far.shape[1]):
                if far[d, o] <= 1e-10:
                    continue
                for s in range(types):
                    for t in range(types):
                        rotor = turbines.diameter[t]
                        diameter = turbines.diameter[s]
                        if abs(aside[d, o]) >= reach(data, far[d, o], diameter, rotor, thrust, turbulence[d]):
                            continue
                        rise = turbines.hub_height[t] - turbines.hub_height[s]
                        total = turbines.hub_height[t] + turbines.hub_height[s]
                        if unseen < deficit(
                            data,
                            Pair(far[d, o], aside[d, o], rise, total, diameter, rotor, thrust, turbulence[d]),
                        ):
                            seen[d, o] = True

    @kernel()
    def fit(data, turbines, far, aside, turbulence, thrust, to_powers, table):
        """Fit the polynomials of every offset through the Chebyshev nodes of every piece."""
        types, terms = turbines.diameter.size, to_powers.shape[0]
        for e in range(far.size):
            for s in range(types):
                diameter, height = turbines.diameter[s], turbines.hub_height[s]
                for t in range(-1, types):
                    pair = (e * types + s) * (types + 1) + t + 1
                    rotor = turbines.diameter[t] if t >= 0 else 0.0
                    other = turbines.hub_height[max(t, 0)]
                    for p in range(thrust.shape[0]):
                        row = table[p, pair]
                        for n in range(terms):
                            value = deficit(
                                data, Pair(far[e], aside[e], other - height, other + height,
                                diameter, rotor, thrust[p, n], turbulence[e]),
                            )  # fmt: skip
                            for j in range(terms):
                                row[j] += to_powers[j, n] * term(value)

    return {"see": see, "fit": fit}


# The numbers of a change in one wind state: before and after; then the powers of the place in the table.
OLD_CT, NEW_CT, OLD_TI, NEW_TI, OLD_SCALE, NEW_SCALE, NEW_POWERS, OLD_POWERS = 0, 1, 2, 3, 4, 5, 6, 12
# Its whole numbers: a wind state that has changed, and the pieces of the table.
WHICH, OLD_PIECE, NEW_PIECE = 0, 1, 2


@inlined
def to_powers(wakes, change, change_at, k):
    """Fill in the pieces and powers of the new and old thrust; within one piece, their difference is one polynomial."""
    last = wakes.table.shape[0] - 1
    at = (change[k, NEW_CT] - wakes.lowest_thrust) * wakes.per_piece
    piece = min(max(int(at), 0), last)
    t = 2.0 * (at - piece) - 1.0
    power = change[k, NEW_SCALE]
    for j in range(COEFFICIENTS):
        change[k, NEW_POWERS + j] = power
        power *= t
    change_at[k, NEW_PIECE], change_at[k, OLD_PIECE] = piece, -1
    if change[k, OLD_SCALE] == 0.0:
        return
    at = (change[k, OLD_CT] - wakes.lowest_thrust) * wakes.per_piece
    before = min(max(int(at), 0), last)
    t = 2.0 * (at - before) - 1.0
    power = change[k, OLD_SCALE]
    first = NEW_POWERS if before == piece else OLD_POWERS
    if before != piece:
        change_at[k, OLD_PIECE] = before
        for j in range(COEFFICIENTS):
            change[k, OLD_POWERS + j] = 0.0
    for j in range(COEFFICIENTS):
        change[k, first + j] -= power
        power *= t


@inlined
def add_changes(table, change, change_at, count, pairs, targets, found, sums):
    """Add the changes of so many pairs' wakes to the sums (target, wind speed) of their targets.

    Targets are innermost: what does not depend on them stays in registers, and no sum waits for another.
    """
    for m in range(count):
        k = np.uint64(change_at[m, WHICH])
        p = change[k]
        a0, a1, a2, a3, a4, a5 = p[6], p[7], p[8], p[9], p[10], p[11]
        new = table[np.uint64(change_at[k, NEW_PIECE])]
        if change_at[k, OLD_PIECE] < 0:
            for n in range(found):
                c = new[pairs[n]]
                sums[targets[n], k] += c[0] * a0 + c[1] * a1 + c[2] * a2 + c[3] * a3 + c[4] * a4 + c[5] * a5
            continue
        b0, b1, b2, b3, b4, b5 = p[12], p[13], p[14], p[15], p[16], p[17]
        old = table[np.uint64(change_at[k, OLD_PIECE])]
        for n in range(found):
            c, e = new[pairs[n]], old[pairs[n]]
            value = c[0] * a0 + c[1] * a1 + c[2] * a2 + c[3] * a3 + c[4] * a4 + c[5] * a5
            value += e[0] * b0 + e[1] * b1 + e[2] * b2 + e[3] * b3 + e[4] * b4 + e[5] * b5
            sums[targets[n], k] += value


@inlined
def look_up(wakes, pair, thrust):
    """Return a pair's wake at a thrust coefficient."""
    at = (thrust - wakes.lowest_thrust) * wakes.per_piece
    piece = min(max(int(at), 0), wakes.table.shape[0] - 1)
    t = 2.0 * (at - piece) - 1.0
    c = wakes.table[np.uint64(piece), np.uint64(pair)]
    return c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5]))))
