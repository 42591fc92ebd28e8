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
    """Return the wake part of the input, and remarks: FLORIS' wakes differ a little from the campaign's."""
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


MODEL, WIND = "floris.yaml", "wind.csv"


def write(path: Path, _: str, chosen: Chosen, __: ExportOptions) -> None:
    """Write the folder."""
    campaign = chosen.needs_uniform_wind("export --to floris")
    states = site_of(campaign).states()
    _write_wind(path / WIND, states)
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
    write_mark(path, "floris", chosen)


def _write_wind(path: Path, states: wake.WindStates) -> None:
    """Write one row per state, those of a time series in the order of its steps.

    Only FLORIS' ``TimeSeries`` takes any states: its roses move them to multiples of their first steps in direction and
    wind speed, and divide frequencies by their sum.
    """
    columns = {
        "wind_directions": np.repeat(states.direction, np.diff(states.first)),
        "wind_speeds": states.speed,
        "turbulence_intensities": states.turbulence,
        "freq_val": states.probability,
    }
    order = np.arange(len(states.speed)) if states.step is None else np.argsort(states.step)
    write_csv(path, {name: column[order] for name, column in columns.items()})


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
