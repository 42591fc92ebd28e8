"""``nygaard-2022``: the TurbOPark model with a Gaussian profile.

N. G. Nygaard, L. Poulsen, E. Svensson, J. Grønnegaard Pedersen, "Large-scale benchmarking of wake models for
offshore wind farms", J. Phys.: Conf. Ser. 2265 (2022) 022008; the width as in N. G. Nygaard et al.,
"Modelling cluster wakes and wind farm blockage", J. Phys.: Conf. Ser. 1618 (2020) 062072, and Ørsted's
"TurbOPark description". The wake grows with the turbulence in it (Frandsen 2007), d(sigma)/dx = A I(x), which
integrates to

    sigma/D = eps + A sqrt(ct)/c2 (g(y) - g(y0)),  g(y) = sqrt(1 + y^2) - log((1 + sqrt(1 + y^2))/y),
    y = I0 (c1 + c2 x / (D sqrt(ct))),  y0 = c1 I0,  eps = 0.25 sqrt(beta(min(ct, 0.96))),

with g' = sqrt(1 + y^2)/y. The deficit at the centre follows from momentum, its profile is averaged over the
rotor, a mirrored wake stands for the ground (both add as squares), the wakes of all turbines add as squares,
and all are fractions of the free wind speed. I0 is the turbulence intensity of the free wind.

Vectorised loops read g(y) from a table: g is y plus a function that is bounded but for the logarithm at 0. That
function is kept as cubics in y/(y + 1/4), with its own slopes at the points: right to 1e-10 for y above 0.06, to
5e-8 down to ``SMALLEST_Y``.
"""

from math import log, sqrt

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.parameters import Nygaard2022
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.models.contract import ModelData, Pair, Slopes, WakeModel, Widths
from vindeby.wake.models.gaussian import centre_deficit, initial_width
from vindeby.wake.models.overlap import overlap

SMALLEST_Y = 0.012
"""Below it the table of g(y) is not exact enough; it is that of a turbulence intensity of 0.008."""
_CELLS = 512
_MIDDLE = 0.25


def _cubics() -> FloatArray:
    """Return four coefficients per cell, constant first; zeros for the first cell (logarithm) and after the last."""
    w = np.arange(1, _CELLS) / _CELLS
    y = _MIDDLE * w / (1.0 - w)
    root = np.sqrt(1.0 + y * y)
    # In the limit of an infinite y the function is -1/(2 y).
    value = np.append(1.0 / (root + y) - np.log((1.0 + root) / y), 0.0)
    slope = np.append((root / y - 1.0) * (y + _MIDDLE) ** 2 / _MIDDLE, 0.5 / _MIDDLE) / _CELLS
    rise = np.diff(value)
    cells = np.zeros((_CELLS + 1, 4))
    cells[1:-1] = np.stack(
        [
            value[:-1],
            slope[:-1],
            3.0 * rise - 2.0 * slope[:-1] - slope[1:],
            slope[:-1] + slope[1:] - 2.0 * rise,
        ],
        axis=1,
    )
    return cells.ravel()


_TABLE = _cubics()


@inlined
def growth(y: float) -> float:
    w = y / (y + _MIDDLE) * _CELLS
    cell = np.int32(w)
    t = w - cell
    i = np.uint32(4 * cell)
    return ((_TABLE[i + 3] * t + _TABLE[i + 2]) * t + _TABLE[i + 1]) * t + _TABLE[i] + y


@inlined
def growth_with_slope(y: float) -> tuple[float, float]:
    per = 1.0 / (y + _MIDDLE)
    w = y * per * _CELLS
    cell = np.int32(w)
    t = w - cell
    i = np.uint32(4 * cell)
    c0, c1, c2, c3 = _TABLE[i], _TABLE[i + 1], _TABLE[i + 2], _TABLE[i + 3]
    slope = ((3.0 * c3 * t + 2.0 * c2) * t + c1) * (_MIDDLE * per * per * _CELLS)
    return ((c3 * t + c2) * t + c1) * t + c0 + y, slope + 1.0


@scalar
def _growth(y: float) -> float:
    root = sqrt(1.0 + y * y)
    return root - log((1.0 + root) / y)


@scalar
def width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    """Return sigma (m), and its slopes with downwind distance, thrust and turbulence of the free wind."""
    c = data.constants
    a, c1, c2 = c[0], c[1], c[2]
    thrust = max(thrust, 1e-20)
    eps, eps_slope = initial_width(c[3], c[4], thrust)
    root_thrust = sqrt(thrust)
    y0 = c1 * turbulence
    y = y0 + c2 * turbulence * downwind / (diameter * root_thrust)
    grown = _growth(y) - _growth(y0)
    growth_slope = sqrt(1.0 + y * y) / y
    sigma = diameter * (eps + a * root_thrust / c2 * grown)
    with_thrust = diameter * (eps_slope + a / c2 * (grown - growth_slope * (y - y0)) / (2.0 * root_thrust))
    rise = sqrt(1.0 + y * y) - sqrt(1.0 + y0 * y0)
    with_turbulence = diameter * a * root_thrust / c2 * rise / turbulence
    return sigma, a * turbulence * growth_slope, with_thrust, with_turbulence


