"""The command itself: killed and resumed, watched, merged and validated like a campaign."""

from __future__ import annotations

import contextlib
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
from tests.evaluation.studies import PLACE, campaign, compute, evaluated, results, series
from tests.runner.campaigns import content
from vindeby.campaign.reading.yaml_text import write
from vindeby.errors import InputError
from vindeby.evaluation import running, study_dataset
from vindeby.evaluation.running import evaluate, study_campaign
from vindeby.runner.task_executor import Setup, TaskExecutor
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database
from vindeby.wake import WindFarm

pytestmark = pytest.mark.slow

NEIGHBOURS = [{"farm": f"farm {name}", "type": "small"} for name in "bcdefg"]
STUDY = {
    "name": "study",
    "layouts": {"farms": "farm a", "types": "small"},
    "site": series(60),
    "neighbours": {"subsets": NEIGHBOURS},
    "internal_wakes": "both",
    "output": "power",
    "run": {"workers": 1, "flush_s": 0.0},
}


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
    (tmp_path / "study.yaml").write_text(write(STUDY))
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
    expected = evaluated(source, STUDY, tmp_path / "in_one_go.h5")
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
    assert "internal_wakes: both" in str(root["study"])


def test_a_study_runs_on_a_simulated_card(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = [
        {"combination": "nobody"},
        {"combination": "b", "farm": "farm b", "type": "small", "seed": 0},
        {"combination": "d", "farm": "farm d", "type": "table", "seed": 1},
    ]
    changes = {"site": series(4), "neighbours": {"table": table}, "power_type": "float64"}
    (tmp_path / "study.yaml").write_text(write({**STUDY, **changes, "run": {"device": "cuda", "workers": 1}}))
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
def test_cases_that_are_computed_at_the_same_time_give_what_they_give_alone(
    source: Path, tmp_path: Path, site: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "power" if "time_series" in site else "aep"
    study = {**STUDY, "site": site, "neighbours": {"subsets": NEIGHBOURS[:3]}, "output": output}
    asked = study_campaign(source, study)
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
    (tmp_path / "study.yaml").write_text(write({"name": "s", "layouts": {"farms": "farm a"}}))
    told = vindeby(
        tmp_path, "evaluate", str(source), "--with", "study.yaml", "-o", "s.h5", "--set", "output=watts"
    )
    assert told.returncode == 2
    assert "vindeby: --set output=watts: output: " in told.stderr


def test_a_source_that_has_changed_is_refused_until_it_is_said(tmp_path: Path) -> None:
    study = {
        "name": "s",
        "layouts": {"farms": "farm a", "types": "small"},
        "neighbours": {"together": NEIGHBOURS[:1]},
    }
    made = compute(campaign(2, 1), tmp_path / "layouts.h5")
    asked = study_campaign(made, study)
    compute(asked, tmp_path / "s.h5")
    made.unlink()
    other = {"call": {**PLACE["call"], "parameters": {"other": 1}}}
    compute(campaign(2, 1, method=other), tmp_path / "layouts.h5")
    with pytest.raises(
        InputError, match=r"holds evaluations of farm0_t0_s0 \w+, but the study now means farm0_t0_s0 "
    ):
        evaluate(made, study, tmp_path / "s.h5")
    made.unlink()
    compute(campaign(2, 9), tmp_path / "layouts.h5")
    best = study_campaign(made, study)
    assert best.method != asked.method, "the best of nine seeds is another one"
    with pytest.raises(
        InputError, match=r"holds evaluations of farm0_t0_s0 \w+, but the study now means farm0_t0_s"
    ):
        evaluate(made, study, tmp_path / "s.h5")


@pytest.mark.parametrize(
    ("kept", "now", "words"),
    [
        (
            ["s0 aaa", "s1 bbb"],
            ["s0 aaa", "s1 ccc"],
            "holds evaluations of s1 bbb, but the study now means s1 ccc ",
        ),
        (
            ["s0 aaa", "s1 bbb"],
            ["s0 aaa"],
            "holds evaluations of s1 bbb, but the study now means only 1 layout of north five ",
        ),
        (["s0 aaa"], ["s0 aaa", "s1 bbb"], ""),
    ],
    ids=["another", "fewer", "more"],
)
def test_the_layout_that_has_changed_is_the_one_that_is_named(
    kept: list[str], now: list[str], words: str, monkeypatch: pytest.MonkeyPatch, source: Path, tmp_path: Path
) -> None:
    asked = study_campaign(source, {"name": "s"})
    RunDirectory(tmp_path / "s.h5").create().freeze_campaign(asked.dumps())
    found = iter([{"north five": kept}, {"north five": now}])
    monkeypatch.setattr(running, "_layouts_of", lambda _: next(found))
    expected = pytest.raises(InputError, match=words) if words else contextlib.nullcontext()
    with expected:
        running.refuse_changed_source(asked, tmp_path / "s.h5")


@pytest.mark.core
def test_results_are_read_over_combinations(source: Path, tmp_path: Path) -> None:
    study = {
        **STUDY,
        "site": series(24, times=True),
        "layouts": {"farms": ["farm a", "farm f"], "types": "small", "seeds": [1, 0]},
        "neighbours": {"subsets": NEIGHBOURS[:4]},
    }
    records = evaluated(source, study, tmp_path / "s.h5")
    data = study_dataset(tmp_path / "s.h5")
    assert dict(data.sizes) == {
        "farm": 2,
        "type": 1,
        "layout": 2,
        "combination": 16,
        "turbine": 5,
        "time": 24,
    }
    chosen = data.sel(farm="farm f", type="small", combination="farm b+farm d").isel(layout=1)
    (record,) = [
        one
        for one in records
        if (one.attributes["farm"], one.attributes["combination"], one.attributes["layout_seed"])
        == ("farm f", "farm b+farm d", 0)
    ]
    assert float(chosen.aep) == record.aep
    assert int(chosen.layout_seed) == 0
    np.testing.assert_array_equal(chosen.power.transpose("turbine", "time"), record.power)
    assert str(data.time.values[1])[:10] == "2020-01-02"
    with Database(tmp_path / "s.h5") as database:
        frame = database.to_dataframe()
    assert frame.groupby("combination").aep.mean()["none"] == pytest.approx(
        float(data.aep.sel(combination="none").mean())
    )
    with pytest.raises(InputError, match="is not the database of a study"):
        study_dataset(source)
