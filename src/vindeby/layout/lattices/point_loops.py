"""The compiled loops over the points of a lattice: a search looks at thousands of lattices.

A row crosses the edges of a zone at a few places; a point is inside if an odd number of them lie beyond it. So an
edge is looked at once for each row, not for each point. Points on an edge are inside but for rounding: a point counts
that is inside after a step of half the tolerance along the row or across it.
"""

from __future__ import annotations

from math import ceil, floor, hypot, inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.area.zones import Areas
from vindeby.layout.lattices.plane_lattice import Vectors
from vindeby.units import TOLERANCE_M
from vindeby.wake.compiling.compiled import kernel, scalar

__all__ = ["Room", "list_points", "widest"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

STEP = 1.15
"""The factor between pitches that are tried until one has enough points and the next has not."""
HALVINGS = 10
"""How often the range between these two is halved: less than a thousandth of the pitch is left."""
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
def _rows(box, vectors, east, north):
    """The first and the last row that meet the box."""
    ux, uy, vx, vy = vectors
    least, most = inf, -inf
    for corner in range(4):
        px, py = box[0 if corner % 2 else 2] - east, box[1 if corner // 2 else 3] - north
        row = (ux * py - uy * px) / (ux * vy - uy * vx)
        least, most = min(least, row), max(most, row)
    return floor(least), ceil(most)


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
def _cross_edges(areas, vectors, x, y, across, many):
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


@kernel("lattice points")
def list_points(room, vectors, east, north, counts, x, y, whole):
    """Count the points of each zone; note as many as there is space for, with zone, row and column.

    A point that is inside several zones goes to the one that has least of what it needs.
    """
    ux, uy, vx, vy = vectors
    areas, total = room.areas, 0
    across = np.empty((counts.size, 2, areas.edges.shape[0]))
    many = np.empty((counts.size, 2), np.int64)
    step = ON_EDGE_M / hypot(ux, uy)
    counts[:] = 0
    first_row, last_row = _rows(room.box, vectors, east, north)
    for j in range(first_row, last_row + 1):
        row_x, row_y = east + j * vx, north + j * vy
        _cross_edges(areas, vectors, row_x, row_y, across, many)
        first, last = _columns(room.box, ux, uy, row_x, row_y)
        for i in range(first, last + 1):
            px, py = row_x + i * ux, row_y + i * uy
            zone, served = -1, inf
            for z in range(counts.size):
                share = counts[z] / room.needed[z]
                if share < served and _is_inside(areas, z, across[z], many[z], i, step, px, py):
                    zone, served = z, share
            if zone < 0 or not _is_clear(room, px, py):
                continue
            if total < x.size:
                x[total], y[total] = px, py
                whole[total, 0], whole[total, 1], whole[total, 2] = zone, j, i
            counts[zone] += 1
            total += 1


@scalar
def _has_enough(room, vectors, east, north, counts, wanted, pitch):
    """Whether each zone has the points wanted at a pitch."""
    none, whole = np.empty(0), np.empty((0, 3), np.int64)
    ux, uy, vx, vy = vectors
    scaled = Vectors(pitch * ux, pitch * uy, pitch * vx, pitch * vy)
    list_points(room, scaled, east, north, counts, none, none, whole)
    for z in range(wanted.size):  # noqa: SIM110  compiled code has no all()
        if counts[z] < wanted[z]:
            return False
    return True


@kernel("lattice points")
def widest(room, vectors, east, north, counts, wanted, least, guess, most):
    """The pitch from ``least`` to ``most``, searched from a guess; 0 if none was found. ``vectors`` are of pitch 1."""
    low = max(least, min(guess, most))
    if _has_enough(room, vectors, east, north, counts, wanted, low):
        high = low * STEP
        while high < most and _has_enough(room, vectors, east, north, counts, wanted, high):
            low, high = high, high * STEP
    else:
        while True:
            if low <= least:
                return 0.0
            high, low = low, max(least, low / STEP)
            if _has_enough(room, vectors, east, north, counts, wanted, low):
                break
    for _ in range(HALVINGS):
        pitch = (low * high) ** 0.5
        if _has_enough(room, vectors, east, north, counts, wanted, pitch):
            low = pitch
        else:
            high = pitch
    return low
