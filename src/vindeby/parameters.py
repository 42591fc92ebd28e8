"""The parameters of search methods and wake models: names, types, bounds, defaults and what each means, once.

A campaign file has a section for each (``campaign.sections``), a search method of ``layout`` is one of these with the
search itself, and a function of ``wake.models`` takes its defaults from here.
"""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, Strict, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from vindeby.errors import ArgumentError

Number = Annotated[float, Strict()]
"""A finite number; text and true/false are not numbers."""
PLUS_ZERO = AfterValidator(lambda value: value + 0.0)
"""-0.0 and 0.0 are one number, with one fingerprint. After limits: a JSON schema does not show those that follow it."""
Positive = Annotated[Number, Field(gt=0.0)]
NotNegative = Annotated[Number, Field(ge=0.0), PLUS_ZERO]
Count = Annotated[int, Strict(), Field(ge=1)]
WindChoice = Literal["coarse-to-fine", "all"]
Induction = Literal["madsen", "momentum"]
Rotor = Literal["overlap", "centre"]
Superposition = Literal["linear", "squares"]
WindOf = Literal["free", "local"]
"""The wind at a turbine as if there were no wakes, or in the wakes of others."""
LEAST_ANGLE_DEG = 10.0


def _not_parallel(bearings: tuple[float, ...]) -> tuple[float, ...]:
    apart = abs(bearings[0] - bearings[-1]) % 180.0
    if len(bearings) == 2 and min(apart, 180.0 - apart) < LEAST_ANGLE_DEG:
        least = {"least": f"{LEAST_ANGLE_DEG:g}"}
        raise PydanticCustomError("bearings", "must cross at an angle of at least {least} degrees", least)
    return bearings


Bearing = Annotated[Number, Field(ge=0.0, le=360.0), PLUS_ZERO]
Bearings = Annotated[tuple[Bearing, ...], Field(min_length=1, max_length=2), AfterValidator(_not_parallel)]


@dataclass(frozen=True)
class Parameters:
    """Parameters that are checked when made: ArgumentError if out of bounds; NumPy's numbers become plain."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    def __post_init__(self) -> None:
        made: Any = type(self)
        for name, adapter in _adapters(made).items():
            given = getattr(self, name)
            plain = given.item() if isinstance(given, np.generic) else given
            try:
                object.__setattr__(self, name, adapter.validate_python(plain))
            except ValidationError as error:
                wrong = error.errors()[0]["msg"].replace("Input should", "must")
                raise ArgumentError(f"{name} {wrong}, not {given!r}") from None


@lru_cache
def _adapters(parameters: type) -> dict[str, TypeAdapter[Any]]:
    declared = next(part for part in parameters.__mro__ if part.__module__ == __name__)
    finite = ConfigDict(allow_inf_nan=False)
    hints = get_type_hints(declared, include_extras=True)
    return {field.name: TypeAdapter(hints[field.name], config=finite) for field in fields(declared)}


@dataclass(frozen=True)
class SmartStartParameters(Parameters):
    """Greedy construction on a grid: one turbine after the other where it would give most."""

    grid_size: Annotated[int, Strict(), Field(ge=2, le=1000)] = 18
    """Points of the grid along each side."""
    random_pct: Annotated[Number, Field(ge=0.0, le=100.0), PLUS_ZERO] = 30.0
    """The share of the best points that one is drawn from, in percent."""


@dataclass(frozen=True)
class RandomStartParameters(Parameters):
    """Turbines at random places that keep to the boundary and the spacing."""


@dataclass(frozen=True)
class LatticeParameters(Parameters):
    """Turbines on the points of a regular lattice, the best of so many; ``rows`` leaves no gaps in its rows."""

    rows: Annotated[bool, Strict()] = False
    """Leave no gaps in the rows."""
    trials: Count = 1000
    """The number of lattices that are compared."""
    bearings: Bearings | None = None
    """The directions of straight lanes between the turbines, one or two, in degrees clockwise from north."""
    lane_m: Annotated[Number, Field(gt=0.0, le=1e6)] | None = None
    """The least distance in metres of the rows on both sides of a lane."""


@dataclass(frozen=True)
class GradientParameters(Parameters):
    """Continuous refinement along the gradient of AEP, at first with wakes that grow ``widening`` times as fast.

    ``wind`` says in which wind states.
    """

    max_iterations: Count = 320
    """The most steps."""
    widening: Annotated[Number, Field(ge=1.0, le=100.0)] | None = None
    """The factor by which wakes grow faster at first; by default 16 after random-start and smart-start, else 1."""
    wind: WindChoice = "coarse-to-fine"
    """The wind states of the step."""


@dataclass(frozen=True)
class RandomSearchParameters(Parameters):
    """Relocation of single turbines at random, kept where AEP rises; ``wind`` says in which wind states."""

    max_evaluations: Count = 10_000
    """The most trial moves."""
    max_step_m: Positive | None = None
    """The longest move in metres; anywhere if not given."""
    wind: WindChoice = "coarse-to-fine"
    """The wind states of the step."""


@dataclass(frozen=True)
class AnnealingParameters(Parameters):
    """Relocation of single turbines at random, kept even where AEP falls, at first more often than later.

    Without a ``temperature``, it follows from the wake loss of the start. ``wind`` says in which wind states.
    """

    max_evaluations: Count = 200_000
    """The number of trial moves."""
    temperature: Annotated[Number, Field(gt=0.0, le=1.0)] | None = None
    """The temperature at first, as a share of AEP; from the wake loss if not given."""
    wind: WindChoice = "coarse-to-fine"
    """The wind states of the step."""


@dataclass(frozen=True)
class AutoParameters(Parameters):
    """Ordinary pipelines, again and again with new seeds, those that gain most, within CPU seconds or evaluations."""

    seconds: Positive | None = None
    """CPU seconds per task."""
    evaluations: Count | None = None
    """Evaluations per task, instead of seconds."""


@dataclass(frozen=True)
class Nygaard2022(Parameters):
    """TurbOPark with a Gaussian profile, averaged over the rotor, with mirrored wakes at the ground."""

    a: Positive = 0.04
    """Wake expansion."""


@dataclass(frozen=True)
class Bastankhah2014(Parameters):
    """A Gaussian wake that widens linearly."""

    k: Positive = 0.0324555
    """Growth of the wake's width per metre."""


