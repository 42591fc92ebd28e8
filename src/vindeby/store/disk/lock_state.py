"""The state of a lock, who holds it, and for how long it is believed.

```
run.lock/free-NONCE            nobody holds it
run.lock/held-TOKEN-COUNT      the process that chose TOKEN holds it and has renewed it COUNT times
```
The state is the name of the only file in a directory, which is changed by renaming that file. A rename names the old
state and the new one, and the file system (a network one too) does it as a whole or refuses it because the old name is
gone. So it is a compare-and-swap: of any number of processes that saw the same state exactly one changes it, however
long each pauses between looking and renaming. No state ever comes back, because every name holds a fresh random number
or a higher count. Nothing is deleted and put back, and no clock decides who wins. The directory appears with its file
in it, by renaming a prepared directory: a directory that is not empty is never replaced.

Who holds a lock is in a small file beside it for each token, written before the token becomes the lock's state.

No clock of another machine is trusted (``Lease``). Whoever wants the lock watches, by its own clock that cannot be
moved, whether the owner's count changes. Only how long ago the last heartbeat was before the watch began comes from the
file system: the difference of two times that the file server set. If that clock was moved, the watch that follows still
has to see several heartbeats missing.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from vindeby.errors import BusyError
from vindeby.store.disk.files import Files, read_bounded
from vindeby.store.disk.process import Identity
from vindeby.text import parse_json

_LOOKS = 40
_PAUSE_S = 0.005


@dataclass(frozen=True)
class LockState:
    """One state of a lock; ``token`` is empty when nobody holds it."""

    name: str
    token: str = ""
    count: int = 0

    @classmethod
    def free(cls) -> LockState:
        """Nobody holds it; a state that there never was before."""
        return cls(f"free-{uuid.uuid4().hex}")

    @classmethod
    def held(cls, token: str, count: int = 0) -> LockState:
        """Held, and renewed so many times."""
        return cls(f"held-{token}-{count}", token, count)

    @classmethod
    def parse(cls, name: str) -> LockState | None:
        """The state that a file name stands for; None for other names."""
        kind, _, rest = name.partition("-")
        if kind == "free" and rest:
            return cls(name)
        token, _, count = rest.rpartition("-")
        return cls(name, token, int(count)) if kind == "held" and token and count.isdecimal() else None

    def renewed(self) -> LockState:
        """The same owner, one heartbeat later."""
        return LockState.held(self.token, self.count + 1)


def read_state(path: Path) -> LockState | None:
    """The state of the lock at ``path``; None where no lock was ever made."""
    states: list[LockState] = []
    for _ in range(_LOOKS):
        try:
            states = [
                state
                for state in (LockState.parse(file.name) for file in path.iterdir())
                if state is not None
            ]
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise BusyError(
                f"{path}: is a file and not a lock; make sure that no process uses it, then delete this file"
            ) from None
        if len(states) == 1:
            return states[0]
        time.sleep(_PAUSE_S)  # while a name changes, a listing may show both names or neither
    if not states:
        return None
    names = ", ".join(sorted(state.name for state in states))
    raise BusyError(
        f"{path}: holds more than one state ({names}), as after copying one run directory into another; "
        "make sure that no process uses it, then delete this directory"
    )


def create_state(path: Path) -> None:
    """Make a free lock at ``path``, unless one is there."""
    prepared = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    prepared.mkdir(parents=True)
    try:
        (prepared / LockState.free().name).touch()
        prepared.rename(path)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:
            raise
    finally:
        shutil.rmtree(prepared, ignore_errors=True)


def swap_state(path: Path, old: LockState, new: LockState) -> bool:
    """Change the state from ``old`` to ``new``; False, with nothing changed, when it was not ``old`` any more."""
    try:
        (path / old.name).rename(path / new.name)
    except FileNotFoundError:
        # A network file system may repeat a request whose answer was lost: then the new name is there.
        return os.path.lexists(path / new.name)
    return True


def is_held_by(path: Path, token: str) -> bool:
    """Is this the owner now? For a look from another process; the owner itself renews the lock to be sure."""
    try:
        state = read_state(path)
    except BusyError:
        return False
    return state is not None and state.token == token


@dataclass(frozen=True)
class Lease:
    """How often a lock is renewed, and for how long it must not have been before it may be taken over."""

    beat_s: float = 5.0
    stale_s: float = 120.0
    watch_s: float = 20.0
    """The shortest time to watch, even when the last heartbeat was long ago."""


LEASE = Lease()


class Sign(Enum):
    """What watching a lock has shown."""

    ALIVE = "it was renewed while we watched"
    UNKNOWN = "not renewed so far"
    STALE = "not renewed for too long"


class Watch:
    """Watches one lock of which only the heartbeats can be seen."""

    def __init__(self, path: Path, lease: Lease) -> None:
        self._path, self._lease = path, lease
        self._seen: LockState | None = None
        self._since = 0.0
        self._before = 0.0
        self._changed = False

    def look(self, state: LockState) -> Sign:
        """Note the present state; what is known by now."""
        now = time.monotonic()
        if state != self._seen:
            self._changed = self._seen is not None
            self._before = 0.0 if self._changed else heartbeat_age(self._path) or 0.0
            self._seen, self._since = state, now
        watched = now - self._since
        if watched >= self._lease.watch_s and self._before + watched >= self._lease.stale_s:
            return Sign.STALE
        return Sign.ALIVE if self._changed else Sign.UNKNOWN


def heartbeat_age(path: Path) -> float | None:
    """Seconds since a lock's state last changed, by the clock of the file system; None when it is unknown."""
    try:
        with tempfile.TemporaryFile(dir=path.parent) as probe:
            probe.write(b"now")
            probe.flush()
            os.fsync(probe.fileno())  # on a network, so that the server sets the time
            return max(0.0, os.fstat(probe.fileno()).st_mtime - path.stat().st_mtime)
    except OSError:
        return None


