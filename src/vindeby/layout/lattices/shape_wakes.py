"""The compiled loop that tells what shapes of lattices are worth, away from any boundary.

All turbines of an endless lattice stand in the same wakes, so one of them is enough: for each wind direction, the wakes
of its neighbours within a few sides of a cell are added up. A farm has an edge, and turbines near it have
fewer neighbours: each wake is weighted by the share of turbines that have a neighbour at this distance in a disc of the
farm's area.
"""

from __future__ import annotations

from collections.abc import Callable
from math import acos, ceil, cos, floor, hypot, pi, sin, sqrt

from vindeby.layout.lattices.felt_wakes import make_list_felt, power_left
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.superposition import superposition_of

CELLS = 6.0
"""Neighbours within so many sides of the square that each turbine has; further away, shapes make little difference."""


@scalar
def _share_with_neighbour(distance, radius):
    """The share of a disc that is still in it after a shift."""
    t = 0.5 * distance / radius
    return 2.0 / pi * (acos(t) - t * sqrt(1.0 - t * t)) if t < 1.0 else 0.0


@once_per_model
def shape_power(model: WakeModel) -> Callable[..., None]:
    """Mean power (W) of a turbine in lattices of these angles, aspects and skews, of one cell's area."""
    list_felt, superposition = make_list_felt(model), superposition_of(model)
    term, taken = superposition.term, superposition.taken

    @kernel(model.identity, counts_references=False)
    def power(data, diameter, height, wind, side, radius, shapes, felt, summed, out):
        most = min(CELLS * side, 2.0 * radius)
        for k in range(out.size):
            angle, aspect, skew = shapes[0, k], shapes[1, k], shapes[2, k]
            pitch = side / sqrt(aspect)
            ux, uy = pitch * cos(angle), pitch * sin(angle)
            vx, vy = skew * ux - aspect * uy, skew * uy + aspect * ux
            summed[:] = 0.0
            rows = floor(most / (aspect * pitch))
            for r in range(-rows, rows + 1):
                half = sqrt(max(most * most - (r * aspect * pitch) ** 2, 0.0)) / pitch
                for c in range(ceil(-half - r * skew), floor(half - r * skew) + 1):
                    if r == 0 and c == 0:
                        continue
                    east, north = c * ux + r * vx, c * uy + r * vy
                    share = _share_with_neighbour(hypot(east, north), radius)
                    for f in range(list_felt(data, diameter, height, wind, east, north, felt)):
                        summed[felt.direction[f]] += share * term(felt.share[f])
            out[k] = 0.0
            for d in range(summed.size):
                out[k] += power_left(wind.power[d], taken(summed[d]))

    compiled: Callable[..., None] = power
    return compiled
