"""The worker files of an older script: layouts of a campaign's tasks, without marks, checksums or fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from tests.runner.functions import good
from vindeby.campaign import Campaign, Task
from vindeby.runner import CallTask

Layout = NDArray[np.float64]


def layout_for(campaign: Campaign, task: Task) -> Layout:
    """A layout that keeps the rules."""
    farm, turbine = campaign.farms[task.farm_idx], campaign.turbines[task.type_idx]
    call = CallTask(
        key=task.key,
        farm=farm.name,
        boundary=farm.boundary,
        turbine=turbine,
        n_turbines=task.n_turbines,
        min_spacing_m=task.spacing_m,
        seed=task.seed,
        site=campaign.site,
        parameters={},
    )
    return np.asarray(good(call)["layout"], float)


def worker_file(
    path: Path,
    campaign: Campaign,
    tasks: Iterable[Task],
    *,
    aep: float | None = 0.0,
    changed: Callable[[Task, Layout], Layout] = lambda _, layout: layout,
) -> None:
    """One worker's results; the script stored 0 for every energy."""
    with h5py.File(path, "w") as file:
        file.create_dataset("init", data=0)
        for task in tasks:
            group = file.create_group(task.key)
            group.create_dataset("layout", data=changed(task, layout_for(campaign, task)))
            if aep is not None:
                group.create_dataset("aep", data=aep)
            group.attrs.update(
                farm_idx=task.farm_idx,
                type_idx=task.type_idx,
                ss_seed=task.seed,
                n_turbines=task.n_turbines,
                diameter=campaign.turbines[task.type_idx].rotor_diameter_m,
            )


def broken_folder(folder: Path, campaign: Campaign, *, aep: float = 0.0) -> None:
    """A good file, an empty one, one without results, one without a signature, one cut off; a sixth was never made."""
    folder.mkdir()
    tasks = campaign.tasks()
    third = len(tasks) // 3
    worker_file(folder / "worker_1.h5", campaign, tasks[:third], aep=aep)
    (folder / "worker_2.h5").touch()
    worker_file(folder / "worker_3.h5", campaign, [], aep=aep)
    (folder / "worker_4.h5").write_bytes(b"\0" * 800)
    worker_file(folder / "worker_5.h5", campaign, tasks[third : 2 * third], aep=aep)
    whole = (folder / "worker_5.h5").read_bytes()
    (folder / "worker_5.h5").write_bytes(whole[: len(whole) // 2])
