"""``cumulative-curl``: the super-Gaussian wakes of FLORIS' model ``cc``, without yaw.

C. J. Bay, P. Fleming, B. Doekemeijer, J. King, M. Churchfield, R. Mudafort, "Addressing deep array effects and impacts
to wake steering with the cumulative-curl wake model", Wind Energ. Sci. 8 (2023) 401-419, after M. Bastankhah, B. L.
Welch, L. A. Martínez-Tossas, J. King, P. Fleming, J. Fluid Mech. 911 (2021) A53, with the profile of F. Blondel, M.
Cathelain, Wind Energ. Sci. 5 (2020) 1225-1236. With lengths in rotor diameters, x downwind and r from the centre:

    deficit = C exp(-r^n / (2 sigma^2)),  n = 3.11 exp(-0.68 x) + 2.41,
    sigma = (ka I + kb) x + (0.0564 ct + 0.133) sqrt(beta),
    C = (1 - s) (2^(2/n - 1) - sqrt(2^(4/n - 2) - n ct / (16 Gamma(2/n) sigma^(4/n) (1 - s)^2))),

a fraction of the wind speed at the source; deficits add linearly. s is the share of earlier wakes in the way of this
one: what makes the model cumulative, and why its wakes cannot be computed pair by pair (``loops.cumulative``).
``deficit_with_slopes`` here is the wake of a turbine alone, s = 0; the walk is what energies come from. The added
turbulence is that of Crespo and Hernández with FLORIS' constants. The numbers are those of FLORIS 4.7;
``loops.cumulative`` lists where its code departs from the papers. The gradient is not available.
"""

from math import exp, gamma, nan, sqrt
from typing import Literal

from vindeby.parameters import CumulativeCurl
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import ModelData, Pair, Slopes, WakeModel

_MOST_THRUST = 0.9999


@scalar
def width_start(data: ModelData, thrust: float) -> float:
    """Return the width of the wake behind the rotor, in diameters."""
    root = sqrt(1.0 - min(thrust, _MOST_THRUST))
    beta = 0.5 * (1.0 + root) / root
    return (data.constants[2] * thrust + data.constants[3]) * sqrt(beta)


@scalar
def profile_exponent(data: ModelData, diameters: float) -> float:
    """Return n: about 5 behind the rotor, where the profile is nearly a top hat, 2.41 far downwind."""
    return data.constants[4] * exp(data.constants[5] * diameters) + data.constants[6]


@scalar
def shape_factors(n: float) -> tuple[float, float]:
    """Return the amplitude factors that depend on the exponent alone: 2^(2/n - 1) and n / (16 Gamma(2/n))."""
    return 2.0 ** (2.0 / n - 1.0), n / (16.0 * gamma(2.0 / n))


@scalar
def amplitude(
    n: float, first: float, per_thrust: float, sigma: float, thrust: float, in_the_way: float
) -> float:
    """Return C, with ``first`` and ``per_thrust`` from ``shape_factors`` and s for ``in_the_way``."""
    left = 1.0 - in_the_way
    inside = first * first - per_thrust * thrust / (sigma ** (4.0 / n) * left * left)
    return (first - sqrt(max(inside, 0.0))) * left


@scalar
def _deficit_with_slopes(data: ModelData, pair: Pair) -> Slopes:
    """Return the deficit, and NaN for its slopes, which are not needed as the farm refuses gradients."""
    diameters = pair.downwind / pair.diameter
    n = profile_exponent(data, diameters)
    sigma = (data.constants[0] * pair.turbulence + data.constants[1]) * diameters + width_start(
        data, pair.thrust
    )
    first, per_thrust = shape_factors(n)
    off = sqrt(pair.crosswind * pair.crosswind + pair.rise * pair.rise) / pair.diameter
    depth = amplitude(n, first, per_thrust, sigma, pair.thrust, 0.0)
    return depth * exp(-0.5 * off**n / (sigma * sigma)), nan, nan, nan, nan


@scalar
def _reach(
    data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
) -> float:
    diameters = downwind / diameter
    sigma = (data.constants[0] * turbulence + data.constants[1]) * diameters + width_start(data, thrust)
    # exp(-26) is 5e-12.
    return diameter * (52.0 * sigma * sigma) ** (1.0 / profile_exponent(data, diameters))


def cumulative_curl(
    ka: float = CumulativeCurl.ka,
    kb: float = CumulativeCurl.kb,
    turbulence: Literal["crespo-hernandez", "none"] = CumulativeCurl.turbulence,
) -> WakeModel:
    """Return FLORIS' ``cc`` model without yaw; ``turbulence`` names the turbulence that wakes add."""
    given = CumulativeCurl(ka, kb, turbulence)
    added = 0.5 if given.turbulence == "crespo-hernandez" else 0.0
    return WakeModel(
        name="cumulative-curl",
        constants=(given.ka, given.kb, 0.0563691592, 0.13290157, 3.11, -0.68, 2.41, added, 0.8, 0.1, -0.32),
        deficit_with_slopes=_deficit_with_slopes,
        reach=_reach,
        superposition="cumulative",
        reference="local",
        needs_turbulence=True,
        thrust_limit=0.0,
        growth_constants=(0, 1),
    )
