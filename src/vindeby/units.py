"""Every unit and its conversion, once.

Inside vindeby lengths are metres, speeds m/s, powers W, angles of the wind degrees (meteorological: where it
comes from, clockwise from north) and yearly energy GWh. What a user writes or reads may be in MW or km2; the
factors between the two live here and nowhere else.
"""

import math
from collections.abc import Iterable, Sequence

KW, MW = 1e3, 1e6  # W
KM, KM2 = 1e3, 1e6  # m, m2
MWH_PER_GWH = 1e3

HOURS_PER_YEAR = 8760.0
"""The year of wind-energy practice: 365 days, no leap day."""

TOLERANCE_M = 1e-6
"""The rounding allowed: a turbine may be this far outside its boundary, and a pair this much too close."""

LONG_SERIES = 1000
"""Steps of a time series from which on a search from coarse to fine begins in a wind rose made of it."""

AIR_DENSITY_KG_M3 = 1.225
BETZ_LIMIT = 16.0 / 27.0
"""The most of the wind's power that a rotor can take."""
_ABOVE_BETZ = 1.2
"""Measured curves exceed the limit a little, by turbulence or dense air; other units exceed it by far."""
_WORTH_JUDGING = 0.1
"""Least power judged, as a fraction of the largest power: near cut-in, measured curves average over gusts."""
_LIVELY_WIND = 10.0
_HIGHEST_RATED_SPEED = 25.0


def mean_power_to_aep_gwh(power_w: float) -> float:
    """Return the energy in GWh of a mean power in watts, held for a year."""
    return power_w * (HOURS_PER_YEAR * 1e-9)


def capacity_to_largest_aep_gwh(capacity_mw: float) -> float:
    """Return the energy in GWh of a capacity at full power all year; the longest convention is 8,766 hours."""
    return capacity_mw * 8766.0 * 1e-3


def wind_power_w(rotor_diameter_m: float, wind_speed: float, density: float = AIR_DENSITY_KG_M3) -> float:
    """Return the power (W) of the wind through a rotor."""
    return 0.5 * density * math.pi * (rotor_diameter_m / 2.0) ** 2 * wind_speed**3


def impossible_power(rotor_diameter_m: float, curve: Iterable[tuple[float, float]]) -> str:
    """Return why no rotor of this size has this curve of wind speeds (m/s) and powers (W); empty if it is possible.

    Refused are more than the Betz limit, but for what measured curves exceed it by, and less than a hundredth of it.
    """
    points = [(speed, power) for speed, power in curve if speed > 0.0]
    most = max((power for _, power in points), default=0.0)
    size = f"a rotor of {rotor_diameter_m:g} m"
    for speed, power in points:
        share = power / wind_power_w(rotor_diameter_m, speed)
        if power >= _WORTH_JUDGING * most > 0.0 and share > _ABOVE_BETZ * BETZ_LIMIT:
            return (
                f"{power:g} W at {speed:g} m/s are {share:.3g} of the power of the wind through {size}, above the "
                f"Betz limit of {BETZ_LIMIT:.3f}"
            )
    fastest = max((speed for speed, _ in points), default=0.0)
    if most < 0.01 * BETZ_LIMIT * wind_power_w(rotor_diameter_m, min(_LIVELY_WIND, fastest)):
        return f"the largest power is {most:g} W, less than a hundredth of what {size} can take from the wind"
    return ""


def impossible_rating(rotor_diameter_m: float, rated_power_mw: float) -> str:
    """Return why no rotor of this size has this rated power; empty if it is possible.

    A turbine reaches its rated power before the wind speeds at which it stops.
    """
    return impossible_power(rotor_diameter_m, [(_HIGHEST_RATED_SPEED, rated_power_mw * MW)])


def count_sectors(directions: Sequence[float]) -> int:
    """Return the number of sectors centred on these directions; a last one of 360 repeats the first, 0."""
    return len(directions) - bool(len(directions) > 1 and directions[0] == 0.0 and directions[-1] == 360.0)


def first_uneven(directions: Sequence[float]) -> int | None:
    """Return the index of the first direction off the centres of even sectors clockwise from north, or None."""
    sectors = count_sectors(directions)
    uneven = (index for index in range(sectors) if abs(directions[index] - index * 360.0 / sectors) > 1e-6)
    return next(uneven, None)
