"""Coordinates as windIO has them: lists of x and y in metres, with a coordinate system in words or without."""

from __future__ import annotations

import re

from vindeby.interop.windio.nodes import Node
from vindeby.interop.windio.notes import Notes

_DEGREES = re.compile(r"(longlat|latlong|EPSG:+4326\b|EPSG:+4258\b|OGC:CRS84)", re.IGNORECASE)
_FARTHEST_M = 1e8
_REMEDY = "give an x and a y for each point; write decimals with a point, since commas separate numbers"


def points(node: Node, notes: Notes) -> list[list[float]]:
    """The points of ``{x: [...], y: [...]}``."""
    x = node.need("x", "give lists x and y").numbers()
    y = node.need("y", "give lists x and y").numbers()
    if len(x) != len(y):
        node.refuse(f"x has {len(x)} numbers and y has {len(y)}", _REMEDY)
    if max(map(abs, [*x, *y])) > _FARTHEST_M:
        node.refuse("has a point that is no place in metres", "give coordinates in metres, UTM for example")
    _note_crs(node, notes)
    return [[east, north] for east, north in zip(x, y, strict=True)]


def _note_crs(node: Node, notes: Notes) -> None:
    crs = node.get("crs")
    if crs is None:
        return
    text = crs.text()
    if _DEGREES.search(text) or "+units=km" in text or "+units=us-ft" in text:
        crs.refuse("is not in metres", "project the coordinates first, to UTM for example", text)
    note = f"the coordinate system is {text}; coordinates are taken as they are"
    systems = [one for one in notes.taken if one.startswith("the coordinate system is")]
    if not systems:
        notes.taken.append(note)
    elif systems[0] != note:
        first = systems[0].removeprefix("the coordinate system is ").partition(";")[0]
        crs.refuse(f"differs from the coordinate system that stands elsewhere, {first}", "use one", text)
