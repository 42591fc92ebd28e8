"""The cables of a campaign's layouts: their router, the routes of a result, and whether stored routes can be."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.arrays import FloatArray
from vindeby.assembly.stored_turbines import Arrays
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.economy.cables import CableRouter, Routes
from vindeby.errors import DataError
from vindeby.store.format.record import Record
from vindeby.text import plural
from vindeby.units import TOLERANCE_M

CABLE_LENGTH = "cable_length_m"
"""The attribute of a result that says how long its cables are."""


def router_of(campaign: Campaign, cell: Cell) -> CableRouter | None:
    """What routes the cables of a cell's layouts; None where cables do not count."""
    cables = None if campaign.costs is None else campaign.costs.cables
    if cables is None:
        return None
    farm = campaign.farms[cell.farm_idx]
    given = cables.substations_of(farm.name)
    assert given is not None, "the campaign's check lets no farm without substations through"

    def ring(area: Any) -> FloatArray:
        return shapely.get_coordinates(area.exterior)[:-1]

    return CableRouter(
        given if isinstance(given, int) else np.array(given),
        cables.types,
        cables.router,
        cables.seconds,
        border=ring(farm.boundary.shape()) if cables.within_area else None,
        obstacles=[ring(hole.shape()) for hole in farm.boundary.exclusions],
        clearance_m=max(turbine.rotor_diameter_m for turbine in campaign.turbines_of(cell)),
    )


def with_cables(campaign: Campaign, cell: Cell, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a result with its cables, routed if they are not there; as they are where cables do not count."""
    router = None if "cable_ends" in arrays else router_of(campaign, cell)
    if router is None:
        return dict(arrays)
    return {**arrays, **router.route(*np.asarray(arrays["layout"], np.float64)).arrays()}


def eur_of_cables(campaign: Campaign, arrays: Arrays) -> float | None:
    """What the cables of a result cost: 0 where they do not count, None where they are not known."""
    if campaign.costs is None or campaign.costs.cables is None:
        return 0.0
    try:
        routes = Routes.stored(arrays, campaign.costs.cables.types)
    except DataError:
        return None
    return None if routes is None else routes.eur


def check_cables(campaign: Campaign, cell: Cell, record: Record) -> Iterator[str]:
    """What is wrong with the cables of a result."""
    cables = None if campaign.costs is None else campaign.costs.cables
    if cables is None:
        return
    layout = np.asarray(record.arrays["layout"], np.float64).T
    try:
        routes = Routes.stored(record.arrays, cables.types)
        carried = None if routes is None else routes.carried()
    except DataError as error:
        yield str(error)
        return
    if routes is None or carried is None:
        if record.fingerprint:
            yield "has no cables"
        return
    if len(routes.ends) != len(layout):
        yield "does not have one cable from each turbine"
        return
    capacity = np.array([count for count, _ in cables.types])[routes.types]
    for number in np.flatnonzero(carried > capacity)[:1]:
        yield f"cable {number} carries {carried[number]} turbines, but its type carries {capacity[number]}"
    ends = np.vstack([layout, routes.substations[::-1]])[routes.ends]  # -1 - s counts from the end
    drawn = np.array([[line[0], line[-1]] for line in routes.lines()])
    off = np.hypot(*(drawn - ends).transpose(2, 0, 1)).max(axis=1)
    for number in np.flatnonzero(~(off <= 10 * TOLERANCE_M))[:1]:
        yield f"cable {number} ends {off[number]:.3g} m beside its turbine or substation"
    for one, other in routes.crossings()[:1]:
        yield f"cables {one} and {other} cross"
    said, length_m = record.attributes.get(CABLE_LENGTH), routes.length_m
    if isinstance(said, int | float) and not abs(said - length_m) <= 1e-9 * length_m:
        yield f"{CABLE_LENGTH} is {said:.9g}, but its cables are {length_m:.9g} m long"
    given = cables.substations_of(campaign.farms[cell.farm_idx].name)
    asked = min(given, len(layout)) if isinstance(given, int) else len(given or ())
    if (count := len(routes.substations)) != asked:
        yield f"has {plural(count, 'substation')}, but the campaign asks for {asked}"
    elif isinstance(given, tuple) and np.abs(routes.substations - np.array(given)).max() > TOLERANCE_M:
        yield "a substation does not stand where the campaign has it"
