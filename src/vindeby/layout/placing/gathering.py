"""The wind at a turbine: the wakes it stands in, and what they make of its wind speed and thrust."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vindeby.layout.placing.free import free_at
from vindeby.layout.placing.pairs import Pairs
from vindeby.layout.placing.state import (
    NEW_CT,
    NEW_SCALE,
    NEW_TI,
    OLD_CT,
    OLD_SCALE,
    OLD_TI,
    WHICH,
    between,
    keeps_speed,
    keeps_turbulence,
    row_on_grid,
    rows_of,
)
from vindeby.layout.placing.thrust_pieces import look_up, to_powers
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.superposition import turbulence_in_wakes
from vindeby.wake.loops.wind_access import Locality, superposition_for
from vindeby.wake.models.contract import Pair
from vindeby.wake.turbines.curves import curves_at

__all__ = ["make_begin_unwaked", "make_pull", "make_renew"]


def make_pull(
    model: WakeModel, tabulated: bool, pairs: Pairs, locality: Locality = "uniform"
) -> Callable[..., bool]:
    """Make the step that gathers wakes at a new turbine."""
    pull_from, rotate_to_local_wind = (
        _make_pull_from(model, tabulated, pairs, locality),
        free_at(locality).rotate_to_local_wind,
    )

    @inlined
    def pull(data, machines, wind, wakes, state, d, a, at, neighbours):
        """Gather the wakes of all upwind turbines at a new one, whose sums are 0; whether it stands in any."""
        found = 0
        if state.cell[a] >= 0:
            places, upwind_of, cell = state.rows[0], state.reached[0], state.cell[a]
            row = row_on_grid(wakes, cell)
            for e in range(wakes.first_in_row[d, row], wakes.first_in_row[d, row + wakes.size]):
                there = state.occupant[np.uint64(cell - wakes.step[np.uint64(e)])]
                # Stored in any case, and overwritten by the next if not counted: no branch to guess wrong.
                places[found], upwind_of[found] = e, -there - 1
                found += there < 0
            for n in range(found):
                e, b = np.int64(places[n]), np.int64(upwind_of[n])
                pull_from(data, machines, wind, wakes, state, d, a, b, e, wakes.far[e], wakes.aside[e])
        state.waked[d, a] = found > 0 or neighbours > 0
        if neighbours == 0:
            return found > 0
        for upwind in range(at):
            b = state.order[d, upwind]
            if state.cell[a] < 0 or state.cell[b] < 0:
                far, aside = between(wind.cosine[d], wind.sine[d], state.place, b, state.place, a)
                far, aside = rotate_to_local_wind(state, b, wind.first[d], far, aside)
                if far > 1e-10:
                    pull_from(data, machines, wind, wakes, state, d, a, b, -1, far, aside)
        return True

    return pull


def _make_pull_from(
    model: WakeModel, tabulated: bool, pairs: Pairs, locality: Locality
) -> Callable[..., None]:
    computed, together = pairs.computed, superposition_for(model, locality)
    scale, term, free_speed = together.scale, together.term, free_at(locality).speed
    has_unwaked = tabulated and locality == "uniform"
    adds, scales, free_turbulence = keeps_turbulence(model), keeps_speed(model), free_at(locality).turbulence

    @inlined
    def pull_from(data, machines, wind, wakes, state, d, a, b, e, far, aside):
        """Add the wake of turbine ``b`` at turbine ``a``; ``e`` is its place in the table, if it has one."""
        first, types = wind.first[d], machines.diameter.size
        source, target = state.type_index[b], state.type_index[a]
        pair = (e * types + source) * types + target
        row = pair * wakes.pieces
        summed, (_, ct, u, ti) = state.turbine[d, a], rows_of(state, d, b)
        if has_unwaked and not state.waked[d, b]:
            for k in range(wind.first[d + 1] - first):
                free = free_speed(wind, state, b, first + k)
                summed[k] += wakes.unwaked.gathered[pair, k] * term(scale(free, free))
            return
        for k in range(wind.first[d + 1] - first):
            if tabulated and e >= 0:
                value = look_up(wakes.rotors, row, wakes, ct[k])
            else:
                turbulence = ti[k] if adds else free_turbulence(wind, state, b, first + k)
                value = computed(data, machines, far, aside, source, target, ct[k], turbulence)
            free = free_speed(wind, state, b, first + k)
            summed[k] += value * term(scale(u[k] if scales else free, free))

    return pull_from


def make_renew(
    model: WakeModel, tabulated: bool, locality: Locality = "uniform"
) -> Callable[..., tuple[int, float, float]]:
    """Make the step that follows a change of a turbine's wakes."""
    adds, scales = keeps_turbulence(model), keeps_speed(model)
    turbulence_at = _make_turbulence_at(model, locality)
    together, free = superposition_for(model, locality), free_at(locality)
    scale, term, wind_speed = together.scale, together.term, together.wind_speed
    free_speed, free_turbulence = free.speed, free.turbulence

    @inlined
    def renew(data, machines, wind, wakes, state, d, a, at, fresh):
        """Give a turbine its wind speed and thrust anew; say in how many states something has changed.

        What has is in ``state.change``; the largest thrust and turbulence of both before and after are
        returned too.
        """
        change, change_at, first, speeds = state.change, state.change_at, wind.first[d], state.speed[0]
        summed, thrust, u, ti = rows_of(state, d, a)
        kind, number = state.type_index[a], wind.first[d + 1] - first
        count = 0
        most_thrust = most_turbulence = 0.0
        # Apart, so that the wind speeds of one loop need not wait for each other.
        for k in range(number):
            speeds[k] = wind_speed(free_speed(wind, state, a, first + k), max(summed[k], 0.0))
        for k in range(number):
            change[k, NEW_CT] = curves_at(machines, kind, speeds[k])[1]
        for k in range(number):
            ct, speed = change[k, NEW_CT], free_speed(wind, state, a, first + k)
            turbulence = free_turbulence(wind, state, a, first + k)
            if adds:
                turbulence = turbulence_at(data, machines, wind, state, d, a, at, k)
            change[k, OLD_CT], change[k, NEW_TI] = thrust[k], turbulence
            change[k, OLD_TI] = ti[k] if adds else turbulence
            change[k, OLD_SCALE] = 0.0 if fresh else term(scale(u[k] if scales else speed, speed))
            change[k, NEW_SCALE] = term(scale(speeds[k], speed))
            thrust[k] = ct
            if scales:
                u[k] = speeds[k]
            if adds:
                ti[k] = turbulence
            if (
                change[k, OLD_CT] == ct
                and change[k, OLD_TI] == turbulence
                and change[k, OLD_SCALE] == change[k, NEW_SCALE]
            ):
                continue
            change_at[count, WHICH] = k
            count += 1
            most_thrust = max(most_thrust, ct, change[k, OLD_CT])
            most_turbulence = max(most_turbulence, turbulence, change[k, OLD_TI])
            if tabulated:
                to_powers(wakes, change, change_at, k)
        return count, most_thrust, most_turbulence

    return renew


