"""Many Dask workers on one machine with tasks that sleep: does the coordinator keep up, what is lost between tasks?

    python benchmarks/cluster.py --workers 8 --tasks 10000 --seconds 0.1
    python benchmarks/cluster.py --workers 8 --tasks 64 --seconds 10

Each process hosts up to eight Dask workers, so that it fits a small machine; every batch has a process of vindeby's of
its own for its tasks. ``--plain``: beside it, the same function through plain ``client.map``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import distributed

import vindeby
from vindeby.store.disk.run_directory import RunDirectory

PER_PROCESS = 8
FUNCTION = '''
import time
import numpy as np
def tiny(task):
    """A layout on a grid, after a while."""
    time.sleep(task.parameters["seconds"])
    left, bottom, right, top = task.boundary.shape().bounds
    side = int(np.ceil(np.sqrt(4 * task.n_turbines)))
    x, y = np.meshgrid(np.linspace(left, right, side), np.linspace(bottom, top, side))
    order = np.random.default_rng(task.seed).permutation(x.size)[: task.n_turbines]
    return {"layout": np.stack([x.ravel()[order], y.ravel()[order]]), "aep": 1.0 + task.seed % 7}
'''


async def host(address: str, count: int) -> None:
    """A process with so many Dask workers."""
    workers = [distributed.Worker(address, nthreads=1, memory_limit="600MB") for _ in range(count)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))


def campaign(seeds: int, seconds: float) -> vindeby.Campaign:
    data = vindeby.Campaign.load("energy-island-quick").to_data()
    data["farms"], data["turbines"], data["seeds"] = data["farms"][:1], data["turbines"][:1], seeds
    call = {"function": "tiny_function:tiny", "parameters": {"seconds": seconds}, "energy": "own"}
    data["method"] = {"call": call}
    data["run"] = {}
    return vindeby.Campaign.from_data(data)


class Files(threading.Thread):
    """Counts the files of the run directory now and then."""

    def __init__(self, run: RunDirectory) -> None:
        super().__init__(daemon=True)
        self.run_directory, self.most, self.over = run, 0, False

    def run(self) -> None:
        while not self.over:
            self.most = max(self.most, sum(len(names) for _, _, names in os.walk(self.run_directory.path)))
            time.sleep(0.5)


def measured(client: Any, asked: argparse.Namespace, folder: Path) -> None:
    tasks, output = asked.tasks, folder / "out.h5"
    files = Files(RunDirectory(output))
    files.start()
    moments: list[tuple[float, int, float]] = []

    def watch(progress: Any) -> None:
        moments.append((time.monotonic(), progress.done, time.process_time()))

    cpu = time.process_time()
    began = time.monotonic()
    summary = vindeby.run(campaign(tasks, asked.seconds), output, pool=client, on_progress=watch)
    files.over = True
    ended, _, last_cpu = next(moment for moment in moments if moment[1] == tasks)
    ramp = next(moment for moment in moments if moment[1] >= tasks // 10)
    spent = last_cpu - cpu
    rate = (tasks - ramp[1]) / (ended - ramp[0])
    assert summary.safe == tasks, summary
    (log,) = RunDirectory(output).events.glob("*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    shards = sum(event["event"] == "published" for event in events)
    workers = sum(event["event"] == "worker started" for event in events)
    print(f"vindeby on Dask: {tasks:,} tasks on {workers} processes, none lost")
    print(
        f"  {ended - began:,.1f} s with the start of all processes, {time.monotonic() - began:,.1f} s with the merge"
    )
    at_work = tasks * asked.seconds / asked.workers
    print(f"  {rate:,.1f} tasks per second after the first tenth")
    print(f"  {at_work / (ended - began):.0%} of the workers' time until the last result is that of tasks")
    print(
        f"  {shards:,} shards, {tasks / shards:,.1f} tasks each; at most {files.most:,} files in the run directory"
    )
    print(
        f"  coordinator: {1e6 * spent / tasks:,.0f} µs of processor time per task before the merge, "
        "client and scheduler included"
    )
    print(
        f"  peak memory of the coordinator {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB"
    )


def plain(client: Any, tasks: int, seconds: float) -> None:
    """The same function on the same task through Dask alone, with the results brought back."""
    asked = campaign(2, seconds)
    from vindeby.runner.methods.call import CallTask

    farm, turbine, task = asked.farms[0], asked.turbines[0], asked.tasks()[0]
    import tiny_function

    def one(seed: int) -> Any:
        import tiny_function as there

        return there.tiny(
            CallTask(
                key="k",
                farm=farm.name,
                boundary=farm.boundary,
                turbine=turbine,
                n_turbines=task.n_turbines,
                min_spacing_m=1e3,
                seed=seed,
                site=asked.site,
                parameters={"seconds": seconds},
            )
        )

    one(1)
    cpu, began = time.process_time(), time.monotonic()
    futures = client.map(one, range(tasks), pure=False)
    client.gather(futures)
    took = time.monotonic() - began
    assert tiny_function.tiny is not None
    print(
        f"client.map of the same function: {tasks:,} tasks in {took:,.1f} s, {tasks / took:,.0f} tasks per second,"
    )
    print(
        f"  {1e6 * (time.process_time() - cpu) / tasks:,.0f} µs of the process of client and scheduler per task"
    )


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("--workers", type=int, default=8)
    given.add_argument("--tasks", type=int, default=10_000)
    given.add_argument("--seconds", type=float, default=0.1)
    given.add_argument("--plain", action="store_true")
    given.add_argument("--host", nargs=2)
    asked = given.parse_args()
    if asked.host:
        asyncio.run(host(asked.host[0], int(asked.host[1])))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tiny_function.py").write_text(FUNCTION)
        os.environ["PYTHONPATH"] = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
        sys.path.insert(0, str(folder))
        with (
            distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            words = [sys.executable, __file__, "--host", client.scheduler.address]
            counts = [min(PER_PROCESS, asked.workers - at) for at in range(0, asked.workers, PER_PROCESS)]
            hosts = [subprocess.Popen([*words, str(count)]) for count in counts]
            try:
                client.wait_for_workers(asked.workers)
                measured(client, asked, folder)
                if asked.plain:
                    plain(client, asked.tasks, asked.seconds)
            finally:
                for process in hosts:
                    process.kill()
                    process.wait()


if __name__ == "__main__":
    main()