@scalar
def _deficit_with_slopes(data: ModelData, pair: Pair) -> Slopes:
    sigma, sigma_downwind, sigma_thrust, sigma_turbulence = width(
        data, pair.downwind, pair.diameter, pair.thrust, pair.turbulence
    )
    centre, centre_thrust, centre_sigma = centre_deficit(pair.thrust, pair.diameter, sigma)
    per_sigma = 1.0 / sigma
    rho = 0.5 * pair.rotor * per_sigma
    off = sqrt(pair.crosswind * pair.crosswind + pair.rise * pair.rise)
    off_mirror = sqrt(pair.crosswind * pair.crosswind + pair.heights * pair.heights)
    real, real_rho, real_kappa = overlap(data.overlap, rho, off * per_sigma)
    mirror, mirror_rho, mirror_kappa = overlap(data.overlap, rho, off_mirror * per_sigma)
    both = sqrt(real * real + mirror * mirror)
    if both == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    real_sigma = -(rho * real_rho + off * per_sigma * real_kappa) * per_sigma
    mirror_sigma = -(rho * mirror_rho + off_mirror * per_sigma * mirror_kappa) * per_sigma
    both_sigma = (real * real_sigma + mirror * mirror_sigma) / both
    both_crosswind = 0.0
    if off > 0.0:
        both_crosswind += real * real_kappa * pair.crosswind / off
    if off_mirror > 0.0:
        both_crosswind += mirror * mirror_kappa * pair.crosswind / off_mirror
    with_sigma = centre_sigma * both + centre * both_sigma
    return (
        centre * both,
        with_sigma * sigma_downwind,
        centre * both_crosswind * per_sigma / both,
        with_sigma * sigma_thrust + centre_thrust * both,
        with_sigma * sigma_turbulence,
    )


@scalar
def _reach(
    data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
) -> float:
    # At this many sigmas beyond the rotor's edge, the mean over the rotor is 1e-10 of the centre's.
    return 0.5 * rotor + 6.5 * width(data, downwind, diameter, thrust, turbulence)[0]


@inlined
def _numbers(
    constants: tuple[float, ...], diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    """Return y at the rotor and per metre, and the constant and factor of the width: constant + factor g(y)."""
    thrust = thrust if thrust > 1e-12 else 1e-12  # noqa: FURB136  a comparison vectorises, max does not
    root_thrust, limit = sqrt(thrust), constants[4]
    y0 = constants[1] * turbulence
    factor = diameter * constants[0] * root_thrust / constants[2]
    root = sqrt(1.0 - (thrust if thrust < limit else limit))  # noqa: FURB136
    eps = constants[3] * sqrt(0.5 * (1.0 + root) / root)  # ``initial_width`` without branches
    per_metre = constants[2] * turbulence / (diameter * root_thrust)
    return y0, per_metre, diameter * eps - factor * growth(y0), factor


@inlined
def _number_slopes(
    constants: tuple[float, ...], diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    thrust = max(thrust, 1e-12)
    y0, per_metre, _, factor = _numbers(constants, diameter, thrust, turbulence)
    half = 0.5 / thrust
    eps_slope = initial_width(constants[3], constants[4], thrust)[1]
    return 0.0, -per_metre * half, diameter * eps_slope - factor * half * growth(y0), factor * half


@inlined
def _width_at(y0: float, per_metre: float, constant: float, factor: float, downwind: float) -> float:
    return constant + factor * growth(y0 + per_metre * downwind)


@inlined
def _width_at_with_slopes(
    numbers: tuple[float, float, float, float], slopes: tuple[float, float, float, float], downwind: float
) -> tuple[float, float, float]:
    y0, per_metre, constant, factor = numbers
    grown, slope = growth_with_slope(y0 + per_metre * downwind)
    with_thrust = slopes[2] + slopes[3] * grown + factor * slope * slopes[1] * downwind
    return constant + factor * grown, factor * slope * per_metre, with_thrust


def nygaard_2022(a: float = Nygaard2022.a) -> WakeModel:
    """Return TurbOPark with its published constants c1 = 1.5 and c2 = 0.8; ``a`` is A, the wake expansion."""
    return WakeModel(
        name="nygaard-2022",
        constants=(a, 1.5, 0.8, 0.25, 0.96),
        deficit_with_slopes=_deficit_with_slopes,
        reach=_reach,
        superposition="squares",
        reference="free",
        needs_turbulence=True,
        tabulate=True,
        thrust_limit=0.96,
        growth_constants=(0,),
        free_wind_of="target",
        widths=Widths(_numbers, _number_slopes, _width_at, _width_at_with_slopes, SMALLEST_Y / 1.5),
    )
