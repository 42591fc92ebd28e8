"""Turbine types as a campaign describes them; the curves themselves are computed in ``wake``."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from vindeby import units
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.sections.values import (
    FileSource,
    Fraction,
    Increasing,
    Name,
    NotNegative,
    Number,
    OneOf,
    Positive,
    Section,
    ThrustCoefficient,
    require,
    require_length,
)

_RATING_TOLERANCE = 0.2
"""Curves with losses or a power boost are this near to their rating; other units or another turbine are not."""

Outside = Literal["hold", "zero"]
"""Outside a table: ``hold`` its first and last values, or ``zero``."""


class _Size(Section):
    rated_power_mw: Positive
    """Rated power in MW."""
    rotor_diameter_m: Positive
    """Rotor diameter in metres."""
    hub_height_m: Positive
    """Hub height in metres."""


class Generic(_Size):
    """A turbine known by three figures; power and thrust follow from the generic curves of ``wake``."""

    @model_validator(mode="after")
    def _rating_is_possible(self) -> Self:
        why = units.impossible_rating(self.rotor_diameter_m, self.rated_power_mw)
        _refuse_power(why, "rated_power_mw", "in MW")
        return self


class Tabulated(_Size):
    """A turbine with tabulated curves, linear in between; outside the table its first and last values hold.

    ``rated_power_mw`` decides how many turbines a capacity makes; without it, the largest power of the curve does.
    Power is given as such or as power coefficients ``cp``, which make powers at the wind speeds of the table.
    ``ct_wind_speed`` are the wind speeds of ``ct`` where they are not those of the power.
    """

    may_be_in_a_file = True

    rated_power_mw: Positive | None = None  # type: ignore[assignment]
    """Rated power in MW; the largest power of the curve if not given."""
    wind_speed: Increasing
    """The wind speeds of the curve, in m/s."""
    power_kw: tuple[NotNegative, ...] | None = None
    """Power at these wind speeds, in kW."""
    cp: tuple[Fraction, ...] | None = None
    """Power coefficients, instead of power."""
    air_density_kg_m3: Annotated[Number, Field(ge=0.5, le=2.0)] | None = None
    """The air density that cp refers to."""
    ct: tuple[ThrustCoefficient, ...]
    """Thrust coefficients."""
    ct_wind_speed: Increasing | None = None
    """The wind speeds of ct, where they differ from wind_speed."""
    outside: Outside = "hold"
    """Outside the wind speeds: hold the first and last values, or zero."""

    @property
    def power_w(self) -> tuple[float, ...]:
        """The power in W at the wind speeds of the table."""
        if self.power_kw is not None:
            return tuple(power * units.KW for power in self.power_kw)
        density = units.AIR_DENSITY_KG_M3 if self.air_density_kg_m3 is None else self.air_density_kg_m3
        return tuple(
            coefficient * units.wind_power_w(self.rotor_diameter_m, speed, density)
            for coefficient, speed in zip(self.cp or (), self.wind_speed, strict=True)
        )

    @property
    def largest_power_mw(self) -> float:
        """The largest power of the curve."""
        if self.power_kw is not None:
            return max(self.power_kw) / (units.MW / units.KW)
        return max(self.power_w) / units.MW

    @model_validator(mode="after")
    def _curves_fit(self) -> Self:
        power, density = "power_kw" if self.cp is None else "cp", self.air_density_kg_m3
        given = self.power_kw is not None, self.cp is not None
        require(any(given), "is missing", "add it, or cp instead", power)
        require(not all(given), "excludes power_kw, which is given too", "give one of them", "cp")
        unused = "has a meaning only with cp: power_kw is taken as it is"
        require(self.cp or density is None, unused, "leave it out", "air_density_kg_m3")
        _refuse_curve(self, power, "wind_speed")
        _refuse_curve(self, "ct", "wind_speed" if self.ct_wind_speed is None else "ct_wind_speed")
        require(max(self.power_w) > 0.0, "the turbine never gives power", "give power in kW", power)
        why = units.impossible_power(self.rotor_diameter_m, zip(self.wind_speed, self.power_w, strict=True))
        _refuse_power(why, power, "in kW" if self.cp is None else "as fractions")
        rated, largest = self.rated_power_mw, self.largest_power_mw
        near = rated is None or abs(rated - largest) <= _RATING_TOLERANCE * largest
        remedy = "give rated_power_mw in MW and power_kw in kW, of the same turbine"
        require(
            near, f"is far from the largest power of the curve, {largest:.6g} MW", remedy, "rated_power_mw"
        )
        return self


class Cubic(_Size):
    """The turbine of the IEA Task 37 case studies: cubic power between cut-in and rated, constant thrust.

    P(u) = rated_power ((u - cut_in) / (rated_speed - cut_in))^3 below rated speed, rated power up to cut-out.
    ``ct`` may be a list for the wind speeds ``ct_wind_speed``, linear in between, with ``outside`` as in a table.
    """

    cut_in: Positive = 4.0
    """Cut-in wind speed in m/s."""
    rated_speed: Positive
    """The wind speed from which power is rated, in m/s."""
    cut_out: Positive = 25.0
    """Cut-out wind speed in m/s."""
    ct: Fraction | tuple[ThrustCoefficient, ...] = 8 / 9
    """The thrust coefficient, or a list of them."""
    ct_wind_speed: Increasing | None = None
    """The wind speeds of a list of ct, in m/s."""
    outside: Outside = "hold"
    """Outside these wind speeds: hold the first and last values, or zero."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        speeds = f"cut_in {self.cut_in:g}, rated_speed {self.rated_speed:g} and cut_out {self.cut_out:g} m/s"
        in_order, remedy = self.cut_in < self.rated_speed < self.cut_out, "let cut_in < rated_speed < cut_out"
        require(in_order, f"{speeds} are not in this order", remedy, "rated_speed")
        curve = [(self.rated_speed, self.rated_power_mw * units.MW)]
        _refuse_power(units.impossible_power(self.rotor_diameter_m, curve), "rated_power_mw", "in MW")
        if isinstance(self.ct, tuple):
            require(self.ct_wind_speed, "is missing", "add it, since ct is a list", "ct_wind_speed")
            _refuse_curve(self, "ct", "ct_wind_speed")
            return self
        for name, default in (("ct_wind_speed", None), ("outside", "hold")):
            unused = getattr(self, name) == default
            require(unused, "has a meaning only where ct is a list", "leave it out", name)
        return self


