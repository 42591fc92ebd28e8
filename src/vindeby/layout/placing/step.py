"""The steps of a smart start: a turbine comes, and all that follows from it.

Either its place is known, or the loop chooses it (``choosing``), and the next one's, and so on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vindeby.layout.placing.choosing import CHOSEN, FINISHED, choose
from vindeby.layout.placing.gathering import (
    make_begin_unwaked,
    make_pairs,
    make_pull,
    make_renew,
    make_spread_off_grid,
    make_spread_on_grid,
)
from vindeby.layout.placing.state import free_at, insert, keeps_turbulence, next_waiting, place_in_order
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.wind_access import Locality, identity_of, superposition_for
from vindeby.wake.models.contract import once_per_model
from vindeby.wake.turbines.curves import curves_at


@once_per_model
def placing_kernel(model: WakeModel, tabulated: bool, locality: Locality = "uniform") -> Callable[..., int]:
    """Compile the steps for a model: put turbine ``a``, whose place is in the state already, into the wind.

    If ``choosing`` has room for points, these are chosen, the first for turbine ``a``, and all but the last are put
    into the wind. What came of it is what ``choose`` says at the end.
    """
    place_in_direction = _make_place_in_direction(model, tabulated, locality)

    @kernel(f"{identity_of(model, locality)} {tabulated}", counts_references=False)
    def place(data, machines, wind, wakes, state, a, neighbours, choosing):
        while True:
            if choosing.chosen.size > 0:
                ended = choose(state, choosing, a)
                if ended != CHOSEN:
                    return ended
            for c in range(state.mark.size):
                state.mark[c] = -1
            for d in range(wind.cosine.size):
                place_in_direction(data, machines, wind, wakes, state, d, a, neighbours)
            if choosing.chosen.size == 0:
                return FINISHED
            a += 1

    return place


def _make_place_in_direction(model: WakeModel, tabulated: bool, locality: Locality) -> Callable[..., None]:
    pairs = make_pairs(model)
    pull, renew = make_pull(model, tabulated, pairs, locality), make_renew(model, tabulated, locality)
    begin_unwaked, adds = make_begin_unwaked(model, tabulated, locality), keeps_turbulence(model)
    spread_on_grid = make_spread_on_grid(tabulated, pairs)
    spread_off_grid = make_spread_off_grid(model, pairs, locality)
    value_points = _make_value_points(model, locality)

    @inlined
    def place_in_direction(data, machines, wind, wakes, state, d, a, neighbours):
        """Put a turbine into the wind of one direction."""
        state.dirty[0] = 0
        begin = insert(wind.cosine[d], wind.sine[d], state, d, a) if adds or neighbours > 0 else 0
        count, thrust, turbulence, b = 0, 0.0, 0.0, a
        if not pull(data, machines, wind, wakes, state, d, a, begin, neighbours):
            count = begin_unwaked(wind, wakes, state, d, a)
        unwaked = count > 0
        while b >= 0:
            if not unwaked:
                at = place_in_order(state, d, b, begin) if adds else 0
                count, thrust, turbulence = renew(data, machines, wind, wakes, state, d, b, at, b == a)
            if count > 0 and state.cell[b] >= 0:
                spread_on_grid(data, machines, wind, wakes, state, d, b, count, unwaked)
            if count > 0 and neighbours > 0:
                others = min(neighbours, a + 1) if state.cell[b] >= 0 else a + 1
                spread_off_grid(data, machines, wind, state, d, b, others, count, thrust, turbulence)
            b, unwaked = next_waiting(state), False
        value_points(machines, wind, state, d)

    return place_in_direction


def _make_value_points(model: WakeModel, locality: Locality) -> Callable[..., None]:
    wind_speed, free = superposition_for(model, locality).wind_speed, free_at(locality)
    point_speed, point_weight = free.point_speed, free.point_weight

    @inlined
    def value_points(machines, wind, state, d):
        """What each type would make at the points whose wakes have changed."""
        first, number, left = wind.first[d], wind.first[d + 1] - wind.first[d], state.speed
        # Apart, so that what cannot be vectorised does not hold up what can.
        for n in range(1, state.dirty[0] + 1):
            c = np.uint64(state.dirty[n])
            gathered = state.gathered[d, c]
            for k in range(number):
                left[n, k] = wind_speed(point_speed(wind, state, c, first + k), max(gathered[k], 0.0))
        for n in range(1, state.dirty[0] + 1):
            c = np.uint64(state.dirty[n])
            for t in range(machines.diameter.size):
                energy = 0.0
                for k in range(number):
                    energy += point_weight(wind, state, c, first + k) * curves_at(machines, t, left[n, k])[0]
                state.energy[c, t, d] = energy

    return value_points
