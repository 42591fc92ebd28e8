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
from tests.evaluation.stored import PLACE, asked_of, campaign, compute, evaluated, of_layouts, results, series
from tests.runner.campaigns import content
from vindeby.campaign.reading.yaml_text import write
from vindeby.runner import evaluate
from vindeby.runner.task_executor import Setup, TaskExecutor
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database
from vindeby.wake import WindFarm

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


def test_evaluations_run_on_a_simulated_card(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = [
        {"combination": "nobody"},
        {"combination": "b", "farm": "farm b", "type": "small", "seed": 0},
        {"combination": "d", "farm": "farm d", "type": "table", "seed": 1},
    ]
    changes = {"site": series(4), "neighbours": {"table": table}, "power_type": "float64"}
    given = of_layouts(**{**GIVEN, **changes})
    (tmp_path / "study.yaml").write_text(write({**given, "run": {"device": "cuda", "workers": 1}}))
    words = ["evaluate", str(source), "--with", "study.yaml", "-o"]
    done = vindeby(tmp_path, *words, "cpu.h5", "--device", "cpu")
    assert not done.returncode, done.stderr
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    done = vindeby(tmp_path, *words, "card.h5")
    assert not done.returncode, done.stderr
    assert "powers are computed on Numba's CUDA simulator" in done.stdout + done.stderr
    again = vindeby(tmp_path, *words, "card.h5", "--device", "auto")
    assert "computed 0 in" in again.stdout + again.stderr
    card, cpu = results(tmp_path / "card.h5"), results(tmp_path / "cpu.h5")
    assert len(card) == len(cpu) == 3
    for key, record in card.items():
        assert (record.attributes["device"], cpu[key].attributes.get("device")) == ("cuda", None)
        for name in ("power", "power_external"):
            apart = np.abs(record.arrays[name] - cpu[key].arrays[name]).max()
            assert apart < 1e-6 * 2e6, (key, name)
        for name in ("aep", "aep_alone", "aep_free", "aep_external"):
            assert record.arrays[name] == pytest.approx(cpu[key].arrays[name], rel=1e-7)


STATES = {"wind_speed": [9, 10, 8], "wind_direction": [200, 45, 10], "probability": [0.5, 0.3, 0.2]}


@pytest.mark.parametrize(
    "site",
    [{"states": {**STATES, "turbulence_intensity": 0.08}}, series(4)],
    ids=["wind states", "time series"],
)
def test_combinations_that_are_computed_at_the_same_time_give_what_they_give_alone(
    source: Path, tmp_path: Path, site: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "power" if "time_series" in site else "aep"
    given = {**GIVEN, "site": site, "neighbours": {"subsets": NEIGHBOURS[:3]}, "output": output}
    asked = asked_of(source, **given)
    alone = [
        TaskExecutor(Setup(asked, str(tmp_path / "a.h5")), print).attempt(task) for task in asked.tasks()
    ]
    sizes: list[int] = []
    batch = WindFarm.power_batch

    def counted(farm: WindFarm, layouts: Any, *more: Any, **named: Any) -> Any:
        sizes.append(len({len(x) for x, _, _ in layouts}))
        return batch(farm, layouts, *more, **named)

    monkeypatch.setattr(WindFarm, "power_batch", counted)
    executor = TaskExecutor(Setup(asked, str(tmp_path / "b.h5"), together=8), print)
    together = dict(executor.attempts(list(asked.tasks())))
    assert max(sizes) == 4  # farms of none to three neighbours
    for place, one in enumerate(alone):
        record, other = one.outcome, together[place].outcome
        assert isinstance(record, Record)
        assert isinstance(other, Record)
        for name, array in record.arrays.items():
            np.testing.assert_allclose(other.arrays[name], array, rtol=2e-7, atol=1e-7, err_msg=name)


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
