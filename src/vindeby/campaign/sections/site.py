"""The wind of a campaign, as people describe it."""

import math
from statistics import fmean
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from vindeby.campaign.reading.readers import readers
from vindeby.campaign.sections.local_wind import LocalWind
from vindeby.campaign.sections.time_series import (
    States,
    TimeSeries,
    TurbulenceIntensity,
    TurbulenceTable,
    turbulence_text,
)
from vindeby.campaign.sections.values import (
    PLUS_ZERO,
    Direction,
    FileSource,
    Fraction,
    Increasing,
    Normalise,
    Number,
    OneOf,
    Positive,
    Section,
    evenly_around,
    refuse_bad_sum,
    require,
)
from vindeby.text import plural

Interpolation = Literal["linear", "nearest"]
_INTERPOLATED = ("xrsite", "lib", "tab", "wrg")
"""Formats of files that may say how they are interpolated where the campaign names them."""
STATED_STEP = 1.0
"""Energies are stated in directions no farther apart than this (degrees), however coarse those of the search are."""


class Sector(Section):
    """A direction sector's Weibull distribution and how often the wind comes from it."""

    direction: Direction
    """The middle of the sector, in degrees clockwise from north."""
    a: Positive
    """Weibull scale parameter in m/s."""
    k: Positive
    """Weibull shape parameter."""
    frequency: Fraction
    """The share of the year with wind from this sector."""


def _evenly_around(sectors: tuple[Sector, ...]) -> tuple[Sector, ...]:
    evenly_around(tuple(sector.direction for sector in sectors), "direction")
    return sectors


class Weibull(Section):
    """Sector-wise Weibull: scale, shape and frequency density, joined linearly or each kept over its sector."""

    may_be_in_a_file = True

    turbulence_intensity: TurbulenceIntensity
    """Turbulence intensity as a fraction, or a table of it."""
    sectors: Annotated[tuple[Sector, ...], AfterValidator(_evenly_around)] = ()
    """May be left out only where the local wind has its own distribution at each place."""
    wind_speeds: Increasing = tuple(float(speed) for speed in range(3, 26))
    """The wind speeds at which power is computed, in m/s."""
    direction_step: Annotated[Number, Field(gt=0.0, le=360.0)] = 1.0
    """The step between wind directions in degrees."""
    interpolation: Interpolation = "linear"
    """Between the middles of the sectors."""
    normalise: Normalise = False
    """Divide the frequencies by their sum."""

    @property
    def title(self) -> str:
        """For example ``Weibull, 12 sectors``."""
        return f"Weibull, {plural(len(self.sectors), 'sector')}" if self.sectors else "Weibull by place"

    @property
    def total(self) -> float:
        """The sum of the frequencies; 1 where the local wind has them."""
        if not self.sectors:
            return 1.0
        return sum(sector.frequency for sector in self.sectors)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        steps = 360.0 / self.direction_step
        whole = abs(steps - round(steps)) <= 1e-9
        require(whole, "does not divide 360 degrees", "use e.g. 1, 2, 5 or 10", "direction_step")
        refuse_bad_sum(self.total, "frequencies", "sectors", self.normalise)
        if isinstance(self.turbulence_intensity, TurbulenceTable):
            self.turbulence_intensity.refuse_speeds_outside(self.wind_speeds, "the site")
        return self


def refuse_two_distributions(weibull: Weibull | None, local: LocalWind | None) -> None:
    """Refuse a site with two Weibull distributions, or with none where one is needed."""
    by_place = local is not None and local.has_weibull
    require(
        weibull is not None or not by_place,
        "weibull_a, weibull_k and sector_frequency go with a site of the form weibull only",
        "leave them out, or describe the site by weibull",
        "local",
    )
    if weibull is None:
        return
    at = ("weibull", "sectors")
    missing = "add it, or give weibull_a, weibull_k and sector_frequency under local"
    require(weibull.sectors or by_place, "is missing", missing, *at)
    twice = "is given beside weibull_a, weibull_k and sector_frequency under local"
    remedy = "give one of them; use: under local says what is taken from a file"
    require(not (weibull.sectors and by_place), twice, remedy, *at)
    require(
        not (by_place and isinstance(weibull.turbulence_intensity, TurbulenceTable)),
        "must be one number where the Weibull distribution differs from place to place",
        "give a number, or turbulence_intensity under local",
        "weibull",
        "turbulence_intensity",
    )


