"""The wind side of a campaign: its site, turbines and wake model as ``wake`` computes with them."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import numpy as np

from vindeby import wake
from vindeby.arrays import FloatArray
from vindeby.assembly.foreign_farm import ForeignFarm
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import around
from vindeby.campaign.reading.code_files import imported
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.sections.costs import Objective
from vindeby.campaign.sections.local_wind import AXES, LocalWindSection
from vindeby.campaign.sections.site import ProbabilityTable, SiteSection, Weibull
from vindeby.campaign.sections.time_series import States, TimeSeries, TurbulenceSection
from vindeby.campaign.sections.turbines import Cubic, Generic, Tabulated, TurbineSection
from vindeby.campaign.sections.wake_model import NamedCode, PythonModel, WakeSection
from vindeby.errors import ArgumentError, InputError
from vindeby.wake.models.contract import find_mistake
from vindeby.wake.scenarios import Over


def gridded_site(site: SiteSection, local: LocalWindSection, rose: wake.Site) -> wake.Site:
    """Return a site with gridded wind; probabilities are those of ``rose`` or, if the grid has any, of the grid."""
    grid = wake.WindGrid(
        local.x,
        local.y,
        height=local.height,
        direction=local.wind_directions,
        **{name: _over_axes(local, name) for name in local.quantities},
    )
    interpolation = local.interpolation or getattr(site.chosen[1], "interpolation", None) or "linear"
    return wake.GriddedSite(rose, grid, interpolation, local.position_interpolation, local.turned_wakes)


def _over_axes(local: LocalWindSection, name: str) -> FloatArray:
    """Return a quantity over its own axes; over all four if their number alone would be ambiguous."""
    array = local.array(name)
    own = getattr(local, name).axes
    if len(own) == 3 and local.height is not None and local.wind_directions is not None:
        lengths = [len(getattr(local, axis)) for axis in AXES]
        return np.array(np.broadcast_to(array, lengths))
    return array.reshape([length for length, axis in zip(array.shape, AXES, strict=True) if axis in own])


def site_of(campaign: Campaign, *, searched: bool = False, sold: bool = False) -> wake.Site:
    """Return the campaign's wind, with its local wind: the wind of stated energies or, if ``searched``, of the search.

    ``sold`` counts each state by its price, relative to the mean price, where prices differ.
    """
    objective = campaign.objective if sold else None
    return wind_of(campaign.site if searched else campaign.stated_site, objective)


def wind_of(site: SiteSection, objective: Objective | None = None) -> wake.Site:
    """Return the wind of a section, with its local wind, weighted by the prices of an objective, if any."""
    if site.local is None:
        return _same_everywhere(site, objective)
    if not site.local.has_weibull:
        return gridded_site(site, site.local, _same_everywhere(site, objective))
    weibull = site.weibull
    assert weibull is not None, "the campaign's check lets no other site without a rose through"
    assert isinstance(weibull.turbulence_intensity, float), "nor another turbulence"
    states = wake.WeibullSite(  # with other probabilities in each place
        (1.0,), (10.0,), (2.0,), weibull.turbulence_intensity,
        default_directions=_directions(weibull), default_speeds=np.array(weibull.wind_speeds),
    )  # fmt: skip
    return gridded_site(site, site.local, states)


def _as_sold(site: wake.Site, prices: tuple[float, ...]) -> wake.Site:
    """Return the site with each state weighted by its price, relative to the mean price."""
    assert isinstance(site, wake.TimeSeriesSite), "the campaign's check lets no other list of prices through"
    shares = np.ones(len(prices)) if site.weight is None else np.asarray(site.weight, np.float64)
    if site.relative or site.weight is None:
        shares = shares / shares.sum()
    return replace(site, weight=shares * np.array(prices) / np.mean(prices), relative=False)


def _same_everywhere(site: SiteSection, objective: Objective | None) -> wake.Site:
    """Return the site with its changes, relative to grid north (``grid_convergence_deg`` clockwise of true north)."""
    described = _as_described(site)
    if objective is not None and isinstance(objective.price, tuple):
        described = _as_sold(described, objective.price)
    return wake.ChangedSite(
        described,
        turned_deg=-(site.grid_convergence_deg or 0.0),
        speed_factor=site.wind_speed_factor or 1.0,
        direction_std_deg=site.direction_std_deg or 0.0,
    ).changed()


def _as_described(site: SiteSection) -> wake.Site:
    given: Weibull | ProbabilityTable | TimeSeries | States = site.chosen[1]
    if isinstance(given, TimeSeries | States):
        weight = given.probability if isinstance(given, States) else given.weight
        return wake.TimeSeriesSite(
            wind_speed=np.array(given.wind_speed),
            wind_direction=np.array(given.wind_direction),
            turbulence_intensity=np.array(given.turbulence_intensity),
            weight=None if weight is None else np.array(weight),
            relative=given.normalise if isinstance(given, States) else True,
        )
    turbulence, total = given.turbulence_intensity, given.total if given.normalise else 1.0
    intensity: float | wake.TurbulenceTable
    if isinstance(turbulence, TurbulenceSection):
        intensity = wake.TurbulenceTable(
            turbulence.values, turbulence.wind_directions, turbulence.wind_speeds
        )
    else:
        intensity = turbulence
    if isinstance(given, ProbabilityTable):
        shares = np.array(given.probability) / total
        return wake.TableSite(shares, given.wind_speeds, intensity, given.interpolation)
    return wake.WeibullSite(
        frequency=[sector.frequency / total for sector in given.sectors],
        weibull_a=[sector.a for sector in given.sectors],
        weibull_k=[sector.k for sector in given.sectors],
        turbulence_intensity=intensity,
        interpolation=given.interpolation,
        default_directions=_directions(given),
        default_speeds=np.array(given.wind_speeds),
    )


def _directions(site: Weibull) -> FloatArray:
    return np.asarray(np.arange(round(360.0 / site.direction_step)) * site.direction_step, np.float64)


@lru_cache(maxsize=256)  # the curves of a generic type take a millisecond, and many farms share a type
def turbine_of(turbine: TurbineSection) -> wake.Turbine:
    """Return a turbine type with its curves."""
    match turbine.description:
        case Generic() as given:
            return wake.Turbine.generic(turbine.name, **dict(given))
        case Tabulated() as given:
            return wake.Turbine.tabulated(
                turbine.name,
                given.rotor_diameter_m,
                given.hub_height_m,
                given.wind_speed,
                given.power_w,
                given.ct,
                thrust_wind_speed=given.ct_wind_speed,
                outside=given.outside,
            )
        case Cubic() as given:
            names = {"ct": "thrust_coefficient", "ct_wind_speed": "thrust_wind_speed"}
            parameters = {names.get(name, name): value for name, value in given}
            return wake.Turbine.cubic(turbine.name, **parameters)


def wake_model_of(model: WakeSection) -> wake.WakeModel:
    """Return the wake model with the campaign's parameters, and with blockage if the campaign has it."""
    name, given = model.chosen
    wakes = _named_model(given) if isinstance(given, PythonModel) else wake.MODELS[name](**asdict(given))
    return wakes.with_blockage(model.blockage)


