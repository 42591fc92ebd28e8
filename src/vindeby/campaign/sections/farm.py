"""A farm: the number of its turbines, their spacing, and its neighbours."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Annotated, Any, Literal, Self

import shapely
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from shapely.geometry.base import BaseGeometry

from vindeby.campaign.reading.yaml_text import Path
from vindeby.campaign.sections.boundary import BoundarySection, Exclusion, Vertex
from vindeby.campaign.sections.layouts import MAX_TURBINES as MAX_TURBINES
from vindeby.campaign.sections.layouts import LayoutsSection
from vindeby.campaign.sections.method import Pin
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.sections.values import (
    NAMED,
    Count,
    Date,
    Name,
    NotNegative,
    OneOf,
    Positive,
    Section,
    Text,
    one_is_a_list,
    refusal,
    require,
)
from vindeby.text import plural

_Number = Annotated[Count, Field(le=MAX_TURBINES)]


class Amount(Section):
    """The amount of turbines: a number, a capacity that they may not exceed, or a number for each type.

    Said for a campaign, for a farm or for a zone of a farm.
    """

    n_turbines: _Number | None = None
    """The number of turbines."""
    capacity_mw: Positive | None = None
    """How much in MW: as many turbines as do not exceed it."""
    mix: Annotated[dict[Name, _Number], Field(min_length=1)] | None = None
    """The number of turbines of each type, by the type's name in the campaign."""

    @property
    def amount_is_said(self) -> bool:
        """Return whether this level gives the number of turbines, a capacity or a mix."""
        return self.n_turbines is not None or self.capacity_mw is not None or self.mix is not None

    def count(self, rated_power_mw: float) -> int:
        """Return the number of turbines of this power; a capacity is met exactly or from below."""
        if self.n_turbines is not None:
            return self.n_turbines
        if self.mix is not None:
            return sum(self.turbines_by_type().values())
        rounding = 1.0 + 1e-12  # so that 0.3 MW hold three turbines of 0.1 MW
        return math.floor((self.capacity_mw or 0.0) / rated_power_mw * rounding)

    def turbines_by_type(self) -> dict[str, int]:
        """Return the number of turbines of each type of the mix; nothing without a mix."""
        return dict(self.mix or {})

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        self.refuse_unlike_amounts()
        return self

    def refuse_unlike_amounts(self) -> None:
        """Refuse two ways to say how many turbines there are."""
        given = [name for name in ("n_turbines", "capacity_mw", "mix") if getattr(self, name) is not None]
        require(len(given) < 2, f"{' and '.join(given[:2])} exclude each other", "give one", *given[1:2])


_SHORT = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(D|m)")


class Spacing(OneOf):
    """``3 D`` or ``{diameters: 3}``; ``720 m`` or ``{metres: 720}``."""

    short_form = {"type": "string", "pattern": f"^({_SHORT.pattern})$"}  # noqa: RUF012

    diameters: NotNegative | None = None
    """The spacing in rotor diameters."""
    metres: NotNegative | None = None
    """The spacing in metres."""

    @model_validator(mode="before")
    @classmethod
    def _with_unit(cls, data: Any) -> Any:
        if isinstance(data, dict | cls):
            return data
        match = _SHORT.fullmatch(data) if isinstance(data, str) else None
        if match is None:
            remedy = 'write it like "3 D" or "720 m"'
            raise refusal("is not a spacing with its unit", remedy=remedy, value=data)
        return {"diameters" if match[2] == "D" else "metres": float(match[1])}

    def in_metres(self, rotor_diameter_m: float) -> float:
        """Return the spacing for turbines of this diameter."""
        return self.metres if self.metres is not None else (self.diameters or 0.0) * rotor_diameter_m


class ZoneSection(Amount):
    """A part of a farm: an area, and the amount of turbines in it."""

    name: Name
    """Unique among the zones of the farm."""
    boundary: BoundarySection
    """The area for the turbines of the zone."""


