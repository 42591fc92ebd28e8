from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from tests.evaluation import stored
from tests.results.examples import campaign, finished
from vindeby import plots
from vindeby.campaign import Campaign
from vindeby.plots.layout import Drawn
from vindeby.report.page import campaign_facts
from vindeby.results.maps import farm_data, frame_of
from vindeby.results.result_set import ResultSet

NEAR = [[4600.0, 500.0], [4600.0, 2500.0]]
FAR = [[90000.0, 0.0]]


@pytest.fixture(scope="module")
def result_set(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    data = campaign(seeds=3).to_data()
    data["neighbours"] = [{"name": "East", "type": "five", "positions": NEAR + FAR}]
    path = tmp_path_factory.mktemp("plots") / "o.h5"
    finished(path, Campaign.from_data(data))
    return ResultSet(path)


def drawn_in(axes: Axes) -> list[Any]:
    return [line for line in axes.lines if line.get_gid() == "neighbours"]


def test_a_layout_shows_the_neighbours_that_are_near_with_a_legend(result_set: ResultSet) -> None:
    axes = plots.layout(result_set, "farm0_t1_s0")
    (line,) = drawn_in(axes)
    assert np.allclose(np.asarray(line.get_xydata()) * 1000, NEAR)
    assert line.get_marker() == "^"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "neighbours (2 of 3, the others farther away)"
    ]
    assert 4.6 < axes.get_xlim()[1] < 10.0
    assert dict(Drawn(result_set, "farm0_t1_s0").facts)["neighbours"] == "3"


def test_a_flow_map_has_the_wakes_of_neighbours(result_set: ResultSet) -> None:
    axes = plots.layout(result_set, "farm0_t1_s0", direction=90.0, speed=9.0)
    image = axes.images[0]
    field = np.asarray(image.get_array())
    _, _, low, high = image.get_extent()
    y = np.linspace(low, high, field.shape[0])
    x = np.linspace(*image.get_extent()[:2], field.shape[1])
    behind = field[
        np.abs(y - 0.5).argmin(), (x > 4.1) & (x < 4.5)
    ]  # downwind of (4.6 km, 0.5 km), east of the farm
    beside = field[np.abs(y - 1.5).argmin(), (x > 4.1) & (x < 4.5)]
    assert behind.max() < 7.0
    assert beside.min() > 8.9


def test_the_map_shows_neighbours_too(result_set: ResultSet) -> None:
    assert len(drawn_in(plots.PICTURES["map"][0](result_set))) == 1


def test_the_browser_gets_the_neighbours_in_the_frame(result_set: ResultSet) -> None:
    frame = frame_of(result_set.campaign, 0)
    assert frame == (0.0, 0.0, 4600.0, 3000.0)
    assert farm_data(result_set.campaign, 0, frame)["neighbours"] == NEAR
    assert "neighbours" not in farm_data(campaign(), 0, frame)


def test_the_report_names_neighbours(result_set: ResultSet) -> None:
    assert result_set.campaign is not None
    facts = dict(campaign_facts(result_set.campaign))
    assert facts["neighbours of all farms"] == "East: 3 x five"


def test_pictures_without_neighbours_are_as_they_were(tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign(seeds=1))
    axes = plots.layout(ResultSet(tmp_path / "o.h5"), "farm0_t0_s0")
    assert not drawn_in(axes)
    assert axes.get_legend() is None


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    source = stored.compute(stored.campaign(2, seeds=1), folder / "layouts.h5")
    rows = [
        {"combination": "nobody"},
        {"combination": "beside", "farm": "farm b", "type": "small", "from": "2020-01-05"},
    ]
    stored.evaluated(
        source,
        folder / "study.h5",
        farms="farm a",
        types="table",
        site=stored.series(8, times=True),
        neighbours={"table": rows},
        output="power",
    )
    return folder / "study.h5"


def keys_of(study: Path) -> list[str]:
    """The keys of both combinations."""
    campaign = ResultSet(study).campaign
    assert campaign is not None
    return [f"farm0_t0_s0_{one.tag}" for one in campaign.combinations]


