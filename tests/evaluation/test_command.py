"""The command itself: killed and resumed, watched, merged and validated like a campaign."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import vindeby
from tests.evaluation.stored import PLACE, campaign, compute, evaluated, of_layouts, results, series
from tests.runner.campaigns import content
from vindeby.campaign.reading.yaml_text import write
from vindeby.runner import evaluate
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database

pytestmark = pytest.mark.slow

NEIGHBOURS = [{"farm": f"farm {name}", "type": "small"} for name in "bcdefg"]
GIVEN: dict[str, Any] = {
    "farms": "farm a",
    "types": "small",
    "site": series(60),
    "neighbours": {"subsets": NEIGHBOURS},
    "internal_wakes": "both",
    "output": "power",
}
RUN = {"workers": 1, "flush_s": 0.0}


def kill_after(folder: Path, words: list[str], shards: int) -> None:
    """Start the command, and kill all of its processes when so many more shards are there."""
    run = RunDirectory(folder / "study.h5")
    enough = len(run.shard_names()) + shards
    command = [sys.executable, "-m", "vindeby", *words]
    started = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while len(run.shard_names()) < enough and started.poll() is None:
        time.sleep(0.005)
    os.killpg(started.pid, signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL


def test_an_evaluation_that_was_killed_twice_ends_as_if_it_had_not_been(source: Path, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(write({**of_layouts(**GIVEN), "run": RUN}))
    words = ["evaluate", str(source), "--with", "study.yaml", "-o", "study.h5"]
    before = source.read_bytes()
    for shards in (2, 3):
        kill_after(tmp_path, words, shards)
    assert 5 <= len(RunDirectory(tmp_path / "study.h5").shard_names()) < 64
    done = json.loads(vindeby(tmp_path, "monitor", "study.h5", "--json").stdout)
    assert done["expected"] == 64
    assert 5 <= done["done"] < 64
    again = vindeby(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert "results are there already" in again.stderr
    expected = evaluated(source, tmp_path / "in_one_go.h5", **GIVEN)
    found = results(tmp_path / "study.h5")
    assert [content(found[record.key]) for record in expected] == [content(record) for record in expected]
    assert vindeby(tmp_path, "validate", "study.h5").returncode == 0
    assert source.read_bytes() == before
    with Database(tmp_path / "study.h5") as database:
        root = database.attributes
    assert root["source_database"] == str(source)
    assert root["source_campaign"] == "layouts"
    with Database(source) as stored:
        assert root["source_digest"] == stored.digest
    assert "internal_wakes: both" in str(root["campaign"])


def test_the_command_says_what_is_wrong_and_exits_with_2(source: Path, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(write(of_layouts(farms="farm a")))
    words = ["evaluate", str(source), "--with", "study.yaml", "-o", "s.h5", "--set"]
    told = vindeby(tmp_path, *words, "method.stored.output=watts")
    assert told.returncode == 2
    assert "vindeby: --set method.stored.output=watts: method.stored.output: " in told.stderr


def test_layouts_that_have_changed_make_results_stale(tmp_path: Path) -> None:
    given: dict[str, Any] = {"farms": "farm a", "types": "small", "neighbours": {"together": NEIGHBOURS[:1]}}
    made = compute(campaign(2, 1), tmp_path / "layouts.h5")
    (before,) = evaluated(made, tmp_path / "s.h5", **given)
    made.unlink()
    other = {"call": {**PLACE["call"], "parameters": {"other": 1}}}
    compute(campaign(2, 1, method=other), tmp_path / "layouts.h5")
    said: list[str] = []
    evaluate(made, of_layouts(**given), tmp_path / "s.h5", workers=1, on_message=said.append)
    assert any("1 result of an older version of the campaign" in one and "left there" in one for one in said)
    assert content(results(tmp_path / "s.h5")[before.key]) == content(before)
    done = evaluate(made, of_layouts(**given), tmp_path / "s.h5", workers=1, replace_stale=True)
    assert done.done == 1
    after = results(tmp_path / "s.h5")[before.key]
    assert after.attributes["layout_key"] == before.attributes["layout_key"]
    assert not np.array_equal(after.arrays["layout"], before.arrays["layout"])


@pytest.mark.core
def test_results_are_read_over_combinations(source: Path, tmp_path: Path) -> None:
    records = evaluated(
        source,
        tmp_path / "s.h5",
        farms=["farm a", "farm f"],
        types="small",
        seeds=[1, 0],
        site=series(24, times=True),
        neighbours={"subsets": NEIGHBOURS[:4]},
        internal_wakes="both",
        output="power",
    )
    with Database(tmp_path / "s.h5") as database:
        data, frame = database.to_xarray(), database.to_dataframe()
    assert dict(data.sizes) == {
        "farm": 2,
        "type": 1,
        "neighbours": 16,
        "seed": 2,
        "turbine": 5,
        "time": 24,
    }
    chosen = data.sel(farm="farm f", type="small", neighbours="farm b+farm d", seed=0)
    (record,) = [
        one
        for one in records
        if (one.attributes["farm"], one.attributes["neighbours"], one.attributes["layout_seed"])
        == ("farm f", "farm b+farm d", 0)
    ]
    assert float(chosen.aep) == record.aep
    assert int(chosen.layout_seed) == 0
    np.testing.assert_array_equal(chosen.power.transpose("turbine", "time"), record.power)
    assert str(data.time.values[1])[:10] == "2020-01-02"
    assert frame.groupby("neighbours").aep.mean()["none"] == pytest.approx(
        float(data.aep.sel(neighbours="none").mean())
    )
