"""``jensen``: the top-hat wake.

N. O. Jensen, "A note on wind generator interaction", Risø-M-2411 (1983); several wakes as squares after
I. Katic, J. Højstrup, N. O. Jensen, EWEC 1986:

    deficit = 2 a (R / (R + k x))^2 x (share of the rotor inside the wake),

with the induction a = 0.0883 ct^3 + 0.0586 ct^2 + 0.2460 ct of H. A. Madsen et al., Wind Energ. Sci. 5 (2020)
1-27, and k = 0.1; fractions of the free wind speed.
"""

from __future__ import annotations

from math import sqrt

from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.circles import covered_share
from vindeby.wake.models.contract import ModelData, WakeModel, without_slopes

__all__ = ["jensen"]


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
    radius = 0.5 * diameter
    wake_radius = radius + growth * downwind
    distance = sqrt(crosswind * crosswind + rise * rise)
    share, share_radius, share_distance = covered_share(wake_radius, 0.5 * rotor, distance)
    induction = thrust * (0.2460 + thrust * (0.0586 + thrust * 0.0883))
    induction_slope = 0.2460 + thrust * (2.0 * 0.0586 + thrust * (3.0 * 0.0883))
    spread = (radius / wake_radius) * (radius / wake_radius)
    whole = 2.0 * induction * spread
    with_crosswind = 0.0
    if distance > 0.0:
        with_crosswind = whole * share_distance * crosswind / distance
    return (
        whole * share,
        growth * whole * (share_radius - 2.0 * share / wake_radius),
        with_crosswind,
        2.0 * induction_slope * spread * share,
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
    return 0.5 * (diameter + rotor) + data.constants[0] * downwind


def jensen(growth: float = 0.1) -> WakeModel:
    """The model of 1983; ``growth`` is k, 0.1 on land; 0.04 to 0.05 is common offshore."""
    return WakeModel(
        name="jensen",
        constants=(growth,),
        deficit=_deficit,
        deficit_with_slopes=_deficit_with_slopes,
        reach=_reach,
        superposition="squares",
        reference="free",
        growth_constants=(0,),
    )
