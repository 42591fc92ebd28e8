"""``iea37``: the simple Gaussian model of the IEA Wind Task 37 layout case studies.

N. F. Baker et al., "Best practices for wake model and optimization algorithm selection in wind farm layout
optimization", AIAA 2019-0540, eqs. 1-2 (after Bastankhah and Porté-Agel 2016 without yaw):

    sigma = k x + D / sqrt(8),  deficit = (1 - sqrt(1 - ct / (8 sigma^2 / D^2))) exp(-y^2 / (2 sigma^2)),

k = 0.0324555, at the rotor's centre; the wakes of all turbines add as squares, as fractions of the free wind
speed.
"""

from __future__ import annotations

from math import exp, sqrt

from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.models.contract import SIGMAS, ModelData, PairSquares, WakeModel, without_slopes
from vindeby.wake.models.exponential import LARGEST_Z, exp_of_minus
from vindeby.wake.models.momentum import centre_deficit


@scalar
def _deficit_with_slopes(
    data: ModelData,
    downwind: float,
    crosswind: float,
    rise: float,
    heights: float,
    diameter: float,
    rotor: float,
    thrust: float,
    turbulence: float,
) -> tuple[float, float, float, float, float]:
    growth = data.constants[0]
    sigma = growth * downwind + diameter / sqrt(8.0)
    off_square = crosswind * crosswind + rise * rise
    profile = exp(-0.5 * off_square / (sigma * sigma))
    centre, centre_thrust, centre_sigma = centre_deficit(thrust, diameter, sigma)
    deficit = centre * profile
    with_sigma = centre_sigma * profile + deficit * off_square / (sigma * sigma * sigma)
    return deficit, with_sigma * growth, -deficit * crosswind / (sigma * sigma), centre_thrust * profile, 0.0


_deficit = without_slopes(_deficit_with_slopes)


@scalar
def _reach(
    data: ModelData,
    downwind: float,
    diameter: float,
    rotor: float,
    thrust: float,
    turbulence: float,
) -> float:
    return SIGMAS * (data.constants[0] * downwind + diameter / sqrt(8.0))


@inlined
def _pair_numbers(data: ModelData, diameter: float, thrust: float) -> tuple[float, float, float, float]:
    return data.constants[0], diameter / sqrt(8.0), thrust * diameter * diameter / 8.0, 0.0


@inlined
def _pair_square(
    growth: float, start: float, per_square: float, unused: float, downwind: float, crosswind: float
) -> float:
    sigma = growth * downwind + start
    per_sigma_square = 1.0 / (sigma * sigma)
    left = 1.0 - per_square * per_sigma_square
    centre = 1.0 - sqrt(left if left > 0.0 else 0.0)  # noqa: FURB136  a comparison vectorises, max does not
    z = crosswind * crosswind * per_sigma_square
    return centre * centre * exp_of_minus(z if z < LARGEST_Z else LARGEST_Z)  # noqa: FURB136


def iea37(k: float = 0.0324555) -> WakeModel:
    """The case studies' model; ``k`` is the growth of the width."""
    return WakeModel(
        name="iea37",
        constants=(k,),
        deficit=_deficit,
        deficit_with_slopes=_deficit_with_slopes,
        reach=_reach,
        superposition="squares",
        reference="free",
        growth_constants=(0,),
        pair_squares=PairSquares(_pair_numbers, _pair_square),
    )
