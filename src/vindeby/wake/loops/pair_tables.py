"""Tables of everything about a pair of turbines that does not depend on the wind speed.

Where turbulence is the same in all wind states, the deficit that one turbine type casts on another is a function of
three numbers: downwind distance, crosswind distance and thrust coefficient. It is tabulated as a tensor B-spline
in

    x/(x + 30 D)   from 1 to 400 diameters downwind,
    |y|/(a + b x)  up to where the wake ends: the line is a tangent to the model's (concave) reach, so it lies
                   above it everywhere (from 1 D on) and also tells which pairs see each other,
    t(ct)          the thrust variable of ``curves``.

The thrust axis is innermost: for a pair, the first two are worked out once and give a short row of coefficients,
from which every wind speed takes four. With the sizes below the deficit is right to about 1e-6 at worst (close
behind a rotor) and 4e-8 on average; pairs outside the table are computed directly.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.models.contract import ModelData, Pair, WakeModel, once_per_model
from vindeby.wake.models.overlap import coefficients, slope_weights, weights
from vindeby.wake.turbines.curves import COLUMNS, thrust_variable
from vindeby.wake.turbines.turbine import Turbine

NEAREST, FARTHEST, MIDDLE, TANGENT = 1.0, 400.0, 30.0, 30.0
DOWNWIND_POINTS, CROSSWIND_POINTS, THRUST_POINTS = 56, 72, 22
NODES = THRUST_POINTS + 2
"""Coefficients along the thrust axis; an even number fills the processor's registers."""
LINE = (CROSSWIND_POINTS + 3) * NODES
PAGE = (DOWNWIND_POINTS + 3) * LINE
"""The strides of the other axes and of pairs of types; constants, so that loops vectorise."""
MOST_TYPES = 3
"""The most turbine types, as more would have too many pairs."""


class PairTables(NamedTuple):
    """Tables of all pairs of types; row ``source * types + target``, or one value per source type."""

    data: ModelData
    table: FloatArray
    reach: FloatArray
    reach_slope: FloatArray
    nearest: FloatArray
    farthest: FloatArray
    middle: FloatArray
    first_downwind: float
    per_downwind: float
    per_crosswind: float
    first_thrust: float
    per_thrust: float
    types: int


def can_tabulate(model: WakeModel, turbines: Sequence[Turbine], turbulence: FloatArray) -> bool:
    """Return whether tables hold for the model: one turbulence intensity, few types, no kink in thrust."""
    most_thrust = max(t.thrust_range()[1] for t in turbines)
    same = bool(turbulence.size) and bool(np.all(turbulence == turbulence[0]))
    return model.tabulate and same and len(turbines) <= MOST_TYPES and 0 < most_thrust < model.thrust_limit


@once_per_model
def _fill_kernel(model: WakeModel) -> Callable[..., tuple[float, float]]:
    deficit, reach = model.deficit, model.reach

    @kernel()
    def fill(data, downwind, beside, thrust, rise, heights, diameter, rotor, turbulence, at, out):
        """Fill in the deficits; return the line of the reach, constant and slope."""
        top, step = thrust[-1], 1e-3 * at
        here, above = reach(data, at, diameter, rotor, top, turbulence), 0.0
        slope = (
            reach(data, at + step, diameter, rotor, top, turbulence)
            - reach(data, at - step, diameter, rotor, top, turbulence)
        ) / (2.0 * step)
        # The difference quotient is a little off the slope; the line is raised until it is above the reach again.
        for i in range(downwind.size):
            line = here + slope * (downwind[i] - at)
            above = max(above, reach(data, downwind[i], diameter, rotor, top, turbulence) - line)
        constant = here + above - slope * at
        for i in range(downwind.size):
            edge = constant + slope * downwind[i]
            for j in range(beside.size):
                for k in range(thrust.size):
                    pair = Pair(
                        downwind[i], beside[j] * edge, rise, heights, diameter, rotor, thrust[k], turbulence
                    )
                    out[i, j, k] = deficit(data, pair)
        return constant, slope

    return fill


