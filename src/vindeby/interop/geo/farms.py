"""A farm of each feature of a file: ``farms: {file: areas.gpkg, name: FIELD}``."""

from __future__ import annotations

import re
from typing import Any

from vindeby.interop.geo.layer import Feature, Layer
from vindeby.interop.geo.naming import Named
from vindeby.text import listed

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_KEYS = ("file", "layer", "name", "features", "crs", "edges", "n_turbines", "capacity_mw", "mix")
_NAME_IT = "name it, list the farms that are wanted with features:, or say another field with name:"
_AMOUNTS = ("n_turbines", "capacity_mw")


def farms_of(named: Named, layer: Layer) -> list[tuple[dict[str, Any], Feature]]:
    """The farms as a campaign file has them, but for their boundaries, with the feature of each."""
    named.refuse_other_keys(_KEYS)
    name_field = _name_field(named, layer)
    fields = {key: _amount_field(named, layer, key) for key in _AMOUNTS if key in named.data}
    entries = []
    for feature in _wanted(layer, name_field, named):
        name = _name(feature, name_field, named)
        if not name:
            named.refuse(f"feature {feature.number} has no {name_field}", _NAME_IT)
        entry: dict[str, Any] = {"name": name, "boundary": None}
        for key, field in fields.items():
            entry[key] = named.data[key] if field is None else _amount(feature, field, named)
        if "mix" in named.data:
            entry["mix"] = named.data["mix"]
        entries.append((entry, feature))
    return entries


def _name_field(named: Named, layer: Layer) -> str | None:
    """The field that names the farms: the one that is said, or ``name``, or none."""
    asked = named.text("name")
    return layer.find_field("name") if asked is None else layer.field_called(asked, named, "name")


def _name(feature: Feature, field: str | None, named: Named) -> str:
    if field is None:
        return f"{named.path.stem} {feature.number}"
    value = feature.properties.get(field)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value).strip()


def _amount_field(named: Named, layer: Layer, key: str) -> str | None:
    """The field that holds an amount; None for a number, which is that of every farm."""
    value = named.data[key]
    return layer.field_called(value, named, key) if isinstance(value, str) else None


def _amount(feature: Feature, field: str, named: Named) -> float | int:
    value = feature.properties.get(field)
    if isinstance(value, str) and _NUMBER.fullmatch(value):  # KML has text only
        value = float(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        named.refuse(f"feature {feature.number}: {field} is no number", "correct it, or say another field")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wanted(layer: Layer, name_field: str | None, named: Named) -> list[Feature]:
    """Those that ``features`` lists by name, in its order; all without it."""
    if "features" not in named.data:
        return layer.features
    wanted = named.data["features"]
    by_name: dict[str, list[Feature]] = {}
    for feature in layer.features:
        by_name.setdefault(_name(feature, name_field, named), []).append(feature)
    by_name.pop("", None)
    if not isinstance(wanted, list) or not wanted:
        named.refuse_key("features", "must be a list of names", "write e.g. [North, South]")
    unknown = [name for name in wanted if not isinstance(name, str) or name not in by_name]
    if unknown:
        named.refuse_key("features", f"no feature is called {unknown[0]!r}", f"there are: {listed(by_name)}")
    if twice := [name for name in wanted if len(by_name[name]) > 1]:
        told = f"{len(by_name[twice[0]])} features are called {twice[0]!r}"
        named.refuse_key("features", told, "give the farm a boundary: {file: ..., feature: its number}")
    return [by_name[name][0] for name in wanted]
