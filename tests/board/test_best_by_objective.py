"""Which result of a farm the board shows as its best: by the campaign's objective, else by energy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.counted import COUNTED
from vindeby.board.feed import Feed
from vindeby.campaign import Campaign
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

Told = dict[str, tuple[float, float | None]]
"""By key: the energy (GWh) and the objective of a result, if it says one."""


def told(run: RunDirectory, results: Told) -> None:
    marks = {task.key: task.fingerprint for task in Campaign.loads(run.campaign_file.read_text()).tasks()}
    records = []
    for key, (energy, objective) in results.items():
        farm, kind, seed = (int(part.strip("farmts")) for part in key.split("_"))
        arrays = {"layout": np.array([[100.0, 900.0, 100.0], [100.0, 100.0, 900.0]]), "aep": np.array(energy)}
        attributes: dict[str, Any] = {"farm_idx": farm, "type_idx": kind, "ss_seed": seed, "n_turbines": 3}
        if objective is not None:
            attributes["objective"] = objective
        records.append(Record(key, marks[key], arrays, attributes))
    ShardWriter(run).publish(records)


def a_run(output: Path, campaign: Campaign) -> tuple[RunDirectory, Feed]:
    run = RunDirectory(output).create()
    text = campaign.dumps()
    run.freeze_campaign(text)
    return run, Feed(ResultSet(output))


def best(feed: Feed) -> list[str]:
    feed.look()
    return [entry["key"] for entry in feed.shown["best"]]


@pytest.fixture
def counted(tmp_path: Path) -> tuple[RunDirectory, Feed]:
    return a_run(tmp_path / "o.h5", Campaign.loads(COUNTED))


def test_the_objective_decides_in_a_farm_and_between_farms(counted: tuple[RunDirectory, Feed]) -> None:
    run, feed = counted
    told(
        run,
        {
            "farm0_t0_s0": (90.0, 20.0),
            "farm0_t0_s1": (60.0, 30.0),
            "farm0_t1_s0": (70.0, 25.0),
            "farm1_t0_s0": (50.0, 35.0),
            "farm1_t0_s1": (80.0, 15.0),
        },
    )
    assert best(feed) == ["farm1_t0_s0", "farm0_t0_s1"]


def test_what_comes_later_counts_and_one_that_says_no_objective_goes_by_its_energy(
    counted: tuple[RunDirectory, Feed],
) -> None:
    run, feed = counted
    told(run, {"farm0_t0_s0": (90.0, 20.0), "farm1_t0_s0": (10.0, -5.0), "farm2_t0_s0": (40.0, 12.0)})
    assert best(feed) == ["farm0_t0_s0", "farm2_t0_s0", "farm1_t0_s0"]
    told(run, {"farm0_t0_s1": (19.0, None), "farm1_t0_s1": (15.0, None), "farm2_t0_s1": (11.0, 13.0)})
    assert best(feed) == ["farm0_t0_s0", "farm1_t0_s1", "farm2_t0_s1"]


def test_the_objective_of_a_result_that_was_replaced_is_forgotten(counted: tuple[RunDirectory, Feed]) -> None:
    run, feed = counted
    told(run, {"farm0_t0_s0": (90.0, 50.0), "farm0_t0_s1": (60.0, 30.0)})
    assert best(feed) == ["farm0_t0_s0"]
    for shard in run.shard_paths():
        shard.unlink()
    told(run, {"farm0_t0_s0": (20.0, None), "farm0_t0_s1": (60.0, 30.0)})
    assert best(feed) == ["farm0_t0_s1"]


def test_without_an_objective_in_the_campaign_energy_decides(tmp_path: Path) -> None:
    lines = COUNTED.replace("n_turbines: {from: 3, to: 6}", "n_turbines: 3").splitlines(keepends=True)
    plain = "".join(line for line in lines if not line.startswith("objective:"))
    run, feed = a_run(tmp_path / "o.h5", Campaign.loads(plain))
    told(run, {"farm0_t0_s0": (20.0, 1.0), "farm0_t0_s1": (10.0, 99.0)})
    assert best(feed) == ["farm0_t0_s0"]
