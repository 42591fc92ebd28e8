"""The wind of a campaign as a windIO ``energy_resource``: sector Weibull, joint probabilities, or a time series."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby import wake
from vindeby.assembly.wind import site_of
from vindeby.campaign import Campaign
from vindeby.campaign.sections.normalising import SUM_TOLERANCE
from vindeby.errors import ArgumentError
from vindeby.interop.export.chosen import Chosen

_LARGEST_TABLE = 1_000_000
_PURPOSE = "windIO"


def resource(chosen: Chosen, campaign: Campaign) -> tuple[dict[str, Any], dict[str, Any]]:
    """The energy resource, and which directions and wind speeds (or times) the energy was computed with."""
    if campaign.site.local is not None:
        raise ArgumentError(
            f"{chosen.database}: the wind of this campaign differs from place to place (site.local), which export to "
            f"{_PURPOSE} does not write; export the layouts to csv or netcdf instead"
        )
    site = site_of(campaign)
    if isinstance(site, wake.TimeSeriesSite):
        wind, bins = _steps(chosen, campaign, site)
    elif isinstance(site, wake.WeibullSite) and not _has_own_directions(site.turbulence_intensity):
        wind, bins = _weibull(chosen, site)
    else:
        wind, bins = _table(chosen, site.states())
    return {"name": f"{campaign.name} (energy resource)", "wind_resource": wind}, bins


def _data(values: Any, *dims: str) -> dict[str, Any]:
    return {"data": np.asarray(values, np.float64).tolist(), "dims": list(dims)}


def _runs(directions: NDArray[np.float64], speeds: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "directions_run": {"specific_values": directions.tolist()},
        "wind_speeds_run": {"specific_values": speeds.tolist()},
    }


def _has_own_directions(turbulence: Any) -> bool:
    return isinstance(turbulence, wake.TurbulenceTable) and turbulence.wind_directions is not None


def _weibull(chosen: Chosen, site: wake.WeibullSite) -> tuple[dict[str, Any], dict[str, Any]]:
    states = site.states()
    frequency = np.atleast_1d(np.asarray(site.frequency, np.float64))
    wind: dict[str, Any] = {
        "wind_direction": (np.arange(len(frequency)) * (360.0 / len(frequency))).tolist(),
        "sector_probability": _data(frequency, "wind_direction"),
        "weibull_a": _data(site.weibull_a, "wind_direction"),
        "weibull_k": _data(site.weibull_k, "wind_direction"),
    }
    turbulence = site.turbulence_intensity
    if isinstance(turbulence, wake.TurbulenceTable):
        wind["wind_speed"] = np.asarray(turbulence.wind_speeds, np.float64).tolist()
        wind["turbulence_intensity"] = _data(turbulence.values, "wind_speed")
    else:
        wind["turbulence_intensity"] = _data(turbulence)
    chosen.notes.append(
        f"windIO does not say how a Weibull rose is joined between sectors; this campaign's energy is of "
        f"{site.interpolation} interpolation, at the directions and wind speeds under run_configuration"
    )
    return wind, _runs(states.direction, states.speed[: states.shape[1]])


def _table(chosen: Chosen, states: wake.WindStates) -> tuple[dict[str, Any], dict[str, Any]]:
    """Joint probabilities of direction and wind speed, with the turbulence of each."""
    order = np.argsort(states.direction, kind="stable")  # those that are turned to grid north begin elsewhere
    directions, speeds = states.direction[order], states.speed[: states.shape[1]]
    probability = states.probability.reshape(states.shape)[order]
    axes = ("wind_direction", "wind_speed")
    wind = {
        "wind_direction": directions.tolist(),
        "wind_speed": speeds.tolist(),
        "probability": _data(probability, *axes),
        "turbulence_intensity": _data(states.turbulence.reshape(states.shape)[order], *axes),
    }
    if abs(probability.sum() - 1.0) > SUM_TOLERANCE:
        chosen.notes.append(
            f"the wind is written as probabilities that sum to {probability.sum():.6g}, those of the wind speeds of "
            "this campaign; some tools refuse a sum that is not 1, or divide by it"
        )
    return wind, _runs(directions, speeds)


def _steps(
    chosen: Chosen, campaign: Campaign, site: wake.TimeSeriesSite
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A time series; one with weights, or a list of states, as joint probabilities: windIO has no weights."""
    if site.weight is not None:
        return _joint(chosen, site)
    series = campaign.site.time_series
    count = len(np.asarray(site.wind_speed))
    times = list(series.times) if series is not None and series.times else list(range(count))
    turbulence = np.broadcast_to(np.asarray(site.turbulence_intensity, np.float64), (count,))
    wind = {
        "time": times,
        "wind_direction": _data(site.wind_direction, "time"),
        "wind_speed": _data(site.wind_speed, "time"),
        "turbulence_intensity": _data(turbulence, "time"),
    }
    return wind, {"times_run": {"all_occurences": True}}


def _joint(chosen: Chosen, site: wake.TimeSeriesSite) -> tuple[dict[str, Any], dict[str, Any]]:
    states = site.states()
    per_direction = np.diff(states.first)
    direction = np.repeat(states.direction, per_direction)
    speeds, column = np.unique(states.speed, return_inverse=True)
    row = np.repeat(np.arange(len(states.direction)), per_direction)
    shape = (len(states.direction), len(speeds))
    if shape[0] * shape[1] > _LARGEST_TABLE:
        raise ArgumentError(
            f"{chosen.database}: windIO has no weights for a time series, and a table of {shape[0]:,} directions x "
            f"{shape[1]:,} wind speeds is too large; leave the weights out, or round directions and wind speeds"
        )
    probability, turbulence = np.zeros(shape), np.full(shape, np.nan)
    np.add.at(probability, (row, column), states.probability)
    turbulence[row, column] = states.turbulence
    if not np.array_equal(turbulence[row, column], states.turbulence):
        raise ArgumentError(
            f"{chosen.database}: two states have the same direction and wind speed, but not the same turbulence "
            f"intensity (at {direction[0]:g} degrees for example); windIO has no weights that would tell them apart"
        )
    turbulence = np.where(np.isnan(turbulence), np.nanmean(turbulence), turbulence)
    axes = ("wind_direction", "wind_speed")
    wind = {
        "wind_direction": states.direction.tolist(),
        "wind_speed": speeds.tolist(),
        "probability": _data(probability, *axes),
        "turbulence_intensity": _data(turbulence, *axes),
    }
    return wind, _runs(states.direction, speeds)
