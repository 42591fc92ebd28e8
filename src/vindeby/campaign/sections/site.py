"""The wind of a campaign, as people describe it."""

import itertools
import math
from collections.abc import Iterable
from statistics import fmean
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from vindeby.campaign.reading.readers import readers
from vindeby.campaign.sections.local_wind import WEIBULL, LocalWindSection
from vindeby.campaign.sections.time_series import (
    States,
    TimeSeries,
    TurbulenceIntensity,
    TurbulenceSection,
    known_speeds,
    refuse_speeds_outside,
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
    require_shape,
)
from vindeby.text import plural

Interpolation = Literal["linear", "nearest"]
STATED_STEP = 1.0
"""Energies are stated in wind directions and wind speeds no farther apart than this (degrees and m/s)."""
_OF_PYWAKE = tuple(float(speed) for speed in range(3, 26))


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
    """The sectors; may be left out only if the local wind has its own distribution at each place."""
    wind_speeds: Increasing = _OF_PYWAKE
    """The wind speeds at which power is computed, in m/s."""
    direction_step: Annotated[Number, Field(gt=0.0, le=360.0)] = 1.0
    """The step between wind directions in degrees."""
    interpolation: Interpolation = "linear"
    """Between the middles of the sectors."""
    normalise: Normalise = False
    """Divide the frequencies by their sum."""

    @property
    def title(self) -> str:
        """The distribution in words, e.g. ``Weibull, 12 sectors``."""
        return f"Weibull, {plural(len(self.sectors), 'sector')}" if self.sectors else "Weibull by place"

    @property
    def total(self) -> float:
        """The sum of the frequencies; 1 if the local wind has them."""
        if not self.sectors:
            return 1.0
        return sum(sector.frequency for sector in self.sectors)

    def stated(self, low: float, high: float) -> Self:
        """Return the distribution in steps of ``STATED_STEP`` or less, for turbines with power from low to high m/s."""
        speeds, known = self.wind_speeds, known_speeds(self.turbulence_intensity)
        low, high = max(low, known[0]), min(high, known[-1])
        fine = all(after - before <= STATED_STEP + 1e-9 for before, after in itertools.pairwise(speeds))
        covered = speeds[0] <= low + 0.5 and high - 0.5 <= speeds[-1] <= max(math.ceil(high), _OF_PYWAKE[-1])
        if speeds != _OF_PYWAKE and not (fine and covered):
            whole = range(min(math.floor(low), 3), max(math.ceil(high), 25) + 1)
            speeds = tuple(float(speed) for speed in whole if known[0] <= speed <= known[-1]) or speeds
        changed = {"wind_speeds": speeds, "direction_step": min(self.direction_step, STATED_STEP)}
        return self.model_copy(update=changed)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        steps = 360.0 / self.direction_step
        whole = abs(steps - round(steps)) <= 1e-9
        require(whole, "does not divide 360 degrees", "use e.g. 1, 2, 5 or 10", "direction_step")
        refuse_bad_sum(self.total, "frequencies", "sectors", self.normalise)
        refuse_speeds_outside(
            self.turbulence_intensity, self.wind_speeds, "turbulence_intensity", "wind_speeds"
        )
        return self


class ProbabilityTable(Section):
    """The probability of each pair of direction and speed: one row per direction, one column per speed."""

    turbulence_intensity: TurbulenceIntensity
    """Turbulence intensity as a fraction, or a table of it."""
    wind_directions: Annotated[tuple[Direction, ...], Field(min_length=1), AfterValidator(evenly_around)]
    """The wind directions, in degrees."""
    wind_speeds: Increasing
    """The wind speeds, in m/s."""
    probability: tuple[tuple[Fraction, ...], ...]
    """The probabilities: a row for each direction, with an entry for each speed."""
    interpolation: Interpolation = "nearest"
    """The interpolation, used if a search step evaluates other directions than the table's own."""
    normalise: Normalise = False
    """Divide the probabilities by their sum."""

    @property
    def title(self) -> str:
        """The table in words, e.g. ``table, 12 sectors``."""
        return f"table, {plural(len(self.wind_directions), 'sector')}"

    @property
    def total(self) -> float:
        """The sum of the probabilities."""
        return sum(map(sum, self.probability))

    @model_validator(mode="after")
    def _shape_and_sum(self) -> Self:
        axes = {"wind_directions": len(self.wind_directions), "wind_speeds": len(self.wind_speeds)}
        require_shape(self.probability, axes, "probability")
        refuse_bad_sum(self.total, "probabilities", "probability", self.normalise)
        refuse_speeds_outside(
            self.turbulence_intensity, self.wind_speeds, "turbulence_intensity", "wind_speeds"
        )
        return self


