"""A lock that works where file locking does not, that the dead do not keep, and that is never held by two.

Its state is changed only by the compare-and-swap of ``lock_state``. The owner renews it every few seconds from a
thread. It is taken over from

- an owner that is known to be gone, a process of this machine: at once;
- an owner that may live elsewhere (another machine, another container): when it was not renewed for ``Lease.stale_s``;
- whoever holds it, when the user says so (``take_over``).

Taking over is a swap from the very heartbeat that was seen last, so it fails if the owner renews the lock in between.
An owner that was stopped or slow finds out when it renews the lock, which ``confirm`` does before each step that must
not be done by two.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Self

from vindeby.errors import BusyError
from vindeby.store.disk.lock_state import (
    LEASE,
    Lease,
    LockState,
    Owner,
    Sign,
    Watch,
    claim_path,
    create_state,
    read_claim,
    read_state,
    remove_abandoned,
    swap_state,
    write_claim,
)
from vindeby.store.disk.process import Identity

_POLL_S = 0.1


def _silent(_: str) -> None:
    """Nobody listens."""


class Lock:
    """Held between ``acquire`` and ``release``, or inside ``with``."""

    def __init__(
        self,
        path: Path,
        purpose: str,
        *,
        wait_s: float = 0.0,
        take_over: bool = False,
        say: Callable[[str], None] = _silent,
        lease: Lease | None = None,
    ) -> None:
        self.path = path
        self.purpose = purpose
        self._wait_s = wait_s
        self._take_over = take_over
        self._say = say
        self._lease = LEASE if lease is None else lease
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
        return None if state is None or not state.token else self._owner(state).process

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
            finally:  # without it, a lock that the disk does not let go of is taken over as one of an unknown owner
                claim.unlink(missing_ok=True)

    def _wait(self, swap: Callable[[LockState], bool]) -> None:
        """Until ``swap`` from a state that may be left has succeeded."""
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
        """May it be taken from its owner? BusyError when it may not and there is no more time."""
        owner = self._owner(state)
        if owner.process.is_dead:
            return True
        if owner.is_unknown and read_state(self.path) != state:
            return False  # it was given back just now
        sign = Sign.ALIVE if owner.process.is_alive else watch.look(state)
        if asked or sign is Sign.STALE:
            self._say(f"{self.path}: {owner.describe(self.path, self.purpose)}; it is taken over")
            return True
        if sign is Sign.ALIVE and time.monotonic() >= deadline:
            raise BusyError(
                f"{self.path}: {owner.describe(self.path, self.purpose)}; wait until it ends, or end it; "
                "--take-over takes the lock away from it"
            )
        if state.token != self._waits_for:
            self._waits_for = state.token
            watched = f"watching whether it still lives, for up to {self._lease.stale_s:.0f} s"
            waiting = f"waiting until it ends, for up to {self._wait_s:.0f} s"
            self._say(
                f"{self.path}: {owner.describe(self.path, self.purpose)}; "
                f"{watched if sign is Sign.UNKNOWN else waiting} (--take-over does not wait)"
            )
        return False

    def _enter(self, old: LockState) -> bool:
        """Become the owner, if the state is still ``old``."""
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
                claim_path(self.path, old.token).unlink(missing_ok=True)
        return done

    def _beat(self) -> None:
        while not self._ended.wait(self._lease.beat_s):
            # An error says nothing about who holds the lock; the next heartbeat or ``confirm`` tries again.
            with contextlib.suppress(OSError):
                if not self._renew():
                    return

    def _renew(self) -> bool:
        """One heartbeat: whether the lock is still ours."""
        with self._renewing:
            if self._state is None or self.is_lost:
                return False
            renewed = self._state.renewed()
            if swap_state(self.path, self._state, renewed):
                self._state = renewed
                return True
            self._lost.set()
            return False

    def _owner(self, state: LockState) -> Owner:
        return read_claim(claim_path(self.path, state.token))

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
