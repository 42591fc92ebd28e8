"""The cables of a campaign's layouts: their router, the routes of a result, and whether stored routes can be."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.arrays import FloatArray
from vindeby.campaign import Campaign
from vindeby.campaign.sections.boundary import Boundary, Vertex
from vindeby.campaign.tasks import Cell
from vindeby.economy.cables import CableRouter, Routes, ZonedRouter, zone_of
from vindeby.errors import ArgumentError
from vindeby.store.format.record import Record
from vindeby.text import plural
from vindeby.units import TOLERANCE_M

Arrays = Mapping[str, npt.NDArray[Any]]
Groups = list[tuple[Boundary, int | tuple[Vertex, ...]]]
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


def check_cables(campaign: Campaign, cell: Cell, record: Record) -> Iterator[str]:
    """What is wrong with the cables of a result."""
    cables, arrays = None if campaign.costs is None else campaign.costs.cables, record.arrays
    if cables is None:
        return
    layout = np.asarray(arrays["layout"], np.float64).T
    if "cable_ends" not in arrays:
        if record.fingerprint:
            yield "has no cables"
        return
    if wrong := _malformed(arrays, len(layout), len(cables.types)):
        yield f"its cables cannot be followed: {wrong}"
        return
    if sorted(arrays["cable_ends"][:, 0].tolist()) != list(range(len(layout))):
        yield "does not have one cable from each turbine"
        return
    try:
        routes = Routes.stored(arrays, cables.types)
        assert routes is not None
        carried, lines = routes.carried(), routes.lines()
        ends = np.vstack([layout, routes.substations[::-1]])[routes.ends]  # -1 - s counts from the end
        capacity = np.array([count for count, _ in cables.types])[routes.types]
    except ArgumentError as error:
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
    said, length_m = record.attributes.get(CABLE_LENGTH), routes.length_m
    if isinstance(said, int | float) and not abs(said - length_m) <= 1e-9 * length_m:
        yield f"{CABLE_LENGTH} is {said:.9g}, but its cables are {length_m:.9g} m long"
    yield from _check_substations(cables.groups(campaign.farms[cell.farm_idx]), layout, routes.substations)


def _malformed(arrays: Arrays, turbines: int, types: int) -> str:
    """Which array of the cables is not as ``Routes`` stores it, in words; empty where all are."""
    names = ("cable_ends", "cable_types", "cable_points", "substations")
    for name in names:
        if name not in arrays or arrays[name].dtype.kind not in ("iu" if name in names[:2] else "fiu"):
            return f"there is no {name} of numbers"
    ends, kinds, points, stations = (arrays[name] for name in names)
    shapes = (ends.shape[1:], kinds.shape, points.shape[:1], stations.shape[:1])
    if shapes != ((2,), ends.shape[:1], (3,), (2,)) or not points.ndim == stations.ndim == 2:
        return f"{', '.join(names)} have the shapes {', '.join(str(arrays[name].shape) for name in names)}"
    if not (np.isfinite(points).all() and np.isfinite(stations).all()):
        return "cable_points or substations are not finite"
    number, counts = np.unique(points[0], return_counts=True)
    enough = np.array_equal(number, np.arange(len(ends))) and counts.min(initial=2) >= 2
    if not enough or (np.diff(points[0]) < 0).any():
        return "cable_points does not have two points or more of each cable, in order"
    unknown = (ends < -stations.shape[1]) | (ends >= turbines) | ((kinds < 0) | (kinds >= types))[:, None]
    return "a cable has an end or a type that there is not" if unknown.any() else ""


def _check_substations(groups: Groups, layout: FloatArray, stored: FloatArray) -> Iterator[str]:
    """Are they those of the campaign, or as many as it lets the search place?"""
    zone, first = zone_of([boundary.shape() for boundary, _ in groups], *layout.T), 0
    turbines = np.bincount(zone, minlength=len(groups)).tolist()
    for (_, given), count in zip(groups, turbines, strict=True):
        many = min(given, count) if isinstance(given, int) else len(given) * (count > 0)
        mine = stored[first : first + many]
        first += many
        placed = isinstance(given, int) or many != len(mine) or not many
        if not placed and np.abs(mine - np.array(given)).max() > TOLERANCE_M:
            yield "a substation does not stand where the campaign has it"
    if len(stored) != first:
        yield f"has {plural(len(stored), 'substation')}, but the campaign asks for {first}"
