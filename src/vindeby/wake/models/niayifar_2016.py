"""``niayifar-2016``: a Gaussian wake that spreads with the turbulence the wakes themselves add.

A. Niayifar, F. Porté-Agel, "Analytical modeling of wind farms: a new approach for power prediction", Energies
9 (2016) 741: sigma = k x + eps D with k = 0.3837 I + 0.003678 (eq. 15) and I the turbulence intensity at the
source, eps = 0.2 sqrt(beta); the deficit, averaged over the rotor, is a fraction of the wind speed at the
source and deficits add linearly (eqs. 10, 13). Added turbulence after A. Crespo, J. Hernández, J. Wind Eng.
Ind. Aerodyn. 61 (1996) 71-85, with the exponents of Niayifar's eq. 14,

    I+ = 0.73 a^0.8325 I0^0.0325 (x/D)^-0.32,  a = (1 - sqrt(1 - ct))/2,

on the share of the rotor inside the wake's radius of 2 sigma; the largest I+ counts, I = sqrt(I0^2 + I+^2).
"""

from __future__ import annotations

from math import sqrt

from vindeby.parameters import Niayifar2016
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import ModelData, Pair, Slopes, WakeModel
from vindeby.wake.models.gaussian import initial_width, make_gaussian, over_rotor
from vindeby.wake.models.overlap import covered_share


@scalar
def _width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    """Width sigma and its slopes with downwind distance, thrust coefficient and turbulence intensity."""
    a0, a1, factor, limit = data.constants[0], data.constants[1], data.constants[2], data.constants[3]
    growth = a0 * turbulence + a1
    eps, eps_slope = initial_width(factor, limit, thrust)
    return growth * downwind + eps * diameter, growth, eps_slope * diameter, a0 * downwind


@scalar
def _added_turbulence_with_slopes(data: ModelData, pair: Pair, free_turbulence: float) -> Slopes:
    if pair.downwind <= 1e-10:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    sigma, sigma_downwind, sigma_thrust, sigma_turbulence = _width(
        data, pair.downwind, pair.diameter, pair.thrust, pair.turbulence
    )
    off = sqrt(pair.crosswind * pair.crosswind + pair.rise * pair.rise)
    share, share_radius, share_distance = covered_share(2.0 * sigma, 0.5 * pair.rotor, off)
    if share == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    root = sqrt(1.0 - min(1.0, pair.thrust))
    induction = max(0.5 * (1.0 - root), 1e-10)
    whole = 0.73 * induction**0.8325 * free_turbulence**0.0325 * (pair.downwind / pair.diameter) ** -0.32
    with_crosswind = 0.0
    if off > 0.0:
        with_crosswind = whole * share_distance * pair.crosswind / off
    induction_slope = 0.0
    if root > 0.0 and induction > 1e-10:
        induction_slope = 0.25 / root
    with_sigma = 2.0 * whole * share_radius
    return (
        whole * share,
        with_sigma * sigma_downwind - 0.32 * whole * share / pair.downwind,
        with_crosswind,
        with_sigma * sigma_thrust + 0.8325 * whole * share / induction * induction_slope,
        with_sigma * sigma_turbulence,
    )


@scalar
def _added_turbulence(data: ModelData, pair: Pair, free_turbulence: float) -> float:
    return _added_turbulence_with_slopes(data, pair, free_turbulence)[0]


@scalar
def _added_turbulence_free_slope(data: ModelData, pair: Pair, free_turbulence: float) -> float:
    plus = _added_turbulence(data, pair, free_turbulence)
    return 0.0325 * plus / free_turbulence


_GAUSSIAN = make_gaussian(_width, over_rotor)


def niayifar_2016(a0: float = Niayifar2016.a0, a1: float = Niayifar2016.a1) -> WakeModel:
    """The model of 2016; ``a0`` and ``a1`` are the slope and the constant of k(I)."""
    return WakeModel(
        **_GAUSSIAN,
        name="niayifar-2016",
        constants=(a0, a1, 0.2, 0.899),
        superposition="linear",
        reference="source",
        averages_gaussian=True,
        needs_turbulence=True,
        added_turbulence=_added_turbulence,
        added_turbulence_with_slopes=_added_turbulence_with_slopes,
        growth_constants=(0, 1),
        added_turbulence_free_slope=_added_turbulence_free_slope,
    )
