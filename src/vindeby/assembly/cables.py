"""The cables of a campaign's layouts: their router, the routes of a result, and whether stored routes can be."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.campaign import Campaign
from vindeby.campaign.sections.boundary import Boundary, Vertex
from vindeby.campaign.tasks import Cell
from vindeby.economy.cables import CableRouter, Routes, ZonedRouter
from vindeby.errors import ArgumentError
from vindeby.units import TOLERANCE_M

LENGTH = "cable_length_m"
"""The attribute of a result that says how long its cables are."""


def router_of(campaign: Campaign, cell: Cell) -> CableRouter | ZonedRouter | None:
    """What routes the cables of a cell's layouts; None where cables do not count."""
    cables = None if campaign.costs is None else campaign.costs.cables
    if cables is None:
        return None
    clearance_m = max(turbine.rotor_diameter_m for turbine in campaign.turbines_of(cell))

    def one(boundary: Boundary, given: int | tuple[Vertex, ...]) -> CableRouter:
        area = boundary.shape()
        return CableRouter(
            given if isinstance(given, int) else np.array(given),
            cables.types,
            cables.router,
            cables.seconds,
            border=shapely.get_coordinates(area.exterior)[:-1] if cables.within_area else None,
            obstacles=[shapely.get_coordinates(hole.shape().exterior)[:-1] for hole in boundary.exclusions],
            clearance_m=clearance_m,
        )

    groups = cables.groups(campaign.farms[cell.farm_idx])
    routers = [one(*group) for group in groups]
    if len(routers) == 1:
        return routers[0]
    return ZonedRouter([boundary.shape() for boundary, _ in groups], routers)


def routes_of(campaign: Campaign, cell: Cell, arrays: Mapping[str, npt.NDArray[Any]]) -> Routes | None:
    """The cables that are stored with a result, or routed for it where there are none; None where they do not count."""
    router = router_of(campaign, cell)
    if router is None:
        return None
    assert campaign.costs is not None
    assert campaign.costs.cables is not None
    stored = Routes.stored(arrays, campaign.costs.cables.types)
    return router.route(*np.asarray(arrays["layout"], np.float64)) if stored is None else stored


def check_cables(campaign: Campaign, arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[str]:
    """What is wrong with the cables of a result."""
    cables = None if campaign.costs is None else campaign.costs.cables
    layout = np.asarray(arrays["layout"], np.float64).T
    if cables is None or "cable_ends" not in arrays:
        return
    turbines = Counter(arrays["cable_ends"][:, 0].tolist())
    if sorted(turbines) != list(range(len(layout))) or max(turbines.values()) > 1:
        yield "does not have one cable from each turbine"
        return
    try:
        routes = Routes.stored(arrays, cables.types)
        assert routes is not None
        carried, lines = routes.carried(), routes.lines()
        ends = np.vstack([layout, routes.substations[::-1]])[routes.ends]  # -1 - s counts from the end
        capacity = np.array([count for count, _ in cables.types])[routes.types]
    except (ArgumentError, IndexError, KeyError, ValueError) as error:
        yield f"its cables cannot be followed: {error}"
        return
    for number in np.flatnonzero(carried > capacity)[:1]:
        yield f"cable {number} carries {carried[number]} turbines, but its type carries {capacity[number]}"
    drawn = np.array([[line[0], line[-1]] for line in lines])
    off = np.hypot(*(drawn - ends).transpose(2, 0, 1)).max(axis=1)
    for number in np.flatnonzero(off > 10 * TOLERANCE_M)[:1]:
        yield f"cable {number} ends {off[number]:.3g} m beside its turbine or substation"
    for one, other in routes.crossings()[:1]:
        yield f"cables {one} and {other} cross"
