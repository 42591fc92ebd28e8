"""A run with neighbours that is killed and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tests.assembly.test_neighbours import campaign
from tests.runner.campaigns import results
from vindeby.assembly.search import pipeline_of, problem_of
from vindeby.assembly.wind import wind_farm
from vindeby.store.disk.run_directory import RunDirectory


def started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "vindeby", "run", "c.yaml", "-o", "out.h5"]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def test_a_run_among_neighbours_that_was_killed_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    steps = [{"random-start": {}}, {"random-search": {"max_evaluations": 1000}}]
    asked = campaign(method=steps, seeds=8, run={"workers": 1, "flush_s": 0.0})
    (tmp_path / "c.yaml").write_text(asked.dumps())
    run = RunDirectory(tmp_path / "out.h5")

    first = started(tmp_path)
    while not run.shard_names() and first.poll() is None:
        time.sleep(0.01)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert first.returncode == -signal.SIGKILL
    assert 0 < len(run.shard_names()) < 8

    again = started(tmp_path)
    assert again.wait(timeout=200) == 0
    found = results(tmp_path / "out.h5")
    assert set(found) == set(asked.fingerprints())
    search = pipeline_of(asked).prepare(problem_of(asked, asked.cells()[0]))
    farm = wind_farm(asked, 0, 0)
    for task in asked.tasks():
        record, expected = found[task.key], search(task.seed, None)
        assert record.fingerprint == task.fingerprint
        assert np.array_equal(record.arrays["layout"], np.stack([expected.x, expected.y]))
        assert record.attributes["aep_searched"] == expected.aep_gwh
        assert float(record.arrays["aep"]) == farm.aep(expected.x, expected.y)
