"""The estimate of a campaign's time and disk, from three of its tasks, run in a temporary folder."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vindeby.assembly.merging import merge_options
from vindeby.campaign import Campaign
from vindeby.errors import TaskError
from vindeby.runner.running import run, workers_of
from vindeby.store.merge.merge import merge
from vindeby.store.read.database import Database

_TIMED = 3


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a campaign; times in seconds, sizes in bytes."""

    tasks: int
    timed: tuple[str, ...]
    """The keys of the tasks that were timed."""
    task_s: tuple[float, float]
    """The time of the shortest and of the longest kind of task, without set-up."""
    cpu_s: float
    """The CPU time of all tasks, on one core each."""
    set_up_s: float
    """The set-up time of the timed tasks: starting a process, and compiling or loading compiled code."""
    workers: int
    wall_s: float
    """The time with so many workers on this machine, if it is otherwise idle."""
    database: float
    """Bytes of OUT.h5; while it is merged, its folder needs about twice as much."""


def estimate(campaign: Campaign, say: Callable[[str], None] = lambda _: None) -> Estimate:
    """Time a task of each third of a campaign; TaskError if one fails. ``say`` is called with each message."""
    total, cells = campaign.total_configs, campaign.cells()
    step = -(-total // _TIMED)
    with tempfile.TemporaryDirectory(prefix="vindeby-estimate-") as scratch:
        output = Path(scratch) / "estimate.h5"
        part = f"{step // 2 + 1}/{step}"
        summary = run(campaign, output, workers=1, device="cpu", part=part, on_message=say)
        for key, failure in summary.failed.items():
            raise TaskError(f"{key} failed, so nothing can be estimated: {failure}")
        merge(output, merge_options(campaign))
        size = output.stat().st_size
        with Database(output) as database:
            spent = {key: float(str(record.attributes["seconds"])) for key, record in database.items()}
    sizes = {cell.key(seed): cell.n_turbines for cell in cells for seed in campaign.seeds}
    by_size = {sizes[key]: [spent[one] for one in spent if sizes[one] == sizes[key]] for key in spent}
    timed = sorted(by_size)
    means = [float(np.mean(by_size[many])) for many in timed]
    tasks_s = np.interp([float(cell.n_turbines) for cell in cells], timed, means)
    workers = min(workers_of(campaign.run), total)
    cpu_s, set_up_s = float(tasks_s.sum()) * len(campaign.seeds), summary.seconds - sum(spent.values())
    return Estimate(
        tasks=total,
        timed=tuple(spent),
        task_s=(float(tasks_s.min()), float(tasks_s.max())),
        cpu_s=cpu_s,
        set_up_s=set_up_s,
        workers=workers,
        wall_s=max(cpu_s / workers, float(tasks_s.max())) + set_up_s,
        database=size / len(spent) * total,
    )
