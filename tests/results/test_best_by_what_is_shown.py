"""Which result is best: of two objectives, by the one that is shown; in pictures, reports and queries alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.costed import COSTED
from tests.command import vindeby
from vindeby.assembly.value import LCOE
from vindeby.campaign import Campaign
from vindeby.report import build_report
from vindeby.results.groups import summaries
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

PLACES = np.array(
    [[500.0, 1500.0, 2500.0, 500.0, 1500.0, 2500.0], [500.0, 500.0, 500.0, 2000.0, 2000.0, 2000.0]]
)
FIGURES = {0: (130.0, 60.0), 1: (128.0, 50.0), 2: (126.0, 55.0)}
"""AEP (GWh) and LCOE (EUR per MWh) of each seed: the one with the most AEP has the worst LCOE."""


def results_of(folder: Path, objective: str) -> Path:
    """Results of one farm and type, which say what they cost."""
    output = folder / "o.h5"
    asked = Campaign.loads(COSTED.replace("objective: lcoe", f"objective: {objective}"))
    run = RunDirectory(output).create()
    run.freeze_campaign(asked.dumps())
    records = []
    for task in asked.tasks():
        if task.key.startswith("farm0_t0"):
            aep, lcoe = FIGURES[task.seed]
            attributes: dict[str, Any] = {
                "farm_idx": 0, "type_idx": 0, "ss_seed": task.seed, "n_turbines": 6, "diameter": 126.0, LCOE: lcoe,
                "objective": lcoe, "turbines_eur": 6e8, "foundations_eur": 3e8, "cables_eur": 0.0, "fixed_eur": 1e8,
                "capex_eur": 1e9, "opex_eur_per_year": 1e6,
            }  # fmt: skip
            if objective != "lcoe":
                del attributes["objective"]
            arrays = {"layout": PLACES, "aep": np.array(aep)}
            records.append(Record(task.key, task.fingerprint, arrays, attributes))
    ShardWriter(run).publish(records)
    return output


@pytest.fixture
def both(tmp_path: Path) -> ResultSet:
    return ResultSet(results_of(tmp_path, "[aep, lcoe]"))


def key(seed: int) -> str:
    return f"farm0_t0_s{seed}"


def test_of_two_objectives_the_one_that_is_shown_decides(both: ResultSet) -> None:
    assert [both.key_of(row) for row in both.best().values()] == [key(0)]
    assert [both.key_of(row) for row in both.best(LCOE).values()] == [key(1)]
    assert [both.best_key(shown) for shown in both.objectives] == [key(0), key(1)]
    assert [both.best_in_words(shown) for shown in both.objectives] == [
        "has the most AEP",
        "has the least LCOE",
    ]
    assert both.worths(LCOE).tolist() == [-60.0, -50.0, -55.0]


def test_of_one_objective_the_best_is_the_same_whatever_is_shown(tmp_path: Path) -> None:
    single = ResultSet(results_of(tmp_path, "lcoe"))
    assert [single.best_key(), single.best_key(LCOE), single.best_key("cable_length_m")] == [key(1)] * 3


@pytest.mark.slow
def test_a_report_has_the_best_by_each_objective(both: ResultSet) -> None:
    assert [row["best"] for shown in both.objectives for row in summaries(both, ["type"], shown)] == [
        key(0),
        key(1),
    ]
    text = build_report(both)
    assert f"{key(0)}: the layout that has the most AEP" in text
    assert f"{key(1)}: the layout that has the least LCOE" in text
    assert '<td class="name">LCOE</td><td class="figure">128.0</td>' in text


@pytest.mark.slow
def test_a_query_orders_by_the_objective_that_it_names(both: ResultSet) -> None:
    orders = []
    for condition in ("aep > 0", f"{LCOE} > 0"):
        done = vindeby(both.path.parent, "query", "o.h5", condition, "--json")
        assert done.returncode == 0, done.stderr
        rows = json.loads(done.stdout)
        assert {row[LCOE] for row in rows} == {50.0, 55.0, 60.0}
        orders.append([row["seed"] for row in rows])
    assert orders == [[0, 1, 2], [1, 2, 0]]
