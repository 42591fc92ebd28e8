"""The wind farms of a windIO system: their turbine types and the layouts given for them."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vindeby.campaign.sections.farm import MAX_TURBINES
from vindeby.interop.windio.nodes import Node, Notes, open_root
from vindeby.interop.windio.turbine import printable_name, read_turbine
from vindeby.text import listed, plural

_DEGREES = re.compile(r"(longlat|latlong|EPSG:+4326\b|EPSG:+4258\b|OGC:CRS84)", re.IGNORECASE)
_REMEDY = "give an x and a y for each point; write decimals with a point, since commas separate numbers"


def points(node: Node, notes: Notes) -> list[list[float]]:
    """Return the points of ``{x: [...], y: [...]}``."""
    x = node.need("x", "give lists x and y").numbers()
    y = node.need("y", "give lists x and y").numbers()
    if len(x) != len(y):
        node.refuse(f"x has {len(x)} numbers and y has {len(y)}", _REMEDY)
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
    for other in notes.taken:
        if other.startswith("the coordinate system is") and other != note:
            message = f"differs from what is given elsewhere ({crs.shown(other)})"
            crs.refuse(message, "use one coordinate system", text)
    if note not in notes.taken:
        notes.taken.append(note)


_FORMS = "give polygons, a list of {x, y}, or circle, {center: {x, y}, radius}"


def read_boundary(site: Node, notes: Notes) -> dict[str, Any] | None:
    """Return the boundary as a campaign file has it; None if the site has none."""
    node, holes = site.get("boundaries"), site.get("exclusions")
    excluded = [] if holes is None else _areas(holes, notes)
    if node is None:
        return None
    areas = _areas(node, notes)
    if isinstance(areas[0], dict):
        boundary, area = {**areas[0]}, f"circle of {areas[0]['circle']['radius_m']:g} m"
    elif len(areas) == 1:
        boundary, area = {"polygon": areas[0]}, f"polygon of {len(areas[0])} vertices"
    else:
        boundary, area = {"polygons": areas}, f"{len(areas)} polygons"
    if excluded:
        boundary["exclusions"] = excluded
        area += f", {plural(len(excluded), 'exclusion')}"
    notes.taken.append(f"boundary: {area}")
    return boundary


def _areas(node: Node, notes: Notes) -> list[Any]:
    """Return the vertices of each polygon, or a single circle, as the exclusions of a campaign file."""
    polygons, circle = node.get("polygons"), node.get("circle")
    if (polygons is None) == (circle is None):
        node.refuse("must have either polygons or a circle", _FORMS)
    if circle is not None:
        center, radius = circle.need("center", _FORMS), circle.need("radius", _FORMS).number()
        return [{"circle": {"center": [center.need(axis).number() for axis in "xy"], "radius_m": radius}}]
    entries = node.need("polygons").entries()
    if not entries:
        node.refuse("polygons: the list is empty", _FORMS)
    return [points(entry, notes) for entry in entries]


@dataclass
class WindioLayout:
    """The positions of the turbines of a farm, and their types."""

    farm: str
    x: list[float]
    y: list[float]
    types: list[str]
    """The name of the type of each turbine; empty if the file does not say."""


@dataclass
class WindFarms:
    """The wind farms of a system."""

    turbines: list[dict[str, Any]] = field(default_factory=list)
    """The turbine types as a campaign file has them, each once."""
    names: list[str] = field(default_factory=list)
    layouts: dict[str, list[WindioLayout]] = field(default_factory=dict)
    """The layouts by the name of a farm; an empty list for a farm without layouts."""

    def figures(self, name: str) -> list[float]:
        """Return the diameter or the hub height of each type."""
        return [float((one.get("table") or one["cubic"])[name]) for one in self.turbines]

    def first_layouts(self) -> list[WindioLayout]:
        """Return the first layout of each farm, the one that counts."""
        return [self.layouts[name][0] for name in self.names if self.layouts[name]]


def read_farms(node: Node, notes: Notes) -> WindFarms:
    """Return the wind farms of a node, which is a farm or a list of farms."""
    farms = WindFarms()
    for entry in node.entries():
        given = entry.get("name")
        name = _unique("farm" if given is None else printable_name(given.text()), farms.names)
        farms.names.append(name)
        types = _types(entry, farms, notes)
        farms.layouts[name] = [_layout(inner, name, types, notes) for inner in _layout_nodes(entry)]
        counts = [len(layout.x) for layout in farms.layouts[name]]
        if counts:
            notes.taken.append(f"farm {name!r}: {plural(counts[0], 'turbine')}")
        if len(counts) > 1:
            notes.chosen.append(
                f"farm {name!r} has {len(counts)} layouts of {listed(counts)} turbines; the first counts"
            )
    return farms


def windio_layouts(path: Path) -> list[dict[str, Any]]:
    """Return every layout in a file of windIO or IEA Task 37: x and y, the farm and, if known, each turbine's type."""
    root, notes = open_root(path), Notes()
    if root.has("definitions"):
        return [_iea37_layout(root.need("definitions").need("position").need("items"))]
    if root.has("x") or root.has("coordinates"):
        x, y = zip(*points(root.get("coordinates") or root, notes), strict=True)
        return [{"x": [*x], "y": [*y]}]
    found = read_farms(root.need("wind_farm") if root.has("wind_farm") else root, notes)
    layouts = [layout for name in found.names for layout in found.layouts[name]]
    if not layouts:
        root.refuse("holds no layout", "name a file with layouts: coordinates: {x, y}")
    several = {name for one in layouts for name in one.types}
    return [
        {"farm": one.farm, "x": one.x, "y": one.y, "type": one.types if len(several) > 1 else None}
        for one in layouts
    ]


