"""The wind at a turbine: the wakes it stands in, and what they make of its wind speed and thrust."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vindeby.layout.placing.state import (
    NEW_CT,
    NEW_SCALE,
    NEW_TI,
    OLD_CT,
    OLD_SCALE,
    OLD_TI,
    WHICH,
    between,
    free_at,
    keeps_speed,
    keeps_turbulence,
    mark_dirty,
    row_on_grid,
    rows_of,
    wait,
)
from vindeby.layout.placing.unwaked_sources import add_changes, add_rows, look_up, to_powers
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.superposition import superposition_of, turbulence_in_wakes
from vindeby.wake.loops.wind_access import Locality, superposition_for
from vindeby.wake.models.contract import Pair
from vindeby.wake.turbines.curves import curves_at


class Pairs(NamedTuple):
    """What the wake of a pair adds to a sum, and by how much that has changed."""

    computed: Callable[..., float]
    compute_change: Callable[..., float]


def make_pairs(model: WakeModel) -> Pairs:
    """Make the functions for a model; their results are still to be multiplied by the scale of the source."""
    deficit, term = model.deficit, superposition_of(model).term

    @scalar
    def computed(data, machines, far, aside, source, target, thrust, turbulence):
        """The deficit, or its square, of a pair; ``target`` -1 is a point at the hub height of type 0."""
        rotor = machines.diameter[target] if target >= 0 else 0.0
        other, height = machines.hub_height[max(target, 0)], machines.hub_height[source]
        value = deficit(
            data, Pair(far, aside, other - height, other + height, machines.diameter[source], rotor, thrust, turbulence)
        )  # fmt: skip
        return term(value)

    @scalar
    def compute_change(data, machines, far, aside, source, target, change, k):
        """What a pair's wake has changed by, computed."""
        new_thrust, new_turbulence = change[k, NEW_CT], change[k, NEW_TI]
        value = change[k, NEW_SCALE] * computed(
            data, machines, far, aside, source, target, new_thrust, new_turbulence
        )
        if change[k, OLD_SCALE] != 0.0:
            value -= change[k, OLD_SCALE] * computed(
                data, machines, far, aside, source, target, change[k, OLD_CT], change[k, OLD_TI]
            )
        return value

    return Pairs(computed, compute_change)


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


def make_spread_on_grid(tabulated: bool, pairs: Pairs) -> Callable[..., None]:
    """Make the step for what stands on the grid."""
    compute_change = pairs.compute_change

    @inlined
    def spread_on_grid(data, machines, wind, wakes, state, d, a, count, unwaked):
        """Pass a change on to the points and turbines of the grid in its wake.

        The change is in ``count`` states of ``state.change``, or in all where an ``unwaked`` turbine has come.
        """
        points, turbines = find_reached(machines, wakes, state, d, a)
        change, change_at, reached, rows = state.change, state.change_at, state.reached, state.rows
        for n in range(points):
            c = reached[0, n]
            if tabulated and unwaked and not state.touched[d, c]:
                for t in range(machines.diameter.size):
                    state.energy[c, t, d] = wakes.unwaked.energy[rows[0, n], t]
            else:
                mark_dirty(state.dirty, state.mark, c, d)
            state.touched[d, c] = True
        for n in range(turbines):
            wait(wind.cosine[d], wind.sine[d], state, np.int64(reached[1, n]))
            state.waked[d, reached[1, n]] = True
        if tabulated and unwaked:
            add_rows(wakes.unwaked.points, count, rows[0], reached[0], points, state.gathered[d])
            add_rows(wakes.unwaked.rotors, count, rows[1], reached[1], turbines, state.turbine[d])
            return
        if tabulated:
            for n in range(points):
                rows[0, n] *= wakes.pieces
            for n in range(turbines):
                rows[1, n] *= wakes.pieces
            add_changes(
                wakes.points, change, change_at, count, rows[0], reached[0], points, state.gathered[d]
            )
            add_changes(
                wakes.rotors, change, change_at, count, rows[1], reached[1], turbines, state.turbine[d]
            )
            return
        source = state.type_index[a]
        for n in range(points + turbines):
            of_turbine = n >= points
            i = n - points if of_turbine else n
            e, there = rows[1 if of_turbine else 0, i], reached[1 if of_turbine else 0, i]
            target = state.type_index[there] if of_turbine else -1
            sums = state.turbine[d, there] if of_turbine else state.gathered[d, there]
            for m in range(count):
                k = change_at[m, WHICH]
                sums[k] += compute_change(
                    data, machines, wakes.far[e], wakes.aside[e], source, target, change, k
                )

    return spread_on_grid


