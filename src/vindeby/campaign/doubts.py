"""What looks doubtful about the turbines, the wind, the files and the engine of a campaign: one sentence each."""

import math
from collections.abc import Iterator
from importlib.util import find_spec

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.neighbours import groups_in
from vindeby.campaign.reading.code_files import file_of, search_path
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.sections.site import STATED_STEP, ProbabilityTable, SiteSection, Weibull
from vindeby.campaign.sections.time_series import States, TimeSeries
from vindeby.campaign.sections.turbines import Tabulated, TurbineSection
from vindeby.text import plural
from vindeby.units import BETZ_LIMIT, mean_power_to_aep_gwh, wind_power_w

_ROUNDING = 1e-6
_LEAST_POWER_COEFFICIENT = 0.05


def doubts(campaign: Campaign) -> Iterator[str]:
    """One sentence for each doubt about ratings, wind, power curves and the engine, and for each note about a file."""
    yield from _ratings(campaign)
    yield from _sum(campaign.site.chosen[1])
    yield from _bins(campaign)
    for turbine in campaign.turbines:
        if isinstance(turbine.description, Tabulated):
            yield from _power(turbine, turbine.description)
    yield from _engine(campaign)
    yield from notes_about_files(campaign)


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


def _bins(campaign: Campaign) -> Iterator[str]:
    """Yield what is lost by bins of wind that are coarser than those of the stated energy, or that miss some wind."""
    site, stated = campaign.site, campaign.stated_site
    if site.weibull is None or stated.weibull is None or campaign.method[0].call is not None:
        return
    stating = "the energy of a result (aep) is stated"
    kept = "and the one that was searched is kept as aep_searched"
    if (step := site.weibull.direction_step) > STATED_STEP:
        yield (
            f"site.weibull.direction_step: layouts are searched in {round(360.0 / step)} directions, {step:g} degrees "
            f"apart, and a search exploits the gaps between them; {stating} at {STATED_STEP:g} degree, {kept}; use "
            f"{STATED_STEP:g} for better layouts"
        )
    speeds, fine = site.weibull.wind_speeds, stated.weibull.wind_speeds
    widest = max(campaign.turbines, key=lambda turbine: turbine.operating_range[1])
    if speeds != fine:
        yield (
            f"site.weibull.wind_speeds: layouts are searched at {plural(len(speeds), 'wind speed')} from {speeds[0]:g} "
            f"to {speeds[-1]:g} m/s; {stating} in bins of {STATED_STEP:g} m/s from {fine[0]:g} to {fine[-1]:g} m/s, "
            f"{kept}; {_in_bins(stated, site, widest)}"
        )
    elif (ends := widest.operating_range[1]) > speeds[-1] + STATED_STEP:
        beyond = (
            *speeds,
            *(float(speed) for speed in range(math.ceil(speeds[-1] + 0.5), math.ceil(ends) + 1)),
        )
        more = site.model_copy(update={"weibull": site.weibull.model_copy(update={"wind_speeds": beyond})})
        yield (
            f"site.weibull.wind_speeds: they end at {speeds[-1]:g} m/s, but type {widest.name} operates up to {ends:g} "
            f"m/s; {_in_bins(more, site, widest)}; list them up to {ends:g} to count that"
        )


def _in_bins(one: SiteSection, other: SiteSection, turbine: TurbineSection) -> str:
    """Return in words what share of the year two sites cover, and what a turbine without wakes gives in them."""
    if one.local is not None:
        return "how much that changes differs from place to place"
    states = [readers().wind_of(site).states() for site in (one, other)]
    power = readers().turbine_of(turbine).power_at
    gwh = [mean_power_to_aep_gwh(float(given.probability @ power(given.speed))) for given in states]
    these, those = (f"{100.0 * given.probability.sum():.4g} % of the year" for given in states)
    return (
        f"these cover {these}, and a turbine of type {turbine.name} without wakes gives {gwh[0]:.4g} GWh in them; the "
        f"wind speeds of the search cover {those} and give {gwh[1]:.4g} GWh ({100.0 * (gwh[1] / gwh[0] - 1.0):+.3g} %)"
    )


def _power(turbine: TurbineSection, table: Tabulated) -> Iterator[str]:
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


def _ratings(campaign: Campaign) -> Iterator[str]:
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
        others = f" (and {plural(len(differ) - 1, 'more farm')} likewise)" if len(differ) > 1 else ""
        yield (
            f"type {turbine.name}: {capacity_mw:g} MW make {plural(count, 'turbine')} in farm {farm_name}, as the "
            f"largest power of the curve, {turbine.rated_power_mw:.10g} MW, is taken as the rating; with "
            f"{round_mw:g} MW it would be {otherwise}{others}; give rated_power_mw in the table"
        )


def _round_figure_nearby(turbine: TurbineSection) -> float | None:
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


def _engine(campaign: Campaign) -> Iterator[str]:
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
    sources = [
        ("site", campaign.site.source),
        *((f"type {one.name}", one.source) for one in campaign.turbines),
    ]
    for _, group in groups_in(campaign):
        sources += [(f"{group.label}, type {one.name}", one.source) for one in group.turbines or ()]
    for what, source in sources:
        if source is not None:
            yield from (f"{what}, from {source.file}: {note}" for note in source.notes or ())
