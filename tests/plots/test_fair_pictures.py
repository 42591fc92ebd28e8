"""What pictures compare, which colours they use, and what their axes say."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from tests.campaign.examples import small
from tests.command import vindeby
from tests.results.examples import campaign, finished
from vindeby import plots
from vindeby.campaign import Campaign
from vindeby.plots.compare import same_place
from vindeby.plots.layout import Drawn
from vindeby.plots.style import FAINT, contrast, greys, paper, ramp, shades, strong, style, text_on
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
    assert plots.PICTURES["best"][0](equal).get_title(loc="left") == "best AEP, GWh"


def test_farms_of_different_capacity_are_compared_by_their_capacity_factor(different: ResultSet) -> None:
    rows = different.rows
    assert set(rows["n_turbines"].tolist()) == {6, 16}  # 30 and 32 MW
    axes = plots.PICTURES["energy"][0](different)
    assert axes.get_ylabel() == "capacity factor, %"
    mine = (rows["farm_idx"] == 0) & (rows["type_idx"] == 0)
    factors = 100 * rows["aep"][mine] / (30 * 8.76)
    drawn = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    assert any(len(line) == 5 and np.allclose(line, factors) for line in drawn)
    table = plots.PICTURES["best"][0](different)
    assert table.get_title(loc="left") == "best capacity factor, %"
    assert f"{factors.max():.2f}" in texts(figure_of(table))


@pytest.mark.parametrize("name", ["energy", "best", "density", "durations"])
def test_every_picture_with_short_names_of_types_says_what_they_mean(name: str, different: ResultSet) -> None:
    words = texts(figure_of(plots.PICTURES[name][0](different)))
    first, second = words.index("t0 five"), words.index("t1 tabulated")
    assert first < second


def test_the_first_type_is_on_top_as_in_every_legend(different: ResultSet) -> None:
    axes = plots.PICTURES["durations"][0](different)
    bottom, top = axes.get_ylim()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["t0 five", "t1 tabulated"]
    assert bottom > top


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("count", [1, 2, 6, 12])
def test_no_colour_vanishes_against_its_page(count: int, dark: bool) -> None:
    with style(dark=dark):
        for colours in (shades(count), greys(count), [strong()], [ramp()(part / 20) for part in range(21)]):
            assert min(contrast(colour, paper()) for colour in colours) >= 3.0
            assert min(contrast(colour, text_on(colour)) for colour in colours) >= 4.5
        assert contrast(FAINT, paper()) >= 3.0


def test_contrast_is_the_ratio_of_the_guidelines() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("name", ["energy", "density", "durations"])
@pytest.mark.parametrize("dark", [False, True])
def test_points_of_results_are_opaque_and_stand_out(name: str, dark: bool, different: ResultSet) -> None:
    axes = plots.PICTURES[name][0](different, dark=dark)
    points: list[Any] = [line for line in axes.lines if len(np.asarray(line.get_xdata())) > 2]
    assert points
    for line in points:
        assert line.get_alpha() in (None, 1.0)
        assert contrast(line.get_color(), axes.get_facecolor()) >= 3.0


def test_the_second_table_does_not_use_the_colours_of_the_first(different: ResultSet) -> None:
    left, right = figure_of(plots.PICTURES["best"][0](different)).axes
    assert len(left.images) == 1
    assert not right.images


def test_the_rose_beside_wakes_has_no_colour_of_theirs(different: ResultSet) -> None:
    drawn = figure_of(plots.layout(different, "farm0_t0_s0"))
    rose = next(axes for axes in drawn.axes if axes.name == "polar")
    colours = [to_rgb(patch.get_facecolor()) for patch in rose.patches]
    assert colours
    assert all(max(colour) - min(colour) < 0.02 for colour in colours)


def test_maps_say_where_their_origin_is(different: ResultSet) -> None:
    for axes, y in (
        (plots.layout(different, "farm1_t0_s0"), "-9,000"),
        (plots.compare(different, "farm1_t0_s0", "farm1_t0_s1"), "-9,000"),
        (plots.PICTURES["map"][0](different), "-9,000"),
        (plots.gallery(different, "farm1_t0_*")[0], "-9,000"),
    ):
        assert axes.get_xlabel() == "km east of x = 0 m"
        assert axes.get_ylabel() == f"km north of y = {y} m"


def test_a_gallery_shows_best_median_and_worst_and_what_differs(different: ResultSet) -> None:
    best, median, worst = plots.gallery(different, "farm0_t1_*")
    order = different.matching("farm0_t1_*")
    for axes, word, key in (
        (best, "best", order[0]),
        (median, "median", order[2]),
        (worst, "worst", order[4]),
    ):
        assert axes.get_title(loc="left").startswith(f"{word}: {key.rsplit('_', 1)[1]}, ")
    one, other = Drawn(different, order[0]), Drawn(different, order[4])
    same = same_place(other, one)
    only_best, as_best, elsewhere = (np.asarray(line.get_xydata()) for line in worst.lines)
    assert len(as_best) == same.sum()
    assert len(elsewhere) == (~same).sum()
    assert len(only_best) == (~same_place(one, other)).sum()
    assert f"{len(elsewhere)} of 16 turbines elsewhere" in worst.get_title(loc="left")


def test_turbines_within_half_a_diameter_stand_in_the_same_place(different: ResultSet) -> None:
    best, moved = Drawn(different, "farm0_t0_s0"), Drawn(different, "farm0_t0_s0")
    moved.places = best.places.copy()
    moved.places[0, 0] += 0.4 * best.diameter_m
    moved.places[0, 1] += 0.6 * best.diameter_m
    assert same_place(moved, best).tolist() == [True, False, True, True, True, True]


def test_a_gallery_of_several_farms_has_a_row_for_each_and_all_seeds_on_request(different: ResultSet) -> None:
    assert len(plots.gallery(different, "farm*_t0_*")) == 6
    every = plots.gallery(different, "farm*_t0_*", every=True)
    assert len(every) == 10
    energies = [float(different.record(key).aep) for key in different.matching("farm*_t0_*")]
    assert all(earlier >= later for earlier, later in itertools.pairwise(energies))
    assert len(plots.gallery(different, "farm0_t0_s1")) == 1
    assert len(plots.gallery(different, "farm0_t0_s[12]")) == 2


def test_show_draws_every_seed_only_on_request(tmp_path: Path) -> None:
    finished(tmp_path / "o.h5", campaign(seeds=4))
    for more in ((), ("--all",)):
        done = vindeby(tmp_path, "show", "o.h5", "--gallery", "farm0_t0_*", "-o", "g.png", *more)
        assert (done.returncode, done.stdout, done.stderr) == (0, "g.png\n", "")
    done = vindeby(tmp_path, "show", "o.h5", "farm0_t0_s0", "--all")
    assert (done.returncode, "--all: needs --gallery PATTERN" in done.stderr) == (2, True)


def test_a_gallery_of_all_says_how_many_of_how_many_it_shows(
    different: ResultSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("vindeby.plots.compare"), "_MOST", 3)
    axes = plots.gallery(different, "farm0_t1_*", every=True)
    assert len(axes) == 3
    assert figure_of(axes[0]).get_suptitle().endswith(", the best 3 of 5")
