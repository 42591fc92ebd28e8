"""windIO 2: for each result a ``wind_energy_system.yaml``, with parts that results share in files of their own.

One result makes one folder with everything. Several make one folder per key, and the shared parts (wind, turbine
types, areas) stand once, above them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from vindeby import wake
from vindeby.arrays import FloatArray
from vindeby.assembly.wind import site_of, turbine_of
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import Include
from vindeby.campaign.sections.boundary import Boundary, Exclusion
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.sections.values import SUM_TOLERANCE
from vindeby.campaign.sections.wake_model import WakeModel
from vindeby.errors import ArgumentError
from vindeby.interop.export.chosen import Chosen, Result
from vindeby.interop.export.exporting import Options, result_folder, write_mark, write_turbines, write_yaml
from vindeby.interop.geo.crs import Projection
from vindeby.interop.turbine_curves import curve_points
from vindeby.parameters import Gaussian, TopHat
from vindeby.units import MW

_SQUARES = {"superposition_model": {"ws_superposition": "Squared"}}
_LINEAR = {"superposition_model": {"ws_superposition": "Linear"}}
_INDUCTION = {"madsen": "Madsen", "momentum": "1D"}


def analysis(model: WakeModel) -> tuple[dict[str, Any] | None, list[str]]:
    """The words, or None where windIO has none for this model; and what they leave out."""
    key, given = model.chosen
    blockage = {} if model.blockage is None else {"blockage_model": {"name": "SelfSimilarityDeficit2020"}}
    notes: list[str] = []
    match key:
        case "nygaard-2022":
            words = {**_deficit("TurbOPark", slope=given.a, ceps=0.25, use_effective_ws=False), **_SQUARES}
            words["axial_induction_model"] = "1D"
            notes = ["windIO cannot describe the mirrored wakes and the rotor average of nygaard-2022"]
        case "jensen":
            words = {**_deficit("Jensen", constant=given.k, use_effective_ws=False), **_SQUARES}
            words["axial_induction_model"] = _INDUCTION[given.induction]
        case "bastankhah-2014":
            deficit = _deficit("Bastankhah2014", constant=given.k, ceps=0.2, use_effective_ws=True)
            words = {**deficit, **_LINEAR}
        case "niayifar-2016":
            deficit = _deficit("Bastankhah2014", given.a0, given.a1, ceps=0.2, use_effective_ws=True)
            words = {**deficit, **_LINEAR, "turbulence_model": {"name": "CrespoHernandez"}}
        case "bastankhah-2016":
            words = {**_deficit("Bastankhah2016", given.ka, given.kb, use_effective_ws=False), **_SQUARES}
            words["wind_deficit_model"]["wake_expansion_coefficient"]["free_stream_ti"] = True
        case "top-hat" | "gaussian":
            if unknown := _parts_without_words(given):
                what = f"{', '.join(unknown)} of the wake model {key}"
                return None, [f"windIO cannot describe {what}: the file does not name one"]
            name, ceps = ("Jensen", {}) if key == "top-hat" else ("Bastankhah2014", {"ceps": given.ceps})
            deficit = _deficit(name, constant=given.k, **ceps, use_effective_ws=given.reference == "local")
            words = {**deficit, **(_SQUARES if given.superposition == "squares" else _LINEAR)}
            words["axial_induction_model"] = _INDUCTION[given.induction]
            if key == "gaussian" and given.rotor == "overlap":
                notes = ["windIO cannot describe the rotor average of gaussian"]
        case _:
            return None, [f"windIO cannot describe the wake model {key}: the file does not name one"]
    return {**words, **blockage}, notes


def _parts_without_words(given: TopHat | Gaussian) -> list[str]:
    usual = {"thrust_of": "local", "initial_width": "beta", "cut_sigmas": None}
    return [part for part, value in usual.items() if getattr(given, part, value) != value]


def _deficit(name: str, slope: float = 0.0, constant: float | None = None, **more: Any) -> dict[str, Any]:
    """The deficit model; its width grows by k_a times the turbulence intensity plus k_b.

    windIO's schema calls k_b the factor of the turbulence, but the files and the programs that compute with them have
    it the other way round (WIFA, and the reference plants).
    """
    expansion = {"k_a": slope} if constant is None else {"k_a": slope, "k_b": constant}
    return {"wind_deficit_model": {"name": name, "wake_expansion_coefficient": expansion, **more}}


def _areas(given: Sequence[Boundary | Exclusion], crs: dict[str, str]) -> dict[str, Any]:
    """One circle as such; several, or polygons beside them, as polygons, since windIO has one or the other."""
    if len(given) == 1 and (circle := given[0].circle) is not None:
        x, y = circle.center
        return {"circle": {"center": {"x": x, "y": y, **crs}, "radius": circle.radius_m}}
    rings: list[Any] = []
    for one in given:
        if one.circle is not None:
            rings.append(shapely.get_coordinates(one.circle.shape())[:-1])
        else:
            rings += one.rings if isinstance(one, Boundary) else [one.polygon]
    columns = (np.array(ring, np.float64).T.tolist() for ring in rings)
    return {"polygons": [{"x": x, "y": y, **crs} for x, y in columns]}


_LARGEST_TABLE = 1_000_000


def resource(chosen: Chosen, campaign: Campaign) -> tuple[dict[str, Any], dict[str, Any]]:
    """The energy resource, and which directions and wind speeds (or times) the energy was computed with."""
    site = site_of(campaign)
    if campaign.scenarios:
        chosen.notes.append(
            "the energy is the mean over the scenarios; the wind and wakes are the campaign's own"
        )
    if isinstance(site, wake.TimeSeriesSite):
        wind, bins = _steps(chosen, campaign, site)
    elif (
        isinstance(site, wake.WeibullSite)
        and getattr(site.turbulence_intensity, "wind_directions", None) is None
    ):
        wind, bins = _weibull(chosen, site)
    else:
        wind, bins = _table(chosen, site.states())
    return {"name": f"{campaign.name} (energy resource)", "wind_resource": wind}, bins


def _data(values: Any, *dims: str) -> dict[str, Any]:
    return {"data": np.asarray(values, np.float64).tolist(), "dims": list(dims)}


def _runs(directions: FloatArray, speeds: FloatArray) -> dict[str, Any]:
    return {
        "directions_run": {"specific_values": directions.tolist()},
        "wind_speeds_run": {"specific_values": speeds.tolist()},
    }


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
    speeds, column = np.unique(states.speed, return_inverse=True)
    row = np.repeat(np.argsort(np.argsort(states.direction)), np.diff(states.first))
    shape = (len(states.direction), len(speeds))
    if states.step is not None and shape[0] * shape[1] > _LARGEST_TABLE:
        raise ArgumentError(
            f"{chosen.database}: windIO has no weights for a time series, and a table of {shape[0]:,} directions x "
            f"{shape[1]:,} wind speeds is too large; leave the weights out, or round directions and wind speeds"
        )
    probability, turbulence = np.zeros(shape), np.full(shape, np.nan)
    np.add.at(probability, (row, column), states.probability)
    turbulence[row, column] = states.turbulence
    different = np.flatnonzero(turbulence[row, column] != states.turbulence)
    if len(different):
        at = different[0]
        direction = np.repeat(states.direction, np.diff(states.first))[at]
        raise ArgumentError(
            f"{chosen.database}: two states have the same direction and wind speed, but not the same turbulence "
            f"intensity (at {direction:g} degrees and {states.speed[at]:g} m/s for example); windIO has no weights "
            "that would tell them apart"
        )
    turbulence = np.where(np.isnan(turbulence), np.nanmean(turbulence), turbulence)
    if abs(probability.sum() - 1.0) > SUM_TOLERANCE:
        chosen.notes.append(
            f"the wind is written as probabilities that sum to {probability.sum():.6g}, those of the wind speeds of "
            "this campaign; some tools refuse a sum that is not 1, or divide by it"
        )
    directions, axes = np.sort(states.direction), ("wind_direction", "wind_speed")
    wind = {
        "wind_direction": directions.tolist(),
        "wind_speed": speeds.tolist(),
        "probability": _data(probability, *axes),
        "turbulence_intensity": _data(turbulence, *axes),
    }
    return wind, _runs(directions, speeds)


def _steps(
    chosen: Chosen, campaign: Campaign, site: wake.TimeSeriesSite
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A time series; one with weights, or a list of states, as joint probabilities: windIO has no weights."""
    if site.weight is not None:
        return _table(chosen, site.states())
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