@lru_cache(maxsize=8)
def _table(
    model: WakeModel,
    source: tuple[float, float],
    target: tuple[float, float],
    turbulence: float,
    thrusts: tuple[float, float],
) -> tuple[FloatArray, float, float]:
    """Return the table of a pair of types, each (diameter, hub height): coefficients, and the line of the reach."""
    (diameter, height), (rotor, other) = source, target
    place = np.linspace(NEAREST / (NEAREST + MIDDLE), FARTHEST / (FARTHEST + MIDDLE), DOWNWIND_POINTS)
    downwind = diameter * MIDDLE * place / (1.0 - place)
    beside = np.linspace(0.0, 1.0, CROSSWIND_POINTS)
    t = np.linspace(thrust_variable(thrusts[0]), thrust_variable(thrusts[1]), THRUST_POINTS)
    thrust = (2.0 * t / (1.0 + t * t)) ** 2
    values = np.empty((DOWNWIND_POINTS, CROSSWIND_POINTS, THRUST_POINTS))
    constant, slope = _fill_kernel(model)(
        model.data, downwind, beside, thrust, other - height, other + height, diameter, rotor, turbulence,
        TANGENT * diameter, values,
    )  # fmt: skip
    smooth = coefficients(coefficients(coefficients(values, 0), 1, even=True), 2)[:, :, :NODES]
    return np.ascontiguousarray(smooth), constant, slope


def pair_tables(model: WakeModel, turbines: Sequence[Turbine], turbulence: float) -> PairTables:
    """Return the tables for these turbine types, cached ones if possible."""
    low = min(t.thrust_range()[0] for t in turbines)
    high = max(t.thrust_range()[1] for t in turbines)
    # A little wider, so that no thrust falls on the last point, and never of no width.
    thrusts = (max(0.0, low - 0.01), min(high + 0.01, 0.5 * (high + model.thrust_limit)))
    sizes = [(t.rotor_diameter_m, t.hub_height_m) for t in turbines]
    made = [_table(model, s, t, turbulence, thrusts) for s in sizes for t in sizes]
    diameter = np.array([d for d, _ in sizes])
    first, last = NEAREST / (NEAREST + MIDDLE), FARTHEST / (FARTHEST + MIDDLE)
    first_t, last_t = thrust_variable(thrusts[0]), thrust_variable(thrusts[1])
    return PairTables(
        data=model.data,
        table=np.concatenate([m[0].ravel() for m in made]),
        reach=np.array([m[1] for m in made]),
        reach_slope=np.array([m[2] for m in made]),
        nearest=NEAREST * diameter,
        farthest=FARTHEST * diameter,
        middle=MIDDLE * diameter,
        first_downwind=first,
        per_downwind=(DOWNWIND_POINTS - 1) / (last - first),
        per_crosswind=float(CROSSWIND_POINTS - 1),
        first_thrust=first_t,
        per_thrust=(THRUST_POINTS - 1) / (last_t - first_t),
        types=len(turbines),
    )


# Tables hold squares; ``WakeModel`` refuses them to models with another superposition.
_TOGETHER = superposition_of_words("squares", "free")
_term, _term_back = _TOGETHER.term, _TOGETHER.term_back
_wind_speed, _wind_speed_back = _TOGETHER.wind_speed, _TOGETHER.wind_speed_back


class PairRoom(NamedTuple):
    """The scratch arrays of a direction, by turbine from the first to the last, and wind speed.

    The pairs of turbine ``a`` are those with ``other[first[a]:first[a + 1]]``, all after it. ``summed`` and ``u``: sums
    of wakes and wind speeds; ``node`` and ``share``: the places on the thrust axis, and the four weights there.
    """

    first: IntArray
    other: npt.NDArray[np.uint32]
    summed: FloatArray
    u: FloatArray
    node: npt.NDArray[np.uint32]
    share: FloatArray
    adjoints: Any