class Farm(Amount):
    """A farm: a name, an area and, if it differs from the campaign's, the amount of turbines.

    Instead of one boundary it may have zones, each with a boundary and an amount of its own.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["boundary"]}, {"required": ["zones"]}]}
    )

    name: Name
    """Unique among the farms."""
    one_boundary: Annotated[BoundarySection | None, Field(alias="boundary")] = None
    """The area for the turbines."""
    zones: Annotated[tuple[ZoneSection, ...], *NAMED] | None = None
    """Several areas, each with its own amount."""
    search: Literal["together", "in-turn"] | None = None
    """Search all zones together, or one after the other."""
    rounds: Annotated[Count, Field(le=1000)] | None = None
    """With search: in-turn, how often at most to go through all zones."""
    neighbours: Neighbours | None = None
    """Existing turbines around the farm, besides the campaign's."""
    start: LayoutsSection | None = None
    """The layout that its searches start from, instead of the campaign's."""

    @property
    def boundary(self) -> BoundarySection:
        """The whole area; of zones, all of them put together, with circles as polygons good to 1e-4 of their area."""
        if self.one_boundary is not None:
            return self.one_boundary
        return _united([zone.boundary for zone in self.zones or ()])

    def drawn_shape(self) -> BaseGeometry:
        """Return the area for a picture: the polygons of all zones side by side, so that the borders show."""
        if self.zones is None:
            return self.boundary.shape()
        parts = [part for zone in self.zones for part in shapely.get_parts(zone.boundary.shape())]
        return shapely.MultiPolygon(parts)

    def excluded_shape(self) -> BaseGeometry:
        """Return the area that exclusions remove, for a picture."""
        inside = [zone.boundary for zone in self.zones] if self.zones else [self.boundary]
        whole = [one.model_copy(update={"exclusions": ()}).shape().difference(one.shape()) for one in inside]
        return shapely.union_all(whole)

    @property
    def amount_is_said(self) -> bool:
        """Return whether the farm gives its amount itself, or its zones do."""
        return self.zones is not None or super().amount_is_said

    def zone_counts(self, rated_power_mw: float) -> tuple[int, ...]:
        """Return the number of turbines in each zone; empty for a farm without zones."""
        return tuple(zone.count(rated_power_mw) for zone in self.zones or ())

    def count(self, rated_power_mw: float) -> int:
        """Return the number of turbines of this power in the farm, with all of its zones."""
        return sum(self.zone_counts(rated_power_mw)) if self.zones else super().count(rated_power_mw)

    def turbines_by_type(self) -> dict[str, int]:
        """Return the number of turbines of each type in the farm; of zones that say it, their sum."""
        total = Counter(super().turbines_by_type())
        for zone in self.zones or ():
            total.update(zone.turbines_by_type())
        return dict(total)

    @model_validator(mode="after")
    def _a_boundary_or_zones(self) -> Self:
        zones, whole = self.zones, self.one_boundary
        require(not (zones and whole), "boundary and zones exclude each other", "give one", "zones")
        require(zones or whole, "is missing", "add it, or zones", "boundary")
        for name in ("search", "rounds"):
            unused = zones or getattr(self, name) is None
            require(unused, "is for a farm with zones", "remove it, or give zones", name)
        in_turn = self.rounds is None or self.search == "in-turn"
        require(in_turn, "is for a search zone by zone", "add search: in-turn", "rounds")
        self._refuse_amounts(zones or ())
        return self

    def _refuse_amounts(self, zones: tuple[ZoneSection, ...]) -> None:
        for name in ("n_turbines", "capacity_mw"):
            unsaid = not zones or getattr(self, name) is None
            require(unsaid, "is said by the zones", "give it in each zone instead", name)
        shared = zones and self.mix is not None
        wrong = "zones that are searched in turn cannot share a mix"
        require(not shared or self.search != "in-turn", wrong, "give each zone its mix", "mix")
        levels: list[tuple[Amount, Path]] = [(zone, ("zones", index)) for index, zone in enumerate(zones)]
        for zone, at in levels:
            remedy = "give n_turbines, capacity_mw or mix for the zone"
            require(zone.amount_is_said, "the number of turbines in this zone is missing", remedy, *at)
            alike = (zone.mix is None) == (zones[0].mix is None)
            require(alike, "only some zones have a mix", "give every zone one, or the farm", *at)
            wrong = "a mix of the whole farm needs the number of turbines in each zone"
            remedy = "give n_turbines for the zone, or a mix for each zone and none for the farm"
            require(not shared or zone.n_turbines is not None, wrong, remedy, *at)

    def __repr__(self) -> str:
        amount = ""
        if self.zones is not None:
            amount = f", {plural(len(self.zones), 'zone')}"
        elif self.mix is not None:
            amount = ", " + " + ".join(f"{count} {name}" for name, count in self.mix.items())
        elif self.amount_is_said:
            amount = f", {self.n_turbines} turbines" if self.n_turbines else f", {self.capacity_mw:g} MW"
        return f"<Farm {self.name!r}: {self.boundary.area_km2:.4g} km2{amount}>"


