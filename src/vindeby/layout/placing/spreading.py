"""What a turbine's new wind means downwind: the change of its wake, at points and at other turbines."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.layout.placing.free import free_at
from vindeby.layout.placing.pairs import Pairs
from vindeby.layout.placing.state import SUM, WHICH, between, soil
from vindeby.layout.placing.thrust_pieces import look_up_change
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.wind_access import Locality

__all__ = ["make_spread_off_grid", "make_spread_on_grid"]


def make_spread_on_grid(tabulated: bool, pairs: Pairs) -> Callable[..., None]:
    """Make the step for what stands on the grid."""
    compute_change = pairs.compute_change

    @inlined
    def spread_on_grid(data, machines, wakes, state, d, a, count):
        """Pass a change on to the points and turbines of the grid in its wake."""
        source, cell = state.type_index[a], state.cell[a]
        change, change_at = state.change, state.change_at
        points = wakes.points[:, source]
        for e in range(wakes.first[d], wakes.first[d + 1]):
            there = state.occupant[cell + wakes.step[e]]
            if there > 0:
                soil(state.dirty, state.mark, there - 1, d)
            elif there < 0:
                state.changed[-there - 1] = True
            else:
                continue
            for n in range(count):
                k = change_at[n, WHICH]
                if there > 0 and tabulated:
                    state.gathered[d, there - 1, k] += look_up_change(points, e, change, change_at, k)
                elif tabulated:
                    rotors = wakes.rotors[:, source, state.type_index[-there - 1]]
                    value = look_up_change(rotors, e, change, change_at, k)
                    state.turbine[d, -there - 1, k, SUM] += value
                else:
                    target = -1 if there > 0 else state.type_index[-there - 1]
                    value = compute_change(
                        data, machines, wakes.far[e], wakes.aside[e], source, target, change, k
                    )
                    if there > 0:
                        state.gathered[d, there - 1, k] += value
                    else:
                        state.turbine[d, -there - 1, k, SUM] += value

    return spread_on_grid


def make_spread_off_grid(
    model: WakeModel, pairs: Pairs, locality: Locality = "uniform"
) -> Callable[..., None]:
    """Make the step for pairs of which one is a neighbour, or whose wakes follow the turned wind."""
    reach, compute_change = model.reach, pairs.compute_change
    swing, turned_wakes = free_at(locality).swing, locality == "turned"

    @scalar
    def spread_off_grid(data, machines, wind, state, d, a, others, count, thrust, turbulence):
        """Pass a change on where source or target is a neighbour: to ``others`` turbines, and to points."""
        cosine, sine, source = wind.cosine[d], wind.sine[d], state.type_index[a]
        diameter = machines.diameter[source]
        for b in range(others):
            far, aside = between(cosine, sine, state.place, a, state.place, b)
            if turned_wakes and far <= 1e-10:
                continue  # it comes earlier in the order, which is that of the site's wind direction
            far, aside = swing(state, a, wind.first[d], far, aside)
            rotor = machines.diameter[state.type_index[b]]
            if far > 1e-10 and abs(aside) < reach(data, far, diameter, rotor, thrust, turbulence):
                state.changed[b] = True
                for n in range(count):
                    k = state.change_at[n, WHICH]
                    state.turbine[d, b, k, SUM] += compute_change(
                        data, machines, far, aside, source, state.type_index[b], state.change, k
                    )
        if state.cell[a] >= 0:
            return
        for c in range(state.point_cell.size):
            far, aside = between(cosine, sine, state.place, a, state.point, c)
            far, aside = swing(state, a, wind.first[d], far, aside)
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
