"""Turbines that stand already as points of a geographic file: of which type each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vindeby.campaign.reading.column_names import HeaderError, type_column
from vindeby.interop.geo.layer import Feature, Layer
from vindeby.interop.geo.naming import Named


def known_types(data: Any, group: dict[str, Any]) -> list[str]:
    """The names of the types that a file may use: those of the group and of the campaign."""
    lists = (group.get("turbines"), data.get("turbines"))
    entries = [entry for one in lists if isinstance(one, list) for entry in one if isinstance(entry, dict)]
    return [entry["name"] for entry in entries if isinstance(entry.get("name"), str)]


def put_types(layer: Layer, features: Sequence[Feature], named: Named, known: Sequence[str]) -> None:
    """Put the type of each point into the group, where a field of the file says it."""
    fields = sorted({each for one in layer.features for each in one.properties})
    try:
        place = type_column(fields)
    except HeaderError as error:
        named.refuse(error.message, "say type: beside file")
    if place is None:
        return
    types = [feature.properties.get(fields[place]) for feature in features]
    for feature, name in zip(features, types, strict=True):
        if name not in known:
            named.refuse(
                f"feature {feature.number} names no type that is described",
                f"known: {', '.join(known)}; describe others under turbines: of this entry, or say type: beside file",
            )
    named.data["type"] = types
