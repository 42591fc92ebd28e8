"""What every geographic file comes to: features, each a geometry with properties, in one coordinate system."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shapely.geometry.base import BaseGeometry

from vindeby.errors import Problem
from vindeby.interop.geo.naming import Named
from vindeby.text import listed, plural

if TYPE_CHECKING:
    from pyproj import CRS

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
            told = f"{len(found)} features have this {name_field}"
            named.refuse_key("feature", told, "give the number of the feature instead, counted from 0")
        return found

    def _only(self, named: Named) -> list[Feature]:
        if len(self.features) != 1:
            name_field = self.find_field("name")
            names = [] if name_field is None else [one.properties.get(name_field) for one in self.features]
            which = f" ({listed(names)})" if names else ""
            named.refuse(
                f"holds {plural(len(self.features), 'feature')}{which}; which of them is meant is not said",
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
            named.refuse_key("feature", "is no way to choose", "give a number, a name, {FIELD: value} or all")
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
