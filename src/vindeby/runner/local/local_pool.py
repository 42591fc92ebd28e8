"""The workers of a run as processes: started through the spawner, spoken to by channel, and what the dead leave."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.runner.failures import Failure, Kind, how_it_ended
from vindeby.runner.linux import oom_kills
from vindeby.runner.local.heartbeats import Heartbeats
from vindeby.runner.local.messages import Channel, Setup
from vindeby.runner.local.spawner import Spawner
from vindeby.store.disk.files import Files
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.format.shard import read_segments

_TAIL = 8_000
_SIGKILL = 9


@dataclass
class WorkerHandle:
    """One worker process."""

    slot: int
    channel: Channel
    log: Path
    pid: int = 0
    writer: str = ""
    leaving: bool = False
    """It was told to end, or said that it retires."""
    retires_for: str = ""
    shards: set[str] = field(default_factory=set)
    """What it has reported as durable."""


class LocalPool:
    """Starts workers, and looks into what happened to them."""

    def __init__(self, run: RunDirectory, setup: Setup, slots: int, method: str, name: str) -> None:
        self._run = run
        self._setup = setup
        self._name = name
        self.heartbeats = Heartbeats.create(slots)
        self.spawner = Spawner(self.heartbeats, method, setup.search_path, run.logs / f"{name}-spawner.log")
        self.workers: dict[int, WorkerHandle] = {}
        self._oom_kills = oom_kills()
        self.waits_for_disk = setup.wait_for_disk

    def start(self, slot: int) -> WorkerHandle:
        """Begin to start a worker."""
        ours, theirs = socket.socketpair()
        worker = WorkerHandle(slot, Channel(ours), self._run.logs / f"{self._name}-worker{slot}.log")
        self.heartbeats.slot(slot).clear()
        self.spawner.start(slot, theirs, worker.log)
        worker.channel.post(self._setup)
        self.workers[slot] = worker
        return worker

    def failure_of(self, worker: WorkerHandle, status: int, kills: int) -> Failure:
        """Why a process ended that nobody told to."""
        worker_status = self.heartbeats.look(worker.slot)
        trace = _tail(worker.log, worker_status.log_offset) if worker_status.task is not None else ""
        starved, self._oom_kills = kills > self._oom_kills, kills
        reason, kind = worker.retires_for or how_it_ended(status), Kind.KILLED
        if status == -_SIGKILL and starved:
            reason, kind = "the kernel killed the process because the machine ran out of memory", Kind.MEMORY
        return Failure(kind, reason, trace, worker.log.name)

    def unreported(self, worker: WorkerHandle) -> list[str]:
        """Keys that a dead worker published and could not report any more; made durable here."""
        if not worker.writer:
            return []
        keys: list[str] = []
        for directory in sorted(self._run.shards.glob(f"{worker.writer}*")):
            fresh = [path for path in directory.glob("*.h5") if _name(path) not in worker.shards]
            for path in fresh:
                keys += _keys_in(path)
            if fresh:
                with contextlib.suppress(OSError):
                    Files().fsync_directory(directory)
        return keys

    def drop(self, worker: WorkerHandle) -> None:
        """A worker is gone."""
        worker.channel.close()
        self.workers.pop(worker.slot, None)

    def close(self) -> None:
        """End everything that is left."""
        self.spawner.close()
        for worker in list(self.workers.values()):
            self.drop(worker)
        self.heartbeats.close()


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _keys_in(path: Path) -> list[str]:
    try:
        file = SealedFile.open(path)
        if file is None:
            return []
        with file:
            segments = read_segments(file)
            return [key.decode() for part in segments for key in part.rows["key"][part.intact()].tolist()]
    except (OSError, SealError, ValueError, KeyError):
        return []


def _tail(log: Path, offset: int) -> str:
    """The end of what a log says since a task began."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(offset, size - _TAIL))
            return file.read(_TAIL).decode(errors="replace")
    except OSError:
        return ""
