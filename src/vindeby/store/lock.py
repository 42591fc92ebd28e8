"""A lock that a file holds, that works where file locking does not, and that the dead do not keep.

The lock is a hard link, which file systems (network ones too) make or refuse as a whole. It names its owner.
When that is a process of this machine which is gone (another boot, no such process, or one that started at
another time), the lock is broken; a lock from another machine is never broken by guessing, the message says
who holds it and which file to delete if that machine is gone.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from vindeby.errors import BusyError
from vindeby.store.process import Identity

_POLL_S = 0.1


class Lock:
    """Held between ``acquire`` and ``release``, or inside ``with``."""

    def __init__(self, path: Path, purpose: str, *, wait_s: float = 0.0) -> None:
        self.path = path
        self.purpose = purpose
        self.wait_s = wait_s
        self._claim: Path | None = None

    def holder(self) -> Identity | None:
        """Who holds it; None when nobody does."""
        try:
            return Identity.from_json(json.loads(self.path.read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return Identity("an unknown machine", "", 0, "", "")

    def acquire(self) -> Self:
        """Take the lock, waiting up to ``wait_s``; BusyError says who holds it."""
        claim = self._write_claim()
        try:
            self._wait(claim)
        except BaseException:
            claim.unlink(missing_ok=True)
            raise
        self._claim = claim
        self._remove_dead_claims()
        return self

    def _wait(self, claim: Path) -> None:
        deadline = time.monotonic() + self.wait_s
        while not self._try(claim):
            holder = self.holder()
            if holder is not None and holder.is_dead:
                self._break(holder)
                continue
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"{self.path}: {holder or 'another process'} holds it ({self.purpose}); "
                    "wait until it ends, or delete this file if that machine is gone"
                )
            time.sleep(_POLL_S)

    def _write_claim(self) -> Path:
        """The file that the lock will be a link to; on the disk, so that a power cut leaves no lock of nobody."""
        me = Identity.current()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        claim = self.path.with_name(f".{self.path.name}.{me.host}-{me.pid}-{me.token}-{id(self):x}")
        try:
            with claim.open("w") as file:
                file.write(json.dumps(me.to_json()))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            claim.unlink(missing_ok=True)
            raise
        return claim

    def _try(self, claim: Path) -> bool:
        with contextlib.suppress(FileExistsError):
            os.link(claim, self.path)
        # A network file system may lose the answer; two links mean that it was made.
        return claim.stat().st_nlink == 2

    def _remove_dead_claims(self) -> None:
        """What processes left that died while they waited for the lock or held it."""
        for claim in self.path.parent.glob(f".{glob.escape(self.path.name)}.*-*-*-*"):
            owner = Lock(claim, self.purpose).holder()
            if owner is not None and owner.is_dead:
                claim.unlink(missing_ok=True)

    def _break(self, dead: Identity) -> None:
        """Remove a dead owner's lock: only one process gets to, and only if it is still that one."""
        aside = self.path.with_name(f".{self.path.name}.dead-{Identity.current().token}-{id(self):x}")
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return
        taken = Lock(aside, self.purpose).holder()
        if taken != dead:
            with contextlib.suppress(FileExistsError):
                os.link(aside, self.path)
        aside.unlink(missing_ok=True)

    def confirm(self) -> None:
        """Make sure, before a step that cannot be undone, that the lock is still ours."""
        if self.holder() != Identity.current():
            raise BusyError(f"{self.path}: the lock was taken away while it was held; nothing was changed")

    def release(self) -> None:
        """Give the lock back."""
        if self._claim is None:
            return
        if self.holder() == Identity.current():
            self.path.unlink(missing_ok=True)
        self._claim.unlink(missing_ok=True)
        self._claim = None

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
