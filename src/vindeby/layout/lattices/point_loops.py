"""The compiled loops over the rows of a lattice: a search looks at thousands of lattices."""

from __future__ import annotations

from math import ceil, floor, hypot, inf

import numpy as np

from vindeby.layout.lattices.plane_lattice import Vectors
from vindeby.layout.lattices.row_points import ON_EDGE_M, cross_edges, goes_by_spans, list_row, list_spans
from vindeby.wake.compiling.compiled import kernel, scalar

STEP = 1.15
"""The factor between pitches that are tried until one has enough points and the next has not."""
HALVINGS = 10
"""How often the range between these two is halved: less than a thousandth of the pitch is left."""


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


@kernel("lattice points")
def list_points(room, vectors, east, north, counts, x, y, whole):
    """Count the points of each zone; note as many as there is space for, with zone, row and column.

    A point that is inside several zones goes to the one that has least of what it needs.
    """
    ux, uy, vx, vy = vectors
    across = np.empty((counts.size, 2, room.areas.edges.shape[0]))
    many = np.empty((counts.size, 2), np.int64)
    step = ON_EDGE_M / hypot(ux, uy)
    counts[:] = 0
    spans = goes_by_spans(room)
    first_row, last_row = _rows(room.box, vectors, east, north)
    for j in range(first_row, last_row + 1):
        start = (east + j * vx, north + j * vy)
        cross_edges(room.areas, vectors, start[0], start[1], across, many)
        if spans and many[0, 0] == many[0, 1]:
            list_spans(across[0], many[0, 0], step, j, start, vectors, counts, x, y, whole)
        else:
            list_row(room, across, many, step, j, start, vectors, counts, x, y, whole)


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
