"""Depth limits as part of an area: too shallow and too deep water is cut out, for every search.

Between the points of its grid the depth is bilinear, and a line of equal depth is a curve there. So cells are divided
into small ones, and contourpy draws the line of equal depth in four triangles of each. In a triangle the depth is taken
as linear, and the limit is made stricter by as much as that may be wrong. What is outside the limits is then made a
little larger, so that few corners describe it.
"""

from math import inf

import numpy as np
import shapely
from contourpy import FillType, contour_generator

from vindeby.arrays import FloatArray
from vindeby.economy import DepthGrid
from vindeby.errors import ArgumentError
from vindeby.layout.area.boundary import Boundary

DIVIDED = 4
"""Into so many parts each side of a cell is divided."""
MOST_CROSSED = 20_000
"""So many cells may be crossed by a limit: each adds corners to the area, and every search pays for them."""
MARGIN = 0.01
"""The safety margin of limits: a fraction of the grid's smallest step, exceeded at most twofold."""


def within_depths(boundary: Boundary, grid: DepthGrid, least: float = -inf, most: float = inf) -> Boundary:
    """Return the part of an area within these water depths (m); ArgumentError if there is none."""
    if not least < most:
        raise ArgumentError(f"the least depth, {least:g} m, must be below the most, {most:g} m")
    depth = grid.depth
    outside = [*_above(grid.x, grid.y, -depth, -least), *_above(grid.x, grid.y, depth, most)]
    if not outside:
        return boundary
    margin = MARGIN * float(min(np.diff(grid.x).min(), np.diff(grid.y).min()))
    taken = shapely.union_all(outside).buffer(margin, quad_segs=4).simplify(0.9 * margin)
    left = boundary.without(taken, margin**2)
    if left is None:
        raise ArgumentError(
            f"no part of the area is {least:g} to {most:g} m deep: depths in and around it go from {depth.min():g} to "
            f"{depth.max():g} m; change the limits, or the area"
        )
    return left


def _divided(axis: FloatArray) -> FloatArray:
    share = np.arange(DIVIDED) / DIVIDED
    return np.append((axis[:-1, None] + share * np.diff(axis)[:, None]).ravel(), axis[-1])


def _above(x: FloatArray, y: FloatArray, values: FloatArray, limit: float) -> list[shapely.Geometry]:
    """Return polygons that contain every position at which values over (x, y) are above a limit."""
    if values.max() <= limit:
        return []
    corners = np.stack([values[:-1, :-1], values[1:, :-1], values[:-1, 1:], values[1:, 1:]])
    crossed = int(((corners.max(axis=0) > limit) & (corners.min(axis=0) <= limit)).sum())
    if crossed > MOST_CROSSED:
        cells = f"a limit of depth crosses {crossed:,} cells of the grid, more than {MOST_CROSSED:,}"
        raise ArgumentError(f"{cells}: make the grid of depths coarser")
    fine_x, fine_y = _divided(x), _divided(y)
    fine = DepthGrid(x, y, values).at(fine_x[:, None], fine_y)
    four = np.stack([fine[:-1, :-1], fine[1:, :-1], fine[:-1, 1:], fine[1:, 1:]])
    # In four triangles of a cell, linear and bilinear differ by a sixteenth of its twist at most. Cells that have no
    # corner above the limit are left out.
    twist = np.where(four.max(axis=0) > limit, np.abs(four[3] - four[2] - four[1] + four[0]), -1.0)
    around = np.pad(twist, 1, constant_values=-1.0)
    most = np.maximum.reduce([around[1:, 1:], around[:-1, 1:], around[1:, :-1], around[:-1, :-1]])
    seen = np.ma.array(fine + most / 16.0, mask=most < 0.0).T
    lines = contour_generator(
        fine_x, fine_y, seen, corner_mask=False, quad_as_tri=True, fill_type=FillType.OuterOffset
    )
    found: list[shapely.Geometry] = []
    for corners, offsets in zip(*lines.filled(limit, float(seen.max()) + 1.0), strict=True):
        outer, *holes = np.split(corners, offsets[1:-1])
        found.append(shapely.make_valid(shapely.Polygon(outer, holes)))
    return found
