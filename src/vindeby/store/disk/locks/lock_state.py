"""The state of a lock: the name of the only file in a directory, which is changed by renaming that file.

```
run.lock/free-NONCE            nobody holds it
run.lock/held-TOKEN-COUNT      the process that chose TOKEN holds it and has renewed it COUNT times
```
A rename names the old state and the new one, and the file system (a network one too) does it as a whole or refuses it
because the old name is gone. So it is a compare-and-swap: of any number of processes that saw the same state exactly
one changes it, however long each pauses between looking and renaming. No state ever comes back, because every name
holds a fresh random number or a higher count: a process that looked long ago cannot mistake a later state for the one
that it saw. Taking a free lock, renewing it, taking it over from a dead or silent owner and giving it back are all this
one step. Nothing is deleted and put back, and no clock decides who wins.

The directory appears with its file in it, by renaming a prepared directory: a second one cannot take its place, because
a directory that is not empty is never replaced.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from vindeby.errors import BusyError

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
    """The state of the lock at ``path``; None where no lock was ever made. NotADirectoryError for a plain file."""
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
    except (FileNotFoundError, NotADirectoryError):
        # A network file system may repeat a request whose answer was lost: then the new name is there.
        return os.path.lexists(path / new.name)
    return True


def is_held_by(path: Path, token: str) -> bool:
    """Is this the owner now? For a look from another process; the owner itself renews the lock to be sure."""
    try:
        state = read_state(path)
    except (NotADirectoryError, BusyError):
        return False
    return state is not None and state.token == token
