"""A run by LCOE, with water depths, cables and two zones, that is killed twice and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tests.assembly.test_search_by_value import STEEP
from tests.runner.campaigns import results
from vindeby.campaign import Campaign
from vindeby.store.disk.run_directory import RunDirectory

CABLES = "  cables: {substations: {bank: [[1500, 2500], [4500, 2500]]}, types: [[2, 300], [4, 450]]}\n"
TEXT = STEEP.replace("METHOD", "[random-start, {annealing: {max_evaluations: 40000}}]").replace(
    "objective:", f"{CABLES}objective:"
)
RUN = "run: {workers: 1, flush_s: 0.0}\n"


def started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "vindeby", "run", "c.yaml", "-o", "out.h5"]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def test_a_run_by_lcoe_that_was_killed_twice_equals_the_undisturbed_one(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("undisturbed", "killed")]
    for folder in folders:
        folder.mkdir()
        (folder / "c.yaml").write_text(TEXT + RUN)
    assert started(folders[0]).wait(timeout=600) == 0
    expected = results(folders[0] / "out.h5")

    run = RunDirectory(folders[1] / "out.h5")
    for shards in (1, 3):
        process = started(folders[1])
        while len(run.shard_names()) < shards and process.poll() is None:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.returncode == -signal.SIGKILL
        assert shards <= len(run.shard_names()) < 8
    assert started(folders[1]).wait(timeout=600) == 0

    found, asked = results(folders[1] / "out.h5"), Campaign.loads(TEXT)
    assert set(found) == set(expected) == set(asked.fingerprints())
    for key, record in expected.items():
        other = found[key]
        assert record.fingerprint == other.fingerprint == asked.fingerprints()[key]
        assert record.arrays.keys() == other.arrays.keys()
        assert all(np.array_equal(array, other.arrays[name]) for name, array in record.arrays.items())
        said, again = ({**one.attributes, "seconds": 0.0} for one in (record, other))
        assert said == again
        assert said["objective"] == said["lcoe_eur_per_mwh"]
        assert float(said["cables_eur"]) > 0.0
