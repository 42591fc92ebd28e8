"""A campaign with zones, a mix, exclusions, neighbours and awkward names, and databases of its results."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from vindeby.campaign import Campaign, Task
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge

AWKWARD = '=1+1, "Nordsø"; øst'
CRS = "EPSG:32631"
WEST, SOUTH = 500_000.0, 5_800_000.0


def _box(x: float, y: float, width: float, height: float) -> list[list[float]]:
    left, bottom = WEST + x, SOUTH + y
    return [[left, bottom], [left + width, bottom], [left + width, bottom + height], [left, bottom + height]]


DATA: dict[str, Any] = {
    "name": "exported",
    "farms": [
        {
            "name": AWKWARD,
            "boundary": {
                "polygon": _box(0, 0, 9000, 4000),
                "exclusions": [
                    {"polygon": _box(500, 500, 300, 200)},
                    {"circle": {"center": [WEST + 7000, SOUTH + 2000], "radius_m": 250}},
                ],
            },
            "n_turbines": 4,
        },
        {
            "name": "zoned",
            "zones": [
                {"name": "west", "boundary": _box(0, 9000, 2000, 3000), "n_turbines": 2},
                {"name": "east", "boundary": _box(2000, 9000, 2000, 3000), "n_turbines": 3},
            ],
        },
        {
            "name": "mixed",
            "boundary": {"circle": {"center": [WEST, SOUTH - 9000], "radius_m": 2500}},
            "mix": {"cubic": 2, "table": 3},
            "neighbours": [{"name": "old", "type": "table", "positions": [[WEST - 6000, SOUTH - 9000]]}],
        },
    ],
    "turbines": [
        {
            "name": "table",
            "table": {
                "rated_power_mw": 2,
                "rotor_diameter_m": 80,
                "hub_height_m": 70,
                "wind_speed": [3, 4, 8, 12, 25],
                "power_kw": [10, 70, 700, 2000, 2000],
                "ct": [0.8, 0.8, 0.79, 0.4, 0.1],
            },
        },
        {
            "name": "cubic",
            "cubic": {
                "rated_power_mw": 3.35,
                "rotor_diameter_m": 130,
                "hub_height_m": 110,
                "rated_speed": 9.8,
            },
        },
    ],
    "min_spacing": "2 D",
    "site": {
        "weibull": {
            "turbulence_intensity": 0.08,
            "direction_step": 30,
            "wind_speeds": [5, 8, 11, 14],
            "sectors": [
                {"direction": 0, "a": 9, "k": 2, "frequency": 0.2},
                {"direction": 90, "a": 9.5, "k": 2.1, "frequency": 0.2},
                {"direction": 180, "a": 10, "k": 2.2, "frequency": 0.3},
                {"direction": 270, "a": 11, "k": 2.3, "frequency": 0.3},
            ],
        }
    },
    "wake": {"bastankhah-2014": {"k": 0.04}},
    "method": "random-start",
    "seeds": [0, 7],
}


def campaign(**changed: Any) -> Campaign:
    return Campaign.from_data({**copy.deepcopy(DATA), **changed})


def positions(asked: Campaign, task: Task) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Places in a row across the farm: turbines stand in each other's wakes, two rotors apart or more."""
    left, bottom, right, top = asked.farms[task.farm_idx].boundary.shape().bounds
    share = np.linspace(0.1, 0.9, task.n_turbines)
    shift = 0.01 * task.seed + 1 / 3
    return np.stack([left + share * (right - left), bottom + (0.4 + 0.1 * share * shift) * (top - bottom)])


def record(asked: Campaign, task: Task) -> Record:
    cells = {(cell.farm_idx, cell.type_idx): cell for cell in asked.cells()}
    cell = cells[task.farm_idx, task.type_idx]
    arrays: dict[str, Any] = {
        "layout": positions(asked, task),
        "aep": np.array(20.0 + task.farm_idx + task.type_idx / 10 + task.seed / 100),
    }
    if cell.zones:
        arrays["zone"] = np.repeat(np.arange(len(cell.zones)), cell.zones)
    if cell.mix:
        arrays["types"] = np.repeat([kind for kind, _ in cell.mix], [count for _, count in cell.mix])
    attributes: dict[str, Attribute] = {
        "farm_idx": task.farm_idx,
        "type_idx": task.type_idx,
        "ss_seed": task.seed,
        "n_turbines": task.n_turbines,
        "diameter": asked.turbines[task.type_idx].rotor_diameter_m,
        "seconds": 0.5,
        "engine": "vindeby",
        "converged": task.seed == 0,
    }
    return Record(task.key, task.fingerprint, arrays, attributes)


def database(
    path: Path,
    asked: Campaign,
    *,
    wanted: Callable[[Task], bool] = lambda _: True,
    file_format: str = "classic",
    merged: bool = True,
) -> Path:
    """A finished database, or shards of a run in progress."""
    run, text = RunDirectory(path).create(), asked.dumps()
    run.freeze_campaign(text)
    ShardWriter(run).publish([record(asked, task) for task in asked.tasks() if wanted(task)])
    if merged:
        merge(path, MergeOptions(root=asked.root_attributes(), file_format=file_format))
    return path
