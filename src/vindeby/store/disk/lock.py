"""A lock that works where file locking does not, that the dead do not keep, and that is never held by two.

```
run.lock/free-NONCE            nobody holds it
run.lock/held-TOKEN-COUNT      the process that chose TOKEN holds it and has renewed it COUNT times
```
The state is the name of the only file in a directory, which is changed by renaming that file: a compare-and-swap, on a
network too, of which exactly one of several processes succeeds, however long each pauses between looking and renaming.
No state ever comes back, because every name holds a fresh random number or a higher count. The directory appears with
its file in it, by renaming a prepared one. Who holds a lock is in a small file beside it for each token, its claim,
written before the token becomes the lock's state and removed when its owner gives the lock back.

The owner renews the lock every few seconds from a thread. It is taken over from

- an owner that is known to be gone, a process of this machine: at once;
- nobody: the claim is gone because its owner gave the lock back, but a full disk refused to rename the state: at once;
- an owner that may live elsewhere (another machine, another container): when it was not renewed for ``Lease.stale_s``;
- whoever holds it, when the user says so (``take_over``).

Taking over is a swap from the very heartbeat that was seen last, so it fails if the owner renews the lock in between.
An owner that was stopped or slow finds out when it renews the lock, which ``confirm`` does before each step that must
not be done by two. No clock of another machine is trusted: whoever wants the lock watches, by its own clock that cannot
be moved, whether the owner's count changes. Only how long ago the last heartbeat was before the watch began comes from
the file system, as the difference of two times that the file server set.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Self

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
        # The lock is there; whoever holds it may have removed what was prepared (``remove_abandoned``).
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOENT}:
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


def _describe(owner: Identity, path: Path, purpose: str) -> str:
    text = f"{owner} holds it ({purpose})"
    if owner.since:
        text += f" since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(owner.since))}"
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


def read_claim(claim: Path) -> Identity | None:
    """Return who is behind a token; None without a claim, an unknown process when it cannot be understood."""
    try:
        data = parse_json(read_bounded(claim))
        return Identity.from_json({**data, "since": data.get("acquired", data["since"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return UNKNOWN


def remove_abandoned(path: Path, keep: str) -> None:
    """Delete what processes left that died while they took the lock; only the owner of the lock may.

    A process that is taking it may lose what it has written: it finds the lock held, and tries again.
    """
    start = f".{path.name}."
    for left in path.parent.iterdir():
        if not left.name.startswith(start) or left == claim_path(path, keep):
            continue
        if left.suffix == ".new":
            shutil.rmtree(left, ignore_errors=True)
        elif left.suffix == ".json":
            owner = read_claim(left)
            if owner is UNKNOWN or (owner is not None and (owner.is_dead or _is_old(left))):
                left.unlink(missing_ok=True)


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _ABANDONED_AFTER_S
    except OSError:
        return False


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


_POLL_S = 0.1


class Lock:
    """Held between ``acquire`` and ``release``, or inside ``with``."""

    def __init__(
        self,
        path: Path,
        purpose: str,
        *,
        wait_s: float = 0.0,
        take_over: bool = False,
        say: Callable[[str], None] = lambda _: None,
        lease: Lease | None = None,
    ) -> None:
        self.path = path
        self.purpose = purpose
        self._wait_s = wait_s
        self._take_over = take_over
        self._say = say
        self._lease = lease or LEASE
        self._state: LockState | None = None
        self._pid = 0
        self._renewing = threading.Lock()
        self._ended = threading.Event()
        self._lost = threading.Event()
        self._heart: threading.Thread | None = None
        self._waits_for = ""

    @property
    def token(self) -> str:
        """What stands for this owner in the lock's state; empty when it is not held."""
        return self._state.token if self._state is not None else ""

    @property
    def is_lost(self) -> bool:
        """Has a heartbeat found that another process took the lock over?"""
        return self._lost.is_set()

    def holder(self) -> Identity | None:
        """Who holds it; None when nobody does."""
        state = read_state(self.path)
        return None if state is None or not state.token else read_claim(claim_path(self.path, state.token))

    def acquire(self) -> Self:
        """Take the lock, waiting up to ``wait_s``; BusyError says who holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._wait(self._enter)
        self._heart = threading.Thread(target=self._beat, name=f"{self.purpose} lock", daemon=True)
        self._heart.start()
        with contextlib.suppress(OSError):
            remove_abandoned(self.path, self.token)
        return self

    def clear(self) -> None:
        """Take the lock away from an owner from whom it may be taken, without holding it; BusyError otherwise."""
        state = read_state(self.path)
        if state is None or not state.token:
            return
        self._wait(lambda old: not old.token or swap_state(self.path, old, LockState.free()))

    def confirm(self) -> None:
        """Make sure, by renewing it, that the lock is still ours: before a step that must not be done by two."""
        if self._state is None or self._pid != os.getpid() or not self._renew():
            now = self.holder()
            by = f" by {now}" if now is not None else ""
            raise BusyError(
                f"{self.path}: the lock ({self.purpose}) was taken away{by} while it was held; this process stops "
                "and changes nothing more"
            )

    def release(self) -> None:
        """Give the lock back."""
        if self._state is None or self._pid != os.getpid():
            return
        self._ended.set()
        if self._heart is not None:
            self._heart.join()
        with self._renewing, contextlib.suppress(OSError):
            claim, mine, self._state = claim_path(self.path, self.token), self._state, None
            try:
                swap_state(self.path, mine, LockState.free())
            finally:  # without it, a lock that the disk does not let go of is nobody's
                claim.unlink(missing_ok=True)

    def _wait(self, swap: Callable[[LockState], bool]) -> None:
        deadline = time.monotonic() + self._wait_s
        watch = Watch(self.path, self._lease)
        first: str | None = None
        while True:
            state = read_state(self.path)
            if state is None:
                create_state(self.path)
                continue
            first = state.token if first is None else first
            asked = self._take_over and state.token == first
            if not state.token or self._may_take(state, watch, deadline, asked=asked):
                if swap(state):
                    return
            else:
                time.sleep(_POLL_S)

    def _may_take(self, state: LockState, watch: Watch, deadline: float, *, asked: bool) -> bool:
        """May the lock be taken from its owner? Raises BusyError if it may not when the deadline has passed."""
        owner = read_claim(claim_path(self.path, state.token))
        if owner is None or owner.is_dead:
            return True
        sign = Sign.ALIVE if owner.is_alive else watch.look(state)
        if asked or sign is Sign.STALE:
            self._say(f"{self.path}: {_describe(owner, self.path, self.purpose)}; it is taken over")
            return True
        if sign is Sign.ALIVE and time.monotonic() >= deadline:
            raise BusyError(
                f"{self.path}: {_describe(owner, self.path, self.purpose)}; wait until it ends, or end it; "
                "--take-over takes the lock away from it"
            )
        if state.token != self._waits_for:
            self._waits_for = state.token
            watched = f"watching whether it still lives, for up to {self._lease.stale_s:.0f} s"
            waiting = f"waiting until it ends, for up to {self._wait_s:.0f} s"
            self._say(
                f"{self.path}: {_describe(owner, self.path, self.purpose)}; "
                f"{watched if sign is Sign.UNKNOWN else waiting} (--take-over does not wait)"
            )
        return False

    def _enter(self, old: LockState) -> bool:
        mine = LockState.held(uuid.uuid4().hex)
        claim = write_claim(self.path, mine.token)
        done = False
        try:
            done = swap_state(self.path, old, mine)
        finally:
            if not done:
                claim.unlink(missing_ok=True)
        if done:
            self._state, self._pid = mine, os.getpid()
            self._ended.clear()
            self._lost.clear()
            if old.token:
                with contextlib.suppress(OSError):
                    claim_path(self.path, old.token).unlink(missing_ok=True)
        return done

    def _beat(self) -> None:
        while not self._ended.wait(self._lease.beat_s):
            # An error says nothing about who holds the lock; the next heartbeat or ``confirm`` tries again.
            with contextlib.suppress(OSError):
                if not self._renew():
                    return

    def _renew(self) -> bool:
        """Write one heartbeat; return whether the lock is still ours."""
        with self._renewing:
            if self._state is None or self.is_lost:
                return False
            renewed = self._state.renewed()
            if swap_state(self.path, self._state, renewed):
                self._state = renewed
                return True
            self._lost.set()
            return False

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
