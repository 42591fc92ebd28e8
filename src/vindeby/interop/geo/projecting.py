"""From the coordinates of a file to those of the campaign.

An edge that is straight in longitude and latitude is not straight in metres: one of 16 km along a parallel at 52
degrees bends by 6 m. So vertices are put into edges before they are projected, as many as keep every point of an edge
within ``TOLERANCE_M``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vindeby.errors import ArgumentError
from vindeby.interop.geo.areas import Area, FloatArray

if TYPE_CHECKING:
    from pyproj import Transformer

TOLERANCE_M = 1.0
_MOST_IN_AN_EDGE = 4096
_MOST_IN_A_RING = 1_000_000
_ROUNDED_DECIMALS = 4
"""Projected coordinates are kept to 0.1 mm: what lies below differs between versions of PROJ."""


def projected(points: FloatArray, transformer: Transformer) -> FloatArray:
    """Points of shape (n, 2) in the other system."""
    x, y = transformer.transform(points[:, 0], points[:, 1])
    moved = np.column_stack([x, y])
    if not np.isfinite(moved).all():
        bad = points[~np.isfinite(moved).all(axis=1)][0]
        raise ArgumentError(f"the position ({bad[0]:g}, {bad[1]:g}) cannot be projected")
    return moved


def projected_area(area: Area, transformer: Transformer, *, corners_only: bool) -> tuple[Area, int]:
    """An area in the other system, and how many vertices were put into its edges."""
    dense = [
        [ring if corners_only else densified(ring, transformer) for ring in rings]
        for rings in (area.rings, area.holes)
    ]
    added = sum(len(ring) for rings in dense for ring in rings) - len(area.coordinates)
    outer, holes = (tuple(_rounded(projected(ring, transformer)) for ring in rings) for rings in dense)
    return Area(outer, holes), added


def densified(ring: FloatArray, transformer: Transformer) -> FloatArray:
    """A ring with vertices put into its edges, evenly, until each bends by less than the tolerance between two."""
    parts = np.ones(len(ring), np.int64)
    following = np.roll(ring, -1, axis=0)
    while True:
        bend = _bend(ring, following, parts, transformer)
        short = (bend > TOLERANCE_M) & (parts < _MOST_IN_AN_EDGE)
        if not short.any():
            break
        # The bend falls with the square of the number of parts.
        wanted = np.ceil(parts * np.sqrt(bend / TOLERANCE_M)).astype(np.int64)
        parts = np.where(short, np.clip(wanted, parts + 1, _MOST_IN_AN_EDGE), parts)
        if parts.sum() > _MOST_IN_A_RING:
            told = (
                f"its edges would need more than {_MOST_IN_A_RING:,} points to be kept to {TOLERANCE_M:g} m"
            )
            raise ArgumentError(
                f"{told}; is it the right file? edges: straight-in-metres projects corners only"
            )
    return np.concatenate(
        [
            start + (end - start) * (np.arange(count) / count)[:, None]
            for start, end, count in zip(ring, following, parts.tolist(), strict=True)
        ]
    )


def _bend(start: FloatArray, end: FloatArray, parts: np.ndarray, transformer: Transformer) -> FloatArray:
    """For each edge, how far its parts come off the straight line between their ends (m).

    The middle and both quarters of the first, the middle and the last part are looked at.
    """
    worst = np.zeros(len(start))
    for first in (np.zeros_like(parts), parts // 2, parts - 1):
        at = [
            start + (end - start) * ((first + share) / parts)[:, None]
            for share in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]
        a, *inner, b = (projected(points, transformer) for points in at)
        along = b - a
        length = np.maximum(np.hypot(*along.T), 1e-9)
        for points in inner:
            off = points - a
            worst = np.maximum(worst, np.abs(along[:, 0] * off[:, 1] - along[:, 1] * off[:, 0]) / length)
    return worst


def _rounded(points: FloatArray) -> FloatArray:
    return np.round(points, _ROUNDED_DECIMALS)
