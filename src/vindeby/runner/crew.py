"""The workers of a run as processes: started through the nursery, spoken to by channel, and what the dead leave."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.runner.board import Board
from vindeby.runner.failures import Failure, Kind, how_it_ended
from vindeby.runner.kernel import oom_kills
from vindeby.runner.messages import Channel, Setup
from vindeby.runner.nurse import Nurse
from vindeby.store.files import Files
from vindeby.store.rundir import RunDirectory
from vindeby.store.seal import SealedFile, SealError
from vindeby.store.shard import read_segments

_TAIL = 8_000
_SIGKILL = 9


@dataclass
class Member:
    """One worker process."""

    seat: int
    channel: Channel
    log: Path
    pid: int = 0
    writer: str = ""
    leaving: bool = False
    """It was told to end, or said that it retires."""
    retires_for: str = ""
    shards: set[str] = field(default_factory=set)
    """What it has reported as durable."""


class Crew:
    """Starts workers, and looks into what happened to them."""

    def __init__(self, run: RunDirectory, setup: Setup, seats: int, method: str, name: str) -> None:
        self._run = run
        self._setup = setup
        self._name = name
        self.board = Board.create(seats)
        self.nurse = Nurse(self.board, method, setup.search_path, run.logs / f"{name}-nursery.log")
        self.members: dict[int, Member] = {}
        self._oom_kills = oom_kills()
        self.waits_for_disk = setup.wait_for_disk

    def start(self, seat: int) -> Member:
        """Begin to start a worker."""
        ours, theirs = socket.socketpair()
        member = Member(seat, Channel(ours), self._run.logs / f"{self._name}-worker{seat}.log")
        self.board.seat(seat).clear()
        self.nurse.start(seat, theirs, member.log)
        member.channel.post(self._setup)
        self.members[seat] = member
        return member

    def failure_of(self, member: Member, status: int, kills: int) -> Failure:
        """Why a process ended that nobody told to."""
        glance = self.board.look(member.seat)
        trace = _tail(member.log, glance.log_offset) if glance.task is not None else ""
        starved, self._oom_kills = kills > self._oom_kills, kills
        reason, kind = member.retires_for or how_it_ended(status), Kind.KILLED
        if status == -_SIGKILL and starved:
            reason, kind = "the kernel killed the process because the machine ran out of memory", Kind.MEMORY
        return Failure(kind, reason, trace, member.log.name)

    def unreported(self, member: Member) -> list[str]:
        """Keys that a dead worker published and could not report any more; made durable here."""
        if not member.writer:
            return []
        keys: list[str] = []
        for directory in sorted(self._run.shards.glob(f"{member.writer}*")):
            fresh = [path for path in directory.glob("*.h5") if _name(path) not in member.shards]
            for path in fresh:
                keys += _keys_in(path)
            if fresh:
                with contextlib.suppress(OSError):
                    Files().fsync_directory(directory)
        return keys

    def drop(self, member: Member) -> None:
        """A worker is gone."""
        member.channel.close()
        self.members.pop(member.seat, None)

    def close(self) -> None:
        """End everything that is left."""
        self.nurse.close()
        for member in list(self.members.values()):
            self.drop(member)
        self.board.close()


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
