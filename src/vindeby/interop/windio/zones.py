"""Which farm stands in which polygon, and how many turbines that makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import shapely

from vindeby.interop.windio.farm import Layout, WindFarms
from vindeby.interop.windio.notes import Missing, Notes

_TOLERANCE_M = 1.0
"""Published layouts have turbines on the boundary, rounded to a decimetre or so."""


def farms_section(
    name: str, boundary: dict[str, Any] | None, farms: WindFarms, notes: Notes
) -> list[dict[str, Any]]:
    """The section ``farms``: one farm, with a zone for each windIO farm where each has a polygon of its own."""
    layouts = farms.first_layouts()
    if len(farms.names) > 1 and len(layouts) == len(farms.names) and boundary is not None:
        polygons = _polygon_of_each(boundary, layouts)
        if polygons is not None:
            notes.chosen.append(
                f"each of the {len(layouts)} farms stands in a polygon of its own: they are zones of one farm, "
                "searched together"
            )
            return [{"name": name, "zones": _zones(boundary, polygons, layouts, farms)}]
        notes.chosen.append(f"the {len(layouts)} farms of the file are one farm, with the whole boundary")
    farm: dict[str, Any] = {"name": farms.names[0] if len(farms.names) == 1 else name}
    if boundary is not None:
        farm["boundary"] = boundary
    if layouts:
        farm |= _amount(layouts, farms, notes)
    else:
        why = "there is no layout in the file that would count turbines"
        notes.missing.append(Missing("n_turbines", why, "say how many, or give capacity_mw"))
    return [farm]


def _polygon_of_each(boundary: dict[str, Any], layouts: Sequence[Layout]) -> list[int] | None:
    """The polygon that holds all turbines of each farm, if there is exactly one for each."""
    shapes = [shapely.Polygon(ring) for ring in boundary.get("polygons", ()) if len(ring) > 2]
    if len(shapes) != len(layouts) or not all(shape.is_valid for shape in shapes):
        return None
    found = []
    for layout in layouts:
        points = shapely.MultiPoint(list(zip(layout.x, layout.y, strict=True)))
        holding = [index for index, shape in enumerate(shapes) if shape.buffer(_TOLERANCE_M).covers(points)]
        if len(holding) != 1:
            return None
        found.append(holding[0])
    return found if len(set(found)) == len(found) else None


def _zones(
    boundary: dict[str, Any], polygons: Sequence[int], layouts: Sequence[Layout], farms: WindFarms
) -> list[dict[str, Any]]:
    zones = []
    for index, layout in zip(polygons, layouts, strict=True):
        area: dict[str, Any] = {"polygon": boundary["polygons"][index]}
        if "exclusions" in boundary:
            area["exclusions"] = boundary["exclusions"]
        zones.append({"name": layout.farm, **_amount([layout], farms, Notes()), "boundary": area})
    return zones


def _amount(layouts: Sequence[Layout], farms: WindFarms, notes: Notes) -> dict[str, Any]:
    """How many turbines, or how many of each type where there are several."""
    count = sum(len(layout.x) for layout in layouts)
    types = [name for layout in layouts for name in layout.types]
    if len(farms.turbines) < 2:
        return {"n_turbines": count}
    if len(types) < count:
        notes.chosen.append(
            f"the layouts do not say which turbine is of which of the {len(farms.turbines)} types: each type is "
            "searched by itself"
        )
        return {"n_turbines": count}
    return {"mix": dict(Counter(types))}
