"""The wind side of a campaign: its site, turbines and wake model as ``wake`` computes with them."""

from __future__ import annotations

import numpy as np

from vindeby import units, wake
from vindeby.campaign import Campaign
from vindeby.campaign.sections.site import ProbabilityTable, Weibull
from vindeby.campaign.sections.turbines import Cubic, Generic, Table, Turbine
from vindeby.campaign.sections.wake_model import WakeModel


def site_of(campaign: Campaign) -> wake.Site:
    """The campaign's wind."""
    site = campaign.site.weibull or campaign.site.table
    return _weibull(site) if isinstance(site, Weibull) else _table(site)


def _weibull(site: Weibull) -> wake.Site:
    return wake.WeibullSite(
        frequency=[sector.frequency for sector in site.sectors],
        weibull_a=[sector.a for sector in site.sectors],
        weibull_k=[sector.k for sector in site.sectors],
        turbulence_intensity=site.turbulence_intensity,
        interpolation=site.interpolation,
        default_directions=np.arange(round(360.0 / site.direction_step)) * site.direction_step,
        default_speeds=np.array(site.wind_speeds),
    )


def _table(site: ProbabilityTable | None) -> wake.Site:
    assert site is not None, "the campaign's check lets no site without a description through"
    return wake.TableSite(
        probability=site.probability,
        wind_speed=site.wind_speeds,
        turbulence_intensity=site.turbulence_intensity,
        interpolation=site.interpolation,
    )


def turbine_of(turbine: Turbine) -> wake.Turbine:
    """A turbine type with its curves."""
    match turbine.description:
        case Generic() as given:
            return wake.Turbine.generic(
                turbine.name, given.rated_power_mw, given.rotor_diameter_m, given.hub_height_m
            )
        case Table() as given:
            return wake.Turbine.tabulated(
                turbine.name,
                given.rotor_diameter_m,
                given.hub_height_m,
                given.wind_speed,
                [units.kw_to_w(power) for power in given.power_kw],
                given.ct,
            )
        case Cubic() as given:
            return wake.Turbine.cubic(
                turbine.name,
                given.rated_power_mw,
                given.rotor_diameter_m,
                given.hub_height_m,
                cut_in=given.cut_in,
                rated_speed=given.rated_speed,
                cut_out=given.cut_out,
                thrust_coefficient=given.ct,
            )


def wake_model_of(model: WakeModel) -> wake.WakeModel:
    """The wake model with the campaign's parameters, and with blockage if it asks for that."""
    return _wakes_of(model).with_blockage(model.blockage)


def _wakes_of(model: WakeModel) -> wake.WakeModel:
    if model.nygaard_2022 is not None:
        return wake.models.nygaard_2022(expansion=model.nygaard_2022.a)
    if model.bastankhah_2014 is not None:
        return wake.models.bastankhah_2014(growth=model.bastankhah_2014.k)
    if model.niayifar_2016 is not None:
        return wake.models.niayifar_2016(growth=(model.niayifar_2016.a0, model.niayifar_2016.a1))
    if model.iea37 is not None:
        return wake.models.iea37(growth=model.iea37.k)
    if model.turbopark_2020 is not None:
        turbopark = model.turbopark_2020
        return wake.models.turbopark_2020(turbopark.a, turbopark.induction, turbopark.rotor)
    if model.bastankhah_2016 is not None:
        gauss = model.bastankhah_2016
        return wake.models.bastankhah_2016((gauss.ka, gauss.kb), (gauss.alpha, gauss.beta))
    if model.cumulative_curl is not None:
        curl = model.cumulative_curl
        return wake.models.cumulative_curl((curl.ka, curl.kb), curl.turbulence)
    assert model.jensen is not None, "the campaign's check lets none but these through"
    return wake.models.jensen(model.jensen.k, model.jensen.induction, model.jensen.rotor)


def wind_farm(campaign: Campaign, type_idx: int, *, threads: int = 1) -> wake.WindFarm:
    """What a layout of this turbine type is worth, in the campaign's wind and with its wake model."""
    return wake.WindFarm(
        site_of(campaign),
        turbine_of(campaign.turbines[type_idx]),
        wake=wake_model_of(campaign.wake),
        threads=threads,
    )
