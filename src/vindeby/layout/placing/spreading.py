"""What a turbine's new wind means downwind: the change of its wake, at points and at other turbines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vindeby.layout.placing.free import free_at
from vindeby.layout.placing.order import wait
from vindeby.layout.placing.pairs import Pairs
from vindeby.layout.placing.state import WHICH, between, row_on_grid, soil
from vindeby.layout.placing.thrust_pieces import add_changes, add_rows
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.wind_access import Locality

__all__ = ["make_spread_off_grid", "make_spread_on_grid"]


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
                soil(state.dirty, state.mark, c, d)
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
                soil(state.dirty, state.mark, c, d)
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.gathered[d, c, k] += compute_change(
                        data, machines, far, aside, source, -1, state.change, k
                    )

    return spread_off_grid
