"""Locks as another process, alive or dead, here or elsewhere, would hold them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from vindeby.store.disk.lock import LockState, create_state, read_state, swap_state
from vindeby.store.disk.process import Identity

HOLD = """
import sys, time
from pathlib import Path
from vindeby.store.disk.lock import Lock
lock = Lock(Path(sys.argv[1]), "merge").acquire()
print("held", flush=True)
time.sleep(60)
"""


def holder_process(path: Path) -> subprocess.Popen[str]:
    """A process that has the lock."""
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def held_by(path: Path, **changes: Any) -> LockState:
    """Make the lock one that a process like this one holds, except for these changes of its identity."""
    path.parent.mkdir(parents=True, exist_ok=True)
    create_state(path)
    free, held = read_state(path), LockState.held(replace(Identity.current(), token="other", **changes), 7)
    assert free is not None
    assert swap_state(path, free, held)
    return held


def renewed(state: LockState) -> LockState:
    assert state.owner is not None
    return LockState.held(state.owner, state.count + 1)


def beat(path: Path) -> None:
    """Renew a lock, whoever holds it."""
    state = read_state(path)
    assert state is not None
    assert swap_state(path, state, renewed(state))
