"""Depth limits as part of an area: what is too shallow or too deep is taken out of it, so that every search keeps them.

Between the points of its grid the depth is bilinear, and a line of equal depth is a curve there. Cells that such a line
crosses are divided into small triangles. In each the depth is taken as linear, and the limit is made stricter by as
much as that may be wrong. What is outside the limits is then made a little larger, so that few corners describe it.
"""

from math import inf

import numpy as np
import shapely

from vindeby.arrays import FloatArray
from vindeby.economy import DepthGrid
from vindeby.errors import ArgumentError
from vindeby.layout.area.boundary import Boundary

DIVIDED = 8
"""Into so many parts each side of a cell is divided."""
MARGIN = 0.01
"""Of the smallest step of the grid: by about so much, and at most twice that, limits are kept too well."""

MOST_CROSSED = 20_000
"""So many cells may be crossed by a limit: each takes some milliseconds."""


def within_depths(boundary: Boundary, grid: DepthGrid, least: float = -inf, most: float = inf) -> Boundary:
    """The part of an area in which the water is at least and at most so deep (m); ArgumentError if there is none."""
    if not least < most:
        raise ArgumentError(f"the least depth, {least:g} m, must be below the most, {most:g} m")
    west, south, east, north = boundary.bounds
    columns, rows = _steps(grid.x, west, east), _steps(grid.y, south, north)
    corners = grid.depth[columns.start : columns.stop + 1, rows.start : rows.stop + 1]
    outside = shapely.union_all(
        [*_beyond(grid, columns, rows, -1.0, -least), *_beyond(grid, columns, rows, 1.0, most)]
    )
    if outside.is_empty:
        return boundary
    margin = MARGIN * float(min(np.diff(grid.x).min(), np.diff(grid.y).min()))
    outside = outside.buffer(margin, quad_segs=4).simplify(0.9 * margin)
    left = boundary.without(outside, margin**2)
    if left is None:
        raise ArgumentError(
            f"no part of the area is {least:g} to {most:g} m deep: depths there go from {corners.min():g} to "
            f"{corners.max():g} m; change the limits, or the area"
        )
    return left


def _steps(axis: FloatArray, begin: float, end: float) -> range:
    """The steps of an axis that a range touches."""
    first = max(0, int(np.searchsorted(axis, begin, side="right")) - 1)
    return range(first, min(len(axis) - 1, int(np.searchsorted(axis, end, side="left"))))


def _beyond(
    grid: DepthGrid, columns: range, rows: range, sign: float, limit: float
) -> list[shapely.Geometry]:
    """Polygons in which ``sign`` times the depth is above a limit, or may be."""
    i, j = (index.ravel() for index in np.meshgrid(columns, rows, indexing="ij"))
    values = sign * np.stack([grid.depth[i + a, j + b] for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))])
    whole, crossed = values.min(axis=0) > limit, (values.max(axis=0) > limit) & (values.min(axis=0) <= limit)
    if crossed.sum() > MOST_CROSSED:
        cells = f"a limit of depth crosses {crossed.sum():,} cells of the grid, more than {MOST_CROSSED:,}"
        raise ArgumentError(f"{cells}: make the grid of depths coarser")
    boxes = shapely.box(grid.x[i], grid.y[j], grid.x[i + 1], grid.y[j + 1])[whole]
    i, j, twist = i[crossed], j[crossed], np.abs([1.0, -1.0, 1.0, -1.0] @ values[:, crossed])
    share = np.linspace(0.0, 1.0, DIVIDED + 1)
    x = grid.x[i, None, None] + share[:, None] * (grid.x[i + 1] - grid.x[i])[:, None, None]
    y = grid.y[j, None, None] + share * (grid.y[j + 1] - grid.y[j])[:, None, None]
    x, y = np.broadcast_arrays(x, y)
    # Along the diagonal of a square, linear and bilinear differ by a quarter of its twist at most.
    above = sign * grid.at(x, y)[0] + (twist / (4.0 * DIVIDED**2))[:, None, None] - limit
    points = np.stack([x, y, above], axis=-1)
    a, b, c, d = points[:, :-1, :-1], points[:, 1:, :-1], points[:, 1:, 1:], points[:, :-1, 1:]
    triangles = np.concatenate(
        [np.stack(three, axis=-2).reshape(-1, 3, 3) for three in ((a, b, c), (a, c, d))]
    )
    return [*boxes, *_parts_above(triangles)]


def _parts_above(triangles: FloatArray) -> list[shapely.Geometry]:
    """The part of each triangle, of points (x, y, value), in which the value is above 0."""
    order = np.argsort(-triangles[..., 2], axis=1, kind="stable")
    high, middle, low = np.moveaxis(np.take_along_axis(triangles, order[..., None], axis=1), 1, 0)

    def zero(one: FloatArray, other: FloatArray) -> FloatArray:
        fall = one[:, 2] - other[:, 2]
        share = np.divide(one[:, 2], fall, out=np.zeros(len(fall)), where=fall > 0.0)
        return np.asarray(one + share[:, None] * (other - one))

    count = (triangles[..., 2] > 0.0).sum(axis=1)
    parts: list[shapely.Geometry] = []
    for many in (1, 2, 3):
        a, b, c = (corner[count == many] for corner in (high, middle, low))
        corners = {1: (a, zero(a, b), zero(a, c)), 2: (a, b, zero(b, c), zero(a, c)), 3: (a, b, c)}[many]
        parts.extend(np.asarray(shapely.polygons(np.stack(corners, axis=1)[..., :2])))
    return parts