def _united(boundaries: list[BoundarySection]) -> BoundarySection:
    """Return a single boundary around all of these, which were checked one by one."""
    shape = shapely.union_all([boundary.shape() for boundary in boundaries])
    parts = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"]
    rings = tuple(tuple(part.exterior.coords)[:-1] for part in parts)
    holes = tuple(tuple(hole.coords)[:-1] for part in parts for hole in part.interiors)
    excluded = tuple(Exclusion.model_construct(polygon=hole) for hole in holes)
    return BoundarySection.model_construct(polygons=rings, exclusions=excluded)


MOST_IN_A_GROUP = 10_000


class NeighbourGroup(Section):
    """A group of existing turbines: their positions, and their types by name.

    A name is that of one of the group's own ``turbines``, or else of one of the campaign's.
    """

    may_be_in_a_file = True
    keys_of_reading = ("database", "farm", "seed")
    short_form = {"type": "object", "required": ["database"]}  # noqa: RUF012

    name: Name | None = None
    """The name of the group."""
    source: Text | None = None
    """Where the positions come from, in words: written when they are read from a file."""
    turbines: Annotated[tuple[TurbineSection, ...], *NAMED] | None = None
    """Turbine types of its own, described as the campaign's are."""
    type: Annotated[tuple[Name, ...], BeforeValidator(one_is_a_list, Name | tuple[Name, ...])] | None = None
    """The type of all its turbines, or one for each position."""
    positions: Annotated[tuple[Vertex, ...], Field(min_length=1, max_length=MOST_IN_A_GROUP)]
    """The positions of the turbines, [[x, y], ...] in metres."""

    @property
    def label(self) -> str:
        """The name of the group in pictures and messages."""
        return self.name or self.source or "neighbours"

    @property
    def type_names(self) -> tuple[str, ...]:
        """The name of the type of each turbine."""
        names = self.type or tuple(turbine.name for turbine in self.turbines or ())
        return names * len(self.positions) if len(names) == 1 else names

    @model_validator(mode="after")
    def _types_are_said(self) -> Self:
        own, given = self.turbines or (), self.type
        wrong = f"{len(own)} types are described" if own else "the type of these turbines is missing"
        remedy = "give type: the name of a turbine type, or one name for each position"
        require(given is not None or len(own) == 1, wrong, remedy)
        require(
            given is None or len(given) in (1, len(self.positions)),
            f"has {len(given or ())} names, but there are {len(self.positions)} positions",
            "give one name for all, or one for each position",
            "type",
        )
        return self


class StoredNeighbour(Section):
    """A neighbour farm from the database of stored layouts, with a layout of it; written when layouts are chosen."""

    stored: Pin
    """The layout of the neighbour."""
    farm: Name
    """The name of the farm."""
    since: Annotated[Date | None, Field(alias="from")] = None
    """The date from which the farm exists; always if not given."""


def _kind_of_neighbour(value: Any) -> str:
    is_one = isinstance(value, StoredNeighbour) or (isinstance(value, dict) and "stored" in value)
    return "reference" if is_one else "group"


_Neighbour = Annotated[
    Annotated[NeighbourGroup, Tag("group")] | Annotated[StoredNeighbour, Tag("reference")],
    Discriminator(_kind_of_neighbour),
]
AllNeighbours = Annotated[
    tuple[_Neighbour, ...],
    BeforeValidator(one_is_a_list, NeighbourGroup | Annotated[tuple[_Neighbour, ...], Field(min_length=1)]),
    Field(min_length=1),
]
"""Groups of neighbours and, around stored layouts, farms of their database."""
_Groups = Annotated[tuple[NeighbourGroup, ...], Field(min_length=1)]
Neighbours = Annotated[
    tuple[NeighbourGroup, ...], BeforeValidator(one_is_a_list, NeighbourGroup | _Groups), Field(min_length=1)
]
"""A neighbour group or several; a single one needs no list."""
