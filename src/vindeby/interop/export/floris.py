"""FLORIS 4: for each result a model that ``FlorisModel`` loads, with turbine files and the wind as CSV.

One result makes one folder with everything. Several make one folder per key; turbine types and wind stand once, above.
"""

from pathlib import Path
from typing import Any

import numpy as np

from vindeby import wake
from vindeby.assembly.wind import site_of, turbine_of
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import Include
from vindeby.campaign.sections.wake_model import WakeSection
from vindeby.interop.export.chosen import Chosen, ExportedResult
from vindeby.interop.export.columns import write_csv
from vindeby.interop.export.exporting import (
    ExportOptions,
    result_folder,
    write_mark,
    write_turbines,
    write_yaml,
)
from vindeby.interop.turbine_curves import floris_turbine
from vindeby.units import AIR_DENSITY_KG_M3

# The values that FLORIS 4 has in its own example inputs.
_CRESPO_HERNANDEZ = {"initial": 0.1, "constant": 0.5, "ai": 0.8, "downstream": -0.32}
_GAUSS = {"alpha": 0.58, "beta": 0.077, "ka": 0.38, "kb": 0.004}
_CURL = {"c_s1": 0.0563691592, "c_s2": 0.13290157, "a_f": 3.11, "b_f": -0.68, "c_f": 2.41, "alpha_mod": 1.0}


_SAME = ("bastankhah-2016", "cumulative-curl")
"""FLORIS computes these as they are here, where it takes the wind at the middle of a rotor."""


def wakes(model: WakeSection) -> tuple[dict[str, Any], list[str]]:
    """The part of the input, and what a reader must know: FLORIS' wakes are not the campaign's to the last digit."""
    key, given = model.chosen
    turbulence, notes = "none", []
    parameters: dict[str, Any]
    match key:
        case "jensen":
            velocity, parameters = "jensen", {"we": given.k}
        case "nygaard-2022":
            velocity, parameters = "turboparkgauss", {"A": given.a, "include_mirror_wake": True}
        case "bastankhah-2016":
            velocity = "gauss"
            parameters = {name: getattr(given, name) for name in ("alpha", "beta", "ka", "kb")}
        case "cumulative-curl":
            velocity, parameters = "cc", {"a_s": given.ka, "b_s": given.kb, **_CURL}
            turbulence = "none" if given.turbulence == "none" else "crespo_hernandez"
        case _:
            velocity, parameters, turbulence = "gauss", _GAUSS, "crespo_hernandez"
            notes.append(
                f"FLORIS has no wake model like {key}: the input uses its own gauss, with its own parameters, so that "
                "wake losses differ"
            )
    if key in ("jensen", "nygaard-2022"):
        notes.append(
            f"the input uses FLORIS' model {velocity} for {key}; wake losses are not exactly the same"
        )
    if model.blockage is not None:
        notes.append("FLORIS has no blockage: that of the campaign is left out")
    return {
        "model_strings": {
            "combination_model": "sosfs",
            "deflection_model": "none",
            "turbulence_model": turbulence,
            "velocity_model": velocity,
        },
        "enable_secondary_steering": False,
        "enable_yaw_added_recovery": False,
        "enable_transverse_velocities": False,
        "enable_active_wake_mixing": False,
        "wake_deflection_parameters": {},
        "wake_velocity_parameters": {velocity: parameters},
        "wake_turbulence_parameters": {"crespo_hernandez": _CRESPO_HERNANDEZ},
    }, notes


MODEL = "floris.yaml"
_SUM_TOLERANCE = 1e-9


def write(path: Path, _: str, chosen: Chosen, __: ExportOptions) -> None:
    """Write the folder."""
    campaign = chosen.needs_uniform_wind("export --to floris")
    states = site_of(campaign).states()
    wind = "wind_rose.csv" if _is_rose(states) else "time_series.csv"
    calm = _calm(states, campaign, wind == "wind_rose.csv")
    _write_wind(path / wind, states, calm)
    if states.step is None and wind == "time_series.csv":
        chosen.notes.append(
            "FLORIS would move this rose to multiples of its first step in direction and wind speed, so it is written "
            "as a list of states: read it as a TimeSeries, and give its column freq_val to get_farm_AEP"
        )
    part, notes = wakes(campaign.wake)
    chosen.notes.extend(notes)
    if campaign.neighbours or any(farm.neighbours for farm in campaign.farms):
        chosen.notes.append("the turbines that stand around the farms are not in the files")
    about = f"written by vindeby from {chosen.database.name}"
    for result in chosen.results:
        folder, above = result_folder(path, chosen, result)
        model = _model(campaign, result, above, states)
        write_yaml(folder / MODEL, {**model, "wake": part, "description": about, **_FIXED})
    turbines = [turbine_of(one) for one in campaign.turbines]
    write_turbines(
        path, chosen, lambda kind: floris_turbine(turbines[kind], f"t{kind} {turbines[kind].name}")
    )
    total = float(states.probability.sum()) + sum(row[3] for row in calm)
    if calm:
        chosen.notes.append(
            f"the wind is outside the wind speeds of this campaign for {total - states.probability.sum():.4g} of the "
            f"time; FLORIS needs frequencies that sum to 1, so this is written as {calm[0][1]:g} m/s, without energy"
        )
    if wind == "wind_rose.csv" and abs(total - 1.0) > _SUM_TOLERANCE:
        chosen.notes.append(
            f"frequencies sum to {total:.6g}, and FLORIS divides them by that: its energies are {1.0 / total:.6g} "
            "times those of this campaign"
        )
    write_mark(path, "floris", chosen, wind=wind, frequency_sum=total)


