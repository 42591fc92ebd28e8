"""The kernel for tabulated wakes (``loops.pair_tables``): one lane for each wind state of a job.

What a pair of turbines reads from the table does not depend on the wind speed, so it is read for all pairs of a job
before the walk: eight lanes for a pair, three of its coefficients along the thrust axis each. A lane then walks through
its wind state alone: a wake costs it four of these coefficients, and on the way back their slopes with both distances.
So lanes need not wait for each other. With one turbine type, a direction and its opposite are one job, as in
``loops.tabulated``. Where directions have few wind speeds, the lanes of a warp work on two or four jobs.

Rotors less than a diameter behind another, or very far from it, are not in the tables: outer pairs, which are listed
after all others. Their wakes are those of the model itself. Jobs that have some are walked through by loops of their
own: in one loop for all jobs, what outer pairs need was in the way of the others.

A job has room for as many pairs as ``room.other`` holds. One with more is evaluated without any, and ``most`` tells how
many it has.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import float64

from vindeby.arrays import FloatArray
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.gpu.devices import cuda_module
from vindeby.wake.gpu.turning import LANES, TurnedRoom, compiled_kernel, sort_downwind, total_of
from vindeby.wake.loops.frame import pair_of
from vindeby.wake.loops.pair_tables import LINE, NODES, PAGE, outside
from vindeby.wake.loops.superposition import superposition_of_words
from vindeby.wake.loops.wind import Turned, turn_back
from vindeby.wake.models.contract import WakeModel, once_per_model
from vindeby.wake.models.overlap import slope_weights, weights
from vindeby.wake.turbines.curves import curves_at, locate

cuda = cuda_module()

MOST_TURBINES = 2**16
PER_PAIR = 8
"""Lanes that read the table for a pair; each has every eighth coefficient. A job has at least so many."""
_TOGETHER = superposition_of_words("squares", "free")
_term, _term_back = _TOGETHER.term, _TOGETHER.term_back
_wind_speed, _wind_speed_back = _TOGETHER.wind_speed, _TOGETHER.wind_speed_back
# Places in arrays are unsigned: signed ones cost a test for negative places each.
_whole = np.uint64
_NODES, _LINE, _PAGE = map(_whole, (NODES, LINE, PAGE))
NUMBERS = 5
_TURBINE, _PLACE, _OF_PLACE, _ALONG, _ACROSS = (_whole(k * LANES) for k in (NUMBERS, 1, 2, 3, 4))
"""The stride of turbines in ``states``, and the offsets of a turbine's numbers."""
_LANES, _STEP, _ONE, _TWO, _THREE, _ENDS = map(_whole, (LANES, PER_PAIR, 1, 2, 3, 3 * NODES))


class Sources(NamedTuple):
    """The largest thrust coefficient of each turbine type, and the largest turbulence of all wind states."""

    most_thrust: FloatArray
    most_turbulence: float


class TableRoom(NamedTuple):
    """The buffers of the running jobs, by job; or those of one job, with its layout ``turned``.

    ``first``: where the pairs of each turbine begin in ``source`` and ``other``, then its outer ones. ``rows``: the
    coefficients of each pair, and of its slopes with both distances. ``states``: numbers of each turbine, by lane. They
    are the sum of squares (for the way back, the slope of the total with it), the place on the thrust axis, what the
    slope with this place adds to that with the sum, and the slopes with both coordinates. ``thrust``: coefficients by
    turbine and lane, where there are outer pairs. Both are those of all jobs of a block.
    """

    turned: TurnedRoom | Turned
    first: npt.NDArray[np.uint64]
    source: npt.NDArray[np.uint16]
    other: npt.NDArray[np.uint16]
    rows: FloatArray
    states: FloatArray
    thrust: FloatArray


