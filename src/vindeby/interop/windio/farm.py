"""The wind farms of a windIO system: their turbine types and the layouts given for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from vindeby.campaign.sections.amount import MAX_TURBINES
from vindeby.interop.windio.coordinates import points
from vindeby.interop.windio.nodes import Node
from vindeby.interop.windio.notes import Notes
from vindeby.interop.windio.turbine import printable_name, read_turbine
from vindeby.text import listed


@dataclass
class Layout:
    """Where the turbines of a farm stand, and of which types they are."""

    farm: str
    name: str
    x: list[float]
    y: list[float]
    types: list[str]
    """The name of the type of each turbine; empty where the file does not say."""


@dataclass
class WindFarms:
    """All farms of a system."""

    turbines: list[dict[str, Any]] = field(default_factory=list)
    """Types as a campaign file has them, each once."""
    names: list[str] = field(default_factory=list)
    layouts: dict[str, list[Layout]] = field(default_factory=dict)
    """By the name of a farm; without layouts, an empty list."""

    def first_layouts(self) -> list[Layout]:
        """The layout of each farm that counts turbines: the first."""
        return [self.layouts[name][0] for name in self.names if self.layouts[name]]


def read_farms(node: Node, notes: Notes) -> WindFarms:
    """One farm or a list of them."""
    farms = WindFarms()
    for entry in node.entries():
        name = _unique(_name(entry), farms.names)
        farms.names.append(name)
        types = _types(entry, farms, notes)
        farms.layouts[name] = [
            _layout(inner, label, name, types, notes) for label, inner in _layout_nodes(entry)
        ]
        counts = [len(layout.x) for layout in farms.layouts[name]]
        if counts:
            notes.taken.append(f"farm {name!r}: {counts[0]} turbines")
        if len(counts) > 1:
            notes.chosen.append(
                f"farm {name!r} has {len(counts)} layouts of {listed(counts)} turbines; the first counts"
            )
    return farms


def _name(node: Node) -> str:
    given = node.get("name")
    return printable_name(given.text()) if given is not None else "farm"


def _unique(name: str, taken: list[str]) -> str:
    """The name, with a number behind it where another has it already: names of windIO farms repeat."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name[:110]} ({number})"
    return candidate


def _types(node: Node, farms: WindFarms, notes: Notes) -> dict[str, str]:
    """The names of the types of a farm, by the number that its layouts use for them."""
    found: dict[str, str] = {}
    several = node.get("turbine_types")
    if several is not None:
        for key, inner in several.items():
            found[key] = _add(read_turbine(inner, notes), farms)
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
    return {} if one is None else {"": _add(read_turbine(one, notes), farms)}


def _add(turbine: dict[str, Any], farms: WindFarms) -> str:
    """The name of the type among the campaign's; the same description is one type."""
    for known in farms.turbines:
        if {**known, "name": ""} == {**turbine, "name": ""}:
            return str(known["name"])
    name = _unique(turbine["name"], [known["name"] for known in farms.turbines])
    farms.turbines.append({**turbine, "name": name})
    return name


def _layout_nodes(node: Node) -> list[tuple[str, Node]]:
    """Every layout, with its name: of a list, of a single one, or of a mapping by name."""
    layouts = node.get("layouts")
    if layouts is None:
        return []
    if isinstance(layouts.value, list):
        return [(f"layout {index}", inner) for index, inner in enumerate(layouts.entries())]
    if layouts.has("coordinates"):
        return [("layout", layouts)]
    found = [(printable_name(key), inner) for key, inner in layouts.items()]
    if not found:
        layouts.refuse("has no layout", "give coordinates: {x, y}")
    return found


def _layout(node: Node, label: str, farm: str, types: dict[str, str], notes: Notes) -> Layout:
    places = points(node.need("coordinates", "give coordinates: {x, y}"), notes)
    if not 0 < len(places) <= MAX_TURBINES:
        count = f"{len(places):,} turbines; a farm has at most {MAX_TURBINES:,}" if places else "no turbine"
        node.refuse(f"has {count}", "give coordinates: {x, y}, one point for each turbine")
    x, y = [place[0] for place in places], [place[1] for place in places]
    given = node.get("turbine_types")
    if given is None:
        only = list(types.values())
        return Layout(farm, label, x, y, only * len(x) if len(only) == 1 else [])
    numbers = [f"{number:g}" for number in given.numbers()]
    if len(numbers) != len(x):
        given.refuse(f"has {len(numbers)} entries, but there are {len(x)} turbines", "give one for each")
    for index, number in enumerate(numbers):
        if number not in types:
            given.refuse(
                f"entry {index} is no type of the farm",
                f"turbine_types of the farm has: {listed(types) or 'none'}",
                number,
            )
    return Layout(farm, label, x, y, [types[number] for number in numbers])
