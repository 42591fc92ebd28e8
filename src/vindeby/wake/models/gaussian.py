"""The linearly widening Gaussian wakes, ``bastankhah-2014`` and ``iea37``, and code of all Gaussian models.

The deficit is C exp(-r^2/(2 sigma^2)) at the rotor's centre, with C = 1 - sqrt(1 - ct D^2 / (8 sigma^2)) of momentum.

``gaussian``: sigma = k x + eps D with its parts as given: eps may be constant, C may be 2 a(ct D^2 / (8 sigma^2)) with
the induction a of Madsen, up to 1, and the wake may end at some sigmas. The next two are such wakes.

``bastankhah-2014``: M. Bastankhah, F. Porté-Agel, "A new analytical model for wind-turbine wakes", Renewable Energy 70
(2014) 116-123, eq. 23 with the width of eq. 21, sigma = k x + eps D, eps = 0.2 sqrt(beta) (sec. 3.1), k = 0.0324555.
Deficits are fractions of the wind speed at the source and add linearly. beta is taken at thrust coefficients up to
0.899, past which the width would run away.

``iea37``: the simple model of the IEA Wind Task 37 layout case studies, N. F. Baker et al., "Best practices for wake
model and optimization algorithm selection in wind farm layout optimization", AIAA 2019-0540, eqs. 1-2 (after
Bastankhah and Porté-Agel 2016 without yaw), sigma = k x + D / sqrt(8), k = 0.0324555. The wakes of all turbines add as
squares, as fractions of the free wind speed.

``niayifar-2016``: a wake that spreads with the turbulence the wakes themselves add. A. Niayifar, F. Porté-Agel,
"Analytical modeling of wind farms: a new approach for power prediction", Energies 9 (2016) 741: sigma = k x + eps D
with k = 0.3837 I + 0.003678 (eq. 15) and I the turbulence intensity at the source, eps = 0.2 sqrt(beta); the deficit,
averaged over the rotor, is a fraction of the wind speed at the source and deficits add linearly (eqs. 10, 13). Added
turbulence after A. Crespo, J. Hernández, J. Wind Eng. Ind. Aerodyn. 61 (1996) 71-85, with the exponents of Niayifar's
eq. 14,

    I+ = 0.73 a^0.8325 I0^0.0325 (x/D)^-0.32,  a = (1 - sqrt(1 - ct))/2,

on the share of the rotor inside the wake's radius of 2 sigma; the largest I+ counts, I = sqrt(I0^2 + I+^2).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from inspect import signature
from math import sqrt
from typing import Any

from vindeby.parameters import Bastankhah2014, Gaussian, Iea37, Induction, Niayifar2016
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.models.contract import (
    SIGMAS,
    ModelData,
    Pair,
    Slopes,
    TurbulenceSlopes,
    WakeModel,
)
from vindeby.wake.models.overlap import covered_share, overlap
from vindeby.wake.models.self_similar_2020 import induced

LARGEST_Z = 60.0
"""Up to here the polynomial of ``exp_of_minus`` holds; exp(-60) is 9e-27."""


@scalar
def centre_deficit(thrust: float, diameter: float, sigma: float) -> tuple[float, float, float]:
    """Return the deficit at a Gaussian wake's centre, 1 - sqrt(1 - ct D^2 / (8 sigma^2)), at most 1.

    Conservation of momentum (Bastankhah and Porté-Agel 2014, eq. 23). Also its slopes with thrust and sigma.
    """
    per_thrust = diameter * diameter / (8.0 * sigma * sigma)
    q = thrust * per_thrust
    # Choices between numbers instead of branches: a compiler makes vector instructions of a loop around them.
    is_whole = q >= 1.0
    root = sqrt(1.0 if is_whole else 1.0 - q)
    slope = 0.0 if is_whole else 0.5 / root
    return 1.0 if is_whole else 1.0 - root, slope * per_thrust, -2.0 * slope * q / sigma


@scalar
def _centre_deficit_of_madsen(thrust: float, diameter: float, sigma: float) -> tuple[float, float, float]:
    """Return the centre deficit by Madsen's induction, 2 a(ct D^2 / (8 sigma^2)), at most 1, and its slopes."""
    per_thrust = diameter * diameter / (8.0 * sigma * sigma)
    q = thrust * per_thrust
    induction, slope = induced(q)
    if induction >= 0.5:
        return 1.0, 0.0, 0.0
    return 2.0 * induction, 2.0 * slope * per_thrust, -4.0 * slope * q / sigma