def _make_list_pairs(model: WakeModel) -> Callable[..., tuple[int, int]]:
    reach = model.reach

    @scalar
    def list_pairs(tables, turbines, sources, job, a, at, outer_at):
        """List the rotors in the wake of ``a``, as space allows; return their number, and that of outer ones.

        Where the table ends, wakes reach less far than it is wide.
        """
        turned, source, other = job.turned, job.source, job.other
        along, across, types, order = turned.along, turned.across, turned.types, turned.order
        kind, place, side, found, outer = types[order[a]], along[a], across[a], 0, 0
        diameter, most_thrust = turbines.diameter[kind], sources.most_thrust[kind]
        for b in range(a + 1, order.size):
            rotor, far, aside = types[order[b]], along[b] - place, abs(across[b] - side)
            pair = kind * tables.types + rotor
            if aside < tables.reach[pair] + tables.reach_slope[pair] * far:
                if not outside(tables, kind, far):
                    if at + found < other.size:
                        source[at + found], other[at + found] = a, b
                    found += 1
                elif aside < reach(
                    tables.data, far, diameter, turbines.diameter[rotor], most_thrust, sources.most_turbulence
                ):
                    if outer_at + outer < other.size:
                        other[outer_at + outer] = b
                    outer += 1
        return found, outer

    return list_pairs


@inlined
def _on_line(table, at, q, dq):
    """Return the coefficient at one point of the downwind axis, and its partial derivative crosswind."""
    t0, t1, t2, t3 = table[at], table[at + _NODES], table[at + _TWO * _NODES], table[at + _ENDS]
    return q[0] * t0 + q[1] * t1 + (q[2] * t2 + q[3] * t3), dq[0] * t0 + dq[1] * t1 + (
        dq[2] * t2 + dq[3] * t3
    )


def _make_outer(model: WakeModel) -> tuple[Callable[..., float], Callable[..., tuple[float, ...]]]:
    """Make the functions for the wake of an outer pair and its partial derivatives; ``b`` is downwind of ``a``."""
    deficit, slopes_of = model.deficit, model.deficit_with_slopes

    @scalar
    def outer_wake(tables, turbines, turned, a, b, thrust, turbulence):
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        return deficit(tables.data, pair_of(turbines, turned, a, b, far, aside, thrust, turbulence))

    @scalar
    def outer_slopes(tables, turbines, turned, a, b, thrust, turbulence, of_summed):
        far, aside = turned.along[b] - turned.along[a], turned.across[b] - turned.across[a]
        thrust = min(max(thrust, 1e-12), 1.0 - 1e-12)
        pair = pair_of(turbines, turned, a, b, far, aside, thrust, turbulence)
        value, of_far, of_aside, of_thrust, _ = slopes_of(tables.data, pair)
        of_value = _term_back(of_summed, value)
        t = sqrt(thrust) / (1.0 + sqrt(1.0 - thrust))
        per_place = 4.0 * sqrt(thrust * (1.0 - thrust)) / ((1.0 + t * t) * tables.per_thrust)
        return of_value * of_thrust * per_place, of_value * of_far, of_value * of_aside

    return outer_wake, outer_slopes


