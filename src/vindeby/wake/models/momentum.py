"""What the Gaussian models share: momentum theory at the centre, and the width right behind the rotor."""

from __future__ import annotations

from math import sqrt

from vindeby.wake.compiling.compiled import scalar


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