_CENTRES = {"madsen": _centre_deficit_of_madsen, "momentum": centre_deficit}


@scalar
def initial_width(factor: float, limit: float, thrust: float) -> tuple[float, float]:
    """Return the width behind the rotor in diameters, ``factor`` sqrt(beta), and its slope with thrust.

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


Profile = tuple[float, float, float, float]
"""A deficit, its slopes with sigma and with crosswind, and the deficit as a share of that at the wake's centre.

It follows from ``(data, pair, sigma, centre, centre_sigma)``: the width, the deficit at the centre and its slope.
"""


@inlined
def exp_of_minus(z: float) -> float:
    """Return exp(-z) for z from 0 to 60, to 2e-14 relatively up to 30, 1e-9 beyond: a polynomial to the power of 128.

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


@inlined
def at_rotor_centre(data: ModelData, pair: Pair, sigma: float, centre: float, centre_sigma: float) -> Profile:
    """Return the Gaussian at the rotor's centre, with its slopes."""
    off_square = pair.crosswind * pair.crosswind + pair.rise * pair.rise
    z = 0.5 * off_square / (sigma * sigma)
    profile = exp_of_minus(z if z < LARGEST_Z else LARGEST_Z)  # noqa: FURB136  a comparison vectorises, max does not
    deficit = centre * profile
    with_sigma = centre_sigma * profile + deficit * off_square / (sigma * sigma * sigma)
    return deficit, with_sigma, -deficit * pair.crosswind / (sigma * sigma), profile


@inlined
def over_rotor(data: ModelData, pair: Pair, sigma: float, centre: float, centre_sigma: float) -> Profile:
    """Return the mean of the Gaussian over the rotor, with its slopes."""
    per_sigma = 1.0 / sigma
    rho = 0.5 * pair.rotor * per_sigma
    off = sqrt(pair.crosswind * pair.crosswind + pair.rise * pair.rise)
    share, share_rho, share_kappa = overlap(data.overlap, rho, off * per_sigma)
    share_sigma = -(rho * share_rho + off * per_sigma * share_kappa) * per_sigma
    with_crosswind = 0.0
    if off > 0.0:
        with_crosswind = centre * share_kappa * per_sigma * pair.crosswind / off
    return centre * share, centre_sigma * share + centre * share_sigma, with_crosswind, share


@cache
def make_gaussian(
    width: Callable[..., tuple[float, float, float, float]],
    profile: Callable[..., Profile],
    induction: Induction = "momentum",
    *,
    cut: bool = False,
) -> dict[str, Any]:
    """Return the functions of a Gaussian wake, by their names in ``WakeModel``.

    ``width(data, downwind, diameter, thrust, turbulence)``: sigma (m), and its slopes with downwind distance, thrust
    and turbulence. ``profile``: see ``Profile``. The wake ends at ``SIGMAS``, beyond the rotor's edge where the profile
    is a mean over the rotor; or, if it is ``cut``, for rotors whose centre is as many sigmas off as the model's last
    constant tells.
    """
    of_radius, centre_of = 0.0 if profile is at_rotor_centre else 0.5, _CENTRES[induction]

    @inlined
    def edge(data: ModelData, sigma: float) -> float:
        return data.constants[data.constants.size - 1] * sigma

    @scalar
    def deficit_with_slopes(data: ModelData, pair: Pair) -> Slopes:
        sigma, sigma_downwind, sigma_thrust, sigma_turbulence = width(
            data, pair.downwind, pair.diameter, pair.thrust, pair.turbulence
        )
        if cut and pair.crosswind * pair.crosswind + pair.rise * pair.rise >= edge(data, sigma) ** 2:
            return 0.0, 0.0, 0.0, 0.0, 0.0
        centre, centre_thrust, centre_sigma = centre_of(pair.thrust, pair.diameter, sigma)
        deficit, with_sigma, with_crosswind, share = profile(data, pair, sigma, centre, centre_sigma)
        return (
            deficit,
            with_sigma * sigma_downwind,
            with_crosswind,
            with_sigma * sigma_thrust + centre_thrust * share,
            with_sigma * sigma_turbulence,
        )

    @scalar
    def reach(
        data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
    ) -> float:
        sigma = width(data, downwind, diameter, thrust, turbulence)[0]
        whole = of_radius * rotor + SIGMAS * sigma
        return min(whole, edge(data, sigma)) if cut else whole

    return {"deficit_with_slopes": deficit_with_slopes, "reach": reach}


