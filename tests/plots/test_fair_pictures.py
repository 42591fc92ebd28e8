"""What pictures compare, which colours they use, and what their axes say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from tests.campaign.examples import small
from tests.plots.contrast import contrast
from tests.results.examples import finished
from vindeby import plots
from vindeby.campaign import Campaign
from vindeby.plots.style import FAINT, INK, PAPER, STRONG, shades
from vindeby.results.result_set import ResultSet

pytestmark = pytest.mark.slow


def asked(capacity_mw: float) -> Campaign:
    """The small campaign with types of 5 and 2 MW, so that 30 MW fit both and 31 MW fit neither."""
    data = small()
    data["capacity_mw"], data["seeds"] = capacity_mw, 5
    data["method"] = {"call": {"function": "tests.results.scatter:scatter", "energy": "own"}}
    return Campaign.from_data(data)


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    path = tmp_path_factory.mktemp("equal") / "o.h5"
    finished(path, asked(30))
    return ResultSet(path)


@pytest.fixture(scope="module")
def different(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    path = tmp_path_factory.mktemp("different") / "o.h5"
    finished(path, asked(32.0))
    return ResultSet(path)


def figure_of(axes: Axes) -> Figure:
    assert isinstance(axes.figure, Figure)
    return axes.figure


def texts(drawn: Figure) -> str:
    return "\n".join(text.get_text() for text in drawn.findobj(Text))


def test_farms_of_the_same_capacity_are_compared_by_their_energy(equal: ResultSet) -> None:
    assert plots.PICTURES["energy"][0](equal).get_ylabel() == "AEP, GWh"


def test_farms_of_different_capacity_are_compared_by_their_capacity_factor(different: ResultSet) -> None:
    rows = different.rows
    assert set(rows["n_turbines"].tolist()) == {6, 16}  # 30 and 32 MW
    axes = plots.PICTURES["energy"][0](different)
    assert axes.get_ylabel() == "capacity factor, %"
    mine = (rows["farm_idx"] == 0) & (rows["type_idx"] == 0)
    factors = 100 * rows["aep"][mine] / (30 * 8.76)
    drawn = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    assert any(len(line) == 5 and np.allclose(line, factors) for line in drawn)


def test_a_picture_with_short_names_of_types_says_what_they_mean(different: ResultSet) -> None:
    words = texts(figure_of(plots.PICTURES["energy"][0](different)))
    first, second = words.index("t0 five"), words.index("t1 tabulated")
    assert first < second


@pytest.mark.parametrize("count", [1, 2, 6, 12, 256])
def test_no_colour_vanishes_against_the_page(count: int) -> None:
    for colours in (shades(count), shades(count, "Greys_r"), [STRONG, INK, FAINT]):
        assert min(contrast(colour, PAPER) for colour in colours) >= 3.0


def test_points_of_results_are_opaque_and_stand_out(different: ResultSet) -> None:
    axes = plots.PICTURES["energy"][0](different)
    points: list[Any] = [line for line in axes.lines if len(np.asarray(line.get_xdata())) > 2]
    assert points
    for line in points:
        assert line.get_alpha() in (None, 1.0)
        assert contrast(line.get_color(), axes.get_facecolor()) >= 3.0


def test_the_rose_beside_wakes_has_no_colour_of_theirs(different: ResultSet) -> None:
    drawn = figure_of(plots.layout(different, "farm0_t0_s0"))
    rose = next(axes for axes in drawn.axes if axes.name == "polar")
    colours = [to_rgb(patch.get_facecolor()) for patch in rose.patches]
    assert colours
    assert all(max(colour) - min(colour) < 0.02 for colour in colours)


def test_maps_say_where_their_origin_is(different: ResultSet) -> None:
    for axes, y in (
        (plots.layout(different, "farm1_t0_s0"), "-9,000"),
        (plots.PICTURES["map"][0](different), "-9,000"),
    ):
        assert axes.get_xlabel() == "km east of x = 0 m"
        assert axes.get_ylabel() == f"km north of y = {y} m"
