"""Does the grid of the local wind cover the farms? Nothing is extended beyond it, so that outside is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vindeby.campaign.reading.yaml_text import Path
from vindeby.campaign.sections.boundary import Boundary
from vindeby.campaign.sections.local_wind import LocalWind
from vindeby.campaign.sections.neighbours import NeighbourGroup
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.sections.values import refusal

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign

_REMEDY = "give a larger grid"


def refuse_outside_local_wind(campaign: Campaign) -> None:
    """Refuse corners of boundaries, neighbours and hub heights that the grid does not have."""
    local = campaign.site.local
    if local is None:
        return
    for index, farm in enumerate(campaign.farms):
        at: Path = ("farms", index, "boundary")
        for what, x, y in _corners(farm.boundary):
            _refuse_place(local, f"{what} of farm {farm.name!r}", x, y, at)
        for place, group in enumerate(farm.neighbours or ()):
            _refuse_group(local, group, campaign, ("farms", index, "neighbours", place))
    for place, group in enumerate(campaign.neighbours or ()):
        _refuse_group(local, group, campaign, ("neighbours", place))
    for index, turbine in enumerate(campaign.turbines):
        _refuse_height(local, turbine, ("turbines", index))


def _corners(boundary: Boundary) -> Iterator[tuple[str, float, float]]:
    """The places that must be covered, so that the whole area is."""
    if boundary.circle is not None:
        (x, y), radius = boundary.circle.center, boundary.circle.radius_m
        sides = {"west": (-1, 0), "south": (0, -1), "east": (1, 0), "north": (0, 1)}
        for side, (right, up) in sides.items():
            yield f"the {side} end of the circle", x + right * radius, y + up * radius
    for ring in boundary.rings:
        for index, (x, y) in enumerate(ring):
            yield f"corner {index}", x, y


def _refuse_place(local: LocalWind, what: str, x: float, y: float, at: Path) -> None:
    west, south, east, north = local.bounds
    if not (west <= x <= east and south <= y <= north):
        raise refusal(
            f"{what} at ({x:.10g}, {y:.10g}) is outside the grid of the local wind, which goes from x {west:.10g} "
            f"to {east:.10g} and y {south:.10g} to {north:.10g}",
            remedy=_REMEDY,
            at=at,
            value=[x, y],
        )


def _refuse_group(local: LocalWind, group: NeighbourGroup, campaign: Campaign, at: Path) -> None:
    for index, (x, y) in enumerate(group.positions):
        _refuse_place(local, f"neighbour {index}", x, y, (*at, "positions", index))
    for place, turbine in enumerate(group.turbines or ()):
        _refuse_height(local, turbine, (*at, "turbines", place))
    used = set(group.type_names)
    for turbine in campaign.turbines:
        if turbine.name in used:
            _refuse_height(local, turbine, at)


def _refuse_height(local: LocalWind, turbine: Turbine, at: Path) -> None:
    if local.height is not None and not local.height[0] <= turbine.hub_height_m <= local.height[-1]:
        raise refusal(
            f"the hub height of {turbine.name!r}, {turbine.hub_height_m:g} m, is outside the grid of the local wind, "
            f"which goes from {local.height[0]:g} to {local.height[-1]:g} m",
            remedy="give a grid that holds this height, or one without heights",
            at=at,
            value=turbine.hub_height_m,
        )
