"""The features of a geographic file: which of them an entry of the campaign means, and their areas and points.

Messages show no text of a file that does not hold areas: a campaign file may come from elsewhere and name any file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign.reading.columns import type_column
from vindeby.campaign.reading.files import NamedFile
from vindeby.text import listed, plural

if TYPE_CHECKING:
    from pyproj import CRS

MOST_FEATURES = 10_000
MOST_VERTICES = 100_000
STRAIGHT_IN_FILE = "straight-in-file"
STRAIGHT_IN_METRES = "straight-in-metres"
_AREA_LOST = 1e-9


class Named(NamedFile):
    """An entry of the campaign file that names a geographic file."""

    def refuse_other_keys(self, known: tuple[str, ...]) -> None:
        """Refuse a key that has no meaning beside a geographic file."""
        for key in self.data:
            if key not in known:
                self.refuse_key(key, "has no meaning beside a geographic file", f"known: {', '.join(known)}")

    def option(self, key: str) -> str | None:
        """The text under a key, if there is one."""
        value = self.data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.refuse_key(key, "must be text", "put it in quotes")
        return value

    def keeps_corners_only(self) -> bool:
        """Whether edges are straight in metres, so that only their ends are projected."""
        value = self.option("edges")
        if value not in (None, STRAIGHT_IN_FILE, STRAIGHT_IN_METRES):
            self.refuse_key("edges", "is not known", f"known: {STRAIGHT_IN_FILE}, {STRAIGHT_IN_METRES}")
        return value == STRAIGHT_IN_METRES


@dataclass(frozen=True)
class Feature:
    """One entry of a file; ``number`` counts from 0 in the order of the file."""

    number: int
    geometry: BaseGeometry | None
    """None where the file has none that can be read; nothing is refused for a feature that is not used."""
    properties: dict[str, Any]
    flaw: str = "has no geometry"
    """Why the geometry is None."""


@dataclass
class Layer:
    """The features of a file, or of one layer of it."""

    features: list[Feature]
    crs: CRS | None
    """None where the file does not say it."""
    has_heights: bool = False
    notes: list[str] = field(default_factory=list)
    """What was done, in words."""

    def choose(self, named: Named) -> list[Feature]:
        """The features that ``feature:`` asks for: a number, a name, {FIELD: value}, or all."""
        wanted = named.data.get("feature")
        if wanted is None and len(self.features) != 1:
            name_field = self.find_field("name")
            names = [] if name_field is None else [one.properties.get(name_field) for one in self.features]
            which = f" ({listed(names)})" if names else ""
            named.refuse(
                f"holds {plural(len(self.features), 'feature')}{which}; the campaign does not say which of them "
                "is meant",
                "add feature: its number counted from 0, its name, {FIELD: value}, or all; or make a farm of each "
                "with farms: {file: ...}",
            )
        if wanted is None or wanted == "all":
            return self.features
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            if not 0 <= wanted < len(self.features):
                named.refuse_key(
                    "feature", f"the last is {len(self.features) - 1}, counted from 0", "name another"
                )
            return [self.features[wanted]]
        wanted = {"name": wanted} if isinstance(wanted, str) else wanted
        if not isinstance(wanted, dict) or len(wanted) != 1:
            named.refuse_key(
                "feature", "is not a way to choose a feature", "give a number, a name, {FIELD: value} or all"
            )
        name, value = next(iter(wanted.items()))
        name = self.field_called(name, named, "feature")
        found = [one for one in self.features if _same(one.properties.get(name), value)]
        if not found:
            known = listed([one.properties.get(name) for one in self.features])
            named.refuse_key("feature", f"no feature has this {name}", f"there are: {known}")
        if len(found) > 1:
            message = f"{len(found)} features have this {name}"
            named.refuse_key("feature", message, "give the number of the feature instead, counted from 0")
        return found

    def fields(self) -> list[str]:
        """The names of all fields, sorted."""
        return sorted({each for one in self.features for each in one.properties})

    def field_called(self, name: str, named: Named, key: str) -> str:
        """The field of this name; case does not matter where only one is alike."""
        found = self.find_field(name)
        if found is None:
            known = listed(self.fields()) or "none"
            named.refuse_key(key, f"the features have no field {name!r}", f"there are: {known}")
        return found

    def find_field(self, name: str) -> str | None:
        """The same, or None where there is none."""
        known = self.fields()
        alike = [each for each in known if each.lower() == name.lower()]
        return name if name in known else alike[0] if len(alike) == 1 else None


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return value == wanted
    return value is not None and str(value).strip() == str(wanted).strip()


def area_of(features: Sequence[Feature], named: Named) -> shapely.MultiPolygon:
    """The polygons of one feature or of several; refuses other geometries, and polygons that cross themselves."""
    area = shapely.MultiPolygon([polygon for feature in features for polygon in _polygons(feature, named)])
    if shapely.get_num_coordinates(area) > MOST_VERTICES:
        named.refuse(
            f"has more than {MOST_VERTICES:,} vertices", "simplify the polygons, with QGIS for example"
        )
    # A hole excludes all that lies in it, so that a part inside the hole of another would be lost.
    holes = [shapely.Polygon(hole) for part in area.geoms for hole in part.interiors]
    if holes and len(area.geoms) > 1:
        whole = shapely.union_all(list(area.geoms))
        if whole.intersection(shapely.union_all(holes)).area > _AREA_LOST * whole.area:
            named.refuse(
                "has a part that lies in the hole of another part", "make a farm or a zone of each part"
            )
    return area


def points_of(features: Sequence[Feature], named: Named) -> shapely.MultiPoint:
    """The points of features; refuses other geometries."""
    points = []
    for feature in features:
        geometry = _geometry(feature, named)
        if geometry.geom_type != "Point":
            message = f"feature {feature.number} is a {geometry.geom_type}, and a turbine is a Point"
            named.refuse(message, "write one point for each turbine")
        points.append(geometry)
    return shapely.MultiPoint(shapely.get_coordinates(points))


def _polygons(feature: Feature, named: Named) -> list[shapely.Polygon]:
    parts = list(shapely.get_parts(_geometry(feature, named)))
    while any(hasattr(part, "geoms") for part in parts):
        parts = [inner for part in parts for inner in shapely.get_parts(part)]
    for part in parts:
        if part.geom_type != "Polygon":
            named.refuse(
                f"feature {feature.number} is a {part.geom_type}, and an area needs polygons",
                "close the line to a polygon, or choose another feature with feature:",
            )
    whole = parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)
    if not shapely.is_valid(whole):
        named.refuse(
            f"feature {feature.number} is not a valid polygon: {shapely.is_valid_reason(whole)}",
            "correct it there, in QGIS with Check validity and Fix geometries for example",
        )
    return parts


def _geometry(feature: Feature, named: Named) -> BaseGeometry:
    """The geometry of a feature, without heights."""
    geometry, flaw = feature.geometry, feature.flaw
    if geometry is not None and not np.isfinite(shapely.get_coordinates(geometry)).all():
        geometry, flaw = None, "has a position that is not two numbers"
    if geometry is None or geometry.is_empty:
        named.refuse(
            f"feature {feature.number} {flaw}", "correct or remove it, or choose another with feature:"
        )
    return shapely.force_2d(geometry)


_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_KEYS = ("file", "layer", "name", "features", "crs", "edges", "n_turbines", "capacity_mw", "mix")
_NAME_IT = "name it, list the farms that are wanted with features:, or say another field with name:"
_AMOUNTS = ("n_turbines", "capacity_mw")


def farms_of(named: Named, layer: Layer) -> list[dict[str, Any]]:
    """The farms as a campaign file has them, each with the number of its feature as boundary."""
    named.refuse_other_keys(_KEYS)
    asked = named.option("name")
    name_field = layer.find_field("name") if asked is None else layer.field_called(asked, named, "name")
    fields = {
        key: layer.field_called(value, named, key)
        for key in _AMOUNTS
        if isinstance(value := named.data.get(key), str)
    }
    same = {key: named.data[key] for key in (*_AMOUNTS, "mix") if key in named.data and key not in fields}
    where: dict[str, Any] = {
        key: named.data[key] for key in ("file", "layer", "crs", "edges") if key in named.data
    }
    entries = []
    for feature in _wanted(layer, name_field, named):
        name = _name(feature, name_field, named)
        if not name:
            named.refuse(f"feature {feature.number} has no {name_field}", _NAME_IT)
        amounts = {key: _amount(feature, amount_field, named) for key, amount_field in fields.items()}
        boundary = {**where, "feature": feature.number}
        entries.append({"name": name, "boundary": boundary, **amounts, **same})
    return entries


def _name(feature: Feature, field: str | None, named: Named) -> str:
    if field is None:
        return f"{named.path.stem} {feature.number}"
    value = feature.properties.get(field)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value).strip()


def _amount(feature: Feature, field: str, named: Named) -> float | int:
    value = feature.properties.get(field)
    if isinstance(value, str) and _NUMBER.fullmatch(value):  # KML has text only
        value = float(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        named.refuse(f"feature {feature.number}: {field} is not a number", "correct it, or say another field")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wanted(layer: Layer, name_field: str | None, named: Named) -> list[Feature]:
    """Those that ``features`` lists by name, in its order; all without it."""
    if "features" not in named.data:
        return layer.features
    wanted = named.data["features"]
    names = [_name(feature, name_field, named) for feature in layer.features]
    if not isinstance(wanted, list) or not wanted:
        named.refuse_key("features", "must be a list of names", "write e.g. [North, South]")
    for name in wanted:
        if not name or name not in names:
            known = listed(dict.fromkeys(filter(None, names)))
            named.refuse_key("features", f"no feature is called {name!r}", f"there are: {known}")
        if names.count(name) > 1:
            message = f"{names.count(name)} features are called {name!r}"
            remedy = "give the farm a boundary: {file: ..., feature: its number}"
            named.refuse_key("features", message, remedy)
    return [layer.features[names.index(name)] for name in wanted]


def put_types(layer: Layer, features: Sequence[Feature], named: Named, known: Sequence[str]) -> None:
    """Put the type of each point into the group, where a field of the file says it."""
    fields = layer.fields()
    place = type_column(fields, lambda message, _: named.refuse(message, "say type: beside file"))
    if place is None:
        return
    types = [feature.properties.get(fields[place]) for feature in features]
    for feature, name in zip(features, types, strict=True):
        if name not in known:
            named.refuse(
                f"feature {feature.number} does not name a type that is described",
                f"known: {', '.join(known)}; describe others under turbines: of this entry, or say type: beside file",
            )
    named.data["type"] = types
