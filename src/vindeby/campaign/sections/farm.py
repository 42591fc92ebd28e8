"""A farm, and how much stands in it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import shapely
from pydantic import ConfigDict, Field, model_validator
from shapely.geometry.base import BaseGeometry

from vindeby.campaign.sections.amount import MAX_TURBINES as MAX_TURBINES
from vindeby.campaign.sections.amount import Amount as Amount
from vindeby.campaign.sections.boundary import Boundary, Exclusion
from vindeby.campaign.sections.neighbours import Neighbours
from vindeby.campaign.sections.values import Count, Name, refusal
from vindeby.text import plural


class Zone(Amount):
    """A part of a farm: an area, and how much stands in it."""

    name: Name
    """Unique among the zones of the farm."""
    boundary: Boundary
    """Where its turbines may stand."""


class Farm(Amount):
    """A farm: a name, an area and, where it differs from the campaign's, how much stands in it.

    Instead of one boundary it may have zones, each with a boundary and an amount of its own.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["boundary"]}, {"required": ["zones"]}]}
    )

    name: Name
    """Unique among the farms."""
    one_boundary: Annotated[Boundary | None, Field(alias="boundary")] = None
    """Where turbines may stand."""
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)] | None = None
    """Several areas, each with its own amount."""
    search: Literal["together", "in-turn"] | None = None
    """Search all zones together, or one after the other."""
    rounds: Annotated[Count, Field(le=1000)] | None = None
    """How often zones are searched in turn."""
    neighbours: Neighbours | None = None
    """Turbines that stand already, besides the campaign's."""

    @property
    def boundary(self) -> Boundary:
        """The whole area; of zones, all of them put together, with circles as polygons good to 1e-4 of their area."""
        if self.one_boundary is not None:
            return self.one_boundary
        return _united([zone.boundary for zone in self.zones or ()])

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

    def whole_mix(self) -> dict[str, int] | None:
        """How many of each type the farm has in all, where it says that; of the zones, their sum."""
        if self.mix is not None:
            return self.fixed_mix()
        if not self.zones or self.zones[0].mix is None:
            return None
        total: dict[str, int] = {}
        for zone in self.zones:
            for name, count in zone.fixed_mix().items():
                total[name] = total.get(name, 0) + count
        return total

    @model_validator(mode="after")
    def _a_boundary_or_zones(self) -> Self:
        if self.zones is not None and self.one_boundary is not None:
            raise refusal("boundary and zones exclude each other", remedy="give one", at=("zones",))
        if self.zones is None and self.one_boundary is None:
            raise refusal("is missing", remedy="add it, or zones", at=("boundary",))
        for name in ("search", "rounds"):
            if self.zones is None and getattr(self, name) is not None:
                raise refusal("is for a farm with zones", remedy="remove it, or give zones", at=(name,))
        if self.rounds is not None and self.search != "in-turn":
            raise refusal(
                "counts the rounds of a search zone by zone", remedy="add search: in-turn", at=("rounds",)
            )
        if self.zones is not None:
            self._refuse_zones(self.zones)
        return self

    def _refuse_zones(self, zones: tuple[Zone, ...]) -> None:
        for name in ("n_turbines", "capacity_mw"):
            if getattr(self, name) is not None:
                raise refusal("is said by the zones", remedy="give it in each zone instead", at=(name,))
        for number, level in enumerate((*zones, self)):
            for name, chosen in (("n_turbines", level.count_range), ("mix", level.mix_is_chosen)):
                if chosen:
                    raise refusal(
                        "a range is for a farm with one boundary",
                        remedy="give fixed numbers in the zones, or make each zone a farm of its own",
                        at=("zones", number, name) if level is not self else (name,),
                    )
        seen: set[str] = set()
        for index, zone in enumerate(zones):
            if zone.name in seen:
                raise refusal(
                    "another zone has the same name",
                    remedy="names must differ",
                    at=("zones", index, "name"),
                    value=zone.name,
                )
            seen.add(zone.name)
            if not zone.amount_is_said:
                raise refusal(
                    f"how many turbines stand in zone {zone.name!r} is not said",
                    remedy="give n_turbines, capacity_mw or mix for the zone",
                    at=("zones", index),
                )
            self._refuse_mix(index, zone, zones[0])

    def _refuse_mix(self, index: int, zone: Zone, first: Zone) -> None:
        at: tuple[str | int, ...] = ("zones", index, "mix")
        if self.mix is not None and zone.mix is not None:
            raise refusal("the farm has a mix too", remedy="give one of the two", at=at)
        if (zone.mix is None) != (first.mix is None):
            raise refusal("only some zones have a mix", remedy="give every zone one, or the farm", at=at[:2])
        if self.mix is not None and zone.n_turbines is None:
            raise refusal(
                "a mix of the whole farm needs the number of turbines in each zone",
                remedy="give n_turbines for the zone, or a mix for each zone",
                at=at[:2],
            )
        if self.mix is not None and self.search == "in-turn":
            raise refusal(
                "zones that are searched in turn cannot share a mix",
                remedy="give each zone its mix",
                at=("mix",),
            )

    def __repr__(self) -> str:
        amount = ""
        if self.zones is not None:
            amount = f", {plural(len(self.zones), 'zone')}"
        elif self.mix is not None:
            amount = ", " + " + ".join(f"{count} {name}" for name, count in self.mix.items())
        elif isinstance(self.n_turbines, int):
            amount = f", {plural(self.n_turbines, 'turbine')}"
        elif self.n_turbines is not None:
            amount = f", {self.n_turbines} turbines"
        elif self.capacity_mw is not None:
            amount = f", {self.capacity_mw:g} MW"
        return f"<Farm {self.name!r}: {self.boundary.area_km2:.4g} km2{amount}>"


def _united(boundaries: list[Boundary]) -> Boundary:
    """One boundary around all; it was checked part by part."""
    shape = shapely.union_all([boundary.shape() for boundary in boundaries])
    parts = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"]
    rings = tuple(tuple(part.exterior.coords)[:-1] for part in parts)
    holes = tuple(tuple(hole.coords)[:-1] for part in parts for hole in part.interiors)
    excluded = tuple(Exclusion.model_construct(polygon=hole) for hole in holes)
    return Boundary.model_construct(polygons=rings, exclusions=excluded)