UNKNOWN = Identity("an unknown machine", "", 0, "", "")
_ABANDONED_AFTER_S = 24 * 3600.0


@dataclass(frozen=True)
class Owner:
    """The process behind a token, and since when it holds the lock, by its own clock."""

    process: Identity
    since: float = 0.0

    @property
    def is_unknown(self) -> bool:
        """Is there nothing that says who it is?"""
        return self.process is UNKNOWN

    def describe(self, path: Path, purpose: str) -> str:
        """For messages: who, what for, since when, and when it last gave a sign of life."""
        text = f"{self.process} holds it ({purpose})"
        if self.since:
            text += f" since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.since))}"
        age = heartbeat_age(path)
        return text if age is None else f"{text}, last heartbeat {age:.0f} s ago"


def claim_path(path: Path, token: str) -> Path:
    """The file that says who is behind a token."""
    return path.with_name(f".{path.name}.{token}.json")


def write_claim(path: Path, token: str) -> Path:
    """Say that this process is behind a token; on the disk, so that a power cut leaves no lock of nobody."""
    claim = claim_path(path, token)
    text = json.dumps({**Identity.current().to_json(), "acquired": time.time()})
    try:
        with claim.open("x") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = error.filename or str(claim)
        claim.unlink(missing_ok=True)
        raise
    return claim


def read_claim(claim: Path) -> Owner:
    """Who is behind a token; an unknown process when the file is gone or cannot be understood."""
    try:
        data = parse_json(read_bounded(claim))
        return Owner(Identity.from_json(data), float(data.get("acquired", data["since"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Owner(UNKNOWN)


def remove_abandoned(path: Path, keep: str) -> None:
    """Delete what processes left that died while they took the lock; only for who holds it."""
    for left in _beside(path):
        if left == claim_path(path, keep):
            continue
        try:
            old = time.time() - left.stat().st_mtime > _ABANDONED_AFTER_S
        except OSError:
            continue
        if left.suffix == ".new":
            if old:
                shutil.rmtree(left, ignore_errors=True)
        elif old or read_claim(left).process.is_dead:
            left.unlink(missing_ok=True)


def _beside(path: Path) -> Iterator[Path]:
    start = f".{path.name}."
    for left in path.parent.iterdir():
        if left.name.startswith(start) and left.suffix in {".json", ".new"}:
            yield left


class LeasedFiles(Files):
    """Plain system calls, but a rename only while the lock at ``lock`` is held with ``token``.

    Needed for a coordinator that was stopped and cannot notice that its lock was taken over, while its workers run on.
    """

    def __init__(self, lock: Path, token: str) -> None:
        self._lock, self._token = lock, token

    def rename(self, source: Path, target: Path) -> None:
        """Rename, unless the lock is another's."""
        if not is_held_by(self._lock, self._token):
            raise OSError(errno.ECANCELED, f"another process has taken over {self._lock}", str(target))
        super().rename(source, target)