SYSTEM = "wind_energy_system.yaml"


def write(path: Path, _: str, chosen: Chosen, options: Options) -> None:
    """Write the folder."""
    campaign = chosen.needs_uniform_wind("export --to windio")
    crs = options.crs or "local"
    system = {} if crs == "local" else {"crs": Projection(crs).proj_string()}
    wind, runs = resource(chosen, campaign)
    write_yaml(path / "energy_resource.yaml", wind)
    wakes, notes = analysis(campaign.wake)
    chosen.notes.extend(notes)
    for farm_idx in chosen.farms:
        _write_site(path, chosen, campaign, farm_idx, system)
    attributes: dict[str, Any] = {"flow_model": {"name": "vindeby"}}
    if wakes is not None:
        attributes["analysis"] = wakes
    attributes["model_outputs_specification"] = {"run_configuration": runs}
    write_yaml(path / "attributes.yaml", attributes)
    for result in chosen.results:
        _write_result(*result_folder(path, chosen, result), campaign, result, system)
    write_turbines(path, chosen, lambda kind: turbine(campaign.turbines[kind]))
    write_mark(path, "windio", chosen)


def _write_site(path: Path, chosen: Chosen, campaign: Campaign, farm_idx: int, crs: dict[str, str]) -> None:
    """Write the areas of a farm, or of all its zones; the notes say what a reader must know of them."""
    farm, notes = campaign.farms[farm_idx], []
    boundaries = [farm.boundary] if farm.zones is None else [zone.boundary for zone in farm.zones]
    holes = [hole for boundary in boundaries for hole in boundary.exclusions]
    site: dict[str, Any] = {"name": farm.name, "boundaries": _areas(boundaries, crs)}
    if holes:
        site["exclusions"] = _areas(holes, crs)
    if "polygons" in site.get("exclusions", {}):
        notes.append(
            "windIO 2.1 forbids every key in the polygons of exclusions, x and y too, when it validates strictly; "
            "a file with them passes windIO.validate(..., restrictive=False)"
        )
    if farm.zones is not None:
        notes.append(
            f"farm {farm.name!r} has zones, which windIO does not have: their areas are its polygons"
        )
    if campaign.neighbours or farm.neighbours:
        notes.append(
            f"the turbines that stand around farm {farm.name!r} are not in the files, so that other tools compute more "
            "energy"
        )
    chosen.notes.extend(note for note in notes if note not in chosen.notes)
    site["energy_resource"] = Include("energy_resource.yaml")
    write_yaml(path / f"site_farm{farm_idx}.yaml", site)