def make_begin_unwaked(
    model: WakeModel, tabulated: bool, locality: Locality = "uniform"
) -> Callable[..., int]:
    """Make the step for a new turbine in no wake, where its wakes are tabulated (``unwaked_sources``)."""
    has_unwaked, scales = tabulated and locality == "uniform", keeps_speed(model)

    @inlined
    def begin_unwaked(wind, wakes, state, d, a):
        """Give a turbine the thrust of the free wind; say in how many states, 0 if it has to be worked out."""
        if not has_unwaked:
            return 0
        first, number, kind = wind.first[d], wind.first[d + 1] - wind.first[d], state.type_index[a]
        _, thrust, u, _ = rows_of(state, d, a)
        for k in range(number):
            thrust[k] = wakes.unwaked.thrust[kind, first + k]
            if scales:
                u[k] = wind.speed[first + k]
        return number

    return begin_unwaked


def _make_turbulence_at(model: WakeModel, locality: Locality) -> Callable[..., float]:
    added, turned_wakes = model.turbulence_functions[0], locality == "turned"
    free_turbulence, rotate_to_local_wind = (
        free_at(locality).turbulence,
        free_at(locality).rotate_to_local_wind,
    )

    @scalar
    def turbulence_at(data, machines, wind, state, d, a, at, k):
        """The largest addition of any upwind turbine, on top of the free wind's turbulence."""
        place, type_index = state.place, state.type_index
        most = 0.0
        s = wind.first[d] + k
        for upwind in range(at):
            b = state.order[d, upwind]
            far, aside = between(wind.cosine[d], wind.sine[d], place, b, place, a)
            far, aside = rotate_to_local_wind(state, b, s, far, aside)
            if turned_wakes and far <= 0.0:
                continue
            other, height = machines.hub_height[type_index[a]], machines.hub_height[type_index[b]]
            _, ct, _, ti = rows_of(state, d, b)
            plus = added(
                data, Pair(far, aside, other - height, other + height, machines.diameter[type_index[b]],
                machines.diameter[type_index[a]], ct[k], ti[k]),
                free_turbulence(wind, state, b, s),
            )  # fmt: skip
            most = max(most, plus)
        return turbulence_in_wakes(free_turbulence(wind, state, a, s), most)

    return turbulence_at
