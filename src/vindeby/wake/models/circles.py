"""The share of a rotor disc that a round wake with a sharp edge covers."""

from __future__ import annotations

from math import acos, pi, sin

from vindeby.wake.compiling.compiled import scalar


@scalar
def covered_share(wake_radius: float, rotor_radius: float, distance: float) -> tuple[float, float, float]:
    """Share of the rotor inside the wake, and its slopes with wake radius and distance between the centres.

    Two circles that cross share a lens, J. Feng and W. Z. Shen, Renewable Energy 78 (2015) 182-192, eq. A1.
    Its area grows with the radius by the arc of the wake inside the rotor and shrinks with the distance by
    the chord. A rotor of radius 0 is a point.
    """
    if distance >= wake_radius + rotor_radius or rotor_radius == 0.0:
        return (1.0, 0.0, 0.0) if distance < wake_radius else (0.0, 0.0, 0.0)
    disc = pi * rotor_radius * rotor_radius
    if distance <= wake_radius - rotor_radius:
        return 1.0, 0.0, 0.0
    if distance <= rotor_radius - wake_radius:
        return wake_radius * wake_radius * pi / disc, 2.0 * wake_radius * pi / disc, 0.0
    square, wake_square, rotor_square = (
        distance * distance,
        wake_radius * wake_radius,
        rotor_radius * rotor_radius,
    )
    from_wake = acos(
        min(1.0, max(-1.0, (square + wake_square - rotor_square) / (2.0 * distance * wake_radius)))
    )
    from_rotor = acos(
        min(1.0, max(-1.0, (square + rotor_square - wake_square) / (2.0 * distance * rotor_radius)))
    )
    half_chord = wake_radius * sin(from_wake)
    lens = from_wake * wake_square + from_rotor * rotor_square - distance * half_chord
    return max(lens, 0.0) / disc, 2.0 * wake_radius * from_wake / disc, -2.0 * half_chord / disc
