from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from tests.results.examples import campaign, finished
from vindeby import plots
from vindeby.campaign import Campaign
from vindeby.plots.layout import layout_map, prepare
from vindeby.report.setup import campaign_facts
from vindeby.results.browser_data import farm_data, frame_of
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


@pytest.mark.parametrize("draw", [plots.layout, layout_map])
def test_a_layout_shows_the_neighbours_that_are_near_with_a_legend(draw: Any, result_set: ResultSet) -> None:
    axes = draw(result_set, "farm0_t1_s0")
    (line,) = drawn_in(axes)
    assert np.allclose(np.asarray(line.get_xydata()) * 1000, NEAR)
    assert line.get_marker() == "^"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "neighbours (2 of 3, the others farther away)"
    ]
    assert 4.6 < axes.get_xlim()[1] < 10.0
    assert dict(prepare(result_set, "farm0_t1_s0").facts)["neighbours"] == "3"


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


def test_other_pictures_show_neighbours_too(result_set: ResultSet) -> None:
    pictures = [
        plots.PICTURES["map"][0](result_set),
        plots.compare(result_set, "farm0_t1_s0", "farm0_t1_s1"),
        *plots.gallery(result_set, "farm0_t1_*"),
        *plots.gallery(result_set, "farm0_t1_*", every=True),
    ]
    assert [len(drawn_in(axes)) for axes in pictures] == [1] * len(pictures)


def test_the_browser_gets_the_neighbours_in_the_frame(result_set: ResultSet) -> None:
    frame = frame_of(result_set.campaign, 0)
    assert frame == (0.0, 0.0, 4600.0, 3000.0)
    assert farm_data(result_set.campaign, 0, frame)["neighbours"] == NEAR
    assert "neighbours" not in farm_data(campaign(), 0, frame)


def test_the_report_names_neighbours(result_set: ResultSet) -> None:
    assert result_set.campaign is not None
    facts = dict(campaign_facts(result_set.campaign))
    assert facts["neighbours of all farms"] == "East: 3 x five (5 MW)"


def test_pictures_without_neighbours_are_as_they_were(tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign(seeds=1))
    axes = plots.layout(ResultSet(tmp_path / "o.h5"), "farm0_t0_s0")
    assert not drawn_in(axes)
    assert axes.get_legend() is None
