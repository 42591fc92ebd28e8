"""The points of one row of a lattice: which of them are inside a zone.

A row crosses the edges of a zone at a few places; a point is inside if an odd number of them lie beyond it. So an
edge is looked at once for each row, not for each point. Points on an edge are inside but for rounding: a point counts
that is inside after a step of half the tolerance along the row or across it.

In one plain area, the usual case, a row is inside from every other crossing to the next, and its points are counted
without looking at each.
"""

from __future__ import annotations

from math import ceil, floor, hypot, inf, sqrt
from typing import NamedTuple

from vindeby.layout.area.zones import Areas
from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.units import TOLERANCE_M
from vindeby.wake.compiling.compiled import scalar

ON_EDGE_M = 0.5 * TOLERANCE_M


class Room(NamedTuple):
    """Where turbines may stand, relative to one origin.

    ``box`` is (west, south, east, north); ``needed`` the turbines of each zone; ``beside`` (2, m) what stands already,
    and ``clear`` how far (m) from each of these a turbine must be.
    """

    areas: Areas
    needed: IntArray
    box: FloatArray
    beside: FloatArray
    clear: FloatArray


@scalar
def _columns(box, ux, uy, x, y):
    """The first and the last point of a row, which goes through (x, y), that may be in the box."""
    first, last = -inf, inf
    for axis in range(2):
        start, step = (x, ux) if axis == 0 else (y, uy)
        low, high = box[axis], box[axis + 2]
        if abs(step) > 1e-9 * (high - low):
            a, b = (low - start) / step, (high - start) / step
            first, last = max(first, min(a, b)), min(last, max(a, b))
        elif start < low - 1.0 or start > high + 1.0:
            return 0, -1
    # A point on the edge of the box must not be lost by rounding.
    return (floor(first), ceil(last)) if last - first > -1.0 else (0, -1)


@scalar
def cross_edges(areas, vectors, x, y, across, many):
    """Where a row through (x, y) crosses the edges, in columns: ``across[z, side, k]`` for k below ``many[z, side]``.

    The sides are those of the row, half a tolerance off it, so that a row on an edge is inside on one of them.
    """
    ux, uy = vectors[0], vectors[1]
    square = ux * ux + uy * uy
    length = sqrt(square)
    for z in range(many.shape[0]):
        many[z, 0] = many[z, 1] = 0
        for e in range(areas.first_edge[z], areas.first_edge[z + 1]):
            ax, ay = areas.edges[e, 0] - x, areas.edges[e, 1] - y
            bx, by = areas.edges[e, 2] - x, areas.edges[e, 3] - y
            a, b = (ux * ay - uy * ax) / length, (ux * by - uy * bx) / length
            for side in range(2):
                off = ON_EDGE_M if side == 0 else -ON_EDGE_M
                if (a > off) != (b > off):
                    share = (off - a) / (b - a)
                    at = ux * (ax + share * (bx - ax)) + uy * (ay + share * (by - ay))
                    across[z, side, many[z, side]] = at / square
                    many[z, side] += 1


@scalar
def _is_enclosed(across, many, column):
    """Whether an odd number of crossings lie beyond a column."""
    odd = False
    for k in range(many):
        if across[k] > column:
            odd = not odd
    return odd


@scalar
def _is_inside(areas, z, across, many, column, step, x, y):
    """Whether a point of a row is inside a zone; ``step`` is half a tolerance, in columns."""
    inverted = areas.inverted[z]
    inside = False
    for side in range(2):
        for way in range(-1, 2):
            inside = inside or _is_enclosed(across[side], many[side], column + way * step) != inverted
    if not inside:
        return False
    for c in range(areas.first_disc[z], areas.first_disc[z + 1]):
        dx, dy, sign = x - areas.discs[c, 0], y - areas.discs[c, 1], areas.discs[c, 3]
        if sign * (areas.discs[c, 2] - hypot(dx, dy)) < -ON_EDGE_M:
            return False
    return True


@scalar
def _is_clear(room, x, y):
    """Whether a point is far enough from what stands already."""
    for n in range(room.clear.size):  # noqa: SIM110  compiled code has no all()
        if hypot(x - room.beside[0, n], y - room.beside[1, n]) < room.clear[n]:
            return False
    return True


@scalar
def _sort(values, many):
    """Sort the first few values."""
    for k in range(1, many):
        value, at = values[k], k
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@scalar
def goes_by_spans(room):
    """Whether all that matters for a point is which edges of one area its row has crossed."""
    plain = room.needed.size == 1 and room.clear.size == 0 and not room.areas.inverted[0]
    return plain and room.areas.discs.shape[0] == 0


@scalar
def list_spans(across, many, step, row, start, vectors, counts, x, y, whole):
    """Count and note the points of a row between crossings, which are as many on both sides of the row."""
    _sort(across[0], many)
    _sort(across[1], many)
    after = -inf
    for k in range(0, many - 1, 2):
        # A column that a crossing lies on is inside before it and outside behind it, but for the step.
        first = ceil(max(after, min(across[0, k], across[1, k]) - step))
        last = ceil(max(across[0, k + 1], across[1, k + 1]) + step) - 1
        for i in range(first, min(last + 1, first + max(0, x.size - counts[0]))):
            at = counts[0] + i - first
            x[at], y[at] = start[0] + i * vectors[0], start[1] + i * vectors[1]
            whole[at, 0], whole[at, 1], whole[at, 2] = 0, row, i
        counts[0] += max(0, last + 1 - first)
        after = max(after, last + 1.0)


@scalar
def list_row(room, across, many, step, row, start, vectors, counts, x, y, whole):
    """Count and note the points of a row one by one."""
    ux, uy = vectors[0], vectors[1]
    first, last = _columns(room.box, ux, uy, start[0], start[1])
    for i in range(first, last + 1):
        px, py = start[0] + i * ux, start[1] + i * uy
        zone, served, total = -1, inf, 0
        for z in range(counts.size):
            total += counts[z]
            share = counts[z] / room.needed[z]
            if share < served and _is_inside(room.areas, z, across[z], many[z], i, step, px, py):
                zone, served = z, share
        if zone < 0 or not _is_clear(room, px, py):
            continue
        if total < x.size:
            x[total], y[total] = px, py
            whole[total, 0], whole[total, 1], whole[total, 2] = zone, row, i
        counts[zone] += 1
