"""The Gaussian wakes that widen linearly, ``bastankhah-2014`` and ``iea37``, and what all Gaussian models share.

The deficit is C exp(-r^2/(2 sigma^2)) at the rotor's centre, with C = 1 - sqrt(1 - ct D^2 / (8 sigma^2)) of momentum.

``bastankhah-2014``: M. Bastankhah, F. Porté-Agel, "A new analytical model for wind-turbine wakes", Renewable Energy 70
(2014) 116-123, eq. 23 with the width of eq. 21, sigma = k x + eps D, eps = 0.2 sqrt(beta) (sec. 3.1), k = 0.0324555.
Deficits are fractions of the wind speed at the source and add linearly. beta is taken at thrust coefficients up to
0.899, past which the width would run away.

``iea37``: the simple model of the IEA Wind Task 37 layout case studies, N. F. Baker et al., "Best practices for wake
model and optimization algorithm selection in wind farm layout optimization", AIAA 2019-0540, eqs. 1-2 (after
Bastankhah and Porté-Agel 2016 without yaw), sigma = k x + D / sqrt(8), k = 0.0324555. The wakes of all turbines add as
squares, as fractions of the free wind speed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, sqrt

from vindeby.parameters import Bastankhah2014, Iea37
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.models.contract import (
    SIGMAS,
    ModelData,
    Pair,
    PairSquares,
    Slopes,
    WakeModel,
    without_slopes,
)

LARGEST_Z = 60.0
"""Up to here the polynomial of ``exp_of_minus`` holds; exp(-60) is 9e-27."""


@scalar
def centre_deficit(thrust: float, diameter: float, sigma: float) -> tuple[float, float, float]:
    """Deficit at the centre of a Gaussian wake, 1 - sqrt(1 - ct D^2 / (8 sigma^2)), at most 1.

    Conservation of momentum (Bastankhah and Porté-Agel 2014, eq. 23). Also its slopes with thrust and sigma.
    """
    per_thrust = diameter * diameter / (8.0 * sigma * sigma)
    q = thrust * per_thrust
    if q >= 1.0:
        return 1.0, 0.0, 0.0
    root = sqrt(1.0 - q)
    slope = 0.5 / root
    return 1.0 - root, slope * per_thrust, -2.0 * slope * q / sigma


@scalar
def initial_width(factor: float, limit: float, thrust: float) -> tuple[float, float]:
    """Width of the wake behind the rotor in diameters, ``factor`` sqrt(beta), and its slope with thrust.

    beta = (1 + sqrt(1 - ct)) / (2 sqrt(1 - ct)) (Bastankhah and Porté-Agel 2014, eq. 6), for ct up to
    ``limit``.
    """
    root = sqrt(1.0 - min(limit, thrust))
    beta = 0.5 * (1.0 + root) / root
    width = factor * sqrt(beta)
    slope = 0.0
    if thrust < limit:
        slope = 0.5 * width / beta * 0.25 / (root * root * root)
    return width, slope


def make_gaussian(width: Callable[..., tuple[float, float, float, float]]) -> Callable[..., Slopes]:
    """The deficit at the rotor's centre, and its slopes.

    ``width(data, downwind, diameter, thrust, turbulence)``: sigma (m), and its slopes with downwind distance, thrust
    and turbulence.
    """

    @scalar
    def deficit_with_slopes(data: ModelData, pair: Pair) -> Slopes:
        sigma, sigma_downwind, sigma_thrust, sigma_turbulence = width(
            data, pair.downwind, pair.diameter, pair.thrust, pair.turbulence
        )
        off_square = pair.crosswind * pair.crosswind + pair.rise * pair.rise
        profile = exp(-0.5 * off_square / (sigma * sigma))
        centre, centre_thrust, centre_sigma = centre_deficit(pair.thrust, pair.diameter, sigma)
        deficit = centre * profile
        with_sigma = centre_sigma * profile + deficit * off_square / (sigma * sigma * sigma)
        return (
            deficit,
            with_sigma * sigma_downwind,
            -deficit * pair.crosswind / (sigma * sigma),
            with_sigma * sigma_thrust + centre_thrust * profile,
            with_sigma * sigma_turbulence,
        )

    return deficit_with_slopes


@scalar
def _bastankhah_width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    growth = data.constants[0]
    eps, eps_slope = initial_width(data.constants[1], data.constants[2], thrust)
    return growth * downwind + eps * diameter, growth, eps_slope * diameter, 0.0


@scalar
def _iea37_width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    k = data.constants[0]
    return k * downwind + diameter / sqrt(8.0), k, 0.0, 0.0


def _make_reach(width: Callable[..., tuple[float, float, float, float]]) -> Callable[..., float]:
    @scalar
    def reach(
        data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
    ) -> float:
        return SIGMAS * width(data, downwind, diameter, thrust, turbulence)[0]

    return reach


_bastankhah_slopes, _bastankhah_reach = make_gaussian(_bastankhah_width), _make_reach(_bastankhah_width)
_bastankhah_deficit = without_slopes(_bastankhah_slopes)
_iea37_slopes, _iea37_reach = make_gaussian(_iea37_width), _make_reach(_iea37_width)
_iea37_deficit = without_slopes(_iea37_slopes)


def bastankhah_2014(k: float = Bastankhah2014.k) -> WakeModel:
    """The model of 2014; ``k`` is the growth of the wake's width per metre."""
    return WakeModel(
        name="bastankhah-2014",
        constants=(k, 0.2, 0.899),
        deficit=_bastankhah_deficit,
        deficit_with_slopes=_bastankhah_slopes,
        reach=_bastankhah_reach,
        superposition="linear",
        reference="source",
        growth_constants=(0,),
    )


