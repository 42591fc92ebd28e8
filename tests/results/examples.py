"""Campaigns, databases and run directories for the tests of what people look at."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign.examples import small
from tests.results.scatter import scatter
from vindeby.campaign import Campaign, Task
from vindeby.runner.methods.call import CallTask
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge

EVIL = "<script>document.title='owned'</script>"


def campaign(
    *, seeds: int = 3, seconds: float = 0.0, fails_at: int | None = None, farm: str | None = None
) -> Campaign:
    """Two farms, two types, and a method that needs no engine."""
    data = small()
    if farm is not None:
        data["farms"][0]["name"] = farm
    data["seeds"] = seeds
    parameters: dict[str, Any] = {"seconds": seconds}
    if fails_at is not None:
        parameters["fails_at"] = fails_at
    call = {"function": "tests.results.scatter:scatter", "parameters": parameters, "energy": "own"}
    data["method"] = {"call": call}
    return Campaign.from_data(data)


def record(asked: Campaign, task: Task) -> Record:
    """What the method gives for a task, as the runner stores it."""
    turbine, farm = asked.turbines[task.type_idx], asked.farms[task.farm_idx]
    given = scatter(
        CallTask(
            key=task.key,
            farm=farm.name,
            boundary=farm.boundary,
            turbine=turbine,
            n_turbines=task.n_turbines,
            min_spacing_m=task.spacing_m,
            seed=task.seed,
            site=asked.site,
            parameters={},
        )
    )
    arrays = {"layout": np.asarray(given["layout"]), "aep": np.asarray(given["aep"])}
    attributes = {
        "farm_idx": task.farm_idx,
        "type_idx": task.type_idx,
        "ss_seed": task.seed,
        "n_turbines": task.n_turbines,
        "diameter": turbine.rotor_diameter_m,
        "seconds": 0.25 + 0.01 * task.seed,
    }
    return Record(task.key, task.fingerprint, arrays, attributes)


def publish(
    output: Path, asked: Campaign, wanted: Callable[[Task], bool] = lambda _: True, batch: int = 5
) -> RunDirectory:
    """A run directory with the results of some tasks, in shards of a few."""
    run = RunDirectory(output).create()
    text = asked.dumps()
    run.freeze_campaign(text)
    records = [record(asked, task) for task in asked.tasks() if wanted(task)]
    writer = ShardWriter(run)
    for start in range(0, len(records), batch):
        writer.publish(records[start : start + batch])
    return run


def finished(output: Path, asked: Campaign) -> RunDirectory:
    """A merged database of a whole campaign."""
    run = publish(output, asked)
    merge(output, MergeOptions(root=asked.root_attributes()))
    return run


def events(run: RunDirectory, entries: Iterable[dict[str, Any]], name: str = "node-1-aaaa") -> Path:
    """Event lines of a coordinator, appended."""
    path = run.events / f"{name}.jsonl"
    with path.open("a") as file:
        for entry in entries:
            file.write(json.dumps({"time": time.time(), **entry}) + "\n")
    return path


def set_aside(key: str, reason: str = "ValueError: no", **more: Any) -> dict[str, Any]:
    """The event of a task that was given up."""
    return {
        "event": "set aside",
        "task": key,
        "fingerprint": "0" * 64,
        "kind": "exception",
        "reason": reason,
        "traceback": f"Traceback (most recent call last):\n{reason}\n",
        "log": "node-1-aaaa-worker0.log",
        "attempts": 1,
        **more,
    }