def _make_put_rows(*, gradient: bool) -> Callable[..., None]:
    wide = _ENDS if gradient else _NODES

    @scalar
    def put_rows(tables, turned, job, pairs, lane, lanes):
        """Read the coefficients of all pairs from the table; the crosswind slope has the sign of the distance."""
        table, along, across = tables.table, turned.along, turned.across
        for p in range(_whole(lane // PER_PAIR), pairs, _whole(lanes // PER_PAIR)):
            a, b, begin = job.source[p], job.other[p], lane % PER_PAIR
            kind = turned.types[turned.order[a]]
            pair = kind * tables.types + turned.types[turned.order[b]]
            far, aside = along[b] - along[a], across[b] - across[a]
            per_total, slope = 1.0 / (far + tables.middle[kind]), tables.reach_slope[pair]
            per_edge = 1.0 / (tables.reach[pair] + slope * far)
            u = (far * per_total - tables.first_downwind) * tables.per_downwind
            v = abs(aside) * per_edge * tables.per_crosswind
            i, j = _whole(u), _whole(v)
            p0, p1, p2, p3 = weights(u - i)
            d0, d1, d2, d3 = slope_weights(u - i)
            q, dq = weights(v - j), slope_weights(v - j)
            u_far = tables.middle[kind] * per_total * per_total * tables.per_downwind
            v_far, v_aside = -v * slope * per_edge, tables.per_crosswind * per_edge
            v_aside = v_aside if aside >= 0.0 else -v_aside
            at = _whole(pair) * _PAGE + i * _LINE + j * _NODES + _whole(begin)
            out = p * wide + _whole(begin)
            for _ in range(NODES // PER_PAIR):
                r0, s0 = _on_line(table, at, q, dq)
                r1, s1 = _on_line(table, at + _LINE, q, dq)
                r2, s2 = _on_line(table, at + _TWO * _LINE, q, dq)
                r3, s3 = _on_line(table, at + _THREE * _LINE, q, dq)
                job.rows[out] = p0 * r0 + p1 * r1 + (p2 * r2 + p3 * r3)
                if gradient:
                    rise, run = (
                        d0 * r0 + d1 * r1 + (d2 * r2 + d3 * r3),
                        p0 * s0 + p1 * s1 + (p2 * s2 + p3 * s3),
                    )
                    job.rows[out + _NODES] = u_far * rise + v_far * run
                    job.rows[out + _TWO * _NODES] = v_aside * run
                at += _STEP
                out += _STEP

    return put_rows


@inlined
def _four(rows, at, w):
    return w[0] * rows[at] + w[1] * rows[at + _ONE] + (w[2] * rows[at + _TWO] + w[3] * rows[at + _THREE])


@inlined
def _curves(turbines, kind, u):
    row, piece = locate(turbines, kind, u), turbines.piece
    p0, p1, p2, p3 = piece[row], piece[row + _ONE], piece[row + _TWO], piece[row + _THREE]
    row += _whole(6)
    t0, t1, t2, t3 = piece[row], piece[row + _ONE], piece[row + _TWO], piece[row + _THREE]
    x = u - piece[row + _whole(4)]
    return (
        ((p3 * x + p2) * x + p1) * x + p0,
        ((t3 * x + t2) * x + t1) * x + t0,
        (3.0 * p3 * x + 2.0 * p2) * x + p1,
        (3.0 * t3 * x + 2.0 * t2) * x + t1,
    )


def _make_walks(  # noqa: C901  two loops and what they share
    model: WakeModel, *, gradient: bool, outer: bool
) -> tuple[Callable[..., float], Callable[..., float]]:
    """Make the walks of a lane in wind state ``s``, and in one of the opposite direction, with the pairs swapped."""
    wide, (outer_wake, _) = _ENDS if gradient else _NODES, _make_outer(model)

    @inlined
    def settle(tables, turbines, kind, free, share, taken, job, a, lane):
        """Compute a turbine's power from its summed wakes, and its position on the thrust axis."""
        u, states, at = max(_wind_speed(free, taken), 0.0), job.states, a * _TURBINE + lane
        made, t, made_slope, t_slope = _curves(turbines, kind, u)
        states[at + _PLACE] = place = (t - tables.first_thrust) * tables.per_thrust
        if outer:
            job.thrust[a * _LANES + lane] = curves_at(turbines, kind, u)[1]
        if gradient:
            # A stopped turbine stays stopped.
            of_summed = _wind_speed_back(1.0, free, taken) if u > 0.0 else 0.0
            states[at] = share * made_slope * of_summed
            states[at + _OF_PLACE] = t_slope * tables.per_thrust * of_summed
        return share * made, place

    @scalar
    def ahead(tables, turbines, turned, job, wind, s, lane, counted):
        power, n, rows, states, first = 0.0, _whole(turned.order.size), job.rows, job.states, job.first
        for a in range(n):
            states[a * _TURBINE + lane] = 0.0
        for a in range(n):
            i, at = turned.order[a], a * _TURBINE + lane
            share, kind = wind.weight[s] if i < counted else 0.0, turned.types[i]
            made, place = settle(tables, turbines, kind, wind.speed[s], share, states[at], job, a, lane)
            power += made
            m = _whole(place)
            w = weights(place - m)
            for p in range(first[a], first[a + _ONE]):
                there = _whole(job.other[p]) * _TURBINE + lane
                states[there] += _term(_four(rows, p * wide + m, w))
            if outer:
                for p in range(first[n + a], first[n + a + _ONE]):
                    thrust, b = job.thrust[a * _LANES + lane], _whole(job.other[p])
                    wake = outer_wake(tables, turbines, turned, a, b, thrust, wind.turbulence[s])
                    states[b * _TURBINE + lane] += _term(wake)
        return power

    @scalar
    def behind(tables, turbines, turned, job, wind, s, lane, counted):
        power, n, rows, states, first = 0.0, _whole(turned.order.size), job.rows, job.states, job.first
        for step in range(n):
            a, taken = n - _ONE - step, 0.0
            for p in range(first[a], first[a + _ONE]):
                place = states[_whole(job.other[p]) * _TURBINE + lane + _PLACE]
                m = _whole(place)
                taken += _term(_four(rows, p * wide + m, weights(place - m)))
            if outer:
                for p in range(first[n + a], first[n + a + _ONE]):
                    b = _whole(job.other[p])
                    thrust = job.thrust[b * _LANES + lane]
                    taken += _term(outer_wake(tables, turbines, turned, a, b, thrust, wind.turbulence[s]))
            i = turned.order[a]
            share, kind = wind.weight[s] if i < counted else 0.0, turned.types[i]
            power += settle(tables, turbines, kind, wind.speed[s], share, taken, job, a, lane)[0]
        return power

    return ahead, behind


@inlined
def _slopes_of_pair(rows, row, place, of_summed):
    """Return the partial derivatives of the total by a source's thrust position and both distances of a pair."""
    m = _whole(place)
    row += m
    w, d = weights(place - m), slope_weights(place - m)
    far, aside = _four(rows, row + _NODES, w), _four(rows, row + _TWO * _NODES, w)
    of_value = _term_back(of_summed, _four(rows, row, w))
    return of_value * _four(rows, row, d), of_value * far, of_value * aside


def _make_walk_back(model: WakeModel, *, is_ahead: bool, outer: bool) -> Callable[..., None]:
    outer_slopes = _make_outer(model)[1]

    @scalar
    def walk_back(tables, turbines, turned, job, turbulence, lane, n):
        rows, states, first = job.rows, job.states, job.first
        for step in range(n):
            a = n - _ONE - step if is_ahead else step
            at, along, across, of_place = a * _TURBINE + lane, 0.0, 0.0, 0.0
            here, place = states[at], states[at + _PLACE]
            for p in range(first[a], first[a + _ONE]):
                there = _whole(job.other[p]) * _TURBINE + lane
                # All that is read is read first: what is written might be the same memory to a compiler.
                summed, of_along, of_across = states[there], states[there + _ALONG], states[there + _ACROSS]
                if is_ahead:
                    of_t, of_far, of_aside = _slopes_of_pair(rows, p * _ENDS, place, summed)
                    of_place += of_t
                else:
                    other = states[there + _PLACE], states[there + _OF_PLACE]
                    of_t, of_far, of_aside = _slopes_of_pair(rows, p * _ENDS, other[0], here)
                    states[there] = summed + of_t * other[1]
                along += of_far
                across += of_aside
                states[there + _ALONG] = of_along + of_far
                states[there + _ACROSS] = of_across + of_aside
            if outer:
                for p in range(first[n + a], first[n + a + _ONE]):
                    b = _whole(job.other[p])
                    there = b * _TURBINE + lane
                    thrust = job.thrust[(a if is_ahead else b) * _LANES + lane]
                    of_summed = states[there] if is_ahead else here
                    of_t, of_far, of_aside = outer_slopes(
                        tables, turbines, turned, a, b, thrust, turbulence, of_summed
                    )
                    if is_ahead:
                        of_place += of_t
                    else:
                        states[there] += of_t * states[there + _OF_PLACE]
                    along += of_far
                    across += of_aside
                    states[there + _ALONG] += of_far
                    states[there + _ACROSS] += of_aside
            if is_ahead:
                states[at] = here + of_place * states[at + _OF_PLACE]
            states[at + _ALONG] -= along
            states[at + _ACROSS] -= across

    return walk_back


def _make_both_ways(model: WakeModel, *, gradient: bool, outer: bool) -> Callable[..., float]:
    """Make the walks of a lane through its wind states of a direction, and of the opposite direction."""
    ahead, behind = _make_walks(model, gradient=gradient, outer=outer)
    ahead_back, behind_back = (
        _make_walk_back(model, is_ahead=is_ahead, outer=outer) for is_ahead in (True, False)
    )

    @scalar
    def walk(tables, turbines, turned, job, wind, d, opposite, index, lanes, lane, counted):
        power, n = 0.0, _whole(turned.order.size)
        for s in range(wind.first[d] + index, wind.first[d + 1], lanes):
            power += ahead(tables, turbines, turned, job, wind, s, lane, counted)
            if gradient:
                ahead_back(tables, turbines, turned, job, wind.turbulence[s], lane, n)
        if opposite >= 0:
            for s in range(wind.first[opposite] + index, wind.first[opposite + 1], lanes):
                power += behind(tables, turbines, turned, job, wind, s, lane, counted)
                if gradient:
                    behind_back(tables, turbines, turned, job, wind.turbulence[s], lane, n)
        return power

    return walk


@scalar
def _begin_pairs(first, n, most):
    """Turn counts of pairs into start indices, all 0 if there are more than ``most``; return the number of pairs."""
    total = 0
    for a in range(n):
        total += first[a]
        first[a] = total - first[a]
    first[n] = total
    if total > most:
        for a in range(n + 1):
            first[a] = 0
    return total


@scalar
def _slopes_of_turbine(job, a, cosine, sine, first, last):
    along = across = 0.0
    for lane in range(first, last):
        at = _whole(a) * _TURBINE + _whole(lane)
        along += job.states[at + _ALONG]
        across += job.states[at + _ACROSS]
    return turn_back(cosine, sine, along, across)


@once_per_model
def by_table_kernel(model: WakeModel, *, gradient: bool, registers: int) -> Callable[..., None]:  # noqa: C901
    list_pairs, put_rows = _make_list_pairs(model), _make_put_rows(gradient=gradient)
    walk, walk_outer = (_make_both_ways(model, gradient=gradient, outer=outer) for outer in (False, True))

    def kernel(tables, turbines, sources, wind, pairs, layouts, room, lanes, sums, most):
        powers = cuda.shared.array(LANES, float64)
        thread, slots, block = cuda.threadIdx.x, LANES // lanes, cuda.blockIdx.x
        index, slot, lane = thread % lanes, thread // lanes, _whole(thread)
        own, first_lane = block * slots + slot, slot * lanes
        key, order = room.turned.key[own], room.turned.order[own]
        counted, n, each = layouts.counted, order.size, pairs.ahead.size
        jobs = layouts.x.shape[0] * each
        for at in range(block * slots, jobs, cuda.gridDim.x * slots):
            number = min(at + slot, jobs - 1)  # the last job may be evaluated twice
            layout, q = number // each, number % each
            d, opposite = pairs.ahead[q], pairs.behind[q]
            x, y, cosine, sine = layouts.x[layout], layouts.y[layout], wind.cosine[d], wind.sine[d]
            turned = Turned(layouts.types[layout], order, room.turned.along[own], room.turned.across[own])
            job = TableRoom(
                turned, room.first[own], room.source[own], room.other[own], room.rows[own], room.states[block],
                room.thrust[block],
            )  # fmt: skip
            sort_downwind(x, y, cosine, sine, index, lanes, key, turned)
            for a in range(index, n, lanes):
                none = job.other.size  # to count them, list none
                job.first[a], job.first[n + a] = list_pairs(tables, turbines, sources, job, a, none, none)
            cuda.syncthreads()
            if index == 0:
                cuda.atomic.max(most, 0, _begin_pairs(job.first, 2 * n, job.other.size))
            cuda.syncthreads()
            for a in range(index, n, lanes):
                begin, outer = np.int64(job.first[a]), np.int64(job.first[n + a])
                list_pairs(tables, turbines, sources, job, a, begin, outer)
            if gradient:
                for a in range(_whole(n)):
                    of_turbine = a * _TURBINE + lane
                    job.states[of_turbine + _ALONG] = job.states[of_turbine + _ACROSS] = 0.0
            cuda.syncthreads()
            put_rows(tables, turned, job, job.first[n], index, lanes)
            cuda.syncthreads()
            if job.first[n] == job.first[2 * n]:
                power = walk(tables, turbines, turned, job, wind, d, opposite, index, lanes, lane, counted)
            else:
                power = walk_outer(
                    tables, turbines, turned, job, wind, d, opposite, index, lanes, lane, counted
                )
            powers[thread] = power
            cuda.syncthreads()
            if index == 0:
                sums.power[layout, q] = total_of(powers, first_lane, first_lane + lanes)
            if gradient:
                for a in range(index, n, lanes):
                    if order[a] < counted:
                        of_x, of_y = _slopes_of_turbine(job, a, cosine, sine, first_lane, first_lane + lanes)
                        sums.of_x[layout, q, order[a]] = of_x
                        sums.of_y[layout, q, order[a]] = of_y
            cuda.syncthreads()

    return compiled_kernel(kernel, registers)
