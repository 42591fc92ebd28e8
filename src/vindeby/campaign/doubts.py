"""What looks doubtful about the turbines, the wind, the files and the engine of a campaign: one sentence each."""

import math
from collections.abc import Iterator
from importlib.util import find_spec

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.neighbours import groups_in
from vindeby.campaign.reading.code_files import file_of, search_path
from vindeby.campaign.sections.site import STATED_STEP, ProbabilityTable, Weibull
from vindeby.campaign.sections.time_series import States, TimeSeries
from vindeby.campaign.sections.turbines import Table, Turbine
from vindeby.campaign.sections.values import FileSource
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


_NEAR = 0.01
_ROUND_STEPS = (1.0, 0.5, 0.1, 0.05)
"""In units of the first digit, the roundest first: 9.95 MW is near 10 MW and 12.48 MW near 12.5 MW."""


def doubts_about_ratings(campaign: Campaign) -> Iterator[str]:
    """One sentence for each turbine type whose count would differ if its curve ended at a round figure."""
    for turbine in campaign.turbines:
        round_mw = _round_figure_nearby(turbine)
        if round_mw is None:
            continue
        differ = [
            (farm.name, level.capacity_mw, level.count(turbine.rated_power_mw), level.count(round_mw))
            for farm in campaign.farms
            for level in farm.zones or (campaign.level_of(farm),)
            if level.count(turbine.rated_power_mw) != level.count(round_mw)
        ]
        if not differ:
            continue
        farm_name, capacity_mw, count, otherwise = differ[0]
        others = f" (and {len(differ) - 1} more farms likewise)" if len(differ) > 1 else ""
        yield (
            f"type {turbine.name}: {capacity_mw:g} MW make {count} turbines in farm {farm_name}, because the largest "
            f"power of the curve, {turbine.rated_power_mw:.10g} MW, is taken as the rating; with {round_mw:g} MW it "
            f"would be {otherwise}{others}; give rated_power_mw in the table"
        )


def _round_figure_nearby(turbine: Turbine) -> float | None:
    """The roundest figure within 1 % of a rating that was taken from a curve; None where it is that figure."""
    if turbine.table is None or turbine.table.rated_power_mw is not None:
        return None
    largest = turbine.rated_power_mw
    magnitude = 10.0 ** math.floor(math.log10(largest))
    for step in _ROUND_STEPS:
        figure = float(f"{round(largest / (step * magnitude)) * step * magnitude:.3g}")
        if abs(figure - largest) <= _NEAR * figure:
            return figure if figure != largest else None
    return None


_PACKAGES = {"pywake": ("py_wake", "PyWake"), "floris": ("floris", "FLORIS")}


def doubts_about_engine(campaign: Campaign) -> Iterator[str]:
    """A campaign may run on another machine than it is checked on, so this is no more than a doubt."""
    key = campaign.wake.chosen[0]
    given = campaign.wake.named_code
    if given is not None and file_of(given.module, search_path()) is None:
        yield f"wake.{key}: {given.model}: no module {given.module} is found here; start from the folder that it is in"
    if key in _PACKAGES and find_spec(_PACKAGES[key][0]) is None:
        name = _PACKAGES[key][1]
        yield f"wake.{key}: {name} is not installed here; install it with: pip install 'vindeby[{key}]'"


def notes_about_files(campaign: Campaign) -> Iterator[str]:
    """One sentence per note, with the section and the name of the file."""
    yield from _notes("site", campaign.site.source)
    for turbine in campaign.turbines:
        yield from _notes(f"type {turbine.name}", turbine.source)
    for _, group in groups_in(campaign):
        for turbine in group.turbines or ():
            yield from _notes(f"{group.label}, type {turbine.name}", turbine.source)


def _notes(what: str, source: FileSource | None) -> Iterator[str]:
    if source is not None:
        yield from (f"{what}, from {source.file}: {note}" for note in source.notes or ())