@inlined
def find_reached(machines, wakes, state, d, a):
    """List the free points and the turbines of the grid in the wake of a turbine; how many of each.

    Points come first in ``state.reached`` (their numbers) and in ``state.rows`` (which pair of the tables they are,
    or the offset where nothing is tabulated), then turbines.
    """
    source, cell, types = state.type_index[a], state.cell[a], machines.diameter.size
    row = wakes.size - 1 - row_on_grid(wakes, cell)
    free, free_row, standing, standing_row = state.reached[0], state.rows[0], state.reached[1], state.rows[1]
    found = points = turbines = 0
    for e in range(wakes.first_in_row[d, row], wakes.first_in_row[d, row + wakes.size]):
        there = state.occupant[np.uint64(cell + wakes.step[np.uint64(e)])]
        # Stored in any case, and overwritten by the next if not counted: no branch to guess wrong.
        state.found[found], state.found_at[found] = there, e
        found += there != 0
    for n in range(found):
        there, e = state.found[n], state.found_at[n]
        free[points], free_row[points] = there - 1, e
        standing[turbines], standing_row[turbines] = -there - 1, e
        points += there > 0
        turbines += there < 0
    if wakes.points.size:
        for n in range(points):
            free_row[n] = np.int64(free_row[n]) * types + source
        for n in range(turbines):
            pair = np.int64(standing_row[n]) * types + source
            standing_row[n] = pair * types + state.type_index[standing[n]]
    return points, turbines


def make_spread_off_grid(
    model: WakeModel, pairs: Pairs, locality: Locality = "uniform"
) -> Callable[..., None]:
    """Make the step for pairs of which one is a neighbour, or whose wakes follow the turned wind."""
    reach, compute_change = model.reach, pairs.compute_change
    rotate_to_local_wind, turned_wakes = free_at(locality).rotate_to_local_wind, locality == "turned"

    @scalar
    def spread_off_grid(data, machines, wind, state, d, a, others, count, thrust, turbulence):
        """Pass a change on where source or target is a neighbour: to ``others`` turbines, and to points."""
        cosine, sine, source = wind.cosine[d], wind.sine[d], state.type_index[a]
        diameter = machines.diameter[source]
        for b in range(others):
            far, aside = between(cosine, sine, state.place, a, state.place, b)
            if turned_wakes and far <= 1e-10:
                continue  # it comes earlier in the order, which is that of the site's wind direction
            far, aside = rotate_to_local_wind(state, a, wind.first[d], far, aside)
            rotor = machines.diameter[state.type_index[b]]
            if far > 1e-10 and abs(aside) < reach(data, far, diameter, rotor, thrust, turbulence):
                wait(cosine, sine, state, b)
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.turbine[d, b, k] += compute_change(
                        data, machines, far, aside, source, state.type_index[b], state.change, k
                    )
        if state.cell[a] >= 0:
            return
        for c in range(state.point_cell.size):
            far, aside = between(cosine, sine, state.place, a, state.point, c)
            far, aside = rotate_to_local_wind(state, a, wind.first[d], far, aside)
            if (
                state.occupant[state.point_cell[c]] == c + 1
                and far > 1e-10
                and abs(aside) < reach(data, far, diameter, 0.0, thrust, turbulence)
            ):
                mark_dirty(state.dirty, state.mark, c, d)
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.gathered[d, c, k] += compute_change(
                        data, machines, far, aside, source, -1, state.change, k
                    )

    return spread_off_grid
