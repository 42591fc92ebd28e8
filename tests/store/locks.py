"""Locks as another process, alive or dead, here or elsewhere, would hold them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from vindeby.store.disk.lock import LockState, claim_path, create_state, read_state, swap_state
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


def held_by(
    path: Path, *, heartbeat_age_s: float = 0.0, token: str = "other", **changes: object
) -> LockState:
    """Make the lock one that a process like this one holds, except for these changes of its identity."""
    path.parent.mkdir(parents=True, exist_ok=True)
    create_state(path)
    free, held = read_state(path), LockState.held(token, 7)
    assert free is not None
    claim_path(path, token).write_text(json.dumps({**Identity.current().to_json(), **changes}))
    assert swap_state(path, free, held)
    set_heartbeat_age(path, heartbeat_age_s)
    return held


def set_heartbeat_age(path: Path, seconds: float) -> None:
    """As if the last heartbeat was so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def beat(path: Path) -> None:
    """Renew a lock, whoever holds it."""
    state = read_state(path)
    assert state is not None
    assert swap_state(path, state, state.renewed())
