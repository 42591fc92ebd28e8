"""The function that runs one batch of tasks on a Dask worker, in a separate process as on one machine.

``run_batch`` is what Dask places, runs and retries. It has a ``LocalPool`` of one process for its batch, so that a
crash, a hang, the memory limit and the culprit are known there and shards are published from there. When Dask does not
want the batch any more (a coordinator that died, a scheduler that was lost), it publishes what is finished and ends.
"""

import asyncio
import contextlib
import os
import pickle
import platform
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from vindeby._version import __version__
from vindeby.runner.local.heartbeats import Heartbeats
from vindeby.runner.local.local_pool import LocalPool
from vindeby.runner.processes import SHARE_OF_MEMORY, node_and_job, total_memory
from vindeby.runner.protocol import (
    CannotGoOn,
    Failure,
    Kind,
    Outcome,
    PoolEvent,
    Seen,
    WantsWork,
    Work,
    WorkerGone,
    WorkerReady,
    WorkerRetiring,
)
from vindeby.runner.task_executor import Setup
from vindeby.store.disk.run_directory import RunDirectory

_LOOK_S = 0.1
_SHOW_S = 2.0
_ENDING_S = 5.0
_TRIES = 20
_PAUSE_S = 0.25
"""A network file system may show a new file only after its cache of the directory is renewed."""


@dataclass
class _Host:
    """The shared state of the batches on one Dask worker: a retry waits until no other process computes there."""

    heartbeats: Heartbeats
    running: dict[int, str] = field(default_factory=dict)
    """The run of each batch, by slot."""
    ending: dict[str, bool] = field(default_factory=dict)
    """Runs whose batches are to end, and whether at once."""


_hosts: dict[str, _Host] = {}
"""The hosts by address, as one process may have several Dask workers."""
_lock = threading.Lock()


def _host_of(dask_worker: Any) -> _Host:
    with _lock:
        if dask_worker.address not in _hosts:
            _hosts[dask_worker.address] = _Host(Heartbeats.create(dask_worker.state.nthreads))
        return _hosts[dask_worker.address]


def versions() -> dict[str, str]:
    """Return the versions that must be the same on all machines."""
    packages = {"NumPy": "numpy", "Numba": "numba"}
    known = {"Python": platform.python_version(), "vindeby": __version__}
    for name, package in packages.items():
        known[name] = "not installed"
        with contextlib.suppress(metadata.PackageNotFoundError):
            known[name] = metadata.version(package)
    return known


def run_batch(place: str, coordinator: Mapping[str, str], work: Work) -> list[PoolEvent]:
    """Run tasks in a fresh process and return its events, of which ``WorkerGone`` is the last.

    ``place`` is the file of the run with its ``Setup``, and ``coordinator`` has the versions there.
    """
    from distributed import get_worker

    dask_worker = get_worker()
    host = _host_of(dask_worker)
    setup = _read_setup(Path(place))
    if reason := _why_unusable(dask_worker.address, coordinator, setup, place):
        failure = Failure(Kind.KILLED, reason)
        return [CannotGoOn(Outcome.UNUSABLE, reason), WorkerGone(0, None, failure, by_itself=True)]
    assert setup is not None
    with _lock:
        slot = min({*range(len(host.running) + 1)} - host.running.keys())
        host.running[slot] = place
    try:
        local = _local_setup(setup, dask_worker)
        pool = LocalPool(RunDirectory(Path(setup.output)), local, host.heartbeats)
        try:
            pool.start(slot)
            pool.assign(slot, replace(work, last=True))
            return _events_of(pool, slot, dask_worker, place)
        finally:
            pool.close()
    finally:
        del host.running[slot]


def _events_of(pool: LocalPool, slot: int, dask_worker: Any, place: str) -> list[PoolEvent]:
    """Return the events of a batch when it ends; until then, report its state to the coordinator."""
    host, key = _host_of(dask_worker), dask_worker.get_current_task()
    events: list[PoolEvent] = []
    shown, end_at, asked = time.monotonic(), float("inf"), False

    def show(what: PoolEvent | Seen) -> None:
        dask_worker.log_event(Path(place).name, (key, pickle.dumps(what)))

    while not (events and isinstance(events[-1], WorkerGone)):
        for event in pool.wait(_LOOK_S):
            match event:
                case WorkerReady():
                    show(event)
                case WantsWork() | WorkerRetiring():
                    pass
                case _:
                    events.append(event)
        look, now = pool.observe(), time.monotonic()  # a process over a limit is killed
        if now - shown > _SHOW_S:
            shown = now
            for seen in look:
                show(seen)
        is_over = host.ending.get(place) or not _is_wanted(dask_worker, key)
        if is_over and end_at == float("inf"):
            end_at = now + _ENDING_S
            pool.end(slot, now=True)
        elif place in host.ending and not asked:
            asked = True
            pool.end(slot)
        if now > end_at:
            pool.kill(slot)
    return events


def _is_wanted(dask_worker: Any, key: str) -> bool:
    """Return whether Dask still waits for this batch, on a Dask worker that is not about to close."""
    state = dask_worker.state.tasks.get(key)
    is_running = state is not None and state.state in {"executing", "long-running"}
    return is_running and dask_worker.status.name not in {"closing", "closed", "failed"}


def _read_setup(place: Path) -> Setup | None:
    for _ in range(_TRIES):
        with contextlib.suppress(OSError):
            found: Setup = pickle.loads(place.read_bytes())  # noqa: S301 - of the coordinator, as the task itself
            return found
        time.sleep(_PAUSE_S)
    return None


def _why_unusable(address: str, coordinator: Mapping[str, str], setup: Setup | None, place: str) -> str:
    """Return why no batch can run here; empty if one can."""
    here = versions()
    differences = [
        f"{name} is {here[name]} there and {mine} here"
        for name, mine in coordinator.items()
        if here[name] != mine
    ]
    if differences:
        return (
            f"the Dask worker {address} has other versions: {'; '.join(differences)}; install the same versions on "
            "both, then rerun the same command"
        )
    folder = Path(place).parent
    if setup is None or not os.access(folder, os.W_OK):
        return (
            f"the Dask worker {address} on {platform.node()} cannot write to {folder}; give -o on a file system that "
            "all Dask workers share"
        )
    return ""


def _local_setup(setup: Setup, dask_worker: Any) -> Setup:
    """Return the setup with this machine's packages first, and a share of the memory of the Dask worker."""
    node, port = node_and_job()[0], dask_worker.address.rpartition(":")[2]
    here = [entry for entry in sys.path if entry]
    path = (*here, *(entry for entry in setup.search_path if entry not in here))
    threads = dask_worker.state.nthreads
    memory = getattr(getattr(dask_worker, "memory_manager", None), "memory_limit", None) or total_memory()
    limit = setup.memory_limit or (memory and int(SHARE_OF_MEMORY * memory) // threads)
    name, alone = f"{setup.name}-{node}-{port}", limit and limit * threads
    return replace(setup, search_path=path, name=name, memory_limit=limit, memory_limit_alone=alone)


async def end_batches(place: str, *, now: bool = False, dask_worker: Any = None) -> None:
    """Let the batches of a run finish their current tasks; with ``now``, end them and return when they are gone."""
    host = _host_of(dask_worker)
    host.ending[place] = now
    while now and place in host.running.values():
        await asyncio.sleep(_LOOK_S)
