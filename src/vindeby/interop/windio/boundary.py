"""The boundary of a windIO site: polygons or a circle, less exclusions."""

from __future__ import annotations

from typing import Any

from vindeby.interop.windio.coordinates import points
from vindeby.interop.windio.nodes import Node
from vindeby.interop.windio.notes import Notes
from vindeby.text import plural

Ring = list[list[float]]
_FORMS = "give polygons, a list of {x, y}, or circle, {center: {x, y}, radius}"


def read_boundary(site: Node, notes: Notes) -> dict[str, Any] | None:
    """The boundary as a campaign file has it; None where the site has none."""
    node = site.get("boundaries")
    excluded = _exclusions(site, notes)
    if node is None:
        return None
    rings, circle = _areas(node, notes)
    if circle is not None:
        boundary: dict[str, Any] = {"circle": circle}
        told = f"circle of {circle['radius_m']:g} m"
    elif len(rings) == 1:
        boundary, told = {"polygon": rings[0]}, f"polygon of {plural(len(rings[0]), 'vertex')}"
    else:
        boundary, told = {"polygons": rings}, f"{len(rings)} polygons"
    if excluded:
        boundary["exclusions"] = excluded
        told += f", {plural(len(excluded), 'exclusion')}"
    notes.taken.append(f"boundary: {told.replace('vertexs', 'vertices')}")
    return boundary


def _areas(node: Node, notes: Notes) -> tuple[list[Ring], dict[str, Any] | None]:
    polygons, circle = node.get("polygons"), node.get("circle")
    if polygons is not None and circle is not None:
        node.refuse("gives polygons and circle, which exclude each other", "give one of them")
    if circle is not None:
        return [], _circle(circle)
    if polygons is None:
        node.refuse("has neither polygons nor circle", _FORMS)
    entries = polygons.entries()
    if not entries:
        polygons.refuse("the list is empty", _FORMS)
    return [points(entry, notes) for entry in entries], None


def _circle(node: Node) -> dict[str, Any]:
    center = node.need("center", "give center: {x, y} and radius")
    x, y = center.need("x").number(), center.need("y").number()
    return {"center": [x, y], "radius_m": node.need("radius", "give the radius in metres").positive(1e8)}


def _exclusions(site: Node, notes: Notes) -> list[Any]:
    node = site.get("exclusions")
    if node is None:
        return []
    rings, circle = _areas(node, notes)
    return [*rings, *([] if circle is None else [{"circle": circle}])]
