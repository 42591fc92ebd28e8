"""Neighbours in words, how much room they leave, and what is doubtful about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.neighbours import Standing, groups_of, neighbours_of, types_of
from vindeby.campaign.tasks import Cell
from vindeby.text import plural

_DEGREES_NOT_METRES = 360.0
_DISC_SEGMENTS = 64


def free_area(campaign: Campaign, cell: Cell, area: BaseGeometry) -> BaseGeometry:
    """Where turbines of a cell may stand beside its neighbours: the area less discs of the least distances.

    The discs are polygons inside circles, so that what is proved about the area that is left holds for the true one.
    """
    standing = neighbours_of(campaign, cell.farm_idx)
    if not standing:
        return area
    types, indices = types_of(standing)
    own = [campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in types]
    radius = 0.5 * (cell.spacing_m + np.array(own)[indices])
    points = shapely.points([(one.x, one.y) for one in standing])
    near = (shapely.distance(area, points) < radius) & (radius > 0.0)
    discs = shapely.buffer(points[near], radius[near], quad_segs=_DISC_SEGMENTS)
    return area.difference(shapely.union_all(discs)) if near.any() else area


def doubts_about_neighbours(campaign: Campaign, shapes: Sequence[BaseGeometry]) -> Iterator[str]:
    """Neighbours inside a boundary, and coordinates that may be degrees."""
    for farm_idx, shape in enumerate(shapes):
        farm = campaign.farms[farm_idx]
        for label, standing in groups_of(campaign, farm_idx).items():
            inside = _inside(standing, shape)
            if inside:
                stand = "neighbour stands" if inside == 1 else "neighbours stand"
                yield (
                    f"farm {farm.name}: {inside} {stand} inside the boundary ({label}); no turbine comes nearer "
                    "to them than min_spacing"
                )
    groups = [
        *(campaign.neighbours or ()),
        *(one for farm in campaign.farms for one in farm.neighbours or ()),
    ]
    for group in groups:
        if np.abs(np.array(group.positions)).max() <= _DEGREES_NOT_METRES:
            count = plural(len(group.positions), "position")
            yield (
                f"neighbours {group.label}: {count} within {_DEGREES_NOT_METRES:g} m of the origin; are they degrees?"
            )


def _inside(standing: Sequence[Standing], shape: BaseGeometry) -> int:
    x, y = np.array([(one.x, one.y) for one in standing]).T
    return int(np.count_nonzero(shapely.contains_xy(shape, x, y)))
