"""``bastankhah-2014``: the Gaussian wake of Bastankhah and Porté-Agel.

M. Bastankhah, F. Porté-Agel, "A new analytical model for wind-turbine wakes", Renewable Energy 70 (2014)
116-123, eq. 23 with the width of eq. 21, sigma = k x + eps D, eps = 0.2 sqrt(beta) (sec. 3.1), k = 0.0324555.
The deficit is that at the rotor's centre, a fraction of the wind speed at the source; deficits add linearly.
beta is taken at thrust coefficients up to 0.899, past which the width would run away.
"""

from __future__ import annotations

from math import exp

from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import SIGMAS, ModelData, WakeModel, without_slopes
from vindeby.wake.models.momentum import centre_deficit, initial_width


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
    eps, eps_slope = initial_width(data.constants[1], data.constants[2], thrust)
    sigma = growth * downwind + eps * diameter
    off_square = crosswind * crosswind + rise * rise
    profile = exp(-0.5 * off_square / (sigma * sigma))
    centre, centre_thrust, centre_sigma = centre_deficit(thrust, diameter, sigma)
    deficit = centre * profile
    with_sigma = centre_sigma * profile + deficit * off_square / (sigma * sigma * sigma)
    return (
        deficit,
        with_sigma * growth,
        -deficit * crosswind / (sigma * sigma),
        with_sigma * eps_slope * diameter + centre_thrust * profile,
        0.0,
    )


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
    eps = initial_width(data.constants[1], data.constants[2], thrust)[0]
    return SIGMAS * (data.constants[0] * downwind + eps * diameter)


def bastankhah_2014(k: float = 0.0324555) -> WakeModel:
    """The model of 2014; ``k`` is the growth of the width."""
    return WakeModel(
        name="bastankhah-2014",
        constants=(k, 0.2, 0.899),
        deficit=_deficit,
        deficit_with_slopes=_deficit_with_slopes,
        reach=_reach,
        superposition="linear",
        reference="source",
        growth_constants=(0,),
    )
