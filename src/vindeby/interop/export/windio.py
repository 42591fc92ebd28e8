"""windIO 2: for each result a ``wind_energy_system.yaml``, with parts that results share in files of their own.

One result makes one folder with everything. Several make one folder per key, and the shared parts (wind, turbine
types, areas) stand once, above them.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from vindeby import wake
from vindeby.arrays import FloatArray
from vindeby.assembly.wind import site_of, turbine_of, wake_model_of
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import Include
from vindeby.campaign.sections.boundary import BoundarySection, Exclusion
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.sections.values import SUM_TOLERANCE
from vindeby.campaign.sections.wake_model import WakeSection
from vindeby.errors import ArgumentError, CampaignError
from vindeby.interop.export.chosen import Chosen, ExportedResult
from vindeby.interop.export.exporting import (
    ExportOptions,
    result_folder,
    write_mark,
    write_turbines,
    write_yaml,
)
from vindeby.interop.geo.crs import Projection
from vindeby.interop.turbine_curves import curve_points
from vindeby.interop.windio.analysis import COMPOSED, GROWTH, NAMES, OWN, PARTS, Growth, read_wake
from vindeby.interop.windio.nodes import Notes, open_root
from vindeby.parameters import Bastankhah2016
from vindeby.units import MW


def analysis(model: WakeSection) -> tuple[dict[str, Any] | None, list[str]]:
    """Return windIO's description of a wake model, or None if it has none, and remarks for the reader."""
    key, given = model.chosen
    base = next((one for one, composed in COMPOSED.items() if composed == key), key)
    unknown = _parts_without_words(given)
    if base not in NAMES or unknown:
        what = f"{', '.join(unknown)} of the wake model {key}" if unknown else f"the wake model {key}"
        return None, [f"windIO cannot describe {what}: the file does not name one"]
    growth = Growth(*(getattr(given, name, 0.0) for name in GROWTH.get(base, ("", "k"))))
    written, notes = _in_words(growth, base)
    words: dict[str, Any] = {
        "wind_deficit_model": {"name": NAMES[base], "wake_expansion_coefficient": written}
    }
    for part, own in OWN[base].items():
        (*around, last), known = PARTS[part][0].split("."), PARTS[part][1]
        value, holder = getattr(given, part, own), words
        if part == "rotor" and value == own == "overlap":
            continue  # without the word, readers take their best mean over the rotor
        if part == "rotor" and value == "overlap":
            notes.append(f"windIO has the rotor average of {key} as a mean over some points only")
        for step in around:
            holder = holder.setdefault(step, {})
        holder[last] = next((word for word, meaning in known.items() if meaning == value), value)
    if key == "niayifar-2016":
        words["turbulence_model"] = {"name": "CrespoHernandez"}
    if model.blockage is not None:
        words["blockage_model"] = {"name": "SelfSimilarityDeficit2020"}
    return words, notes


def _in_words(growth: Growth, key: str) -> tuple[dict[str, Any], list[str]]:
    """Return the wake growth as WIFA and the reference plants take it, and a note for other readers."""
    if key == "nygaard-2022":  # its one number stands under the same name for all
        notes = ["windIO cannot describe the mirrored wakes and the rotor average of nygaard-2022"]
        return {"k_a": growth.factor}, notes
    note = (
        f"wake expansion {growth} is written as k_a {growth.factor:g} and k_b {growth.constant:g} for readers of "
        "k = k_a I + k_b, such as WIFA; foxes and the titles of windIO's schema have k = k_a + k_b I: exchange k_a and "
        "k_b in attributes.yaml for them"
    )
    written: dict[str, Any] = {"k_a": growth.factor, "k_b": growth.constant}
    return written | ({"free_stream_ti": True} if key == "bastankhah-2016" else {}), [note]


def _parts_without_words(given: Any) -> list[str]:
    usual: dict[str, Any] = {"thrust_of": "local", "initial_width": "beta", "cut_sigmas": None}
    usual |= {"alpha": Bastankhah2016.alpha, "beta": Bastankhah2016.beta}
    return [part for part, value in usual.items() if getattr(given, part, value) != value]


def _read_back(file: Path, model: WakeSection) -> list[str]:
    """Return a note if vindeby reads another wake model from the file than this one."""
    try:
        found = WakeSection.model_validate(read_wake(open_root(file).get("analysis"), Notes()))
    except CampaignError as error:
        why = error.problems[0].message
        return [f"vindeby does not read the wake model of these files: {why}"]
    if replace(wake_model_of(found), name="") == replace(wake_model_of(model), name=""):
        return []
    return [f"vindeby reads the wake model of these files as {found.title}, not as this {model.title}"]


