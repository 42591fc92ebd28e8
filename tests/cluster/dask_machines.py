"""A Dask cluster as separate processes, each worker with a local directory of its own, like so many machines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.runner.campaigns import ROOT

LONGEST_S = 120.0
QUIET = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error", "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s"}


class Machines:
    """The scheduler and the workers; every process of them carries a mark in its environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.mark = f"machines-{folder}"
        self.environment = os.environ | QUIET | {"VINDEBY_MARK": self.mark}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start_scheduler(self, host: str = "127.0.0.1") -> None:
        self.file.unlink(missing_ok=True)
        words = ["distributed.cli.dask_scheduler", "--host", host, "--port", "0", "--no-dashboard"]
        self._start("scheduler", [*words, "--scheduler-file", str(self.file)])
        wait_until(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))

    def start_worker(
        self, name: str, *before: str, host: str | None = None, options: tuple[str, ...] = ("--no-nanny",)
    ) -> None:
        local = self.folder / name
        local.mkdir()
        words = [
            "distributed.cli.dask_worker", "--scheduler-file", str(self.file), "--no-dashboard",
            "--nthreads", "1", "--name", name, "--local-directory", str(local), "--death-timeout", "10", *options,
        ]  # fmt: skip
        self._start(name, words + (["--host", host] if host else []), before)

    @property
    def address(self) -> str:
        address: str = json.loads(self.file.read_text())["address"]
        return address

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        os.killpg(self.processes[name].pid, number)
        if number == signal.SIGKILL:
            self.processes.pop(name).wait()

    def close(self) -> None:
        for name in list(self.processes):
            with suppress(ProcessLookupError):
                self.kill(name)

    def _start(self, name: str, words: list[str], before: tuple[str, ...] = ()) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [*before, sys.executable, "-m", *words],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT,
                start_new_session=True,
            )  # fmt: skip


@contextmanager
def machines(folder: Path, *workers: str) -> Iterator[Machines]:
    """A scheduler and workers of these names; killed at the end."""
    folder.mkdir(exist_ok=True)
    cluster = Machines(folder)
    try:
        cluster.start_scheduler()
        for name in workers:
            cluster.start_worker(name)
        yield cluster
    finally:
        cluster.close()


def wait_until(true: Callable[[], Any], longest_s: float = LONGEST_S) -> None:
    deadline = time.monotonic() + longest_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
