"""A run with axes and a start that is killed at ten places: it resumes, computes nothing twice and loses nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.campaign.test_starts import GIVEN, starting
from tests.runner.campaigns import equal, results
from vindeby.runner.running import run
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database
from vindeby.store.states import fingerprints

KILLS = 10


def started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "vindeby", "run", "c.yaml", "-o", "out.h5"]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def published(output: Path) -> dict[str, str]:
    """The checksum of each record that is durable: another computation has other seconds, and another checksum."""
    if not RunDirectory(output).shard_names() and not output.exists():
        return {}
    with Database(output) as database:
        return {key: database.checksum(key) for key in fingerprints(database)}


@pytest.mark.slow
def test_a_run_with_axes_and_starts_that_is_killed_loses_nothing_and_computes_nothing_twice(
    tmp_path: Path,
) -> None:
    other = {key: [value + 20.0 for value in values] for key, values in GIVEN.items()}
    asked = starting(
        None,
        seeds=6,
        method={"random-search": {"max_evaluations": 3000}},
        vary={
            "wake": {"wide": {"jensen": {"k": 0.06}}, "narrow": {"jensen": {"k": 0.04}}},
            "start": {"ours": GIVEN, "theirs": other},
        },
        run={"workers": 1, "flush_s": 0.0},
    )
    (tmp_path / "c.yaml").write_text(asked.dumps())
    output, known = tmp_path / "out.h5", dict[str, str]()
    for kill in range(KILLS):
        process = started(tmp_path)
        while len(published(output)) < 2 * kill + 1 and process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.03 * kill)  # another moment each time
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = published(output)
        assert found.items() >= known.items()
        known = found
    assert started(tmp_path).wait(timeout=300) == 0
    found = published(output)
    assert found.items() >= known.items()
    assert set(found) == set(asked.fingerprints())
    run(asked, tmp_path / "undisturbed.h5")
    assert equal(results(output), results(tmp_path / "undisturbed.h5"))
    assert all("gain_percent" in record.attributes for record in results(output).values())