def _areas(given: Sequence[BoundarySection | Exclusion], crs: dict[str, str]) -> dict[str, Any]:
    """Return areas as windIO has them: a single circle, or only polygons, into which further circles are converted."""
    if len(given) == 1 and (circle := given[0].circle) is not None:
        x, y = circle.center
        return {"circle": {"center": {"x": x, "y": y, **crs}, "radius": circle.radius_m}}
    rings: list[Any] = []
    for one in given:
        if one.circle is not None:
            rings.append(shapely.get_coordinates(one.circle.shape())[:-1])
        else:
            rings += one.rings if isinstance(one, BoundarySection) else [one.polygon]
    columns = (np.array(ring, np.float64).T.tolist() for ring in rings)
    return {"polygons": [{"x": x, "y": y, **crs} for x, y in columns]}


_LARGEST_TABLE = 1_000_000


def resource(chosen: Chosen, campaign: Campaign) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the energy resource, and the directions and wind speeds (or times) that the energy was computed with."""
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
        wind, bins = _table(chosen, campaign, site.states())
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


def _table(
    chosen: Chosen, campaign: Campaign, states: wake.WindStates
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return joint probabilities of direction and wind speed, with the turbulence of each state."""
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
    total, low, high = float(probability.sum()), speeds[0], speeds[-1]
    if abs(total - 1.0) > SUM_TOLERANCE:
        note = f"the wind speeds of this campaign, {low:g} to {high:g} m/s, have {total:.6g} of the wind; "
        turbines = [turbine_of(campaign.turbines[kind]) for kind in chosen.types]
        if total < 1.0 and low and not any(one.power_at([0.0]).any() for one in turbines):
            note += "the rest is written as calm, 0 m/s, since some tools refuse a sum that is not 1, or divide by it"
            speeds = np.concatenate([[0.0], speeds])
            probability = np.column_stack([(1.0 / total - 1.0) * probability.sum(axis=1), probability])
            turbulence = np.column_stack([turbulence[:, 0], turbulence])
        else:
            note += "some tools refuse a sum that is not 1, or divide by it"
        chosen.notes.append(note)
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
    """Return a time series; one with weights, or a list of states, as probabilities, since windIO has no weights."""
    if site.weight is not None:
        return _table(chosen, campaign, site.states())
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


def write(path: Path, _: str, chosen: Chosen, options: ExportOptions) -> None:
    """Write the folder."""
    campaign = chosen.needs_uniform_wind("export --to windio")
    system = {} if options.crs is None else {"crs": Projection(options.crs).proj_string()}
    wind, runs = resource(chosen, campaign)
    write_yaml(path / "energy_resource.yaml", wind)
    wakes, notes = analysis(campaign.wake)
    for farm_idx in chosen.farms:
        _write_site(path, chosen, campaign, farm_idx, system)
    attributes: dict[str, Any] = {"flow_model": {"name": "vindeby"}}
    if wakes is not None:
        attributes["analysis"] = wakes
    attributes["model_outputs_specification"] = {"run_configuration": runs}
    write_yaml(path / "attributes.yaml", attributes)
    chosen.notes.extend([*notes, *(_read_back(path / "attributes.yaml", campaign.wake) if wakes else ())])
    for result in chosen.results:
        _write_result(*result_folder(path, chosen, result), campaign, result, system)
    write_turbines(path, chosen, lambda kind: turbine(campaign.turbines[kind]))
    for one in [campaign.turbines[kind] for kind in chosen.types]:
        if one.cubic is not None:
            chosen.notes.append(f"the power of {one.name!r} is written in steps of 0.01 m/s")
    write_mark(path, "windio", chosen)


def _write_site(path: Path, chosen: Chosen, campaign: Campaign, farm_idx: int, crs: dict[str, str]) -> None:
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


def _write_result(
    folder: Path, above: str, campaign: Campaign, result: ExportedResult, crs: dict[str, str]
) -> None:
    """Write the system of one result; ``above`` leads to the files that results share."""
    farm_idx, types = result.place[0], sorted(set(result.types))
    x, y = result.layout.tolist()
    layout: dict[str, Any] = {"coordinates": {"x": x, "y": y, **crs}}
    farm: dict[str, Any] = {"name": campaign.farms[farm_idx].name, "layouts": [layout]}
    if len(types) == 1:
        farm["turbines"] = Include(f"{above}turbine_t{types[0]}.yaml")
    else:
        layout["turbine_types"] = result.types
        farm["turbine_types"] = {kind: Include(f"{above}turbine_t{kind}.yaml") for kind in types}
    write_yaml(folder / "wind_farm.yaml", farm)
    system = {
        "name": f"{campaign.name}, {result.key}",
        "site": Include(f"{above}site_farm{farm_idx}.yaml"),
        "wind_farm": Include("wind_farm.yaml"),
        "attributes": Include(f"{above}attributes.yaml"),
    }
    write_yaml(folder / SYSTEM, system)


def turbine(given: TurbineSection) -> dict[str, Any]:
    """Return a turbine type with its power in W and its thrust coefficient."""
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
