"""strace for the tests: is it usable, how often does a job make a call, and run it with a fault injected."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.rows import checksum_of
from vindeby.store.read.database import Database
from vindeby.store.validate import validate

ROOT = Path(__file__).parent.parent.parent
FULL = os.environ.get("VINDEBY_FULL") == "1"
CALLS = {
    "write": "write",
    "pwrite64": "pwrite64",
    "fsync": "fsync",
    "rename": "?rename,?renameat,?renameat2",
    "unlink": "?unlink,?unlinkat,?rmdir",
    "ftruncate": "ftruncate",
    "link": "?link,?linkat",
    "mkdir": "?mkdir,?mkdirat",
}
"""What changes a disk, and the system calls behind it, which differ from machine to machine."""


def sampled(count: int, most: int) -> list[int]:
    """The numbers 1 to count; all of them in a full sweep, else some, with the first and the last."""
    if FULL or count <= most:
        return list(range(1, count + 1))
    if most == 1:
        return [(count + 1) // 2]
    return sorted({1 + round(step * (count - 1) / (most - 1)) for step in range(most)})


def tell(figures: str) -> None:
    """Figures of a sweep, which ``pytest -rP`` shows."""
    sys.stdout.write(figures + "\n")


def command(job: str, output: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "tests.crash.driver", job, str(output), *more]


def run_plain(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        arguments, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120, check=False
    )


@functools.cache
def strace_problem() -> str | None:
    """Why strace cannot be used here; None when it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    probe = ["strace", "-f", "-o", "/dev/null", "-e", "inject=rmdir:error=EIO:when=1"]
    done = run_plain([*probe, sys.executable, "-c", "pass"])
    return None if done.returncode == 0 else f"strace cannot trace here: {done.stderr.strip()[:200]}"


def need_strace() -> None:
    problem = strace_problem()
    if problem is not None:
        pytest.skip(problem)


def traced(call: str, inject: str, arguments: list[str], log: Path) -> subprocess.CompletedProcess[str]:
    """Run with a fault injected into one kind of call."""
    calls = CALLS[call]
    options = ["-e", f"trace={calls}", "-e", f"inject={calls}:{inject}"]
    return run_plain(["strace", "-f", "-qq", "-o", str(log), *options, *arguments])


@contextlib.contextmanager
def stopped(
    call: str, number: int, arguments: list[str], log: Path
) -> Iterator[Callable[[], tuple[int, str]]]:
    """Run until a call of this kind has been made for the n-th time, stopped (SIGSTOP) as long as inside.

    What comes lets it go on, and gives its exit status and what it reported when it has ended.
    """
    calls = CALLS[call]
    options = ["-e", f"trace={calls}", "-e", f"inject={calls}:signal=SIGSTOP:when={number}"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    log.touch()
    with log.with_suffix(".stderr").open("w") as reported:
        child = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", str(log), *options, *arguments],
            stderr=reported, cwd=ROOT, env=environment, start_new_session=True,
        )  # fmt: skip
    deadline = time.monotonic() + 120

    def stops() -> list[str]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
        return re.findall(r"^(\d+) +--- stopped by SIGSTOP ---", log.read_text(), re.MULTILINE)

    def wake() -> tuple[int, str]:
        while child.poll() is None:  # strace counts the calls of each thread and stops more than one
            for pid in stops():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGCONT)
        return child.returncode, log.with_suffix(".stderr").read_text()

    try:
        while child.poll() is None and not stops():
            pass  # it may end before: no thread alone makes the last of all calls
        yield wake
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def count_calls(arguments: list[str], log: Path) -> dict[str, int]:
    """How often an undisturbed run makes each kind of call."""
    every = ",".join(CALLS.values())
    done = run_plain(["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={every}", *arguments])
    assert done.returncode == 0, done.stderr
    text = log.read_text()
    return {
        call: len(
            re.findall(rf"^\d+ +(?:{names.replace('?', '').replace(',', '|')})\(", text, flags=re.MULTILINE)
        )
        for call, names in CALLS.items()
    }


def acknowledged(output: str) -> dict[str, str]:
    """The keys and checksums that a job said were durable."""
    return dict(line.split() for line in output.splitlines())


def assert_nothing_lost(path: Path, promised: dict[str, str]) -> None:
    """Every promised record is there, and nothing that is there is wrong."""
    if not promised and not path.exists() and not RunDirectory(path).shards.exists():
        return
    with Database(path) as database:
        found = {key: checksum_of(record) for key, record in database.items()}
    assert {key: found.get(key) for key in promised} == promised
    if found:
        report = validate(path)
        assert report.issues == []