_find_mistake = lru_cache(maxsize=64)(find_mistake)


def made_by(given: NamedCode, kind: str, of: type[Any], name: str) -> Any:
    """Return the object that the user's own code makes; raise InputError for other code, or if it is not an ``of``."""
    given.refuse_other_code()
    field = f"{given.section}.{given.key}"
    at, found = f"{field}: {given.model}", imported(field, given.model, kind, may_be=of)
    try:
        if given.options or not isinstance(found, of):
            found = found(**given.options)
    except Exception as error:  # code of the user's may raise anything
        shown = ", ".join(f"{key}={value!r}" for key, value in given.options.items())
        raise InputError(f"{at}({shown}) raised {type(error).__name__}: {error}") from error
    if not isinstance(found, of):
        raise InputError(f"{at} gives a {type(found).__name__}, not a {name}")
    return found


def _named_model(given: PythonModel) -> wake.WakeModel:
    """Return the user's own model; InputError if its functions are wrong."""
    kind, at = "WakeModel or function that makes one", f"wake.python: {given.model}"
    found: wake.WakeModel = made_by(given, kind, wake.WakeModel, "vindeby.WakeModel")
    try:
        wrong = _find_mistake(found)
    except Exception as error:  # code of the user's may raise anything
        reason = " ".join(str(error).split())
        raise InputError(
            f"{at}: its functions raised {type(error).__name__}: {reason}; they take (data, pair), and what they call "
            "is decorated with scalar, see docs/wake-models.md"
        ) from error
    if wrong:
        raise InputError(f"{at}: {wrong}")
    return found


