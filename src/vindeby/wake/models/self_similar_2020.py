"""The induction zone upwind of a rotor: the self-similar blockage model in its version of 2020.

N. Troldborg, A. R. Meyer Forsting, "A simple model of the wind turbine induction zone derived from numerical
simulations", Wind Energy 20 (2017) 2011-2020, with the half width and the scaling of thrust of A. R. Meyer Forsting,
G. P. Navarro Diaz, A. Segalini, S. J. Andersen, S. Ivanell, "On the accuracy of predicting wind-farm blockage",
Renewable Energy 214 (2023) 114-129, eqs. 13-17. For a place that is x rotor radii upwind and r aside:

    deficit = a(gamma ct) (1 - x / sqrt(1 + x^2)) sech(sqrt(2) r / (R h))^(8/9),  h = 0.672 x + 0.4897,

a fraction of the wind speed at the rotor, with the induction a of Madsen. gamma goes from one function of ct at one
radius upwind to another at six radii. Only places upwind are slowed down: the slight speed-up beside the wakes is left
out. The deficits of all turbines downwind of a place add up.
"""

from math import exp, log, sin, sqrt, tanh

from vindeby.wake.compiling.compiled import inlined, scalar

_NEAR = 1.0 - 1.0 / sqrt(2.0)
_FAR = 1.0 - 6.0 / sqrt(37.0)
_POWER = 8.0 / 9.0


@scalar
def near_thrust(thrust: float) -> tuple[float, float]:
    """Return thrust coefficient times gamma within one radius upwind (eq. 16), and its slope with ct."""
    gamma = ((-1.381 * thrust + 2.627) * thrust - 1.524) * thrust + 1.336
    slope = (-3.0 * 1.381 * thrust + 2.0 * 2.627) * thrust - 1.524
    return gamma * thrust, gamma + slope * thrust


@scalar
def far_thrust(thrust: float) -> tuple[float, float]:
    """Return thrust coefficient times gamma from six radii upwind (eq. 17), and its slope with ct."""
    angle = (thrust - 0.4911) / -0.1577
    gamma = -0.06489 * sin(angle) + 1.116
    slope = -0.06489 * sin(angle + 1.5707963267948966) / -0.1577
    return gamma * thrust, gamma + slope * thrust


@inlined
def induced(scaled_thrust: float) -> tuple[float, float]:
    """Return the induction a = 0.0883 ct^3 + 0.0586 ct^2 + 0.2460 ct, and its slope with ct.

    H. A. Madsen et al., Wind Energ. Sci. 5 (2020) 1-27.
    """
    value = scaled_thrust * (0.2460 + scaled_thrust * (0.0586 + scaled_thrust * 0.0883))
    return value, 0.2460 + scaled_thrust * (2.0 * 0.0586 + scaled_thrust * (3.0 * 0.0883))


@scalar
def _log_sech(q: float) -> float:
    return log(2.0) - q - log(1.0 + exp(-2.0 * q))


@scalar
def place_factors(
    upwind: float, aside: float, rise: float, diameter: float
) -> tuple[float, float, float, float, float]:
    """Return the position factors of the induction zone: of the deficit, and the share of the far gamma (eq. 15).

    Then the slopes of the first with ``upwind`` and ``aside``, and that of the second with ``upwind``.
    """
    per_radius = 2.0 / diameter
    x = upwind * per_radius
    root = sqrt(1.0 + x * x)
    along = 1.0 / (root * (root + x))
    along_slope = -1.0 / (root * root * root)
    half_width = 0.672 * x + 0.4897
    off = sqrt(aside * aside + rise * rise)
    per_off = sqrt(2.0) * per_radius / half_width
    q = per_off * off
    across = exp(_POWER * _log_sech(q))
    across_slope = -_POWER * tanh(q) * across
    mixed = min(1.0, max(0.0, (_NEAR - along) / (_NEAR - _FAR)))
    mixed_slope = -along_slope / (_NEAR - _FAR) * per_radius if 1.0 <= x <= 6.0 else 0.0
    with_upwind = (along_slope * across - along * across_slope * q * 0.672 / half_width) * per_radius
    with_aside = along * across_slope * per_off * aside / off if off > 0.0 else 0.0
    return along * across, mixed, with_upwind, with_aside, mixed_slope
