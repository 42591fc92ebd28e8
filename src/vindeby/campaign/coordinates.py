"""Whether the coordinates of a campaign belong together: whatever stands or lies around farms is near them, in metres.

Substations, neighbours, grids of depths and of local wind, and farms beside other farms all go through one rule.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import shapely

from vindeby.arrays import FloatArray
from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.neighbours import groups_in
from vindeby.campaign.reading.tables import METRES_WANTED, look_like_degrees
from vindeby.campaign.reading.yaml_text import Path, field_name
from vindeby.campaign.sections.costs import Depth
from vindeby.campaign.sections.local_wind import LocalWindSection
from vindeby.campaign.sections.values import require
from vindeby.units import KM

_FARTHEST_M, _FAR_M = 200_000.0, 50_000.0
"""What is farther from the farms than the first is refused; what is farther than the second is mentioned."""


class _Far(NamedTuple):
    """A place that is far from the farms, or the farthest of a list."""

    at: Path
    words: str
    km: float
    is_in_degrees: bool


class _Placed(NamedTuple):
    """Places, shape (n, 2), and the number of the farm that they belong to; None for the nearest."""

    at: Path
    places: FloatArray
    farm_idx: int | None = None
    is_a_list: bool = True


def refuse_misplaced(campaign: CampaignFields) -> None:
    """Refuse degrees beside farms in metres, and what is so far from the farms that it is in another system."""
    system = f"; those of the campaign are metres of {campaign.crs}" if campaign.crs else ""
    for far in _far_from_farms(campaign):
        wrong = f"{far.words}, and looks like longitude and latitude in degrees"
        require(not far.is_in_degrees, wrong, f"{METRES_WANTED}{system}", *far.at)
        remedy = f"give the farms' coordinates; nothing may be farther than {_FARTHEST_M / KM:g} km{system}"
        require(far.km * KM <= _FARTHEST_M, far.words, remedy, *far.at)


def doubts_about_coordinates(campaign: CampaignFields) -> Iterator[str]:
    """One sentence for each place, or list of places, that is far from the farms."""
    for far in _far_from_farms(campaign):
        yield f"{field_name(far.at)}: {far.words}; are these the farms' coordinates?"


def _far_from_farms(campaign: CampaignFields) -> Iterator[_Far]:
    """Yield what is farther than ``_FAR_M`` from the bounds of its farm; nothing if all farms are in degrees."""
    bounds = np.array([farm.boundary.shape().bounds for farm in campaign.farms])
    areas, corners = shapely.box(*bounds.T), bounds.reshape(-1, 2, 2)
    in_degrees = np.array([look_like_degrees(*corner.T) for corner in corners])
    in_metres = np.flatnonzero(~in_degrees)
    if not len(in_metres):
        return
    placed = [*_lists_of_places(campaign)]
    placed += [
        _Placed(("farms", index, "boundary"), corners[index], is_a_list=False)
        for index in np.flatnonzero(in_degrees).tolist()
    ]
    for at, grid in _grids(campaign):
        box = shapely.box(grid.x[0], grid.y[0], grid.x[-1], grid.y[-1])
        nearest = shapely.shortest_line(box, shapely.MultiPolygon(areas[in_metres].tolist()))
        placed.append(_Placed(at, shapely.get_coordinates(nearest)[:1], is_a_list=False))
    farms = cache(lambda own: in_metres if own is None else np.array([own]))
    tree = cache(lambda own: shapely.STRtree(areas[farms(own)]))
    for at, places, own, is_a_list in placed:
        points = np.asarray(shapely.points(places))
        (_, nearest), metres = tree(own).query_nearest(points, return_distance=True, all_matches=False)
        worst = int(np.argmax(metres))
        if metres[worst] > _FAR_M:
            km, (x, y) = float(metres[worst]) / KM, places[worst]
            farm = campaign.farms[farms(own)[nearest[worst]]]
            words = f"({x:.10g}, {y:.10g}) is {km:,.0f} km from farm {farm.name!r}"
            yield _Far((*at, worst) if is_a_list else at, words, km, look_like_degrees(*places.T))


def _lists_of_places(campaign: CampaignFields) -> Iterator[_Placed]:
    """Yield the substations and the neighbours."""
    for at, group in groups_in(campaign):
        own = int(at[1]) if at[0] == "farms" else None
        yield _Placed((*at, "positions"), np.array(group.positions), own)
    cables = campaign.costs.cables if campaign.costs else None
    given, at = cables.substations if cables else None, ("costs", "cables", "substations")
    if isinstance(given, tuple):
        yield _Placed(at, np.array(given))
    for index, farm in enumerate(campaign.farms):
        if isinstance(given, dict) and isinstance(places := given.get(farm.name), tuple):
            yield _Placed((*at, farm.name), np.array(places), index)


def _grids(campaign: CampaignFields) -> Iterator[tuple[Path, LocalWindSection | Depth]]:
    """Yield the grids of local wind and of depths, each with its path."""
    sites = [(("scenarios", number), one.site) for number, one in enumerate(campaign.scenarios or ())]
    for at, site in [((), campaign.site), *sites]:
        if site is not None and site.local is not None:
            yield (*at, "site", "local"), site.local
    if campaign.costs is not None and campaign.costs.depth is not None:
        yield ("costs", "foundation", "depth"), campaign.costs.depth
