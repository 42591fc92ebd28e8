"""Whether a turbine may stand at a place, and how much a move may lose: the rules that every walk goes by."""

from __future__ import annotations

from math import hypot

from vindeby.layout.area.boundary import is_inside
from vindeby.wake.compiling.compiled import kernel, scalar

SURE = 1.0 + 1e-12
"""Squares of distances that differ by this factor are not taken for each other by rounding."""


@scalar
def temperature_at(hot, cold, done, budget):
    """From hot to cold, by the same factor with every trial."""
    return hot * (cold / hot) ** (done / budget) if hot > 0.0 else 0.0


@scalar
def is_allowed(areas, zone, x, y, need, i, px, py):
    """Whether turbine ``i`` may stand at a place: inside its zone, and far enough from all others."""
    z, discs = zone[i], areas.discs
    for c in range(areas.first_disc[z], areas.first_disc[z + 1]):
        if discs[c, 3] * (discs[c, 2] - hypot(px - discs[c, 0], py - discs[c, 1])) < 0.0:
            return False
    for j in range(x.size):
        dx, dy, least = x[j] - px, y[j] - py, 0.5 * (need[i] + need[j])
        # Squares tell all but the last few bits, and far faster.
        if dx * dx + dy * dy < SURE * least * least and j != i and hypot(dx, dy) < least:
            return False
    return is_inside(areas.edges[areas.first_edge[z] : areas.first_edge[z + 1]], areas.inverted[z], px, py)


@kernel("walk rules")
def allowed(areas, zone, x, y, need, i, px, py):
    """``is_allowed``, for callers that are not compiled."""
    return is_allowed(areas, zone, x, y, need, i, px, py)


@kernel("walk rules")
def temperature(hot, cold, done, budget):
    """``temperature_at``, for callers that are not compiled."""
    return temperature_at(hot, cold, done, budget)
