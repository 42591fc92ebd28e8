"""Small campaigns whose method is a function of ``tests.runner.functions``, and what came of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign.examples import small
from vindeby.campaign import Campaign
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database

FULL = os.environ.get("VINDEBY_FULL") == "1"
ROOT = Path(__file__).parent.parent.parent


def calling(
    function: str, seeds: int | list[int] = 5, parameters: Mapping[str, Any] | None = None, **run: Any
) -> Campaign:
    """Four cells with so many seeds each; ``run`` are options of the run."""
    data = small()
    data["method"] = {
        "call": {
            "function": f"tests.runner.functions:{function}",
            "parameters": parameters or {},
            "energy": "own",
        }
    }
    data["seeds"] = seeds
    data["run"] = {"workers": 2, **run}
    return Campaign.from_data(data)


def one_cell(campaign: Campaign) -> Campaign:
    """The same with its first farm and type only."""
    data = campaign.to_data()
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    return Campaign.from_data(data)


def results(output: Path) -> dict[str, Record]:
    with Database(output) as database:
        return {key: database[key] for key in database}


def content(record: Record) -> dict[str, Any]:
    """What must be the same whenever and wherever a task is computed."""
    arrays = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in record.arrays.items()}
    attributes = {name: value for name, value in record.attributes.items() if name != "seconds"}
    return {"fingerprint": record.fingerprint, "arrays": arrays, "attributes": attributes}


def equal(one: dict[str, Record], two: dict[str, Record]) -> bool:
    return {key: content(record) for key, record in one.items()} == {
        key: content(record) for key, record in two.items()
    }


def log_text(output: Path) -> str:
    logs = sorted(RunDirectory(output).logs.glob("*.log"))
    return "".join(path.read_text(errors="replace") for path in logs)


def marked_processes(mark: str) -> list[int]:
    """Every living process that has this text in its environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            dead = "\nState:\tZ" in (path.parent / "status").read_text()
            if mark.encode() in path.read_bytes() and not dead and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def same_layout(record: Record, layout: Any) -> bool:
    return bool(np.array_equal(record.arrays["layout"], layout))
