"""A method for the contract of pools, which fails, waits or dies for the seeds that its parameters name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from tests.runner.functions import good
from vindeby.runner import CallTask


def _kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


die = _kill_this_process
"""How a worker dies at once; a pool whose workers are no processes puts something else here."""


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def steered(task: CallTask) -> dict[str, Any]:
    """Good, but for the seeds that are named."""
    given, folder = task.parameters, Path(task.parameters["folder"])
    if task.seed in given.get("fails", ()):
        raise ValueError(f"no layout for seed {task.seed}")
    if task.seed in given.get("waits", ()):
        (folder / f"began-{task.seed}").touch()
        while not (folder / "gate").exists():
            time.sleep(0.01)
    if task.seed in given.get("dies_once", ()) and not (folder / "died").exists():
        (folder / "died").touch()
        die()
    if task.seed in given.get("ends_machine", ()):
        os.kill(
            _parent(_parent(os.getpid())), signal.SIGKILL
        )  # what the process that started this one belongs to
        time.sleep(60.0)
    return good(task)
