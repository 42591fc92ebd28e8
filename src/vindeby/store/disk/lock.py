"""A lock that works without file locking, never outlives a dead owner for long, and never has two owners.

```
run.lock/free-NONCE            nobody holds it
run.lock/held-OWNER-COUNT      the process that OWNER describes holds it and has renewed it COUNT times
```
The state is the name of the only file in a directory, which is changed by renaming that file: a compare-and-swap, on a
network too, of which exactly one of several processes succeeds, however long each pauses between looking and renaming.
No state ever comes back, because every name holds a fresh random number or a higher count. The directory appears with
its file in it, by renaming a prepared one.

The owner renews the lock every few seconds from a thread. It is taken over from

- an owner that is known to be gone, a process of this machine: at once;
- an owner that may live elsewhere (another machine, another container): when it was not renewed for ``Lease.stale_s``;
- whoever holds it, when the user says so (``take_over``).

Taking over is a swap from the very heartbeat that was seen last, so it fails if the owner renews the lock in between.
An owner that was stopped or slow finds out when it renews the lock, which ``confirm`` does before each step that must
not be done by two. No clock of another machine is trusted: whoever wants the lock watches, by its own clock that cannot
be moved, whether the owner's count changes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from vindeby.errors import BusyError
from vindeby.store.disk.files import Files
from vindeby.store.disk.process import Identity

_LOOKS = 40
_PAUSE_S = 0.005
_POLL_S = 0.1


@dataclass(frozen=True)
class LockState:
    """A state of a lock, with the process that holds it."""

    name: str
    owner: Identity | None = None
    count: int = 0

    @classmethod
    def free(cls) -> LockState:
        """Return a new, unique state in which the lock is free."""
        return cls(f"free-{uuid.uuid4().hex}")

    @classmethod
    def held(cls, owner: Identity, count: int = 0) -> LockState:
        """Return the state in which a process holds the lock and has renewed it ``count`` times."""
        return cls(f"held-{owner.name}-{count}", owner, count)

    @classmethod
    def parse(cls, name: str) -> LockState | None:
        """Return the state that a file name describes; None for other names."""
        kind, _, rest = name.partition("-")
        if kind == "free" and rest:
            return cls(name)
        owner, _, count = rest.rpartition("-")
        with contextlib.suppress(ValueError):
            return cls(name, Identity.parse(owner), int(count)) if kind == "held" else None
        return None

    @property
    def token(self) -> str:
        """The unique token of the owner; empty if the lock is free."""
        return "" if self.owner is None else self.owner.token


def read_state(path: Path) -> LockState | None:
    """Return the state of the lock at ``path``; None if no lock was ever made there."""
    states: list[LockState] = []
    for _ in range(_LOOKS):
        try:
            states = [state for file in path.iterdir() if (state := LockState.parse(file.name)) is not None]
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
    """Make a free lock at ``path``, unless one exists."""
    prepared = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    prepared.mkdir(parents=True)
    try:
        (prepared / LockState.free().name).touch()
        prepared.rename(path)
    except OSError as error:
        # The lock is there; whoever holds it may have removed what was prepared.
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOENT}:
            raise
    finally:
        shutil.rmtree(prepared, ignore_errors=True)


def swap_state(path: Path, old: LockState, new: LockState) -> bool:
    """Change the state from ``old`` to ``new``; return False, with nothing changed, if it is not ``old`` any more."""
    try:
        (path / old.name).rename(path / new.name)
    except FileNotFoundError:
        # A network file system may repeat a request whose answer was lost: then the new name is there.
        return os.path.lexists(path / new.name)
    return True


@dataclass(frozen=True)
class Lease:
    """The interval at which a lock is renewed, and the silence after which it may be taken over (seconds)."""

    beat_s: float = 5.0
    stale_s: float = 120.0


LEASE = Lease()


class LeasedFiles(Files):
    """Plain system calls, except that a rename requires the lock at ``lock`` to be held with ``token``.

    Needed for a coordinator that was stopped and cannot notice that its lock was taken over, while its workers run on.
    """

    def __init__(self, lock: Path, token: str) -> None:
        self._lock, self._token = lock, token

    def rename(self, source: Path, target: Path) -> None:
        """Rename, unless another process holds the lock."""
        state = None
        with contextlib.suppress(BusyError):
            state = read_state(self._lock)
        if state is None or state.token != self._token:
            raise OSError(errno.ECANCELED, f"another process has taken over {self._lock}", str(target))
        super().rename(source, target)


class Lock:
    """A lock that is held between ``acquire`` and ``release``, or inside ``with``."""

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
        """The token of this owner in the lock's state; empty if the lock is not held."""
        return self._state.token if self._state is not None else ""

    @property
    def is_lost(self) -> bool:
        """Return whether a heartbeat has seen that another process took the lock over."""
        return self._lost.is_set()

    def holder(self) -> Identity | None:
        """Return the process that holds the lock; None if it is free."""
        state = read_state(self.path)
        return None if state is None else state.owner

    def acquire(self) -> Self:
        """Take the lock, waiting up to ``wait_s``; BusyError names the process that holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._wait(self._enter)
        self._heart = threading.Thread(target=self._beat, name=f"{self.purpose} lock", daemon=True)
        self._heart.start()
        for left in self.path.parent.glob(
            f".{self.path.name}.*.new"
        ):  # of processes that died while they made it
            shutil.rmtree(left, ignore_errors=True)
        return self

    def clear(self) -> None:
        """Free the lock without holding it, if its owner may lose it; BusyError otherwise."""
        state = read_state(self.path)
        if state is None or not state.token:
            return
        self._wait(lambda old: not old.token or swap_state(self.path, old, LockState.free()))

    def confirm(self) -> None:
        """Renew the lock, to make sure that this process holds it before a step that two must not do."""
        if self._state is None or self._pid != os.getpid() or not self._renew():
            now = self.holder()
            by = f" by {now}" if now is not None else ""
            raise BusyError(
                f"{self.path}: the lock ({self.purpose}) was taken away{by} while it was held; this process stops "
                "and changes nothing more"
            )

    def release(self) -> None:
        """Release the lock."""
        if self._state is None or self._pid != os.getpid():
            return
        self._ended.set()
        if self._heart is not None:
            self._heart.join()
        with self._renewing, contextlib.suppress(OSError):
            mine, self._state = self._state, None
            try:
                swap_state(self.path, mine, LockState.free())
            except OSError:  # a full disk may refuse to rename: a directory without a file is made anew
                (self.path / mine.name).unlink(missing_ok=True)

    def _wait(self, swap: Callable[[LockState], bool]) -> None:
        began = changed = time.monotonic()
        first = seen = None
        is_beating = False
        while True:
            state = read_state(self.path)
            if state is None:
                create_state(self.path)
                continue
            now = time.monotonic()
            first = first or state
            if state != seen:
                is_beating, seen, changed = seen is not None, state, now
            asked = self._take_over and state.token == first.token
            is_late = now - began >= self._wait_s
            if asked or not self._is_kept(state, is_beating, now - changed, is_late=is_late):
                if asked and state.owner is not None and not state.owner.is_dead:
                    self._say(f"{self._describe(state.owner)}; it is taken over")
                if swap(state):
                    return
            else:
                time.sleep(_POLL_S)

    def _is_kept(self, state: LockState, is_beating: bool, silent_s: float, *, is_late: bool) -> bool:
        """Return whether the lock must be left to its owner; BusyError if so and the waiting time is over."""
        owner = state.owner
        if owner is None or owner.is_dead:
            return False
        is_living = owner.is_alive or is_beating
        if not owner.is_alive and silent_s >= self._lease.stale_s:
            self._say(f"{self._describe(owner)}; it is taken over")
            return False
        if is_living and is_late:
            raise BusyError(
                f"{self._describe(owner)}; wait until it ends, or end it; --take-over takes the lock away from it"
            )
        if state.token != self._waits_for:
            self._waits_for = state.token
            watching = f"watching whether it still lives, for up to {self._lease.stale_s:.0f} s"
            waiting = f"waiting until it ends, for up to {self._wait_s:.0f} s"
            self._say(
                f"{self._describe(owner)}; {waiting if is_living else watching} (--take-over does not wait)"
            )
        return True

    def _describe(self, owner: Identity) -> str:
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(owner.since))
        return f"{self.path}: {owner} holds it ({self.purpose}) since {since}"

    def _enter(self, old: LockState) -> bool:
        me = replace(Identity.current(), token=uuid.uuid4().hex[:16], since=time.time())
        mine = LockState.held(me)
        if not swap_state(self.path, old, mine):
            return False
        self._state, self._pid = mine, os.getpid()
        self._ended.clear()
        self._lost.clear()
        return True

    def _beat(self) -> None:
        while not self._ended.wait(self._lease.beat_s):
            # An error says nothing about who holds the lock; the next heartbeat or ``confirm`` tries again.
            with contextlib.suppress(OSError):
                if not self._renew():
                    return

    def _renew(self) -> bool:
        """Write one heartbeat; return whether this process still holds the lock."""
        with self._renewing:
            if self._state is None or self._state.owner is None or self.is_lost:
                return False
            renewed = LockState.held(self._state.owner, self._state.count + 1)
            if swap_state(self.path, self._state, renewed):
                self._state = renewed
                return True
            self._lost.set()
            return False

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