def _is_rose(states: wake.WindStates) -> bool:
    """Does ``WindRose.read_csv_long`` keep these directions and wind speeds, which it bins by their first step?"""
    if states.step is not None or min(states.shape) < 2:
        return False
    axes = (states.direction, states.speed[: states.shape[1]])
    places = [axis / (axis[1] - axis[0]) for axis in axes]
    return all(np.allclose(place, np.round(place[0]) + np.arange(len(place)), atol=1e-9) for place in places)


def _calm(states: wake.WindStates, campaign: Campaign, is_rose: bool) -> list[tuple[float, ...]]:
    """Rows for the wind that the campaign does not count, at a wind speed without power.

    A rose goes down to it in steps, since FLORIS bins wind speeds by their first step; none where it begins at 0 m/s.
    """
    first, missing = float(states.speed.min()), 1.0 - float(states.probability.sum())
    if states.step is not None or missing <= _SUM_TOLERANCE or first <= 0.0:
        return []
    step = float(states.speed[1] - first) if is_rose else min(1.0, first / 2)
    lower = np.arange(0.0, first - step / 2, step)
    power = np.sum([turbine_of(one).power_at(lower) for one in campaign.turbines], axis=0)
    idle = np.flatnonzero(power[1:] == 0.0) + 1  # FLORIS divides by the wind speed, so 0 m/s comes last
    lower = lower[idle[0] if len(idle) else 0 :]
    directions, lower = (states.direction, lower) if is_rose else (states.direction[:1], lower[:1])
    share = missing / len(directions)
    return [
        (float(direction), float(speed), float(states.turbulence[0]), share if speed == lower[0] else 0.0)
        for direction in directions
        for speed in lower
    ]


def _write_wind(path: Path, states: wake.WindStates, calm: list[tuple[float, ...]]) -> None:
    names = ("wind_directions", "wind_speeds", "turbulence_intensities", "freq_val")
    direction = np.repeat(states.direction, np.diff(states.first))
    order = np.arange(len(direction)) if states.step is None else np.argsort(states.step)
    rows = np.column_stack([direction, states.speed, states.turbulence, states.probability])[order]
    whole = np.concatenate([np.reshape(calm, (-1, len(names))), rows])
    write_csv(path, dict(zip(names, whole.T, strict=True)))


_FIXED = {
    "floris_version": "v4",
    "logging": {
        "console": {"enable": True, "level": "WARNING"},
        "file": {"enable": False, "level": "WARNING"},
    },
}


def _model(campaign: Campaign, result: ExportedResult, above: str, states: wake.WindStates) -> dict[str, Any]:
    """Return the part of a model that differs by result, with the most frequent wind, so that it runs as it is."""
    x, y = result.layout.tolist()
    # FLORIS refuses a type that it reads twice: the same object again is a reference in the file.
    files = {kind: Include(f"{above}turbine_t{kind}.yaml") for kind in set(result.types)}
    types = result.types[:1] if len(files) == 1 else result.types
    most = int(np.argmax(states.probability))
    direction = states.direction[int(np.searchsorted(states.first, most, side="right")) - 1]
    points = 1 if campaign.wake.chosen[0] in _SAME else 3
    return {
        "name": f"{campaign.name}, {result.key}",
        "solver": {"type": "turbine_grid", "turbine_grid_points": points},
        "farm": {"layout_x": x, "layout_y": y, "turbine_type": [files[kind] for kind in types]},
        "flow_field": {
            "air_density": AIR_DENSITY_KG_M3,
            "reference_wind_height": campaign.turbines[result.types[0]].hub_height_m,
            "turbulence_intensities": [float(states.turbulence[most])],
            "wind_directions": [float(direction)],
            "wind_shear": 0.0,
            "wind_speeds": [float(states.speed[most])],
            "wind_veer": 0.0,
        },
    }