@inlined
def _pair_numbers(data: ModelData, diameter: float, thrust: float) -> tuple[float, float, float, float]:
    return data.constants[0], diameter / sqrt(8.0), thrust * diameter * diameter / 8.0, 0.0


@inlined
def _pair_square(
    k: float, start: float, per_square: float, unused: float, downwind: float, crosswind: float
) -> float:
    sigma = k * downwind + start
    per_sigma_square = 1.0 / (sigma * sigma)
    left = 1.0 - per_square * per_sigma_square
    centre = 1.0 - sqrt(left if left > 0.0 else 0.0)  # noqa: FURB136  a comparison vectorises, max does not
    z = crosswind * crosswind * per_sigma_square
    return centre * centre * exp_of_minus(z if z < LARGEST_Z else LARGEST_Z)  # noqa: FURB136


@inlined
def exp_of_minus(z: float) -> float:
    """exp(-z) for z from 0 to 60, to 2e-14 of itself up to 30 and to 1e-9 beyond: a polynomial to the power of 128.

    It has no branch, table or call, so that a compiler makes vector instructions of a loop around it.
    """
    s = z * (1.0 / 128.0)
    e = 1.0 / 3628800.0
    e = 1.0 / 362880.0 - s * e
    e = 1.0 / 40320.0 - s * e
    e = 1.0 / 5040.0 - s * e
    e = 1.0 / 720.0 - s * e
    e = 1.0 / 120.0 - s * e
    e = 1.0 / 24.0 - s * e
    e = 1.0 / 6.0 - s * e
    e = 0.5 - s * e
    e = 1.0 - s * e
    e = 1.0 - s * e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return e * e


def iea37(k: float = Iea37.k) -> WakeModel:
    """The case studies' model; ``k`` is the growth of the wake's width per metre."""
    return WakeModel(
        name="iea37",
        constants=(k,),
        deficit=_iea37_deficit,
        deficit_with_slopes=_iea37_slopes,
        reach=_iea37_reach,
        superposition="squares",
        reference="free",
        growth_constants=(0,),
        pair_squares=PairSquares(_pair_numbers, _pair_square),
    )
