"""Turbine types as a campaign describes them; the curves themselves are computed in ``wake``."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from vindeby import units
from vindeby.campaign.sections.values import (
    Fraction,
    Increasing,
    Name,
    Number,
    OneOf,
    Positive,
    Section,
    refusal,
)

_RATING_TOLERANCE = 0.2
"""Curves with losses or a power boost are this near to their rating; other units or another turbine are not."""

ThrustCoefficient = Annotated[Number, Field(ge=0.0, lt=1.5)]


class Generic(Section):
    """A turbine known by three figures; power and thrust follow from the generic curves of ``wake``."""

    rated_power_mw: Positive
    rotor_diameter_m: Positive
    hub_height_m: Positive


class Table(Section):
    """A turbine with tabulated curves, linear in between; outside the table its first and last values hold.

    ``rated_power_mw`` decides how many turbines a capacity makes; without it, the largest power of the curve does.
    """

    rated_power_mw: Positive | None = None
    rotor_diameter_m: Positive
    hub_height_m: Positive
    wind_speed: Increasing
    power_kw: tuple[Annotated[Number, Field(ge=0.0)], ...]
    ct: tuple[ThrustCoefficient, ...]

    @property
    def largest_power_mw(self) -> float:
        """The largest power of the curve."""
        return units.kw_to_mw(max(self.power_kw))

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.wind_speed) < 2:
            raise refusal("a curve needs two points or more", remedy="tabulate it", at=("wind_speed",))
        for name in ("power_kw", "ct"):
            if (count := len(getattr(self, name))) != len(self.wind_speed):
                raise refusal(
                    f"has {count} entries, but wind_speed has {len(self.wind_speed)}",
                    remedy="give one entry for each wind speed",
                    at=(name,),
                )
        if max(self.power_kw) == 0.0:
            raise refusal("the turbine never gives power", remedy="give power in kW", at=("power_kw",))
        return self

    @model_validator(mode="after")
    def _rating_fits_the_curve(self) -> Self:
        rated, largest = self.rated_power_mw, self.largest_power_mw
        if rated is not None and abs(rated - largest) > _RATING_TOLERANCE * largest:
            raise refusal(
                f"is far from the largest power of the curve, {largest:.6g} MW",
                remedy="give rated_power_mw in MW and power_kw in kW, of the same turbine",
                at=("rated_power_mw",),
                value=rated,
            )
        return self


class Cubic(Section):
    """The turbine of the IEA Task 37 case studies: cubic power between cut-in and rated, constant thrust.

    P(u) = rated_power ((u - cut_in) / (rated_speed - cut_in))^3 below rated speed, rated power up to cut-out.
    """

    rated_power_mw: Positive
    rotor_diameter_m: Positive
    hub_height_m: Positive
    cut_in: Positive = 4.0
    rated_speed: Positive
    cut_out: Positive = 25.0
    ct: Fraction = 8 / 9

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.cut_in < self.rated_speed < self.cut_out:
            raise refusal(
                f"cut_in {self.cut_in:g}, rated_speed {self.rated_speed:g} and cut_out {self.cut_out:g} m/s are not "
                "in this order",
                remedy="let cut_in < rated_speed < cut_out",
                at=("rated_speed",),
            )
        return self


class Turbine(OneOf):
    """One turbine type: a name and one way of describing it."""

    alternatives = ("generic", "table", "cubic")

    name: Name
    generic: Generic | None = None
    table: Table | None = None
    cubic: Cubic | None = None

    @property
    def description(self) -> Generic | Table | Cubic:
        """The one description that was given."""
        description: Generic | Table | Cubic = self.chosen[1]
        return description

    @property
    def rated_power_mw(self) -> float:
        """Rated power of one turbine; of a table that does not state it, the largest power of the curve."""
        description = self.description
        if isinstance(description, Table):
            return description.rated_power_mw or description.largest_power_mw
        return description.rated_power_mw

    @property
    def rotor_diameter_m(self) -> float:
        """Rotor diameter."""
        return self.description.rotor_diameter_m

    @property
    def hub_height_m(self) -> float:
        """Hub height above ground or sea."""
        return self.description.hub_height_m

    def __repr__(self) -> str:
        return (
            f"<Turbine {self.name!r}: {self.chosen[0]}, {self.rated_power_mw:g} MW, "
            f"rotor {self.rotor_diameter_m:g} m, hub {self.hub_height_m:g} m>"
        )

    @model_validator(mode="after")
    def _clears_the_ground(self) -> Self:
        if self.hub_height_m <= self.rotor_diameter_m / 2:
            raise refusal(
                f"the rotor of {self.rotor_diameter_m:g} m reaches below the ground at a hub height of "
                f"{self.hub_height_m:g} m",
                remedy="hub_height_m must be more than half of rotor_diameter_m",
                at=(self.chosen[0], "hub_height_m"),
            )
        return self