@dataclass(frozen=True)
class Niayifar2016(Parameters):
    """A Gaussian wake that widens with the local turbulence, with Crespo-Hernandez added turbulence."""

    a0: Positive = 0.3837
    """Growth of the wake per unit of turbulence intensity."""
    a1: NotNegative = 0.003678
    """Growth of the wake without turbulence."""


@dataclass(frozen=True)
class Iea37(Parameters):
    """The simple Gaussian of the IEA Task 37 case studies."""

    k: Positive = 0.0324555
    """Growth of the wake's width per metre."""


@dataclass(frozen=True)
class Jensen(Parameters):
    """A top-hat wake that widens linearly: on the share of a rotor inside it, or on rotors with their centre in it."""

    k: Positive = 0.1
    """Growth of the wake's radius per metre."""
    induction: Induction = "madsen"
    """The relation from thrust to deficit."""
    rotor: Rotor = "overlap"
    """The effect on a rotor: on its share in the wake (overlap), or on all if its centre is in the wake (centre)."""


@dataclass(frozen=True)
class TopHat(Jensen):
    """A top-hat wake that widens linearly, put together from its parts; the defaults make it ``jensen``."""

    superposition: Superposition = "squares"
    """The superposition of wakes: the sum of the deficits (linear) or of their squares (squares)."""
    reference: WindOf = "free"
    """The wind at the source that a deficit is a fraction of."""
    thrust_of: WindOf = "local"
    """The wind that the thrust coefficient follows."""


@dataclass(frozen=True)
class Gaussian(Parameters):
    """A Gaussian wake that widens linearly, put together from its parts."""

    k: Positive = 0.0324555
    """Growth of the wake's width per metre."""
    initial_width: Literal["beta", "constant"] = "beta"
    """The width behind the rotor in diameters: ceps times sqrt(beta), or ceps itself."""
    ceps: Positive = 0.2
    """The factor of the initial width; see initial_width."""
    induction: Induction = "momentum"
    """The relation from thrust to deficit."""
    rotor: Rotor = "centre"
    """Where the deficit is taken: its mean over the rotor, or that at the rotor's centre."""
    superposition: Superposition = "squares"
    """The superposition of wakes: the sum of the deficits (linear) or of their squares (squares)."""
    reference: WindOf = "free"
    """The wind at the source that a deficit is a fraction of."""
    thrust_of: WindOf = "local"
    """The wind that the thrust coefficient follows."""
    cut_sigmas: Positive | None = None
    """The wake ends for rotors whose centre is so many widths off its centre line; it has no end if not given."""


@dataclass(frozen=True)
class Turbopark2020(Parameters):
    """TurbOPark with a top-hat wake, which widens with the turbulence in it."""

    a: Positive = 0.6
    """Wake expansion."""
    induction: Induction = "momentum"
    """The relation from thrust to deficit."""
    rotor: Rotor = "overlap"
    """The effect on a rotor: on its share in the wake (overlap), or on all if its centre is in the wake (centre)."""


@dataclass(frozen=True)
class Bastankhah2016(Parameters):
    """A Gaussian wake that begins behind a potential core and widens with the turbulence of the free wind."""

    ka: Positive = 0.38
    """Growth of the wake per unit of turbulence intensity."""
    kb: NotNegative = 0.004
    """Growth of the wake without turbulence."""
    alpha: Positive = 0.58
    """The share of turbulence in the length of the potential core."""
    beta: Positive = 0.077
    """The share of the speed difference in it."""


@dataclass(frozen=True)
class CumulativeCurl(Parameters):
    """Super-Gaussian wakes whose depth depends on the wakes they stand in, as in FLORIS' model cc; without gradient."""

    ka: Positive = 0.179367259
    """Growth of the wake per unit of turbulence intensity."""
    kb: NotNegative = 0.0118889215
    """Growth of the wake without turbulence."""
    turbulence: Literal["crespo-hernandez", "none"] = "crespo-hernandez"
    """Turbulence added by wakes."""


def weight_of(seed: int) -> float:
    """Return the weight of the second of two objectives: 0, 1/2, 1/4, 3/4, 1/8 ..., the seed's binary digits mirrored.

    By this sequence (J. G. van der Corput, 1935) the first seeds spread evenly over 0 to 1, however many there are, and
    further seeds refine a front without changing the weights of those before.
    """
    weight, digit = 0.0, 0.5
    while seed:
        weight, digit, seed = weight + digit * (seed % 2), digit / 2, seed // 2
    return weight
