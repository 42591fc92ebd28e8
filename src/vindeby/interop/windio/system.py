"""A whole windIO system as a campaign: site, wind farms and wake model, with what windIO leaves open chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import shapely

from vindeby.errors import CampaignError, VindebyError
from vindeby.interop.windio.analysis import read_wake
from vindeby.interop.windio.boundary import read_boundary
from vindeby.interop.windio.farm import Layout, WindFarms, read_farms
from vindeby.interop.windio.nodes import Node, ignored_keys, left_includes, open_root
from vindeby.interop.windio.notes import Missing, Notes
from vindeby.interop.windio.resource import Resource, read_resource
from vindeby.interop.windio.schema import schema_notes
from vindeby.interop.windio.turbine import printable_name
from vindeby.interop.windio.zones import farms_section

SPACING_DIAMETERS = 2.0
SEEDS = 4
FEWEST_POINTS, MOST_POINTS = 18, 60


@dataclass
class System:
    """What a windIO system says, as sections of a campaign."""

    data: dict[str, Any]
    """The campaign as plain data; what the file does not say is left out and listed in ``notes.missing``."""
    layouts: list[Layout]
    """Every layout of the file. A search does not start from them; they are for evaluation."""
    notes: Notes
    path: Path
    root: Node


def read_system(path: str | Path, *, check_schema: bool = True) -> System:
    """Read a ``wind_energy_system`` file with the includes that are needed; raises CampaignError in words."""
    root = open_root(Path(path))
    notes = Notes()
    _refuse_parts(root)
    name_node = root.get("name")
    name = printable_name(name_node.text()) if name_node is not None else Path(path).stem
    boundary, resource = _site(root, notes)
    farms = _farms(root, notes)
    data: dict[str, Any] = {
        "name": name,
        "description": f"From the windIO file {printable_name(Path(path).name)}.",
        "farms": farms_section(name, boundary, farms, notes),
    }
    if farms.turbines:
        data["turbines"] = farms.turbines
    else:
        notes.missing.append(Missing("turbines", "there is no turbine in the file", "describe one or more"))
    data["min_spacing"] = f"{SPACING_DIAMETERS:g} D"
    if resource is not None:
        data["site"] = resource.site([_hub_height(turbine) for turbine in farms.turbines], notes)
    method = [{"smart-start": {"grid_size": _grid_size(boundary, farms)}}, "gradient"]
    data |= {"wake": read_wake(root, notes), "method": method, "seeds": SEEDS}
    _note_choices(farms, boundary, notes)
    notes.ignored += ignored_keys(root.files)
    notes.left += left_includes(root.files)
    if check_schema:
        notes.schema += schema_notes(root)
    return System(data, [one for name in farms.names for one in farms.layouts[name]], notes, Path(path), root)


def _refuse_parts(root: Node) -> None:
    """Refuse a file that is only a part of a system."""
    if root.has("site") or root.has("wind_farm"):
        return
    parts = {
        "boundaries": "a site", "energy_resource": "a site", "wind_resource": "an energy resource",
        "layouts": "a wind farm", "performance": "a turbine",
    }  # fmt: skip
    found = next((what for key, what in parts.items() if root.has(key)), None)
    told = "is no windIO system: it has neither site nor wind_farm"
    if found is not None:
        told = f"is {found} of windIO, not a whole system"
    root.refuse(told, "name the system file, with site: !include ... and wind_farm: !include ...")


def _site(root: Node, notes: Notes) -> tuple[dict[str, Any] | None, Resource | None]:
    site = root.get("site")
    boundary, resource, why = None, None, "there is no boundary in the file"
    if site is not None:
        site.mapping()  # anything else is refused, not only its boundary
        site.use("name")
        try:
            boundary = read_boundary(site, notes)
        except CampaignError as error:
            why = f"the one in the file is not used: {error.problems[0]}"
        resource = read_resource(site, notes) if site.has("energy_resource") else None
    if boundary is None:
        notes.missing.append(Missing("farms.0.boundary", why, "give polygon or circle"))
    if resource is None:
        notes.missing.append(Missing("site", "there is no energy_resource in the file", "describe the wind"))
    return boundary, resource


def _farms(root: Node, notes: Notes) -> WindFarms:
    node = root.get("wind_farm")
    return WindFarms() if node is None else read_farms(node, notes)


def _hub_height(turbine: dict[str, Any]) -> float:
    form: dict[str, Any] = turbine.get("table") or turbine["cubic"]
    return float(form["hub_height_m"])


def _note_choices(farms: WindFarms, boundary: dict[str, Any] | None, notes: Notes) -> None:
    layouts = farms.first_layouts()
    if layouts:
        notes.chosen.append(
            "layouts of the file are kept for evaluation; a search does not start from them"
            + _outside(layouts, boundary)
        )
    spacing = f"min_spacing {SPACING_DIAMETERS:g} D: windIO has no such field"
    closest = _closest_diameters(layouts, farms)
    if closest is not None:
        spacing += f"; in the layouts of the file the closest two turbines are {closest:.3g} D apart"
    notes.chosen.append(spacing)
    notes.chosen.append(f"method smart-start, then gradient; {SEEDS} seeds")


def _outside(layouts: Sequence[Layout], boundary: dict[str, Any] | None) -> str:
    """How many turbines of the layouts stand outside the boundary, in words."""
    shape = None if boundary is None else shape_of(boundary)
    if shape is None:
        return ""
    points = shapely.points([point for one in layouts for point in zip(one.x, one.y, strict=True)])
    near = shape.buffer(1.0)
    shapely.prepare(near)
    outside = int((~near.covers(points)).sum())
    return f"; {outside} of {len(points)} turbines in them stand outside the boundary" if outside else ""


def _grid_size(boundary: dict[str, Any] | None, farms: WindFarms) -> int:
    """Points of the smart-start grid in each direction: about one per spacing, so that the turbines find room."""
    shape = None if boundary is None else shape_of(boundary)
    if shape is None or not farms.turbines:
        return FEWEST_POINTS
    west, south, east, north = shape.bounds
    points = float(max(east - west, north - south)) / (SPACING_DIAMETERS * _largest_rotor(farms))
    return min(max(math.ceil(points), FEWEST_POINTS), MOST_POINTS)


def _largest_rotor(farms: WindFarms) -> float:
    forms = [turbine.get("table") or turbine["cubic"] for turbine in farms.turbines]
    return max(float(form["rotor_diameter_m"]) for form in forms)


def _closest_diameters(layouts: Sequence[Layout], farms: WindFarms) -> float | None:
    points = [(x, y) for one in layouts for x, y in zip(one.x, one.y, strict=True)]
    if len(points) < 2 or not farms.turbines:
        return None
    tree = shapely.STRtree([shapely.Point(point) for point in points])
    _, distances = tree.query_nearest(
        tree.geometries, exclusive=True, return_distance=True, all_matches=False
    )
    if not len(distances):
        return 0.0
    return float(min(distances)) / _largest_rotor(farms)


def shape_of(boundary: dict[str, Any]) -> Any:
    """The area of a boundary; None where it is none that could be drawn."""
    from vindeby.campaign.sections.boundary import Boundary  # late: only a layout needs it

    try:
        return Boundary.model_validate(boundary).shape()
    except (ValueError, VindebyError):
        return None  # the campaign's own check says what is wrong with it
