"""A whole FLORIS configuration as an engine of a campaign, in the wind and with the turbine of other files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from formats.check import Check, number

from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign

_TURBINES = ("floris_turbine_iea_10MW.yaml", "floris_turbine_nrel_5MW.yaml")
_ONE_POINT = {"solver": {"turbine_grid_points": 1}, "flow_field": {"wind_shear": 0.0}}
"""How the expected energies were computed."""


def checks(folder: Path) -> Iterator[Check]:
    files = folder / "formats"
    expected = json.loads((files / "expected.json").read_text())
    place, rose = expected["floris_layout"], expected["floris_wind_rose.csv"]
    for file in _TURBINES:
        farm = wind_farm(_campaign(files, file), 0)
        found = farm.aep(place["x"], place["y"])
        what = "aep_floris_jensen_gwh (not a model of vindeby)"
        yield number("floris_jensen.yaml", f"AEP by FLORIS, {file}", rose[file][what], found, 1e-10)


def _campaign(files: Path, turbine: str) -> Campaign:
    return Campaign.from_data(
        {
            "name": "floris",
            "farms": [{"name": "a", "boundary": [[0, 0], [3000, 0], [3000, 2500], [0, 2500]]}],
            "turbines": [_turbine(yaml.safe_load((files / turbine).read_text()))],
            "n_turbines": 9,
            "min_spacing": "3 D",
            "site": {"table": _rose(files / "floris_wind_rose.csv")},
            "wake": {
                "floris": {"configuration": yaml.safe_load((files / "floris_jensen.yaml").read_text())},
                "options": _ONE_POINT,
            },
            "method": "random-start",
            "seeds": 1,
        }
    )


def _turbine(given: dict[str, Any]) -> dict[str, Any]:
    table = given["power_thrust_table"]
    return {
        "name": given["turbine_type"],
        "table": {
            "rotor_diameter_m": given["rotor_diameter"],
            "hub_height_m": given["hub_height"],
            "wind_speed": table["wind_speed"],
            "power_kw": table["power"],
            "ct": table["thrust_coefficient"],
            "outside": "zero",
        },
    }


def _rose(file: Path) -> dict[str, Any]:
    with file.open() as lines:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(lines)]
    directions, speeds = (sorted({row[name] for row in rows}) for name in ("wd", "ws"))
    table = np.zeros((len(directions), len(speeds)))
    for row in rows:
        table[directions.index(row["wd"]), speeds.index(row["ws"])] = row["freq_val"]
    return {
        "turbulence_intensity": 0.06,
        "wind_directions": directions,
        "wind_speeds": speeds,
        "probability": table.tolist(),
        "normalise": True,
    }
