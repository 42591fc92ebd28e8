"""Kill anything, at any moment, again and again: the database is the one that an undisturbed run makes."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.runner.campaigns import FULL, ROOT, calling, equal, marked_processes, results
from vindeby.runner import run
from vindeby.store.disk.lock import Lock
from vindeby.store.read.database import Database
from vindeby.store.states import fingerprints

SEEDS, ROUNDS, RESTARTS, PAUSE_S = (80, 3000, 12, 0.2) if FULL else (15, 2000, 3, 0.2)
METHODS = ["spawn", "forkserver"] if FULL else ["forkserver"]


def start(campaign: Path, output: Path, mark: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.crash.coordinator", str(campaign), str(output)]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | {"VINDEBY_MARK": mark})


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def wait_until_gone(mark: str) -> None:
    deadline = time.monotonic() + 10.0
    while (left := marked_processes(f"VINDEBY_MARK={mark}")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == [], "processes outlive their coordinator"


def published(output: Path) -> set[str]:
    if not output.exists() and not Path(f"{output}.run/shards").exists():
        return set()
    with Database(output) as database:
        return set(fingerprints(database))


def chaos(campaign: Path, output: Path, mark: str, choice: random.Random) -> int:
    """One coordinator after the other, each killed after some of its processes were; how many those were."""
    killed = 0
    for _ in range(RESTARTS):
        before = published(output)
        process = start(campaign, output, mark)
        for _ in range(choice.randint(3, 6)):
            while process.poll() is None:
                time.sleep(PAUSE_S * choice.uniform(0.5, 1.5))
                others = [pid for pid in marked_processes(f"VINDEBY_MARK={mark}") if pid != process.pid]
                if len(others) > 1:
                    kill(choice.choice(others))
                    killed += 1
                    break
        assert process.poll() is None, "the campaign is too short for this test"
        kill(process.pid)
        process.wait()
        wait_until_gone(mark)
        assert before <= published(output), "something that was published is gone"
    return killed


def test_the_database_is_that_of_an_undisturbed_run(tmp_path: Path) -> None:
    asked = calling("at_work", SEEDS, {"rounds": ROUNDS}, retries=100, flush_s=0.3)
    reference = run(asked, tmp_path / "reference.h5")
    assert reference.complete
    campaign, output = tmp_path / "c.yaml", tmp_path / "out.h5"
    campaign.write_text(asked.dumps())
    mark = f"chaos-{tmp_path}"
    killed = chaos(campaign, output, mark, random.Random("forkserver"))
    assert killed >= 3 * RESTARTS
    last = start(campaign, output, mark)
    assert last.wait(timeout=240) == 0
    wait_until_gone(mark)
    assert len(results(output)) == 4 * SEEDS
    assert equal(results(output), results(tmp_path / "reference.h5"))
    assert all(Lock(path, "any").holder() is None for path in Path(f"{output}.run").glob("*.lock"))


def test_a_worker_that_hangs_in_c_dies_with_a_killed_coordinator(tmp_path: Path) -> None:
    asked = calling("poisonous", [1], {"poisons": {"1": "hang in C"}})
    campaign, output = tmp_path / "c.yaml", tmp_path / "out.h5"
    campaign.write_text(asked.dumps())
    process = start(campaign, output, mark := f"hang-{tmp_path}")
    deadline = time.monotonic() + 30.0
    while len(marked_processes(f"VINDEBY_MARK={mark}")) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    assert len(marked_processes(f"VINDEBY_MARK={mark}")) >= 4, "coordinator, spawner, two workers"
    kill(process.pid)
    process.wait()
    wait_until_gone(mark)


def test_workers_that_are_killed_cost_a_second_computation_only_of_what_they_had_not_reported(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "trace"
    asked = calling("slow", 6, {"seconds": 0.05, "trace": str(trace)}, workers=1, flush_s=0.0, retries=100)
    campaign, output = tmp_path / "c.yaml", tmp_path / "out.h5"
    campaign.write_text(asked.dumps())
    process = start(campaign, output, mark := f"once-{tmp_path}")
    while process.poll() is None:
        time.sleep(0.4)
        coordinator_spawner_worker = sorted(marked_processes(f"VINDEBY_MARK={mark}"))
        if len(coordinator_spawner_worker) == 3 and len(published(output)) < 20:
            kill(coordinator_spawner_worker[-1])
    assert process.returncode == 0
    calls = trace.read_text().split()
    assert set(calls) == set(results(output))
    assert len(calls) < 2 * len(set(calls))
