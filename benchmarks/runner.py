"""What a task costs when it does nothing: vindeby's runner beside pools that people use, in one run.

Each contender computes the same do-nothing results. The runner makes every one durable (checked, written, fsynced, read
back); the others append to one HDF5 file in the parent, which is neither durable nor safe from a kill, or give the
results back without storing them. Run it with: python benchmarks/runner.py [TASKS]; `pip install .[bench]` brings the
contenders. With `--campaign SEEDS` it runs that many seeds of `energy-island` instead, with one worker and with two.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from vindeby.campaign import Campaign
from vindeby.runner.processes import memory_of
from vindeby.runner.running import run
from vindeby.runner.summary import Summary
from vindeby.runner.supervisor import Progress

WORKERS = 2
TURBINES = 6
NAP_S = 0.15
CAMPAIGN = """
name: nothing
farms: [{{name: farm, boundary: [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]}}]
turbines: [{{name: five, generic: {{rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}}}}]
n_turbines: 6
min_spacing: 3 D
site: {{weibull: {{turbulence_intensity: 0.1, sectors: [{{direction: 0, a: 9, k: 2, frequency: 1}}]}}}}
wake: jensen
method: {{call: {{function: "runner:nothing", returns: [layout, aep]}}}}
seeds: {seeds}
run: {{workers: {workers}}}
"""
LAYOUT = np.arange(2.0 * TURBINES).reshape(2, TURBINES)


def nothing(_: object) -> dict[str, object]:
    """The task."""
    return {"layout": LAYOUT, "aep": 1.0}


def napping(_: object) -> dict[str, object]:
    """A task that takes time and no processor."""
    time.sleep(NAP_S)
    return {"layout": LAYOUT, "aep": 1.0}


def nothing_by_number(number: int) -> tuple[int, np.ndarray, float]:
    """The same for a pool."""
    return number, LAYOUT, 1.0


def append(file: h5py.File, result: tuple[int, np.ndarray, float]) -> None:
    """One group each, as the usual scripts store their results."""
    number, layout, aep = result
    group = file.create_group(f"farm0_t0_s{number}")
    group["layout"], group["aep"] = layout, aep
    group.attrs["ss_seed"] = number


def with_runner(tasks: int, folder: Path) -> tuple[float, str]:
    """vindeby: until every result is durable in a shard; the merge is timed apart."""
    memory: list[int] = []
    ends: list[float] = []
    began = time.perf_counter()

    def watch(progress: Progress) -> None:
        if progress.done >= tasks // 10:
            memory.append(memory_of())
        if progress.done == tasks and not ends:
            ends.append(time.perf_counter())

    campaign = Campaign.loads(CAMPAIGN.format(seeds=tasks, workers=WORKERS))
    summary: Summary = run(campaign, folder / "out.h5", on_progress=watch)
    total = time.perf_counter() - began
    assert summary.complete
    grown = (max(memory) - memory[0]) / 1e6
    durable = ends[0] - began
    return durable, (
        f"coordinator grew by {grown:.1f} MB from 10 % to the end; merged and validated {total - durable:.1f} s later"
    )


def computing_s(campaign: Campaign, folder: Path) -> float:
    """From the first task's start to the last result's safety."""
    moments: list[float] = []
    tasks = campaign.total_configs

    def watch(progress: Progress) -> None:
        if progress.running and not moments:
            moments.append(time.perf_counter())
        if progress.done == tasks:
            moments.append(time.perf_counter())

    run(campaign, folder / "out.h5", on_progress=watch)
    return moments[1] - moments[0]


def efficiency(tasks: int) -> None:
    """How much a second worker adds: tasks that wait show the losses of the runner itself, on a busy machine too."""
    text = CAMPAIGN.replace("runner:nothing", "runner:napping")
    compare_workers(
        f"{tasks} tasks of {NAP_S} s",
        lambda workers: Campaign.loads(text.format(seeds=tasks, workers=workers)),
        1,
    )


def compare_workers(what: str, campaign: Callable[[int], Campaign], rounds: int) -> None:
    """A campaign with one worker and with two, in turn."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for workers, taken in seconds.items():
            with tempfile.TemporaryDirectory(prefix="vindeby-bench-") as folder:
                taken.append(computing_s(campaign(workers), Path(folder)))
    one, two = min(seconds[1]), min(seconds[2])
    print(f"{what}: 1 worker {one:.1f} s, 2 workers {two:.1f} s, {one / two:.2f} times as fast")


def with_pool(tasks: int, folder: Path) -> tuple[float, str]:
    """multiprocessing.Pool, and one h5py append each in the parent."""
    began = time.perf_counter()
    with (
        multiprocessing.get_context("forkserver").Pool(WORKERS) as pool,
        h5py.File(folder / "pool.h5", "w") as file,
    ):
        for result in pool.imap_unordered(nothing_by_number, range(tasks), chunksize=100):
            append(file, result)
    return (
        time.perf_counter() - began,
        "nothing is durable; a killed worker hangs it, a killed parent ruins the file",
    )


def with_joblib(tasks: int, folder: Path) -> tuple[float, str]:
    """joblib with loky, and the same appending."""
    import joblib

    began = time.perf_counter()
    results = joblib.Parallel(n_jobs=WORKERS, return_as="generator")(
        joblib.delayed(nothing_by_number)(number) for number in range(tasks)
    )
    with h5py.File(folder / "joblib.h5", "w") as file:
        for result in results:
            append(file, result)
    return time.perf_counter() - began, "nothing is durable; a killed worker ends the whole"


def with_dask(tasks: int, folder: Path) -> tuple[float, str]:
    """Dask's local cluster, one future each, and the same appending."""
    from distributed import Client, LocalCluster, as_completed

    began = time.perf_counter()
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        h5py.File(folder / "dask.h5", "w") as file,
    ):
        step = 5000
        for first in range(0, tasks, step):
            futures = client.map(nothing_by_number, range(first, min(tasks, first + step)), pure=False)
            for _, result in as_completed(futures, with_results=True):
                append(file, result)
    return time.perf_counter() - began, "nothing is durable; a killed worker's results are computed again"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="?", type=int, default=100_000)
    parser.add_argument("--campaign", type=int, metavar="SEEDS")
    chosen = parser.parse_args()
    tasks = chosen.tasks
    if chosen.campaign:
        compare_workers(
            f"energy-island, {chosen.campaign} seeds",
            lambda workers: Campaign.load(
                "energy-island", [f"seeds={chosen.campaign}", f"run.workers={workers}"]
            ),
            2,
        )
        return
    contenders: list[tuple[str, Callable[[int, Path], tuple[float, str]], int]] = [
        ("vindeby, every result durable", with_runner, tasks),
        ("multiprocessing.Pool + h5py append", with_pool, min(tasks, 20_000)),
    ]
    if importlib.util.find_spec("joblib"):
        contenders.append(("joblib (loky) + h5py append", with_joblib, min(tasks, 20_000)))
    if importlib.util.find_spec("distributed"):
        contenders.append(("Dask LocalCluster + h5py append", with_dask, min(tasks, 5_000)))
    print(f"{'do-nothing tasks on 2 workers':36} {'tasks':>8} {'seconds':>8} {'per second':>10}")
    for name, contender, count in contenders:
        with tempfile.TemporaryDirectory(prefix="vindeby-bench-") as folder:
            seconds, note = contender(count, Path(folder))
        print(f"{name:36} {count:8,} {seconds:8.1f} {count / seconds:10,.0f}  {note}", flush=True)
    efficiency(min(tasks, 200))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"largest memory of this process: {peak:.0f} MB")


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parent))
    main()
