"""The real command ``vindeby board``, and a real run, as processes of a test."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
COMMAND = str(Path(sys.executable).with_name("vindeby"))


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait for something to come true."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"in {seconds:g} s it did not come true that {what}"
        time.sleep(0.05)


@contextlib.contextmanager
def board(output: Path, *arguments: str) -> Iterator[str]:
    """The board of a database; its address."""
    process = subprocess.Popen(
        [COMMAND, "board", str(output), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], 60)
        line = process.stdout.readline() if ready else ""
        found = re.fullmatch(r"board: (http://\S+)\n", line)
        assert found, f"the board said {line!r}, and {process.stderr.read() if process.stderr else ''}"
        yield found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


@contextlib.contextmanager
def running(campaign_file: Path, output: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of a campaign whose method is in these tests."""
    process = subprocess.Popen(
        [COMMAND, "run", str(campaign_file), "-o", str(output), "--workers", "2", "--quiet"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
