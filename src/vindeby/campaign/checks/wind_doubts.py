"""Doubts about the wind and the power curves of a campaign: sums that are not 1, few directions, impossible power."""

from __future__ import annotations

from collections.abc import Iterator

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.sections.site import STATED_STEP, ProbabilityTable, Weibull
from vindeby.campaign.sections.time_series import States, TimeSeries
from vindeby.campaign.sections.turbines import Table, Turbine
from vindeby.units import BETZ_LIMIT, wind_power_w

_ROUNDING = 1e-6
_LEAST_POWER_COEFFICIENT = 0.05


def doubts_about_wind(campaign: Campaign) -> Iterator[str]:
    """One sentence for a sum that is not 1, one for few directions, and one for each impossible power curve."""
    yield from _sum(campaign.site.chosen[1])
    yield from _step(campaign)
    for turbine in campaign.turbines:
        if isinstance(turbine.description, Table):
            yield from _power(turbine, turbine.description)


def _sum(site: Weibull | ProbabilityTable | TimeSeries | States) -> Iterator[str]:
    if isinstance(site, TimeSeries):
        return  # weights are relative: their sum has no meaning
    total = sum(site.probability) if isinstance(site, States) else site.total
    if abs(total - 1.0) <= _ROUNDING:
        return
    what = "frequencies" if isinstance(site, Weibull) else "probabilities"
    if site.normalise:
        yield f"site: the {what} sum to {total:.8g}; they are divided by this sum (normalise: true)"
    else:
        yield (
            f"site: the {what} sum to {total:.8g}, not to 1; energies are those of this part of a year, as in PyWake; "
            "write normalise: true to divide by the sum"
        )


def _step(campaign: Campaign) -> Iterator[str]:
    weibull = campaign.site.weibull
    if weibull is None or not campaign.site.is_searched_coarsely or campaign.method[0].call is not None:
        return
    yield (
        f"site.weibull.direction_step: layouts are searched in {round(360.0 / weibull.direction_step)} directions, "
        f"{weibull.direction_step:g} degrees apart, and a search exploits the gaps between them; the energy of a "
        f"result (aep) is stated at {STATED_STEP:g} degree, and the one that was searched, mostly larger, is kept as "
        f"aep_searched; use {STATED_STEP:g} for better layouts"
    )


def _power(turbine: Turbine, table: Table) -> Iterator[str]:
    points = [
        (power / wind_power_w(table.rotor_diameter_m, speed), speed)
        for speed, power in zip(table.wind_speed, table.power_w, strict=True)
        if speed > 0.0
    ]
    largest, at = max(points)
    unit = "is power_kw in kW and rotor_diameter_m in metres?" if table.cp is None else "is cp a fraction?"
    if largest > BETZ_LIMIT:
        yield (
            f"type {turbine.name}: at {at:g} m/s the power is {largest:.3g} of that of the wind through the rotor, "
            f"above the Betz limit of {BETZ_LIMIT:.3f}; {unit}"
        )
    elif largest < _LEAST_POWER_COEFFICIENT:
        yield (
            f"type {turbine.name}: the power is never more than {largest:.2g} of that of the wind through the rotor; "
            f"{unit}"
        )
