"""A small database of layouts to evaluate, and evaluations of it; all in this process, so that tests are quick."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.assembly.merging import merge_options
from vindeby.campaign import Campaign
from vindeby.runner import CallTask
from vindeby.runner.protocol import Failed
from vindeby.runner.task_executor import Setup, TaskExecutor
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.merge.merge import merge
from vindeby.store.read.database import Database

PLACE: dict[str, Any] = {"call": {"function": "tests.evaluation.stored:place", "energy": "own"}}
TYPES = [
    {"name": "small", "generic": {"rated_power_mw": 2, "rotor_diameter_m": 80, "hub_height_m": 70}},
    {
        "name": "table",
        "table": {
            "rotor_diameter_m": 120,
            "hub_height_m": 100,
            "wind_speed": [3, 6, 9, 12, 25],
            "power_kw": [0, 700, 2400, 4000, 4000],
            "ct": [0.8, 0.8, 0.75, 0.4, 0.1],
        },
    },
]


def farms(count: int, size: float = 1500.0) -> list[dict[str, Any]]:
    """Squares in rows of three, 500 m apart."""
    found = []
    for index in range(count):
        x, y = (index % 3) * (size + 500.0), (index // 3) * (size + 500.0)
        corners = [[x, y], [x + size, y], [x + size, y + size], [x, y + size]]
        found.append({"name": f"farm {chr(ord('a') + index)}", "boundary": corners})
    return found


def series(steps: int = 20, *, times: bool = False, **more: Any) -> dict[str, Any]:
    """A time series of days; each step has its own turbulence."""
    rng = np.random.default_rng(7)
    data: dict[str, Any] = {
        "wind_direction": np.round(rng.uniform(0, 359, steps), 2).tolist(),
        "wind_speed": np.round(rng.uniform(5, 13, steps), 2).tolist(),
        "turbulence_intensity": np.round(rng.uniform(0.05, 0.12, steps), 3).tolist(),
        **more,
    }
    if times:
        data["times"] = [str(np.datetime64("2020-01-01") + np.timedelta64(day, "D")) for day in range(steps)]
    return {"time_series": data}


def place(task: CallTask) -> dict[str, Any]:
    """Turbines at random; the energy is made up, so that nobody needs the engine to look at a result."""
    rng = np.random.default_rng([task.seed, int(task.parameters.get("other", 0))])
    area = task.boundary.shape()
    west, south, east, north = area.bounds
    points: list[Any] = []
    while len(points) < task.n_turbines:
        x, y = rng.uniform((west, south), (east, north))
        if all(np.hypot(x - other[0], y - other[1]) > task.min_spacing_m for other in points):
            points.append((x, y))
    found: dict[str, Any] = {"layout": np.array(points).T, "aep": 1.0 + rng.random()}
    if task.mix:
        found["types"] = np.repeat(list(task.mix), list(task.mix.values()))
    return found


def campaign(count: int = 4, seeds: int = 2, **changes: Any) -> Campaign:
    data: dict[str, Any] = {
        "name": "layouts",
        "farms": farms(count),
        "turbines": TYPES,
        "n_turbines": 5,
        "min_spacing": "3 D",
        "site": {
            "states": [
                {"wind_direction": 270, "wind_speed": 9, "probability": 1, "turbulence_intensity": 0.08}
            ]
        },
        "wake": "nygaard-2022",
        "method": PLACE,
        "seeds": seeds,
        **changes,
    }
    return Campaign.from_data(data)


def compute(asked: Campaign, output: Path) -> Path:
    """Every result of a campaign, merged, without any other process."""
    run = RunDirectory(output).create()
    run.freeze_campaign(asked.dumps())
    events: list[object] = []
    executor = TaskExecutor(Setup(asked, str(output)), events.append)
    for number, task in enumerate(asked.tasks()):
        executor.execute(number, task)
    assert executor.close()
    assert [event for event in events if isinstance(event, Failed)] == []
    merge(run, merge_options(asked))
    return output


def results(output: Path) -> dict[str, Record]:
    with Database(output) as database:
        return {key: database[key] for key in database}


def of_layouts(
    *,
    neighbours: dict[str, Any] | None = None,
    site: dict[str, Any] | None = None,
    wake: Any = None,
    **stored: Any,
) -> dict[str, Any]:
    """A campaign file of stored layouts: an axis of neighbours, wind, wakes, and what the method says."""
    return {
        "name": "study",
        "method": {"stored": stored},
        **({"vary": {"neighbours": neighbours}} if neighbours else {}),
        **({"site": site} if site else {}),
        **({"wake": wake} if wake else {}),
    }


def asked_of(source: Path, **given: Any) -> Campaign:
    """The campaign that evaluates layouts of a database, as ``of_layouts`` describes it."""
    return Campaign.of_stored(source, of_layouts(**given))


def evaluated(source: Path, path: Path, /, **given: Any) -> list[Record]:
    """The records of an evaluation: for each combination those of all farms, types and seeds."""
    asked = asked_of(source, **given)
    found = results(compute(asked, path))
    numbers = {one.tag: one.index for one in asked.combinations}
    tasks = sorted(asked.tasks(), key=lambda task: numbers[task.tag])
    return [found[task.key] for task in tasks]
