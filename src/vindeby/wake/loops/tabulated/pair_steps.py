"""The steps of the tabulated loops: finding pairs, reading their tables, settling a turbine, adding a wake.

Each is put whole into the loops of ``tabulated``. They are written so that a compiler can make vector instructions
of them: strides are constants, indices unsigned (no test for negative ones), wind speeds or thrust nodes innermost
and contiguous, square roots apart from what cannot be vectorised.
"""

from __future__ import annotations

import numpy as np

from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.loops.tabulated.pair_tables import LINE, NODES, PAGE
from vindeby.wake.loops.tabulated.splines import slope_weights, weights
from vindeby.wake.turbines.curves import COLUMNS

# What tables hold; ``WakeModel`` refuses them to models of any other way of adding wakes.
_TOGETHER = superposition_of_words("squares", "free")
_term, _term_back = _TOGETHER.term, _TOGETHER.term_back
_wind_speed, _wind_speed_back = _TOGETHER.wind_speed, _TOGETHER.wind_speed_back


@inlined
def find_pairs(tables, farm):
    """List the pairs that see each other: those of ``a`` are ``other[first[a]:first[a + 1]]``, all after it."""
    type_index, order, along, across = farm.type_index, farm.order, farm.along, farm.across
    first, other = farm.first, farm.other
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
                pair = type_index[order[a]] * tables.types + type_index[order[b]]
                other[count] = b
                count += abs(across[b] - side) < tables.reach[pair] + tables.reach_slope[pair] * (
                    along[b] - place
                )
    first[n] = count
    return count


@inlined
def outside(tables, source, far):
    """Whether a pair is too near or too far for the table."""
    return far < tables.nearest[source] or far >= tables.farthest[source]


@inlined
def read(tables, farm, a, b, row):
    """The pair's coefficients along the thrust axis, for all wind speeds."""
    source = farm.type_index[farm.order[a]]
    far, aside = farm.along[b] - farm.along[a], abs(farm.across[b] - farm.across[a])
    if outside(tables, source, far):
        return
    pair = source * tables.types + farm.type_index[farm.order[b]]
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
def read_with_slopes(tables, farm, a, b, rows):
    """The same, then the slopes with downwind and with crosswind distance: three rows, one after another."""
    source = farm.type_index[farm.order[a]]
    far, aside = farm.along[b] - farm.along[a], abs(farm.across[b] - farm.across[a])
    if outside(tables, source, far):
        return
    pair = source * tables.types + farm.type_index[farm.order[b]]
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
        line = e * LINE
        here, rise, run = p[e], dp[e] * u_far, p[e] * v_far
        out = p[e] * v_aside
        for m in range(NODES):
            t0, t1, t2, t3 = (
                t[line + m],
                t[line + NODES + m],
                t[line + 2 * NODES + m],
                t[line + 3 * NODES + m],
            )
            value = q[0] * t0 + q[1] * t1 + (q[2] * t2 + q[3] * t3)
            slope = dq[0] * t0 + dq[1] * t1 + (dq[2] * t2 + dq[3] * t3)
            rows[m] += here * value
            rows[NODES + m] += rise * value + run * slope
            rows[2 * NODES + m] += out * slope


@inlined
def settle(machines, tables, type_index, states, summed, u, node, share):
    """A turbine's wind speed and place on the thrust axis, once its wakes are summed; returns its mean power.

    ``share`` holds the first weight of all wind speeds, then the second, third and fourth.
    """
    per_speed, last = machines.per_speed[type_index], machines.bucket_count[type_index] - 1
    bucket, piece = machines.bucket[machines.bucket_first[type_index] :], machines.piece
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
def settle_like(farm, other, a, count):
    """Give a turbine that stands in no wake what another such turbine has made of the same wind."""
    for k in range(count):
        farm.u[a, k], farm.node[a, k] = farm.u[other, k], farm.node[other, k]
    for m in range(4):
        mine, its = farm.share[a, m], farm.share[other, m]
        for k in range(count):
            mine[k] = its[k]


@inlined
def add_wake(row, node, share, summed):
    """Add one wake to the sums of squares of all wind speeds."""
    s0, s1, s2, s3 = share[0], share[1], share[2], share[3]
    for k in range(node.size):
        m = node[k]
        value = (s0[k] * row[m] + s1[k] * row[m + 1]) + (s2[k] * row[m + 2] + s3[k] * row[m + 3])
        summed[k] += _term(value)


@inlined
def slopes_of_shares(share, slope):
    """The slopes of a turbine's weights with its place on the thrust axis."""
    for k in range(share.shape[1]):
        # B-splines reproduce a straight line, so the weights tell where they were taken.
        t = 2.0 * share[3, k] + share[2, k] - share[0, k]
        slope[0, k], slope[1, k], slope[2, k], slope[3, k] = slope_weights(t)


@inlined
def settle_back(machines, tables, type_index, states, counts, summed, u, of_t, of_summed):
    """The share of a turbine's sum of squares in the total, from those of its power and its thrust."""
    per_speed, last = machines.per_speed[type_index], machines.bucket_count[type_index] - 1
    bucket, piece = machines.bucket[machines.bucket_first[type_index] :], machines.piece
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
def wake_back(rows, node, share, slope, of_summed, of_t):
    """One wake on the way back: adds to the source's thrust, returns the shares of both distances."""
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