def _iea37_layout(items: Node) -> dict[str, Any]:
    """Return the positions of a case study of IEA Task 37: two lists, or a list of pairs."""
    if isinstance(items.value, list):
        pairs = items.array()
        if pairs.shape[1:] != (2,):
            items.refuse("is not a list of pairs", "give an x and a y for each turbine")
        x, y = pairs.T.tolist()
    else:
        x, y = (items.need(name).numbers() for name in ("xc", "yc"))
    if len(x) != len(y):
        items.refuse(f"xc has {len(x)} numbers and yc has {len(y)}", _REMEDY)
    return {"x": x, "y": y}


def _unique(name: str, taken: list[str]) -> str:
    """Return the name, with a number appended if the name is taken: names of windIO farms repeat."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name[:110]} ({number})"
    return candidate


def _types(node: Node, farms: WindFarms, notes: Notes) -> dict[str, str]:
    """Return the names of the types of a farm, by the number that its layouts use for them."""
    found: dict[str, str] = {}
    several = node.get("turbine_types")
    if several is not None:
        for key, inner in several.items():
            found[key] = _add(inner, farms, notes)
        return found
    key = "turbines"
    if not node.has(key) and node.has("turbine"):
        key = "turbine"
        notes.doubtful.append(
            f"{node.where}: the key 'turbine' is not windIO's 'turbines'; it is taken as that"
        )
    one = node.get(key)
    if one is not None and isinstance(one.value, list):
        one.refuse("must be one turbine", "give several under turbine_types, by their numbers")
    return {} if one is None else {"": _add(one, farms, notes)}


def _add(node: Node, farms: WindFarms, notes: Notes) -> str:
    turbine = read_turbine(node, notes)
    for known in farms.turbines:
        if {**known, "name": ""} == {**turbine, "name": ""}:
            return str(known["name"])
    name = _unique(turbine["name"], [known["name"] for known in farms.turbines])
    farms.turbines.append({**turbine, "name": name})
    return name


def _layout_nodes(node: Node) -> list[Node]:
    layouts = node.get("layouts")
    if layouts is None:
        return []
    if isinstance(layouts.value, list):
        return layouts.entries()
    if layouts.has("coordinates"):
        return [layouts]
    found = [inner for _, inner in layouts.items()]
    if not found:
        layouts.refuse("has no layout", "give coordinates: {x, y}")
    return found


def _layout(node: Node, farm: str, types: dict[str, str], notes: Notes) -> WindioLayout:
    places = points(node.need("coordinates", "give coordinates: {x, y}"), notes)
    if len(places) > MAX_TURBINES:
        node.refuse(f"has {len(places):,} turbines; a farm has at most {MAX_TURBINES:,}", "split the farm")
    x, y = [place[0] for place in places], [place[1] for place in places]
    given = node.get("turbine_types")
    if given is None:
        only = list(types.values())
        return WindioLayout(farm, x, y, only * len(x) if len(only) == 1 else [])
    numbers = [f"{number:g}" for number in given.numbers()]
    if len(numbers) != len(x):
        given.refuse(f"has {len(numbers)} entries, but there are {len(x)} turbines", "give one for each")
    for index, number in enumerate(numbers):
        if number not in types:
            given.refuse(
                f"entry {index} is not a type of the farm",
                f"turbine_types of the farm has: {given.shown(listed(types) or 'none')}",
                number,
            )
    return WindioLayout(farm, x, y, [types[number] for number in numbers])