class WindChanges(Section):
    """Changes of the wind, whichever way it is described."""

    wind_speed_factor: Annotated[Number, Field(gt=0.0, le=10.0)] | None = None
    """The factor by which all wind speeds are multiplied."""
    direction_std_deg: Annotated[Number, Field(gt=0.0, le=45.0)] | None = None
    """The standard deviation of the true wind direction around the given one, in degrees."""

    @property
    def changes(self) -> dict[str, float]:
        """The changes that the section gives, by name."""
        each = {name: getattr(self, name) for name in WindChanges.model_fields}
        return {name: value for name, value in each.items() if value is not None}


class SiteSection(WindChanges, OneOf):
    """The wind, in one of the ways it can be described; or the name of a file with it."""

    beside = ("local", "source", "grid_convergence_deg", *WindChanges.model_fields)
    may_be_in_a_file = True
    short_form = {"type": "string"}  # noqa: RUF012

    weibull: Weibull | None = None
    table: ProbabilityTable | None = None
    time_series: TimeSeries | None = None
    states: States | None = None
    local: LocalWindSection | None = None
    """The local wind, which differs from place to place; beside one of the others."""
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
        """The wind in one line: its form, period, mean speed, interpolation, turbulence, local wind and file."""
        given, local, source = self.chosen[1], self.local, self.source
        parts = [given.title]
        if isinstance(given, TimeSeries) and given.times:
            parts.append(f"{given.times[0]} to {given.times[-1]}")
        by_place = local is not None and local.has_weibull
        parts.append(f"mean {self._mean_speed():.3f} m/s{' in the middle of the grid' if by_place else ''}")
        if isinstance(given, Weibull | ProbabilityTable):
            parts.append(f"interpolation {given.interpolation}")
        parts.append(f"turbulence intensity {turbulence_text(given.turbulence_intensity)}")
        if local is not None:
            here = ", ".join(local.quantities).replace("_", " ")
            between = f"{local.position_interpolation} between them"
            parts.append(f"{here} on a grid of {len(local.x)} x {len(local.y)} places, {between}")
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

    def for_wind_farm(self) -> Any:
        """Return the wind as an object that ``vindeby.WindFarm`` computes with; it takes either."""
        return readers().wind_of(self.stated())

    def stated(self, ranges: Iterable[tuple[float, float]] = ()) -> Self:
        """Return the site in which energies are stated: a search may have coarser bins, and would exploit their gaps.

        ``ranges`` are the wind speeds in which turbines operate; by default those of PyWake, 3 to 25 m/s.
        """
        if self.weibull is None:
            return self
        lowest, highest = zip(*(tuple(ranges) or [(_OF_PYWAKE[0], _OF_PYWAKE[-1])]), strict=True)
        fine = self.weibull.stated(min(lowest), max(highest))
        return self if fine == self.weibull else self.model_copy(update={"weibull": fine})

    def identity(self) -> dict[str, Any]:
        """Return the data of the wind that decide a result; the file they came from does not."""
        key, given = self.chosen
        return {
            key: given.identity(),
            "local": None if self.local is None else self.local.identity(),
            "grid_convergence_deg": self.grid_convergence_deg or 0.0,
            **self.changes,
        }

    @model_validator(mode="after")
    def _one_distribution(self) -> Self:
        by_place, weibull, grid = (
            self.local is not None and self.local.has_weibull,
            self.weibull,
            ", ".join(WEIBULL),
        )
        for name in self.changes:
            wrong = "cannot be used where the Weibull distribution differs from place to place"
            require(not by_place, wrong, "leave it out, or change the distribution itself", name)
        if weibull is None:
            wrong, remedy = f"{grid} go with weibull only", "leave them out, or describe the site by weibull"
            require(not by_place, wrong, remedy, "local")
        else:
            at, remedy = ("weibull", "sectors"), f"add it, or give {grid} under local"
            require(weibull.sectors or by_place, "is missing", remedy, *at)
            twice = f"is given beside {grid} under local"
            remedy = "give one of them; use: under local says what is taken from a file"
            require(not (weibull.sectors and by_place), twice, remedy, *at)
            wrong = "must be one number where the Weibull distribution differs from place to place"
            single = not (by_place and isinstance(weibull.turbulence_intensity, TurbulenceSection))
            remedy = "give a number, or turbulence_intensity under local"
            require(single, wrong, remedy, "weibull", "turbulence_intensity")
        wrong = "cannot be used where the wind differs from place to place"
        remedy = "give directions relative to grid north, and leave it out"
        turned = self.local is not None and self.grid_convergence_deg
        require(not turned, wrong, remedy, "grid_convergence_deg")
        return self
