"""The compiled loops over the points of a lattice: a search looks at thousands of lattices."""

from __future__ import annotations

from math import ceil, floor, hypot, inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.area.boundary import signed_distance
from vindeby.layout.area.zones import Areas
from vindeby.layout.lattices.plane_lattice import Vectors
from vindeby.units import TOLERANCE_M
from vindeby.wake.compiling.compiled import kernel, scalar

__all__ = ["Room", "list_points", "widest"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

HALVINGS = 15
"""How often the range of pitches is halved: less than a ten thousandth of the pitch is left."""
INSIDE_M = -0.5 * TOLERANCE_M


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
def _zone_at(room, counts, x, y):
    """The zone that a point goes to: of those it is inside, the one that has least of what it needs; -1: none."""
    areas, zone, served = room.areas, -1, inf
    for z in range(room.needed.size):
        if counts[z] / room.needed[z] >= served:
            continue
        edges = areas.edges[areas.first_edge[z] : areas.first_edge[z + 1]]
        discs = areas.discs[areas.first_disc[z] : areas.first_disc[z + 1]]
        if signed_distance(edges, discs, areas.inverted[z], x, y)[0] >= INSIDE_M:
            zone, served = z, counts[z] / room.needed[z]
    return zone


@scalar
def _is_clear(room, x, y):
    """Whether a point is far enough from what stands already."""
    for n in range(room.clear.size):  # noqa: SIM110  compiled code has no all()
        if hypot(x - room.beside[0, n], y - room.beside[1, n]) < room.clear[n]:
            return False
    return True


@kernel("lattice points")
def list_points(room, vectors, east, north, counts, x, y, whole):
    """Count the points of each zone; note as many as there is space for, with zone, row and column."""
    ux, uy, vx, vy = vectors
    total = 0
    counts[:] = 0
    first_row, last_row = _rows(room.box, vectors, east, north)
    for j in range(first_row, last_row + 1):
        row_x, row_y = east + j * vx, north + j * vy
        first, last = _columns(room.box, ux, uy, row_x, row_y)
        for i in range(first, last + 1):
            px, py = row_x + i * ux, row_y + i * uy
            zone = _zone_at(room, counts, px, py)
            if zone < 0 or not _is_clear(room, px, py):
                continue
            if total < x.size:
                x[total], y[total] = px, py
                whole[total, 0], whole[total, 1], whole[total, 2] = zone, j, i
            counts[zone] += 1
            total += 1


@kernel("lattice points")
def widest(room, vectors, east, north, counts, wanted, low, high):
    """The pitch from ``low`` to ``high``, by bisection; 0 if ``low`` has too few points. ``vectors`` are of pitch 1."""
    none, whole = np.empty(0), np.empty((0, 3), np.int64)
    ux, uy, vx, vy = vectors
    for halving in range(-2, HALVINGS):
        pitch = low if halving == -2 else high if halving == -1 else (low * high) ** 0.5
        scaled = Vectors(pitch * ux, pitch * uy, pitch * vx, pitch * vy)
        list_points(room, scaled, east, north, counts, none, none, whole)
        enough = True
        for z in range(wanted.size):
            enough = enough and counts[z] >= wanted[z]
        if halving == -2 and not enough:
            return 0.0
        if enough:
            low = pitch
        elif halving >= 0:
            high = pitch
        if low == high:
            break
    return low