def test_a_stored_layout_is_drawn_among_the_neighbours_of_its_combination(study: Path) -> None:
    results = ResultSet(study)
    alone, among = (plots.layout(results, key, direction=90, speed=9) for key in keys_of(study))
    assert drawn_in(alone) == []
    (line,) = drawn_in(among)
    beside = ResultSet(study.with_name("layouts.h5")).layout("farm1_t0_s0")
    assert np.allclose(np.asarray(line.get_xydata()).T * 1000, beside)
    assert "farm b from 2020-01-05" in [text.get_text() for text in among.texts]
    _, right, low, high = among.images[0].get_extent()
    field = np.asarray(among.images[0].get_array())
    assert right > 2.0
    behind = field[:, np.linspace(among.images[0].get_extent()[0], right, field.shape[1]) < 1.9]
    without = wake_field(Drawn(results, keys_of(study)[0]), among)
    assert behind.min() < 8.5
    assert (without - field).max() > 1.0, "the neighbours' wakes reach into the farm"
    assert high > low


def wake_field(drawn: Any, like: Axes) -> Any:
    """The wind speed of a layout on the grid of another picture."""
    left, right, low, high = (1000 * value for value in like.images[0].get_extent())
    rows, columns = np.asarray(like.images[0].get_array()).shape
    x, y = np.linspace(left, right, columns), np.linspace(low, high, rows)
    flow = drawn.farm.flow_map(*drawn.places, 0, direction=90, speed=9, grid_x=x, grid_y=y)
    return flow.wind_speed


def test_the_title_names_the_combination_and_the_figures_split_the_loss(study: Path) -> None:
    drawn = Drawn(ResultSet(study), keys_of(study)[1])
    assert drawn.title == "farm a, table, beside, seed 0"
    record = ResultSet(study).record(keys_of(study)[1])
    facts = dict(drawn.facts)
    assert facts["layout"] == "farm0_t1_s0"
    assert facts["own wakes"] == f"{100 * float(record.arrays['loss_internal']):.2f} %"
    assert facts["neighbours' wakes"] == f"{100 * float(record.arrays['loss_external']):.2f} %"
    assert facts["neighbours"] == "5"


def test_a_picture_without_the_stored_layouts_says_that_its_neighbours_are_not_drawn(
    study: Path, tmp_path: Path
) -> None:
    shutil.copy(study, tmp_path / "moved.h5")
    text = ResultSet(study).campaign
    assert text is not None
    other = Campaign.loads(text.dumps().replace("layouts.h5", "gone.h5"), "study")
    results = ResultSet(tmp_path / "moved.h5")
    results.campaign = other
    drawn = Drawn(results, keys_of(study)[1])
    assert dict(drawn.facts)["neighbours"] == "not drawn: no gone.h5"
    assert drawn.title.endswith("beside, seed 0")


def bar_widths(bars: Any) -> list[float]:
    return [patch.get_width() for patch in bars.patches]


def test_own_and_neighbours_losses_are_drawn_for_a_campaign_and_for_each_combination(
    result_set: ResultSet, study: Path
) -> None:
    axes = plots.PICTURES["losses"][0](result_set)
    own, beside = (bar_widths(part) for part in axes.containers)
    assert len(own) == 4
    assert min(beside) > 0.0, "neighbours take something from every farm and type"
    axes = plots.PICTURES["losses"][0](ResultSet(study))
    records = [ResultSet(study).record(key) for key in keys_of(study)]
    for part, name in zip(axes.containers, ("loss_internal", "loss_external"), strict=True):
        assert bar_widths(part) == pytest.approx([100 * float(record.arrays[name]) for record in records])


def test_the_power_of_each_combination_is_drawn_over_time(study: Path) -> None:
    axes = plots.PICTURES["series"][0](ResultSet(study))
    assert [line.get_label() for line in axes.lines] == ["nobody", "beside"]
    power = ResultSet(study).record(keys_of(study)[1]).arrays["power"].sum(axis=0) / 1e6
    assert np.asarray(axes.lines[1].get_ydata()) == pytest.approx(power, rel=1e-6)
    assert str(np.asarray(axes.lines[1].get_xdata(orig=True))[0])[:10] == "2020-01-01"
