"""The cables of a campaign's layouts: their router, the routes of a result, and whether stored routes can be."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.arrays import FloatArray
from vindeby.campaign import Campaign
from vindeby.campaign.sections.boundary import Boundary, Vertex
from vindeby.campaign.tasks import Cell
from vindeby.economy.cables import CableRouter, Routes, ZonedRouter
from vindeby.errors import ArgumentError
from vindeby.store.format.record import Record
from vindeby.units import TOLERANCE_M

Arrays = Mapping[str, npt.NDArray[Any]]
CABLE_LENGTH = "cable_length_m"
"""The attribute of a result that says how long its cables are."""


def _ring(area: Any) -> FloatArray:
    """The outer ring of a polygon, each corner once."""
    return shapely.get_coordinates(area.exterior)[:-1]


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
            border=_ring(area) if cables.within_area else None,
            obstacles=[_ring(hole.shape()) for hole in boundary.exclusions],
            clearance_m=clearance_m,
        )

    groups = cables.groups(campaign.farms[cell.farm_idx])
    routers = [one(*group) for group in groups]
    if len(routers) == 1:
        return routers[0]
    return ZonedRouter([boundary.shape() for boundary, _ in groups], routers)


def with_cables(campaign: Campaign, cell: Cell, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a result with its cables, routed if they are not there; as they are where cables do not count."""
    router = None if Routes.stored(arrays) is not None else router_of(campaign, cell)
    if router is None:
        return dict(arrays)
    return {**arrays, **router.route(*np.asarray(arrays["layout"], np.float64)).arrays()}


def eur_of_cables(campaign: Campaign, arrays: Arrays) -> float | None:
    """What the cables of a result cost: 0 where they do not count, None where they are not known."""
    if campaign.costs is None or campaign.costs.cables is None:
        return 0.0
    routes = Routes.stored(arrays, campaign.costs.cables.types)
    return None if routes is None else routes.eur


def check_cables(campaign: Campaign, record: Record) -> Iterator[str]:
    """What is wrong with the cables of a result."""
    cables, arrays = None if campaign.costs is None else campaign.costs.cables, record.arrays
    if cables is None:
        return
    layout = np.asarray(arrays["layout"], np.float64).T
    if "cable_ends" not in arrays:
        if record.fingerprint:
            yield "has no cables"
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
