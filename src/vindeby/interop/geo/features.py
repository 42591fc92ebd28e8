"""Which entry of a campaign file names a geographic file, and how what is wrong with either is said.

Messages show no text of a file that does not hold areas: a campaign file may come from elsewhere and name any file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from shapely.geometry.base import BaseGeometry

from vindeby.campaign.reading.columns import HeaderError, type_column
from vindeby.campaign.reading.yaml_text import Document, field_name
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem
from vindeby.text import listed, plural

if TYPE_CHECKING:
    from pyproj import CRS

STRAIGHT_IN_FILE = "straight-in-file"
STRAIGHT_IN_METRES = "straight-in-metres"


@dataclass
class Named:
    """A mapping of the campaign file with the key ``file``, where it stands, and the file."""

    document: Document
    data: dict[str, Any]
    at: DataPath
    path: Path

    @property
    def field(self) -> str:
        """The field in words, such as ``farms[0].boundary``."""
        return field_name(self.at)

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Something is wrong in the file itself."""
        shown = None if value is None else str(value)
        raise CampaignError([Problem(str(self.path), self.field, message, shown, remedy)]) from None

    def refuse_key(self, key: str, message: str, remedy: str) -> NoReturn:
        """Something is wrong with what the campaign file says about it."""
        self.document.refuse((*self.at, key), message, remedy, self.data.get(key))

    def refuse_other_keys(self, known: tuple[str, ...]) -> None:
        """Refuse a key that has no meaning beside a geographic file."""
        for key in self.data:
            if key not in known:
                self.refuse_key(key, "has no meaning beside a geographic file", f"known: {', '.join(known)}")

    def text(self, key: str) -> str | None:
        """The text under a key, if there is one."""
        value = self.data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.refuse_key(key, "must be text", "put it in quotes")
        return value

    def keeps_corners_only(self) -> bool:
        """Whether edges are straight in metres, so that only their ends are projected."""
        value = self.text("edges")
        if value not in (None, STRAIGHT_IN_FILE, STRAIGHT_IN_METRES):
            self.refuse_key("edges", "is not known", f"known: {STRAIGHT_IN_FILE}, {STRAIGHT_IN_METRES}")
        return value == STRAIGHT_IN_METRES


MOST_FEATURES = 10_000


@dataclass(frozen=True)
class Feature:
    """One entry of a file; ``number`` counts from 0 in the order of the file."""

    number: int
    geometry: BaseGeometry | None
    properties: dict[str, Any]
    flaw: Problem | None = None
    """What is wrong with it; nothing is refused for a feature that is not used."""

    def refuse_flaw(self, named: Named) -> None:
        """Refuse the feature where something is wrong with it."""
        if self.flaw is not None:
            named.refuse(self.flaw.message, self.flaw.remedy or "", self.flaw.value)


@dataclass
class Layer:
    """The features of a file, or of one layer of it."""

    features: list[Feature]
    crs: CRS | None
    """None where the file does not say it."""
    notes: list[str] = field(default_factory=list)
    """What was ignored, in words."""

    def choose(self, named: Named) -> list[Feature]:
        """The features that ``feature:`` asks for: a number, a name, {FIELD: value}, or all."""
        wanted = named.data.get("feature")
        if wanted is None:
            return self._only(named)
        if wanted == "all":
            return self.features
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            if not 0 <= wanted < len(self.features):
                named.refuse_key(
                    "feature", f"the last is {len(self.features) - 1}, counted from 0", "name another"
                )
            return [self.features[wanted]]
        name_field, value = self._asked(wanted, named)
        found = [one for one in self.features if _same(one.properties.get(name_field), value)]
        if not found:
            known = listed([one.properties.get(name_field) for one in self.features])
            named.refuse_key("feature", f"no feature has this {name_field}", f"there are: {known}")
        if len(found) > 1:
            message = f"{len(found)} features have this {name_field}"
            named.refuse_key("feature", message, "give the number of the feature instead, counted from 0")
        return found

    def _only(self, named: Named) -> list[Feature]:
        if len(self.features) != 1:
            name_field = self.find_field("name")
            names = [] if name_field is None else [one.properties.get(name_field) for one in self.features]
            which = f" ({listed(names)})" if names else ""
            named.refuse(
                f"holds {plural(len(self.features), 'feature')}{which}; the campaign does not say which of them "
                "is meant",
                "add feature: its number counted from 0, its name, {FIELD: value}, or all; or make a farm of each "
                "with farms: {file: ...}",
            )
        return self.features

    def _asked(self, wanted: Any, named: Named) -> tuple[str, Any]:
        if isinstance(wanted, str):
            name_field = self.find_field("name")
            if name_field is None:
                named.refuse_key("feature", "the features have no field called name", "write {FIELD: value}")
            return name_field, wanted
        if not isinstance(wanted, dict) or len(wanted) != 1:
            named.refuse_key(
                "feature", "is not a way to choose a feature", "give a number, a name, {FIELD: value} or all"
            )
        key, value = next(iter(wanted.items()))
        return self.field_called(key, named, "feature"), value

    def field_called(self, name: str, named: Named, key: str) -> str:
        """The field of this name; case does not matter where only one is alike."""
        found = self.find_field(name)
        if found is None:
            known = listed(sorted({each for one in self.features for each in one.properties}))
            named.refuse_key(key, f"the features have no field {name!r}", f"there are: {known or 'none'}")
        return found

    def find_field(self, name: str) -> str | None:
        """The same, or None where there is none."""
        known = {each for one in self.features for each in one.properties}
        alike = [each for each in known if each.lower() == name.lower()]
        return name if name in known else alike[0] if len(alike) == 1 else None


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return value == wanted
    return value is not None and str(value).strip() == str(wanted).strip()


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
        for key, amount_field in fields.items():
            entry[key] = named.data[key] if amount_field is None else _amount(feature, amount_field, named)
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
        named.refuse(f"feature {feature.number}: {field} is not a number", "correct it, or say another field")
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
        message = f"{len(by_name[twice[0]])} features are called {twice[0]!r}"
        named.refuse_key("features", message, "give the farm a boundary: {file: ..., feature: its number}")
    return [by_name[name][0] for name in wanted]


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