@scalar
def new_pair_room(n: int, most: int, adjoints: Any) -> PairRoom:
    return PairRoom(
        np.empty(n + 1, np.int64), np.empty(n * (n - 1) // 2 + 1, np.uint32), np.empty((n, most)), np.empty((n, most)),
        np.empty((n, most), np.uint32), np.empty((n, 4, most)), adjoints,
    )  # fmt: skip


@inlined
def find_pairs(tables, turned, room):
    """List the pairs within the reach of a wake; return their number."""
    types, order, along, across = turned.types, turned.order, turned.along, turned.across
    first, other = room.first, room.other
    n = order.size
    count = 0
    for a in range(n):
        first[a] = count
        place, side = along[a], across[a]
        if tables.types == 1:
            reach, slope = tables.reach[0], tables.reach_slope[0]
            for b in range(a + 1, n):
                other[count] = b
                count += abs(across[b] - side) < reach + slope * (along[b] - place)
        else:
            for b in range(a + 1, n):
                pair = types[order[a]] * tables.types + types[order[b]]
                other[count] = b
                count += abs(across[b] - side) < tables.reach[pair] + tables.reach_slope[pair] * (
                    along[b] - place
                )
    first[n] = count
    return count


@inlined
def outside(tables, source, far):
    """Return whether a pair is too near or too far for the table."""
    return far < tables.nearest[source] or far >= tables.farthest[source]


@inlined
def read(tables, turned, a, b, row):
    """Read the pair's coefficients along the thrust axis, for all wind speeds, into ``row``."""
    source = turned.types[turned.order[a]]
    far, aside = turned.along[b] - turned.along[a], abs(turned.across[b] - turned.across[a])
    if outside(tables, source, far):
        return
    pair = source * tables.types + turned.types[turned.order[b]]
    u = (far / (far + tables.middle[source]) - tables.first_downwind) * tables.per_downwind
    v = aside / (tables.reach[pair] + tables.reach_slope[pair] * far) * tables.per_crosswind
    i, j = np.uint32(u), np.uint32(v)
    p, q = weights(u - i), weights(v - j)
    at = pair * PAGE + i * LINE + j * NODES
    t = tables.table[at : at + 3 * LINE + 4 * NODES]
    l1, l2, l3 = LINE, 2 * LINE, 3 * LINE
    n1, n2, n3 = NODES, 2 * NODES, 3 * NODES
    a0, a1, a2, a3 = p[0] * q[0], p[0] * q[1], p[0] * q[2], p[0] * q[3]
    b0, b1, b2, b3 = p[1] * q[0], p[1] * q[1], p[1] * q[2], p[1] * q[3]
    c0, c1, c2, c3 = p[2] * q[0], p[2] * q[1], p[2] * q[2], p[2] * q[3]
    d0, d1, d2, d3 = p[3] * q[0], p[3] * q[1], p[3] * q[2], p[3] * q[3]
    for m in range(NODES):
        row[m] = (
            ((a0 * t[m] + a1 * t[m + n1]) + (a2 * t[m + n2] + a3 * t[m + n3]))
            + ((b0 * t[m + l1] + b1 * t[m + l1 + n1]) + (b2 * t[m + l1 + n2] + b3 * t[m + l1 + n3]))
            + ((c0 * t[m + l2] + c1 * t[m + l2 + n1]) + (c2 * t[m + l2 + n2] + c3 * t[m + l2 + n3]))
            + ((d0 * t[m + l3] + d1 * t[m + l3 + n1]) + (d2 * t[m + l3 + n2] + d3 * t[m + l3 + n3]))
        )


@inlined
def read_with_slopes(tables, turned, a, b, rows):
    """Read the pair's coefficients and their slopes with both distances into ``rows``: three rows in sequence."""
    source = turned.types[turned.order[a]]
    far, aside = turned.along[b] - turned.along[a], abs(turned.across[b] - turned.across[a])
    if outside(tables, source, far):
        return
    pair = source * tables.types + turned.types[turned.order[b]]
    total = far + tables.middle[source]
    u = (far / total - tables.first_downwind) * tables.per_downwind
    edge = tables.reach[pair] + tables.reach_slope[pair] * far
    v = aside / edge * tables.per_crosswind
    i, j = np.uint32(u), np.uint32(v)
    p, q, dp, dq = weights(u - i), weights(v - j), slope_weights(u - i), slope_weights(v - j)
    u_far = tables.middle[source] / (total * total) * tables.per_downwind
    v_far = -v * tables.reach_slope[pair] / edge
    v_aside = tables.per_crosswind / edge
    at = pair * PAGE + i * LINE + j * NODES
    t = tables.table[at : at + 3 * LINE + 4 * NODES]
    for m in range(3 * NODES):
        rows[m] = 0.0
    for e in range(4):
        here, rise, run, out = p[e], dp[e] * u_far, p[e] * v_far, p[e] * v_aside
        for m in range(NODES):
            at = e * LINE + m
            t0, t1, t2, t3 = t[at], t[at + NODES], t[at + 2 * NODES], t[at + 3 * NODES]
            value = q[0] * t0 + q[1] * t1 + (q[2] * t2 + q[3] * t3)
            slope = dq[0] * t0 + dq[1] * t1 + (dq[2] * t2 + dq[3] * t3)
            rows[m] += here * value
            rows[NODES + m] += rise * value + run * slope
            rows[2 * NODES + m] += out * slope


@inlined
def settle(turbines, tables, type_index, states, room, a):
    """Compute a turbine's wind speed and thrust position from its summed wakes; return its mean power.

    ``share`` holds the first weight of all wind speeds, then the second, third and fourth.
    """
    summed, u, node, share = room.summed[a], room.u[a], room.node[a], room.share[a]
    per_speed, last = turbines.per_speed[type_index], turbines.bucket_count[type_index] - 1
    bucket, piece = turbines.bucket[turbines.bucket_first[type_index] :], turbines.piece
    speed, weight = states.speed, states.weight
    count = speed.size
    s0, s1, s2, s3 = share[0], share[1], share[2], share[3]
    for k in range(count):
        left = _wind_speed(speed[k], summed[k])
        u[k] = left if left > 0.0 else 0.0  # noqa: FURB136  a comparison vectorises, max does not
    power = 0.0
    for k in range(count):
        row = np.uint64(bucket[np.uint64(min(np.int64(u[k] * per_speed), last))])
        while u[k] >= piece[row + np.uint64(11)]:
            row += np.uint64(COLUMNS)
        c = piece[row : row + np.uint64(COLUMNS)]
        along = u[k] - c[10]
        power += weight[k] * (((c[3] * along + c[2]) * along + c[1]) * along + c[0])
        t = (((c[9] * along + c[8]) * along + c[7]) * along + c[6] - tables.first_thrust) * tables.per_thrust
        m = np.uint32(t)
        node[k] = m
        s0[k] = t - m
    for k in range(count):
        s0[k], s1[k], s2[k], s3[k] = weights(s0[k])
    return power


@inlined
def add_wake(row, node, share, summed):
    s0, s1, s2, s3 = share[0], share[1], share[2], share[3]
    for k in range(node.size):
        m = node[k]
        value = (s0[k] * row[m] + s1[k] * row[m + 1]) + (s2[k] * row[m + 2] + s3[k] * row[m + 3])
        summed[k] += _term(value)


@inlined
def slopes_of_shares(share, slope):
    """Fill the slopes of a turbine's weights with its position on the thrust axis."""
    for k in range(share.shape[1]):
        # B-splines reproduce a straight line, so the weights tell where they were taken.
        t = 2.0 * share[3, k] + share[2, k] - share[0, k]
        slope[0, k], slope[1, k], slope[2, k], slope[3, k] = slope_weights(t)


@inlined
def settle_back(turbines, tables, type_index, states, counts, room, a):
    """Compute the slope with a turbine's sum of squares from the slopes with its power and its thrust."""
    summed, u, of_t, of_summed = room.summed[a], room.u[a], room.adjoints.thrust[a], room.adjoints.summed[a]
    per_speed, last = turbines.per_speed[type_index], turbines.bucket_count[type_index] - 1
    bucket, piece = turbines.bucket[turbines.bucket_first[type_index] :], turbines.piece
    speed, weight = states.speed, states.weight
    for k in range(speed.size):
        row = bucket[min(np.int64(u[k] * per_speed), last)]
        while u[k] >= piece[row + 11]:
            row += np.uint32(COLUMNS)
        c = piece[row : row + COLUMNS]
        along = u[k] - c[10]
        slope_power = (3.0 * c[3] * along + 2.0 * c[2]) * along + c[1]
        slope_t = ((3.0 * c[9] * along + 2.0 * c[8]) * along + c[7]) * tables.per_thrust
        of_summed[k] = counts * weight[k] * slope_power + of_t[k] * slope_t
    for k in range(speed.size):
        of_sum = _wind_speed_back(of_summed[k], speed[k], summed[k])
        of_summed[k] = of_sum if u[k] > 0.0 else 0.0  # a stopped turbine stays stopped


@inlined
def wake_back(rows, room, source, target, count):
    """Add one wake's slope to the source's thrust; return the slopes with both distances."""
    node, share, slope = room.node[source, :count], room.share[source], room.adjoints.weight_slope[source]
    of_summed, of_t = room.adjoints.summed[target], room.adjoints.thrust[source]
    s0, s1, s2, s3 = share[0], share[1], share[2], share[3]
    d0, d1, d2, d3 = slope[0], slope[1], slope[2], slope[3]
    of_far = of_aside = 0.0
    for k in range(node.size):
        m = node[k]
        w0, w1, w2, w3 = s0[k], s1[k], s2[k], s3[k]
        r0, r1, r2, r3 = rows[m], rows[m + 1], rows[m + 2], rows[m + 3]
        of_value = _term_back(of_summed[k], (w0 * r0 + w1 * r1) + (w2 * r2 + w3 * r3))
        of_t[k] += of_value * ((d0[k] * r0 + d1[k] * r1) + (d2[k] * r2 + d3[k] * r3))
        m += np.uint32(NODES)
        of_far += of_value * ((w0 * rows[m] + w1 * rows[m + 1]) + (w2 * rows[m + 2] + w3 * rows[m + 3]))
        m += np.uint32(NODES)
        of_aside += of_value * ((w0 * rows[m] + w1 * rows[m + 1]) + (w2 * rows[m + 2] + w3 * rows[m + 3]))
    return of_far, of_aside