class ProbabilityTable(Section):
    """How often each pair of direction and speed occurs: one row per direction, one column per speed."""

    turbulence_intensity: TurbulenceIntensity
    """Turbulence intensity as a fraction, or a table of it."""
    wind_directions: Annotated[tuple[Direction, ...], Field(min_length=1), AfterValidator(evenly_around)]
    """The wind directions, in degrees."""
    wind_speeds: Increasing
    """The wind speeds, in m/s."""
    probability: tuple[tuple[Fraction, ...], ...]
    """One row for each direction, one entry for each speed."""
    interpolation: Interpolation = "nearest"
    """Used where a search step looks at other directions than the table's own."""
    normalise: Normalise = False
    """Divide the probabilities by their sum."""

    @property
    def title(self) -> str:
        """For example ``table, 12 sectors``."""
        return f"table, {plural(len(self.wind_directions), 'sector')}"

    @property
    def total(self) -> float:
        """The sum of the probabilities."""
        return sum(map(sum, self.probability))

    @model_validator(mode="after")
    def _shape_and_sum(self) -> Self:
        rows, directions, speeds = len(self.probability), len(self.wind_directions), len(self.wind_speeds)
        wrong = f"has {plural(rows, 'row')}, but there are {directions} wind_directions"
        require(rows == directions, wrong, "give one row for each direction", "probability")
        for index, row in enumerate(self.probability):
            wrong = f"row {index} has {len(row)} entries, but there are {speeds} wind_speeds"
            require(len(row) == speeds, wrong, "give one entry for each speed", "probability", index)
        refuse_bad_sum(self.total, "probabilities", "probability", self.normalise)
        if isinstance(self.turbulence_intensity, TurbulenceTable):
            self.turbulence_intensity.refuse_speeds_outside(self.wind_speeds, "the site")
        return self


class WindChanges(Section):
    """Changes of the wind, whichever way it is described."""

    wind_speed_factor: Annotated[Number, Field(gt=0.0, le=10.0)] | None = None
    """All wind speeds are multiplied by it."""
    direction_std_deg: Annotated[Number, Field(gt=0.0, le=45.0)] | None = None
    """The standard deviation of the true wind direction around the given one, in degrees."""

    @property
    def changes(self) -> dict[str, float]:
        """Those that are given."""
        each = {name: getattr(self, name) for name in WindChanges.model_fields}
        return {name: value for name, value in each.items() if value is not None}


