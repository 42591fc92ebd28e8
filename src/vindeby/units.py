"""Every unit conversion, once.

Inside vindeby lengths are metres, speeds m/s, powers W, angles of the wind degrees (meteorological: where it
comes from, clockwise from north) and yearly energy GWh. What a user writes or reads may be in MW or km2; the
factors between the two live here and nowhere else.
"""

from __future__ import annotations

HOURS_PER_YEAR = 8760.0
"""The year of wind-energy practice: 365 days, no leap day."""

TOLERANCE_M = 1e-6
"""A turbine may be this far outside its boundary, and two this much too near to each other: rounding, not room."""


def mw_to_w(power_mw: float) -> float:
    """Megawatts to watts."""
    return power_mw * 1e6


def w_to_mw(power_w: float) -> float:
    """Watts to megawatts."""
    return power_w / 1e6


def kw_to_w(power_kw: float) -> float:
    """Kilowatts to watts."""
    return power_kw * 1e3


def w_to_kw(power_w: float) -> float:
    """Watts to kilowatts."""
    return power_w / 1e3


def kw_to_mw(power_kw: float) -> float:
    """Kilowatts to megawatts."""
    return power_kw / 1e3


def mean_power_to_aep_gwh(power_w: float) -> float:
    """A mean power in watts, held for a year, to GWh."""
    return power_w * (HOURS_PER_YEAR * 1e-9)


def capacity_to_largest_aep_gwh(capacity_mw: float) -> float:
    """What a capacity gives at full power all year, in GWh; a year of 8,766 hours is the longest convention."""
    return capacity_mw * 8766.0 * 1e-3


def gwh_to_mwh(energy_gwh: float) -> float:
    """Gigawatt-hours to megawatt-hours."""
    return energy_gwh * 1e3


def m2_to_km2(area_m2: float) -> float:
    """Square metres to square kilometres."""
    return area_m2 / 1e6
