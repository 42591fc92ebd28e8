"""A farm: how many turbines stand in it, at which distance; and its neighbours."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import shapely
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Strict,
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
    Day,
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


class CountRange(Section):
    """A number that the search may choose, both ends included: ``{from: 60, to: 66}``."""

    fewest: Annotated[int, Strict(), Field(ge=0, alias="from")]
    """The fewest."""
    most: Annotated[Count, Field(le=MAX_TURBINES, alias="to")]
    """The most."""

    @model_validator(mode="after")
    def _begins_with_the_smaller(self) -> Self:
        wrong = f"from {self.fewest} to {self.most} is not a range"
        require(self.fewest <= self.most, wrong, "begin with the smaller", "from")
        return self

    def __str__(self) -> str:
        return f"{self.fewest} to {self.most}"


def _not_none(value: int | CountRange) -> int | CountRange:
    fewest = value.fewest if isinstance(value, CountRange) else value
    require(fewest, "a farm has at least one turbine", "begin with 1", "from")
    return value


def _one_number(value: int | CountRange) -> int | CountRange:
    return value.most if isinstance(value, CountRange) and value.fewest == value.most else value


_NumberOrRange = Annotated[Annotated[Count, Field(le=MAX_TURBINES)] | CountRange, AfterValidator(_one_number)]


def even_shares(ranges: Sequence[tuple[int, int]], total: int) -> list[int]:
    """Numbers within ranges that sum to the total, as equal as can be; where two are alike, the first has more."""
    shares = [few for few, _ in ranges]
    while sum(shares) < total:
        _, index = min((share, index) for index, share in enumerate(shares) if share < ranges[index][1])
        shares[index] += 1
    return shares


class Amount(Section):
    """How many turbines: a number, or a capacity that they may not exceed, or so many of each type.

    Said for a campaign, for a farm or for a zone of a farm. A number may be a range, from which the search chooses;
    a mix with ranges needs ``n_turbines`` beside it.
    """

    n_turbines: Annotated[_NumberOrRange, AfterValidator(_not_none)] | None = None
    """How many turbines, or a range from which the search chooses."""
    capacity_mw: Positive | None = None
    """How much in MW: as many turbines as do not exceed it."""
    mix: Annotated[dict[Name, _NumberOrRange], Field(min_length=1)] | None = None
    """How many of each turbine type, by the name it has in the campaign."""

    @property
    def amount_is_said(self) -> bool:
        """Whether this level says it at all."""
        return self.n_turbines is not None or self.capacity_mw is not None or self.mix is not None

    @property
    def count_range(self) -> CountRange | None:
        """The numbers of turbines to choose from; None where it is not chosen."""
        return self.n_turbines if isinstance(self.n_turbines, CountRange) else None

    @property
    def mix_is_chosen(self) -> bool:
        """Whether the search chooses how many of each type there are."""
        return any(isinstance(count, CountRange) for count in (self.mix or {}).values())

    def count(self, rated_power_mw: float) -> int:
        """How many turbines of this power that makes, of a range the most; a capacity is met exactly or from below."""
        if isinstance(self.n_turbines, CountRange):
            return self.n_turbines.most
        if self.n_turbines is not None:
            return self.n_turbines
        if self.mix is not None:
            return sum(self.fixed_mix().values())
        rounding = 1.0 + 1e-12  # so that 0.3 MW hold three turbines of 0.1 MW
        return math.floor((self.capacity_mw or 0.0) / rated_power_mw * rounding)

    def mix_ranges(self) -> dict[str, tuple[int, int]]:
        """The fewest and the most of each type of the mix; the same number twice where it is not chosen."""
        return {
            name: (count.fewest, count.most) if isinstance(count, CountRange) else (count, count)
            for name, count in (self.mix or {}).items()
        }

    def fixed_mix(self) -> dict[str, int]:
        """How many of each type, where that is not chosen."""
        return {name: many for name, (_, many) in self.mix_ranges().items()}

    @model_validator(mode="after")
    def _one_way_only(self) -> Self:
        self.refuse_unlike_amounts()
        return self

    def refuse_unlike_amounts(self) -> None:
        """Refuse two ways to say how many turbines there are."""
        given = [name for name in ("n_turbines", "capacity_mw", "mix") if getattr(self, name) is not None]
        if self.mix_is_chosen and given == ["n_turbines", "mix"]:
            self._refuse_chosen_mix()
            return
        needed = "a mix with ranges needs the number of all turbines"
        require(not self.mix_is_chosen or len(given) > 1, needed, "give n_turbines beside it", "mix")
        require(len(given) < 2, f"{' and '.join(given[:2])} exclude each other", "give one", *given[1:2])

    def _refuse_chosen_mix(self) -> None:
        total, ranges = self.n_turbines, self.mix_ranges().values()
        if not isinstance(total, int):
            wrong = "the search chooses either the number of turbines or the mix"
            remedy = "give n_turbines as one number, or a mix without ranges"
            raise refusal(wrong, remedy=remedy, at=("n_turbines",))
        few, many = sum(few for few, _ in ranges), sum(many for _, many in ranges)
        wrong = f"makes {few:,} to {many:,} turbines, but n_turbines is {total:,}"
        require(few <= total <= many, wrong, "make the two agree", "mix")


_SHORT = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(D|m)")


class Spacing(OneOf):
    """``3 D`` or ``{diameters: 3}``; ``720 m`` or ``{metres: 720}``."""

    short_form = {"type": "string", "pattern": f"^({_SHORT.pattern})$"}  # noqa: RUF012

    diameters: NotNegative | None = None
    """In rotor diameters."""
    metres: NotNegative | None = None
    """In metres."""

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
        """The spacing for turbines of this diameter."""
        return self.metres if self.metres is not None else (self.diameters or 0.0) * rotor_diameter_m


class ZoneSection(Amount):
    """A part of a farm: an area, and how much stands in it."""

    name: Name
    """Unique among the zones of the farm."""
    boundary: BoundarySection
    """Where its turbines may stand."""
    since: Annotated[Day | None, Field(alias="from")] = None
    """With search: in-turn, the date when it is built; by default before those that say it."""


def _rounds(value: Any) -> Any:
    return 200 if value == "until-settled" else value


_Rounds = Annotated[Count, Field(le=1000)]


class Farm(Amount):
    """A farm: a name, an area and, where it differs from the campaign's, how much stands in it.

    Instead of one boundary it may have zones, each with a boundary and an amount of its own.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["boundary"]}, {"required": ["zones"]}]}
    )

    name: Name
    """Unique among the farms."""
    one_boundary: Annotated[BoundarySection | None, Field(alias="boundary")] = None
    """Where turbines may stand."""
    zones: Annotated[tuple[ZoneSection, ...], *NAMED] | None = None
    """Several areas, each with its own amount."""
    search: Literal["together", "in-turn"] | None = None
    """Search all zones together, or one after the other."""
    rounds: Annotated[_Rounds, BeforeValidator(_rounds, _Rounds | Literal["until-settled"])] | None = None
    """How often at most zones are searched in turn; until-settled: until no zone moves."""
    maximise: Literal["own", "all"] | None = None
    """With search: in-turn, what a zone maximises: its own energy, or that of all turbines that stand."""
    neighbours: Neighbours | None = None
    """Turbines that stand already, besides the campaign's."""
    start: LayoutsSection | None = None
    """The layout that its searches start from, instead of the campaign's."""

    @property
    def boundary(self) -> BoundarySection:
        """The whole area; of zones, all of them put together, with circles as polygons good to 1e-4 of their area."""
        if self.one_boundary is not None:
            return self.one_boundary
        return _united([zone.boundary for zone in self.zones or ()])

    def stages(self) -> tuple[int, ...]:
        """By zone, how many dates come before its own: the order in which zones are built."""
        dates = [zone.since or "" for zone in self.zones or ()]
        return tuple(sorted({"", *dates}).index(date) for date in dates)

    def drawn_shape(self) -> BaseGeometry:
        """The area for a picture: the polygons of all zones, side by side, so that their borders show."""
        if self.zones is None:
            return self.boundary.shape()
        parts = [part for zone in self.zones for part in shapely.get_parts(zone.boundary.shape())]
        return shapely.MultiPolygon(parts)

    def excluded_shape(self) -> BaseGeometry:
        """What exclusions take from the area, for a picture."""
        inside = [zone.boundary for zone in self.zones] if self.zones else [self.boundary]
        whole = [one.model_copy(update={"exclusions": ()}).shape().difference(one.shape()) for one in inside]
        return shapely.union_all(whole)

    @property
    def amount_is_said(self) -> bool:
        """Whether the farm says it itself, in its zones for example."""
        return self.zones is not None or super().amount_is_said

    def zone_counts(self, rated_power_mw: float) -> tuple[int, ...]:
        """How many turbines stand in each zone; empty for a farm without zones."""
        return tuple(zone.count(rated_power_mw) for zone in self.zones or ())

    def count(self, rated_power_mw: float) -> int:
        """How many turbines of this power stand in the farm, in all of its zones."""
        return sum(self.zone_counts(rated_power_mw)) if self.zones else super().count(rated_power_mw)

    def fixed_mix(self) -> dict[str, int]:
        """How many of each type the farm has in all; of zones that say it, their sum."""
        total = Counter(super().fixed_mix())
        for zone in self.zones or ():
            total.update(zone.fixed_mix())
        return dict(total)

    @model_validator(mode="after")
    def _a_boundary_or_zones(self) -> Self:
        zones, whole = self.zones, self.one_boundary
        require(not (zones and whole), "boundary and zones exclude each other", "give one", "zones")
        require(zones or whole, "is missing", "add it, or zones", "boundary")
        for name in ("search", "rounds", "maximise"):
            unused = zones or getattr(self, name) is None
            require(unused, "is for a farm with zones", "remove it, or give zones", name)
        given: list[tuple[Any, Path]] = [(self.rounds, ("rounds",)), (self.maximise, ("maximise",))]
        given += [(zone.since, ("zones", index, "from")) for index, zone in enumerate(zones or ())]
        for value, at in given if self.search != "in-turn" else ():
            require(value is None, "is for a search zone by zone", "add search: in-turn", *at)
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
        for level, at in [*levels, (self, ())] if zones else ():
            for name, chosen in (("n_turbines", level.count_range), ("mix", level.mix_is_chosen)):
                remedy = "give fixed numbers in the zones, or make each zone a farm of its own"
                require(not chosen, "a range is for a farm with one boundary", remedy, *at, name)

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
    """One boundary around all; it was checked part by part."""
    shape = shapely.union_all([boundary.shape() for boundary in boundaries])
    parts = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"]
    rings = tuple(tuple(part.exterior.coords)[:-1] for part in parts)
    holes = tuple(tuple(hole.coords)[:-1] for part in parts for hole in part.interiors)
    excluded = tuple(Exclusion.model_construct(polygon=hole) for hole in holes)
    return BoundarySection.model_construct(polygons=rings, exclusions=excluded)


MOST_IN_A_GROUP = 10_000


class NeighbourGroup(Section):
    """Turbines that were built together: where each stands, and its type by name.

    A name is that of one of the group's own ``turbines``, or else of one of the campaign's.
    """

    may_be_in_a_file = True
    keys_of_reading = ("database", "key", "best")
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
    """Where its turbines stand, [[x, y], ...] in metres."""

    @property
    def label(self) -> str:
        """What a picture or a message calls it."""
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
    """A farm of the database of stored layouts that stands with one of them; written when layouts are chosen."""

    stored: Pin
    """Which layout stands there."""
    farm: Name
    """The name of the farm."""
    since: Annotated[Date | None, Field(alias="from")] = None
    """Where the farm does not stand always, from when on."""


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
"""One group or several; a single one needs no list."""
