"""The features of a geographic file: which of them an entry of the campaign means, and their areas and points.

Messages show no text of a file that does not hold areas: a campaign file may come from elsewhere and name any file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign.reading.files import NamedFile
from vindeby.campaign.reading.tables import find_columns
from vindeby.text import listed, plural

if TYPE_CHECKING:
    from pyproj import CRS

MOST_VERTICES = 100_000
NO_GEOMETRY, NOT_NUMBERS = "has no geometry", "has a position that is not two numbers"
_AREA_LOST = 1e-9


class Named(NamedFile):
    """An entry of the campaign file that names a geographic file."""

    def refuse_other_keys(self, known: Sequence[str]) -> None:
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

    def require(self, holds: object, message: str, remedy: str) -> None:
        """Refuse the file unless a condition holds."""
        if not holds:
            self.refuse(message, remedy)

    def refuse_feature(self, number: int, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise for a feature, by its number counted from 0."""
        self.refuse(f"feature {number} {message}", remedy, value)


@dataclass
class Layer:
    """The features of a file, or of one layer of it, in the order of the file."""

    shapes: list[BaseGeometry | str]
    """A text says why a feature has no geometry; nothing is refused for a feature that is not used."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The fields of each feature."""
    crs: CRS | None = None
    """None where the file does not say it."""
    has_heights: bool = False
    notes: list[str] = field(default_factory=list)
    """What was done, in words."""

    @cached_property
    def fields(self) -> list[str]:
        """The names of all fields, sorted."""
        return sorted({name for row in self.rows for name in row})

    def values(self, name: str) -> list[Any]:
        """The values of a field, None where a feature has none."""
        return [row.get(name) for row in self.rows]

    def choose(self, named: Named) -> list[int]:
        """The features that ``feature:`` asks for: a number, a name, {FIELD: value}, or all."""
        wanted, count = named.data.get("feature"), len(self.shapes)
        if wanted is None and count != 1:
            name_field = self.find_field("name")
            which = f" ({listed(self.values(name_field))})" if name_field else ""
            named.refuse(
                f"holds {plural(count, 'feature')}{which}; the campaign does not say which of them is meant",
                "add feature: its number counted from 0, its name, {FIELD: value}, or all; or make a farm of each "
                "with farms: {file: ...}",
            )
        if wanted is None or wanted == "all":
            return list(range(count))
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            if not 0 <= wanted < count:
                named.refuse_key("feature", f"the last is {count - 1}, counted from 0", "name another")
            return [wanted]
        wanted = {"name": wanted} if isinstance(wanted, str) else wanted
        if not isinstance(wanted, dict) or len(wanted) != 1:
            remedy = "give a number, a name, {FIELD: value} or all"
            named.refuse_key("feature", "is not a way to choose a feature", remedy)
        ((name, value),) = wanted.items()
        name = self.field_called(str(name), named, "feature")
        return [_only(self.values(name), value, name, named, "feature")]

    def field_called(self, name: str, named: Named, key: str) -> str:
        """The field of this name; case does not matter where only one is alike."""
        if (found := self.find_field(name)) is None:
            known = listed(self.fields) or "none"
            named.refuse_key(key, f"the features have no field {name!r}", f"there are: {known}")
        return found

    def find_field(self, name: str) -> str | None:
        """The same, or None where there is none."""
        alike = [each for each in self.fields if each.lower() == name.lower()]
        return name if name in alike else alike[0] if len(alike) == 1 else None

    def geometry(self, number: int, named: Named) -> BaseGeometry:
        """The geometry of a feature in two dimensions; refuses none, an empty one, and one that is not finite."""
        shape = self.shapes[number]
        if isinstance(shape, str) or shape.is_empty or not np.isfinite(shapely.get_coordinates(shape)).all():
            flaw = shape if isinstance(shape, str) else NO_GEOMETRY if shape.is_empty else NOT_NUMBERS
            named.refuse_feature(number, flaw, "correct or remove it, or choose another with feature:")
        return shapely.force_2d(shape)


def _only(values: Sequence[Any], wanted: Any, field: str, named: Named, key: str) -> int:
    """The number of the only feature with this value of a field."""
    found = [number for number, one in enumerate(values) if _is_same(one, wanted)]
    if len(found) != 1:
        message = f"{len(found)} features have this {field}" if found else f"no feature has this {field}"
        message += f", {wanted!r}" * (key == "features")
        known = f"there are: {listed(dict.fromkeys(one for one in values if one not in (None, '')))}"
        remedy = "give the number of the feature instead, counted from 0: boundary: {file: ..., feature: 0}"
        named.refuse_key(key, message, remedy if found else known)
    return found[0]


def _is_same(value: Any, wanted: Any) -> bool:
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return value == wanted
    return value is not None and str(value).strip() == str(wanted).strip()


