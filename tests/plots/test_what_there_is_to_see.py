"""Pictures of cables, of one farm and of fronts; pictures that would show nothing; and how a report places them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from playwright.sync_api import Browser, sync_playwright

from tests.board.test_browser import CHROMIUM, FLAGS
from tests.results.examples import campaign, finished
from vindeby import plots
from vindeby.campaign import Campaign
from vindeby.economy.cables import Routes
from vindeby.errors import DataError
from vindeby.report import build_report
from vindeby.results import humanize
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

pytestmark = pytest.mark.slow

PLACES = np.array(
    [[500.0, 1500.0, 2500.0, 500.0, 1500.0, 2500.0], [500.0, 500.0, 500.0, 2500.0, 2500.0, 2500.0]]
)
STATION = np.array([[1500.0, 1500.0]])
CABLES = {"substations": STATION.tolist(), "types": [[2, 300.0], [3, 400.0]], "router": "heuristic"}


def routes() -> Routes:
    """Cables of two turbines each to the middle of a row, and of both middles to the substation."""
    ends = np.array([[0, 1], [2, 1], [3, 4], [5, 4], [1, -1], [4, -1]])
    places = np.vstack([PLACES.T, STATION[::-1]])
    points = np.concatenate([places[pair] for pair in ends])
    return Routes(
        ends, np.array([0, 0, 0, 0, 1, 1]), points, np.arange(0, 13, 2), STATION, np.array([300.0, 400.0])
    )


@pytest.fixture(scope="module")
def cabled(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    """One farm with an exclusion, one type, cables, and a front of three seeds."""
    data = campaign(seeds=3).to_data()
    ring = [[0.0, 0.0], [4000.0, 0.0], [4000.0, 3000.0], [0.0, 3000.0]]
    hole = [[3000.0, 1000.0], [3500.0, 1000.0], [3500.0, 1500.0], [3000.0, 1500.0]]
    data["farms"] = [{"name": "north", "boundary": {"polygon": ring, "exclusions": [{"polygon": hole}]}}]
    data["turbines"], data["seeds"] = data["turbines"][:1], 3
    data["costs"] = {"discount": 0.05, "years": 20, "turbine": {"capex": 1e6}, "cables": CABLES}
    data["objective"], data["method"] = ["aep", "cable_length"], ["random-start"]
    output = tmp_path_factory.mktemp("cabled") / "o.h5"
    asked, run = Campaign.from_data(data), RunDirectory(output).create()
    run.freeze_campaign(asked.dumps())
    records = []
    for task in asked.tasks():
        arrays = {"layout": PLACES, "aep": np.array(1130.0 - 10.0 * task.seed), **routes().arrays()}
        attributes: dict[str, Any] = {
            "farm_idx": 0, "type_idx": 0, "ss_seed": task.seed, "n_turbines": 6, "diameter": 126.0,
            "cable_length_m": 12000.0 - 1000.0 * task.seed, "weight": 0.25 * task.seed, "seconds": 1.0,
        }  # fmt: skip
        records.append(Record(task.key, task.fingerprint, arrays, attributes))
    ShardWriter(run).publish(records)
    return ResultSet(output)


def legend(axes: Axes) -> list[str]:
    found = axes.get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def test_cables_say_their_capacity_and_stand_out_from_each_other(cabled: ResultSet) -> None:
    axes = plots.layout(cabled, "farm0_t0_s0")
    assert [text for text in legend(axes) if "excluded" not in text] == [
        "cables for 2 turbines: 4.0 km", "cables for 3 turbines: 2.0 km", "substation",
    ]  # fmt: skip
    cables: list[Any] = [part for part in axes.collections if str(part.get_label()).startswith("cables")]
    thin, wide = cables
    assert thin.get_linewidths()[0] < wide.get_linewidths()[0]
    assert not np.allclose(thin.get_edgecolor(), wide.get_edgecolor())
    (station,) = [line for line in axes.lines if line.get_gid() == "substations"]
    assert (np.asarray(station.get_xydata()) == STATION / 1000).all()


def test_a_legend_of_a_map_hides_nothing_of_it(cabled: ResultSet) -> None:
    axes = plots.layout(cabled, "farm0_t0_s0")
    axes.figure.canvas.draw()
    found = axes.get_legend()
    assert found is not None
    assert not found.get_window_extent().overlaps(axes.get_window_extent())


def test_wakes_by_turbine_stand_in_their_area_and_bars_at_the_directions_of_the_wind(
    cabled: ResultSet,
) -> None:
    left = plots.PICTURES["wakes"][0](cabled)
    right = left.figure.axes[1]
    assert [patch for patch in right.patches if isinstance(patch, PathPatch)]
    assert legend(right) == ["excluded"]
    farm = cabled.wind_farm(cabled.axes.cells[0])
    assert farm is not None
    bars = [patch for patch in left.patches if isinstance(patch, Rectangle)]
    assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == pytest.approx(farm.states.direction)


def test_points_of_a_front_carry_their_weight_and_axes_separate_thousands(cabled: ResultSet) -> None:
    axes = plots.PICTURES["front"][0](cabled)
    assert {text.get_text() for text in axes.texts} == {"0", "0.25", "0.5"}
    for axis in (axes.xaxis, axes.yaxis):
        assert axis.get_major_formatter()(12500.0, 0) == "12,500"


def test_a_picture_with_nothing_to_compare_is_not_drawn(tmp_path: Path) -> None:
    data = campaign(seeds=1).to_data()
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    finished(tmp_path / "o.h5", Campaign.from_data(data))
    with pytest.raises(DataError, match="compared"):
        plots.PICTURES["energy"][0](ResultSet(tmp_path / "o.h5"))


def test_a_report_names_only_pictures_that_it_has_and_the_size_of_the_file(tmp_path: Path) -> None:
    data = campaign(seeds=1).to_data()
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    output = tmp_path / "o.h5"
    finished(output, Campaign.from_data(data))
    said: list[str] = []
    text = build_report(ResultSet(output), said.append)
    assert [words for words in said if words.startswith("drew")] == ["drew map", "drew wind", "drew wakes"]
    assert text.count("<figure") == 4  # the best layout and these
    size = humanize.size(output.stat().st_size)
    assert re.search(rf"<p class=\"faint\">[^<]*o\.h5, {re.escape(size)}; as it was", text)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.mark.browser
def test_a_wide_screen_has_two_columns_of_pictures_and_no_table_is_cut(
    tmp_path: Path, browser: Browser
) -> None:
    data = campaign(seeds=2, farm="a-tender-area-far-from-shore-with-a-long-name").to_data()
    data["turbines"][0]["name"] = "generic-15mw-with-a-very-long-name-and-a-rating"
    data["costs"] = {"discount": 0.05, "years": 20, "turbine": {"capex": 1e6}}
    finished(tmp_path / "o.h5", Campaign.from_data(data))
    html = tmp_path / "o.html"
    html.write_text(build_report(ResultSet(tmp_path / "o.h5")))
    for width, columns in ((1100, 1), (1900, 2)):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(html.as_uri())
        lefts = page.evaluate(
            "[...document.querySelectorAll('.columns figure')].map(f => f.getBoundingClientRect().x)"
        )
        assert len(set(lefts)) == columns
        for inside, shown in page.evaluate(
            "[...document.querySelectorAll('.scroll')].map(box => [box.scrollWidth, box.clientWidth])"
        ):
            assert inside <= shown
        page.close()