def wind_farm(
    campaign: Campaign,
    types: int | Sequence[int],
    farm_idx: int | None = None,
    *,
    searched: bool = False,
    with_engine: bool = True,
    over: Over = "mean",
    sold: bool = False,
) -> wake.WindFarm:
    """Return the wind farm of one turbine type or several, in the campaign's wind and with its wake model.

    ``farm_idx`` says which neighbours stand around it; without it there are none. The farm's own types come first.
    ``searched`` takes the directions of the search, where these are coarser than those that energies are stated in.
    Without its engine, if it has one, only what needs no wakes can be asked, and no code that the campaign names is
    executed: enough to look at results. Of a campaign with scenarios it is one in all of them, whose energy is ``over``
    them. Where prices differ, ``sold`` counts each wind state by its price, relative to the mean price.
    """
    indices = [types] if isinstance(types, int) else types
    own = [campaign.turbines[index] for index in indices]
    if not campaign.scenarios:
        site = site_of(campaign, searched=searched, sold=sold)
        return _farm_of(campaign, own, farm_idx, site, with_engine)
    every = around(campaign, farm_idx, own).turbines  # the same list of types in every scenario
    parts = [
        _farm_of(world.campaign, every, farm_idx, site_of(world.campaign, searched=searched), with_engine)
        for world in campaign.worlds
    ]
    return wake.ScenarioFarm(parts, [world.weight for world in campaign.worlds], over)


def _farm_of(
    campaign: Campaign,
    own: Sequence[TurbineSection],
    farm_idx: int | None,
    site: wake.Site,
    with_engine: bool,
) -> wake.WindFarm:
    """Return the wind farm that evaluates layouts of these types in a campaign without scenarios."""
    beside = around(campaign, farm_idx, own)
    turbines = [*map(turbine_of, beside.turbines)]
    neighbours = wake.Neighbours(beside.x, beside.y, beside.types) if len(beside) else None
    engine = campaign.wake.engine
    if engine is not None and not with_engine:
        return ForeignFarm(site, turbines, None, engine.title, neighbours=neighbours)
    return farm_with(campaign.wake, site, turbines, neighbours)


def farm_with(
    model: WakeSection,
    site: wake.Site,
    turbines: list[wake.Turbine],
    neighbours: wake.Neighbours | None = None,
) -> wake.WindFarm:
    """Return the wind farm of these turbine types, with wakes by the campaign's model or engine."""
    if model.engine is not None and model.python is None:
        made: wake.WindFarm = readers().engine_farm(model.engine, site, turbines, neighbours)
        return made
    return wake.WindFarm(site, turbines, wake=wake_model_of(model), neighbours=neighbours)


def wind_farm_of(campaign: Campaign, farm: str | int = 0, turbine: str | int = 0) -> wake.WindFarm:
    """Return the ``vindeby.WindFarm`` of a farm, in the campaign's wind, with its wakes and neighbours.

    Farm and turbine type are named, or numbered from 0; a farm that mixes types has those of its mix.
    """
    if not campaign.is_about_wind:
        raise ArgumentError("the campaign is about a function without wind: it has no farms")
    number = _number("farm", farm, [one.name for one in campaign.farms])
    kind = _number("turbine type", turbine, [one.name for one in campaign.turbines])
    mix = campaign.mix_of(campaign.farms[number])
    return wind_farm(campaign, kind if mix is None else [one for one, _ in mix], number)


def _number(kind: str, given: str | int, names: Sequence[str]) -> int:
    if given in names:
        return names.index(str(given))
    if isinstance(given, int) and 0 <= given < len(names):
        return given
    raise ArgumentError(f"the campaign has no {kind} {given!r}; it has: {', '.join(names)}")


def load_engine(campaign: Campaign) -> None:
    """Import the campaign's engine or own wake model, if any; raise InputError if it cannot be used."""
    if campaign.wake.python is not None:
        wake_model_of(campaign.wake)
    elif campaign.wake.engine is not None:
        readers().load_engine(campaign.wake.engine)