def _write_result(folder: Path, above: str, campaign: Campaign, result: Result, crs: dict[str, str]) -> None:
    """Write the system of one result; ``above`` leads to what results share."""
    farm_idx, types = result.place[0], sorted(set(result.types))
    x, y = result.layout.tolist()
    layout: dict[str, Any] = {"coordinates": {"x": x, "y": y, **crs}}
    farm: dict[str, Any] = {"name": campaign.farms[farm_idx].name, "layouts": [layout]}
    if len(types) == 1:
        farm["turbines"] = Include(f"{above}turbine_t{types[0]}.yaml")
    else:
        layout["turbine_types"] = result.types
        farm["turbine_types"] = {kind: Include(f"{above}turbine_t{kind}.yaml") for kind in types}
    write_yaml(folder / "wind_farm.yaml", {**farm, **_electrical(campaign, result, crs)})
    system = {
        "name": f"{campaign.name}, {result.key}",
        "site": Include(f"{above}site_farm{farm_idx}.yaml"),
        "wind_farm": Include("wind_farm.yaml"),
        "attributes": Include(f"{above}attributes.yaml"),
    }
    write_yaml(folder / SYSTEM, system)


def _electrical(campaign: Campaign, result: Result, crs: dict[str, str]) -> dict[str, Any]:
    """Substations and cables, as the reference plants write them: -1 is the first substation, -2 the second."""
    routes = result.routes
    if routes is None:
        return {}
    stations = [
        {"electrical_substation": {"coordinates": {"x": [x], "y": [y], **crs}}}
        for x, y in routes.substations.tolist()
    ]
    edges = np.column_stack([routes.ends, routes.types]).tolist()
    collection: dict[str, Any] = {"edges": edges}
    if campaign.costs is not None and campaign.costs.cables is not None:
        capacity, cost = zip(*campaign.costs.cables.types, strict=True)
        count = len(cost)
        kinds = {"cable_type": list(range(count)), "cross_section": [None] * count}  # not known
        kinds |= {"capacity": list(capacity), "cost": list(cost)}
        collection["cables"] = kinds
    return {"electrical_substations": stations, "electrical_collection_array": collection}


def turbine(given: Turbine) -> dict[str, Any]:
    """A turbine type with its power in W and its thrust coefficient."""
    points = curve_points(turbine_of(given))
    speeds = points.speed.tolist()
    return {
        "name": given.name,
        "performance": {
            "rated_power": given.rated_power_mw * MW,
            "power_curve": {"power_values": points.power_w.tolist(), "power_wind_speeds": speeds},
            "Ct_curve": {"Ct_values": points.thrust.tolist(), "Ct_wind_speeds": speeds},
        },
        "hub_height": given.hub_height_m,
        "rotor_diameter": given.rotor_diameter_m,
    }
