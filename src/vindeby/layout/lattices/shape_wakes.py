"""The compiled loop that tells what shapes of lattices are worth, away from any boundary.

All turbines of an endless lattice stand in the same wakes, so one of them is enough: for each wind direction, the wakes
of its neighbours within a few sides of a cell are added up. A farm has an edge, and turbines near it have
fewer neighbours: each wake is weighted by the share of turbines that have a neighbour at this distance in a disc of the
farm's area.
"""

from __future__ import annotations

from collections.abc import Callable
from math import acos, ceil, cos, floor, hypot, pi, sin, sqrt

from vindeby.layout.lattices.offset_wakes import make_deficit_at, power_left
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.rotation import turn
from vindeby.wake.loops.superposition import superposition_of

__all__ = ["CELLS", "shape_power"]

CELLS = 6.0
"""Neighbours within so many sides of the square that each turbine has; further away, shapes make little difference."""


@scalar
def _share_with_neighbour(distance, radius):  # type: ignore[no-untyped-def]
    """The share of a disc that is still in it after a shift."""
    t = 0.5 * distance / radius
    return 2.0 / pi * (acos(t) - t * sqrt(1.0 - t * t)) if t < 1.0 else 0.0


@once_per_model
def shape_power(model: WakeModel) -> Callable[..., None]:
    """Mean power (W) of a turbine in lattices of these angles, aspects and skews, of one cell's area."""
    deficit_at, superposition = make_deficit_at(model), superposition_of(model)
    term, taken = superposition.term, superposition.taken

    @scalar
    def wakes_from(data, diameter, height, wind, d, vectors, pitch, aspect, skew, most, radius):  # type: ignore[no-untyped-def]
        along_u, across_u = turn(wind.cosine[d], wind.sine[d], vectors[0], vectors[1])
        along_v, across_v = turn(wind.cosine[d], wind.sine[d], vectors[2], vectors[3])
        thrust, turbulence, summed = wind.thrust[d], wind.turbulence[d], 0.0
        rows = floor(most / (aspect * pitch))
        for r in range(-rows, rows + 1):
            half = sqrt(max(most * most - (r * aspect * pitch) ** 2, 0.0)) / pitch
            for c in range(ceil(-half - r * skew), floor(half - r * skew) + 1):
                far, aside = c * along_u + r * along_v, abs(c * across_u + r * across_v)
                value = deficit_at(data, diameter, height, thrust, turbulence, far, aside)
                if value > 0.0:
                    summed += _share_with_neighbour(hypot(far, aside), radius) * term(value)
        return summed

    @kernel(model.identity, counts_references=False)
    def power(data, diameter, height, wind, side, radius, shapes, out):  # type: ignore[no-untyped-def]
        most = min(CELLS * side, 2.0 * radius)
        for k in range(out.size):
            angle, aspect, skew = shapes[0, k], shapes[1, k], shapes[2, k]
            pitch = side / sqrt(aspect)
            ux, uy = pitch * cos(angle), pitch * sin(angle)
            vectors = (ux, uy, skew * ux - aspect * uy, skew * uy + aspect * ux)
            out[k] = 0.0
            for d in range(wind.cosine.size):
                summed = wakes_from(
                    data, diameter, height, wind, d, vectors, pitch, aspect, skew, most, radius
                )
                out[k] += power_left(wind.power[d], taken(summed))

    compiled: Callable[..., None] = power
    return compiled