def _refuse_power(why: str, field: str, unit: str) -> None:
    require(not why, f"cannot be: {why}", f"give {field} {unit}, rotor_diameter_m in metres", field)


def _refuse_curve(table: Tabulated | Cubic, name: str, axis: str) -> None:
    points = len(getattr(table, axis))
    require(points > 1, "a curve needs two points or more", "tabulate it", axis)
    require_length(len(getattr(table, name)), axis, points, name)


class TurbineSection(OneOf):
    """A turbine type: a name and one description."""

    beside = ("name", "source")
    may_be_in_a_file = True

    name: Name
    """The name of the type."""
    generic: Generic | None = None
    table: Tabulated | None = None
    cubic: Cubic | None = None
    source: FileSource | None = None
    """The file of another tool that the turbine was read from, if any."""

    def for_wind_farm(self) -> Any:
        """Return the type as a ``vindeby.Turbine``; ``vindeby.WindFarm`` takes either."""
        return readers().turbine_of(self)

    @property
    def description(self) -> Generic | Tabulated | Cubic:
        """The one description that was given."""
        description: Generic | Tabulated | Cubic = self.chosen[1]
        return description

    def identity(self) -> dict[str, Any]:
        """Return the description, which decides a result; the name and the origin of the type do not."""
        return self.model_dump(exclude={"name", "source"}, exclude_none=True)

    @property
    def rated_power_mw(self) -> float:
        """The rated power of one turbine in MW; for a table without it, the largest power of the curve."""
        description = self.description
        if isinstance(description, Tabulated):
            return description.rated_power_mw or description.largest_power_mw
        return description.rated_power_mw

    @property
    def rotor_diameter_m(self) -> float:
        """The rotor diameter in m."""
        return self.description.rotor_diameter_m

    @property
    def operating_range(self) -> tuple[float, float]:
        """The lowest and the highest wind speed with power, in m/s; of a generic type, PyWake's 3 and 25."""
        match self.description:
            case Cubic() as given:
                return given.cut_in, given.cut_out
            case Tabulated() as given:
                powers = zip(given.wind_speed, given.power_w, strict=True)
                powered = [speed for speed, power in powers if power > 0.0]
                return powered[0], powered[-1]
        return 3.0, 25.0

    @property
    def hub_height_m(self) -> float:
        """The hub height above ground or sea in m."""
        return self.description.hub_height_m

    def __repr__(self) -> str:
        return (
            f"<Turbine {self.name!r}: {self.chosen[0]}, {self.rated_power_mw:g} MW, "
            f"rotor {self.rotor_diameter_m:g} m, hub {self.hub_height_m:g} m>"
        )

    @model_validator(mode="after")
    def _clears_the_ground(self) -> Self:
        low = f"reaches below the ground at a hub height of {self.hub_height_m:g} m"
        above, remedy = (
            self.hub_height_m > self.rotor_diameter_m / 2,
            "give more than half of rotor_diameter_m",
        )
        require(
            above, f"the rotor of {self.rotor_diameter_m:g} m {low}", remedy, self.chosen[0], "hub_height_m"
        )
        return self