class Site(WindChanges, OneOf):
    """The wind, in one of the ways it can be described; or the name of a file with it."""

    beside = ("local", "source", "grid_convergence_deg", *WindChanges.model_fields)
    may_be_in_a_file = True
    short_form = {"type": "string"}  # noqa: RUF012

    weibull: Weibull | None = None
    table: ProbabilityTable | None = None
    time_series: TimeSeries | None = None
    states: States | None = None
    local: LocalWind | None = None
    """How the wind differs from place to place; beside one of the others."""
    source: FileSource | None = None
    """The file of another tool that the wind was read from, if any."""
    grid_convergence_deg: Annotated[Number, Field(ge=-180.0, le=180.0), PLUS_ZERO] | None = None
    """The direction of grid north, clockwise from true north: directions of the wind are relative to true north."""

    def __repr__(self) -> str:
        low, high = self.speed_range
        return f"<Site: {self.chosen[1].title}, {low:g} to {high:g} m/s>"

    @property
    def speed_range(self) -> tuple[float, float]:
        """The lowest and the highest wind speed."""
        given = self.chosen[1]
        speeds = given.wind_speeds if isinstance(given, Weibull | ProbabilityTable) else given.wind_speed
        return min(speeds), max(speeds)

    @property
    def about(self) -> str:
        """The wind in one line: its form, mean speed, interpolation, turbulence, local wind and file."""
        given, local, source = self.chosen[1], self.local, self.source
        parts = [getattr(given, "about", given.title), f"mean {self._mean_speed():.3f} m/s"]
        if local is not None and local.has_weibull:
            parts[-1] += " in the middle of the grid"
        if isinstance(given, Weibull | ProbabilityTable):
            parts.append(self._interpolation(given.interpolation))
        parts.append(f"turbulence intensity {turbulence_text(given.turbulence_intensity)}")
        if local is not None:
            here = ", ".join(local.quantities).replace("_", " ")
            parts.append(f"{here} on a grid of {len(local.x)} x {len(local.y)} places")
        file = f"{source.file} ({source.format})" if source is not None else local and local.source
        return ", ".join(parts) + (f"; from {file}" if file else "")

    def _mean_speed(self) -> float:
        match self.chosen[1]:
            case Weibull() as given:
                rows = [[sector.a, sector.k, sector.frequency] for sector in given.sectors]
                if self.local is not None and self.local.has_weibull:
                    rows = self.local.weibull_in_the_middle()
                return fmean([a * math.gamma(1.0 + 1.0 / k) for a, k, _ in rows], [row[2] for row in rows])
            case ProbabilityTable() as given:
                shares = [share for row in given.probability for share in row]
                return fmean(given.wind_speeds * len(given.probability), shares)
            case given:
                weights = given.probability if isinstance(given, States) else given.weight
                return fmean(given.wind_speed, weights)

    def _interpolation(self, how: str) -> str:
        over = f" over direction, {self.local.position_interpolation} over position" if self.local else ""
        if self.source is None or self.source.format not in _INTERPOLATED:
            return f"interpolation {how}{over}"
        own = ", as XRSite.load reads a file" if (self.source.format, how) == ("xrsite", "nearest") else ""
        other = "linear" if how == "nearest" else "nearest"
        return f"interpolation {how}{over}{own} (`interpolation: {other}` beside `file` changes it)"

    def for_wind_farm(self) -> Any:
        """The same wind as an object that ``vindeby.WindFarm`` computes with; it takes either."""
        return readers().wind_of(self.stated)

    @property
    def is_searched_coarsely(self) -> bool:
        """Whether layouts are searched for in fewer directions than their energy is stated in."""
        return self.weibull is not None and self.weibull.direction_step > STATED_STEP

    @property
    def stated(self) -> Self:
        """The site in which energies are stated: a search may have a coarser rose, and would exploit its gaps."""
        if self.weibull is None or not self.is_searched_coarsely:
            return self
        fine = self.weibull.model_copy(update={"direction_step": STATED_STEP})
        return self.model_copy(update={"weibull": fine})

    def identity(self) -> dict[str, Any]:
        """The wind, whichever file it came from."""
        key, given = self.chosen
        return {
            key: given.identity(),
            "local": None if self.local is None else self.local.identity(),
            "grid_convergence_deg": self.grid_convergence_deg or 0.0,
            **self.changes,
        }

    @model_validator(mode="after")
    def _one_distribution(self) -> Self:
        by_place = self.local is not None and self.local.has_weibull
        for name in self.changes:
            wrong = "cannot be used where the Weibull distribution differs from place to place"
            require(not by_place, wrong, "leave it out, or change the distribution itself", name)
        refuse_two_distributions(self.weibull, self.local)
        require(
            self.local is None or not self.grid_convergence_deg,
            "cannot be used where the wind differs from place to place",
            "give directions relative to grid north, and leave it out",
            "grid_convergence_deg",
        )
        return self