def area_of(layer: Layer, numbers: Sequence[int], named: Named) -> shapely.MultiPolygon:
    """The polygons of one feature or of several; refuses other geometries, and polygons that cross themselves."""
    polygons = [polygon for number in numbers for polygon in _polygons(layer, number, named)]
    area = shapely.MultiPolygon(polygons)
    is_small = shapely.get_num_coordinates(area) <= MOST_VERTICES
    remedy = "simplify the polygons, with QGIS for example"
    named.require(is_small, f"has more than {MOST_VERTICES:,} vertices", remedy)
    # A hole excludes all that lies in it, so that a part inside the hole of another would be lost.
    holes = [shapely.Polygon(hole) for part in polygons for hole in part.interiors]
    if holes and len(polygons) > 1:
        whole = shapely.union_all(polygons)
        lost = whole.intersection(shapely.union_all(holes)).area
        message = "has a part that lies in the hole of another part"
        named.require(lost <= _AREA_LOST * whole.area, message, "make a farm or a zone of each part")
    return area


def points_of(layer: Layer, numbers: Sequence[int], named: Named) -> shapely.MultiPoint:
    """The points of features; refuses other geometries."""
    points = [layer.geometry(number, named) for number in numbers]
    for number, point in zip(numbers, points, strict=True):
        if point.geom_type != "Point":
            message = f"is a {point.geom_type}, and a turbine is a Point"
            named.refuse_feature(number, message, "write one point for each turbine")
    return shapely.MultiPoint(shapely.get_coordinates(points))


def _polygons(layer: Layer, number: int, named: Named) -> list[shapely.Polygon]:
    parts: list[Any] = [layer.geometry(number, named)]
    while any(hasattr(part, "geoms") for part in parts):
        parts = [inner for part in parts for inner in shapely.get_parts(part)]
    for part in parts:
        if part.geom_type != "Polygon":
            remedy = "close the line to a polygon, or choose another feature with feature:"
            named.refuse_feature(number, f"is a {part.geom_type}, and an area needs polygons", remedy)
    whole = parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)
    with np.errstate(all="ignore"):  # of coordinates that overflow
        reason = "" if shapely.is_valid(whole) else shapely.is_valid_reason(whole)
    if reason:
        message = f"is not a valid polygon: {reason}"
        remedy = "correct it there, in QGIS with Check validity and Fix geometries for example"
        named.refuse_feature(number, message, remedy)
    return parts


_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_BOUNDARY_KEYS = ("file", "layer", "crs")
_AMOUNTS = ("n_turbines", "capacity_mw")


def farms_of(named: Named, layer: Layer) -> list[dict[str, Any]]:
    """The farms as a campaign file has them, each with the number of its feature as boundary."""
    data, asked = named.data, named.option("name")
    named.refuse_other_keys((*_BOUNDARY_KEYS[:2], "name", "features", *_BOUNDARY_KEYS[2:], *_AMOUNTS, "mix"))
    name_field = layer.find_field("name") if asked is None else layer.field_called(asked, named, "name")
    amounts = {
        key: layer.field_called(data[key], named, key) for key in _AMOUNTS if isinstance(data.get(key), str)
    }
    same = {key: data[key] for key in (*_AMOUNTS, "mix") if key in data and key not in amounts}
    where = {key: data[key] for key in _BOUNDARY_KEYS if key in data}
    numbered = [f"{named.path.stem} {number}" for number in range(len(layer.rows))]
    given = numbered if name_field is None else layer.values(name_field)
    names = [
        "" if one is None else f"{one:g}" if isinstance(one, float) else str(one).strip() for one in given
    ]
    entries = []
    for number in _wanted(names, named):
        if not names[number]:
            named.refuse_feature(
                number,
                f"has no {name_field}",
                "name it, list the farms that are wanted with features:, or say another field with name:",
            )
        own = {key: _amount(layer, number, amount, named) for key, amount in amounts.items()}
        entries.append({"name": names[number], "boundary": {**where, "feature": number}, **own, **same})
    return entries


def _amount(layer: Layer, number: int, field: str, named: Named) -> float | int:
    value = layer.rows[number].get(field)
    if isinstance(value, str) and _NUMBER.fullmatch(value):  # KML has text only
        value = float(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        named.refuse(f"feature {number}: {field} is not a number", "correct it, or say another field")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wanted(names: Sequence[str], named: Named) -> Sequence[int]:
    if "features" not in named.data:
        return range(len(names))
    wanted = named.data["features"]
    if not isinstance(wanted, list) or not wanted:
        named.refuse_key("features", "must be a list of names", "write e.g. [North, South]")
    return [_only([name or None for name in names], name, "name", named, "features") for name in wanted]


def put_types(layer: Layer, numbers: Sequence[int], named: Named, known: Sequence[str]) -> None:
    """Put the type of each point into the group, where a field of the file says it."""
    fields = layer.fields
    refuse = lambda message, _: named.refuse(message, "say type: beside file")  # noqa: E731
    place = find_columns(fields, ("type",), refuse).get("type")
    if place is None:
        return
    named.data["type"] = [layer.rows[number].get(fields[place]) for number in numbers]
    for number, name in zip(numbers, named.data["type"], strict=True):
        if name not in known:
            remedy = "describe others under turbines: of this entry, or say type: beside file"
            message = "does not name a type that is described"
            named.refuse_feature(number, message, f"known: {', '.join(known)}; {remedy}")
