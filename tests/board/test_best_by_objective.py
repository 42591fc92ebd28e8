"""Which result of a farm the board shows as its best: by the campaign's objective, else by energy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.zoned import TWO_TYPES
from vindeby.board.feed import Feed
from vindeby.campaign import Campaign
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

VALUED = (
    """\
name: valued
n_turbines: 3
objective: {of: npv, price: 80}
costs: {discount: 0.05, years: 20, turbine: {capex: 5.0e+6, opex: 1.0e+5}}
farms:
  - name: plain
    boundary: [[0, 0], [1500, 0], [1500, 1500], [0, 1500]]
  - name: larger
    boundary: [[0, 0], [2000, 0], [2000, 2000], [0, 2000]]
  - name: mixed
    boundary: [[0, 0], [3000, 0], [3000, 2000], [0, 2000]]
    mix: {five: 2, three: 1}
"""
    + TWO_TYPES
)
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
def valued(tmp_path: Path) -> tuple[RunDirectory, Feed]:
    return a_run(tmp_path / "o.h5", Campaign.loads(VALUED))


def test_the_objective_decides_in_a_farm_and_between_farms(valued: tuple[RunDirectory, Feed]) -> None:
    run, feed = valued
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


def test_what_comes_later_counts_and_one_that_says_no_objective_is_not_compared(
    valued: tuple[RunDirectory, Feed],
) -> None:
    run, feed = valued
    told(run, {"farm0_t0_s0": (90.0, 20.0), "farm1_t0_s0": (10.0, -5.0), "farm2_t0_s0": (40.0, 12.0)})
    assert best(feed) == ["farm0_t0_s0", "farm2_t0_s0", "farm1_t0_s0"]
    told(run, {"farm0_t0_s1": (19.0, None), "farm1_t0_s1": (15.0, None), "farm2_t0_s1": (11.0, 13.0)})
    assert best(feed) == ["farm0_t0_s0", "farm2_t0_s1", "farm1_t0_s0"]


def test_the_objective_of_a_result_that_was_replaced_is_forgotten(valued: tuple[RunDirectory, Feed]) -> None:
    run, feed = valued
    told(run, {"farm0_t0_s0": (90.0, 50.0), "farm0_t0_s1": (60.0, 30.0)})
    assert best(feed) == ["farm0_t0_s0"]
    for shard in run.shard_paths():
        shard.unlink()
    told(run, {"farm0_t0_s0": (20.0, None), "farm0_t0_s1": (60.0, 30.0)})
    assert best(feed) == ["farm0_t0_s1"]


def test_without_an_objective_in_the_campaign_energy_decides(tmp_path: Path) -> None:
    lines = VALUED.splitlines(keepends=True)
    plain = "".join(line for line in lines if not line.startswith("objective:"))
    run, feed = a_run(tmp_path / "o.h5", Campaign.loads(plain))
    told(run, {"farm0_t0_s0": (20.0, 1.0), "farm0_t0_s1": (10.0, 99.0)})
    assert best(feed) == ["farm0_t0_s0"]
