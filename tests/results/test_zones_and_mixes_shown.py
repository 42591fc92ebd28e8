"""A campaign with zones and mixes as monitor, missing, pictures and reports show it."""

from __future__ import annotations

from pathlib import Path

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.text import Text

import vindeby
from tests.campaign.zoned import ZONED
from vindeby import plots
from vindeby.campaign import Campaign
from vindeby.plots.energy import comparable
from vindeby.report.gather import missing_by_cell, results_data
from vindeby.results.groups import summaries
from vindeby.results.result_set import ResultSet
from vindeby.runner.methods.method_protocol import checked_record
from vindeby.runner.methods.search import SearchMethod
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seed 0 of every cell is done, seed 1 of none."""
    path = tmp_path_factory.mktemp("zoned") / "o.h5"
    campaign, records = Campaign.loads(ZONED), []
    method = SearchMethod(campaign)
    for cell in campaign.cells():
        task = next(cell.tasks(campaign.seeds))
        records.append(checked_record(campaign, cell, task, method.prepare(cell)(task), 1.0))
    run, text = RunDirectory(path).create(), campaign.dumps()
    run.freeze_campaign(text)
    ShardWriter(run).publish(records)
    merge(path, MergeOptions(root=campaign.root_attributes()))
    return path


def test_the_monitor_counts_a_mixed_farm_once(database: Path) -> None:
    snapshot = ResultSet(database).look()
    assert (snapshot.expected, snapshot.done, snapshot.missing, snapshot.extra) == (8, 4, 4, 0)
    rows = snapshot.counts_by(("farm", "turbine"))
    assert [(row["farm"], row["turbine"], row["done"], row["expected"]) for row in rows] == [
        ("together", "three", 1, 2),
        ("together", "five", 1, 2),
        ("in turn", "three+five", 1, 2),
        ("mixed", "three+five", 1, 2),
    ]
    assert [row["expected"] for row in snapshot.counts_by(("turbine",))] == [6, 2]
    assert [row["expected"] for row in snapshot.counts_by(("farm",))] == [4, 2, 2]
    assert missing_by_cell(snapshot)[2:] == [
        ("in turn", "three+five", "open", "1"),
        ("mixed", "three+five", "open", "1"),
    ]


def test_pictures_and_reports_use_the_mix(database: Path) -> None:
    result_set = ResultSet(database)
    capacity = {key: 22.0 if "farm1" in key else 26.0 for key in ("farm1_t0_s0", "farm2_t0_s0")}
    shown = comparable(result_set, result_set.rows)
    for key, megawatts in capacity.items():
        row = int(np.flatnonzero(result_set.rows["key"] == key.encode())[0])
        assert shown.values[row] == pytest.approx(100 * result_set.rows["aep"][row] / (8.76 * megawatts))
        types = result_set.own_types(key)
        farm = result_set.wind_farm(result_set.cell(key))
        assert types is not None
        assert farm is not None
        x, y = result_set.layout(key)
        loss = farm.wake_loss(x, y, types)
        assert result_set.wake_losses()[row] == pytest.approx(loss, abs=1e-9)
    data = results_data(result_set)
    named = {row["key"]: data["types"][row["type"]]["name"] for row in data["results"]}
    assert named == {
        "farm0_t0_s0": "three",
        "farm0_t1_s0": "five",
        "farm1_t0_s0": "three+five",
        "farm2_t0_s0": "three+five",
    }
    assert len(data["farms"][0]["rings"]) == 2, "both zones are drawn"
    assert [row["type"] for row in summaries(result_set, ["farm", "type"])] == [
        "three",
        "five",
        "three+five",
        "three+five",
    ]


def test_a_picture_of_a_mix_has_its_types_in_the_legend(database: Path) -> None:
    axes = plots.layout(ResultSet(database), "farm2_t0_s0")
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["three (2)", "five (4)"]
    figure = axes.figure
    assert isinstance(figure, matplotlib.figure.Figure)
    said = [text.get_text() for text in figure.findobj(Text)]
    assert "26 MW" in said
    assert any("mixed, three+five, seed 0" in text for text in said)


def test_zones_and_types_are_variables_of_the_dataset(database: Path) -> None:
    with vindeby.open(database) as opened:
        data = opened.to_xarray()
    assert data["zone"].dims == ("farm", "type", "seed", "turbine")
    assert data["zone"].sel(farm="together", type="five", seed=0).values[:8].tolist() == [0.0] * 5 + [1.0] * 3
    types = data["types"].sel(farm="mixed", type="three", seed=0).values
    assert np.nansum(types) == 4
    assert data["types"].attrs["long_name"].startswith("turbine type of each turbine")