@scalar
def _bastankhah_width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    growth = data.constants[0]
    eps, eps_slope = initial_width(data.constants[1], data.constants[2], thrust)
    return growth * downwind + eps * diameter, growth, eps_slope * diameter, 0.0


@scalar
def _constant_start_width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    return data.constants[0] * downwind + data.constants[1] * diameter, data.constants[0], 0.0, 0.0


@scalar
def _iea37_width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    k = data.constants[0]
    return k * downwind + diameter / sqrt(8.0), k, 0.0, 0.0


def gaussian(**parts: Any) -> WakeModel:
    """Return a linearly widening Gaussian wake with the parts listed in ``vindeby.parameters.Gaussian``."""
    given = Gaussian(**parts)
    if given.initial_width == "beta":
        return _composed("gaussian", _bastankhah_width, (given.k, given.ceps, 0.899), given)
    return _composed("gaussian", _constant_start_width, (given.k, given.ceps), given)


setattr(gaussian, "__signature__", signature(Gaussian))  # noqa: B010 - mypy does not know it


def _composed(
    name: str,
    width: Callable[..., tuple[float, float, float, float]],
    constants: tuple[float, ...],
    given: Gaussian,
) -> WakeModel:
    """Return a wake of this width, whose first constant is its growth, with the given other parts."""
    over, cut = given.rotor == "overlap", given.cut_sigmas
    return WakeModel(
        **make_gaussian(width, over_rotor if over else at_rotor_centre, given.induction, cut=cut is not None),
        name=name,
        constants=constants if cut is None else (*constants, cut),
        superposition=given.superposition,
        reference=given.reference,
        growth_constants=(0,),
        thrust_of=given.thrust_of,
        # Where a cut wake ends depends on the thrust if its width does.
        thrust_limit=0.0 if cut is not None and width is _bastankhah_width else 1.0,
    )


def bastankhah_2014(k: float = Bastankhah2014.k) -> WakeModel:
    """Return the model of 2014; ``k`` is the growth of the wake's width per metre."""
    return replace(gaussian(k=k, superposition="linear", reference="local"), name="bastankhah-2014")


def iea37(k: float = Iea37.k) -> WakeModel:
    """Return the case studies' model; ``k`` is the growth of the wake's width per metre."""
    given = Gaussian(k)
    return _composed("iea37", _iea37_width, (given.k,), given)


@scalar
def _width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    """Return sigma and its slopes with downwind distance, thrust coefficient and turbulence intensity."""
    a0, a1, factor, limit = data.constants[0], data.constants[1], data.constants[2], data.constants[3]
    growth = a0 * turbulence + a1
    eps, eps_slope = initial_width(factor, limit, thrust)
    return growth * downwind + eps * diameter, growth, eps_slope * diameter, a0 * downwind


@scalar
def _added_turbulence(data: ModelData, pair: Pair, free_turbulence: float) -> TurbulenceSlopes:
    if pair.downwind <= 1e-10:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    sigma, sigma_downwind, sigma_thrust, sigma_turbulence = _width(
        data, pair.downwind, pair.diameter, pair.thrust, pair.turbulence
    )
    off = sqrt(pair.crosswind * pair.crosswind + pair.rise * pair.rise)
    share, share_radius, share_distance = covered_share(2.0 * sigma, 0.5 * pair.rotor, off)
    if share == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
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
        0.0325 * whole * share / free_turbulence,
    )


_GAUSSIAN = make_gaussian(_width, over_rotor)


def niayifar_2016(a0: float = Niayifar2016.a0, a1: float = Niayifar2016.a1) -> WakeModel:
    """Return the model of 2016; ``a0`` and ``a1`` are the slope and the constant of k(I)."""
    return WakeModel(
        **_GAUSSIAN,
        name="niayifar-2016",
        constants=(a0, a1, 0.2, 0.899),
        superposition="linear",
        reference="local",
        needs_turbulence=True,
        added_turbulence=_added_turbulence,
        growth_constants=(0, 1),
    )
