from __future__ import annotations

import io
import itertools
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Polygon, Rectangle
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar  # type: ignore[import-untyped]
from PIL import Image

from tests.command import vindeby
from tests.monitor.test_monitor import old_file
from tests.results.examples import campaign, events, finished, publish
from vindeby import plots
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError, DataError
from vindeby.plots.style import as_bytes, shades
from vindeby.results.result_set import ResultSet

pytestmark = pytest.mark.slow

CREATED = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def result_set(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    path = tmp_path_factory.mktemp("plots") / "o.h5"
    run = finished(path, campaign(seeds=4, farm="$x^$ & <b>"))
    events(run, [{"event": "published", "tasks": 8, "time": 1e9 + 10 * number} for number in range(2)])
    return ResultSet(path)


def test_a_layout_shows_area_turbines_spacing_and_numbers(result_set: ResultSet) -> None:
    axes = plots.layout(result_set, "farm1_t1_s2", direction=270.0, speed=9.0)
    count = result_set.layout("farm1_t1_s2").shape[1]
    rotors = next(part for part in axes.collections if isinstance(part, LineCollection))
    assert len(rotors.get_segments()) == count
    lengths = [np.hypot(*(ends[1] - ends[0])) for ends in rotors.get_segments()]
    assert np.allclose(lengths, 0.080)  # 80 m, in km: to scale
    assert np.allclose([ends[0][0] - ends[1][0] for ends in rotors.get_segments()], 0.0)  # across a west wind
    circles = next(part for part in axes.collections if isinstance(part, PatchCollection))
    assert len(circles.get_paths()) == count
    assert [text.get_text() for text in axes.texts] == [str(number) for number in range(count)]
    (outline,) = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    assert len(np.asarray(outline.get_path().vertices)) > 70  # two triangles and a round hole
    assert axes.get_aspect() == 1.0
    assert len(axes.images) == 1


def test_wakes_lie_downwind_of_the_turbines(result_set: ResultSet) -> None:
    axes = plots.layout(result_set, "farm0_t0_s0", direction=270.0, speed=9.0)
    image = axes.images[0]
    field = np.asarray(image.get_array())
    left, right, _, _ = image.get_extent()
    x = np.linspace(left, right, field.shape[1])
    first = result_set.layout("farm0_t0_s0")[0].min() / 1000
    upwind, downwind = field[:, x < first - 0.1], field[:, x > first + 0.3]
    assert np.allclose(upwind, 9.0, rtol=1e-3)
    assert downwind.min() < 7.0


def test_the_figures_beside_a_layout_are_those_of_the_engine(result_set: ResultSet) -> None:
    from vindeby.plots.layout import Drawn

    drawn = Drawn(result_set, "farm0_t0_s0")
    facts = dict(drawn.facts)
    energy = float(result_set.record("farm0_t0_s0").aep)
    assert facts["turbines"] == "6"
    assert facts["capacity"] == "30 MW"
    assert facts["AEP"] == f"{energy:,.1f} GWh"
    assert facts["capacity factor"] == f"{100 * energy / (30 * 8.76):.1f} %"
    assert drawn.farm is not None
    assert drawn.wake_loss == pytest.approx(1 - energy / drawn.farm.wake_free_aep(6))
    assert facts["density"] == "2.50 MW/km²"
    assert facts["least allowed"] == "378 m"


NEEDS = {
    "front": "two objectives",
    "losses": "no neighbours",
    "series": "power over time",
}
"""What pictures need that the results of a plain campaign do not hold."""


@pytest.mark.parametrize("name", NEEDS)
def test_a_picture_says_what_the_results_do_not_hold(name: str, result_set: ResultSet) -> None:
    with pytest.raises(DataError, match=NEEDS[name]):
        plots.PICTURES[name][0](result_set)


@pytest.mark.parametrize("name", [name for name in plots.PICTURES if name not in NEEDS])
def test_every_picture_of_a_campaign_can_be_drawn(name: str, result_set: ResultSet) -> None:
    axes = plots.PICTURES[name][0](result_set)
    assert isinstance(axes.figure, Figure)
    width, height = axes.figure.get_size_inches()
    assert 3 < width < 20
    assert 2 < height < 20
    axes.figure.canvas.draw()


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    """A farm of 21 x 17 km with an exclusion and a system of coordinates, and one of two zones."""
    data = campaign(seeds=1).to_data()
    ring = [[500000.0, 6e6], [521000.0, 6e6], [521000.0, 6017000.0], [500000.0, 6017000.0]]
    hole = [[505000.0, 6005000.0], [509000.0, 6005000.0], [509000.0, 6009000.0], [505000.0, 6009000.0]]
    zones = [
        [[540000.0, y], [550000.0, y], [550000.0, y + 7000], [540000.0, y + 7000]] for y in (6e6, 6008000.0)
    ]
    data["crs"] = "EPSG:32632"
    data["farms"] = [
        {"name": "wide", "n_turbines": 6, "boundary": {"polygon": ring, "exclusions": [{"polygon": hole}]}},
        {
            "name": "zoned",
            "zones": [
                {"name": name, "boundary": zone, "n_turbines": 3}
                for name, zone in zip(("south", "north"), zones, strict=True)
            ],
        },
    ]
    data["turbines"] = data["turbines"][:1]
    path = tmp_path_factory.mktemp("wide") / "o.h5"
    finished(path, Campaign.from_data(data))
    return ResultSet(path)


def test_nothing_of_a_picture_is_cut(wide: ResultSet) -> None:
    for axes in (plots.layout(wide, "farm0_t0_s0"), plots.layout(wide, "farm1_t0_s0")):
        with Image.open(io.BytesIO(as_bytes(axes.figure))) as image:
            pixels = np.asarray(image.convert("L"))
        for edge in (pixels[:4], pixels[-4:], pixels[:, :4], pixels[:, -4:]):
            assert edge.min() == 255


def test_a_map_tells_exclusions_zones_scale_and_coordinate_system(wide: ResultSet) -> None:
    axes = plots.layout(wide, "farm0_t0_s0")
    (excluded,) = [patch for patch in axes.patches if isinstance(patch, Polygon)]
    assert excluded.get_hatch()
    assert np.ptp(np.asarray(excluded.get_xy()), axis=0).tolist() == [4.0, 4.0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["excluded"]
    assert axes.get_xlabel() == "km east of x = 500,000 m (EPSG:32632)"
    (bar,) = [artist for artist in axes.artists if isinstance(artist, AnchoredSizeBar)]
    assert bar.txt_label.get_text() == "5 km"
    zoned = plots.layout(wide, "farm1_t0_s0")
    assert {"north", "south"} <= {text.get_text() for text in zoned.texts}


def test_the_loss_by_direction_and_by_turbine_adds_up_to_that_of_the_layout(result_set: ResultSet) -> None:
    axes = plots.PICTURES["wakes"][0](result_set)
    key = axes.get_title(loc="left").split(":")[0]
    farm_idx, kind, _, _ = result_set.place(key)
    farm = result_set.wind_farm(result_set.axes.by_place[farm_idx, kind, 0])
    assert farm is not None
    x, y = result_set.layout(key)
    points = axes.figure.axes[1].collections[0]
    alone = farm.wake_free_aep(1)
    expected = 100 * (1 - farm.turbine_aep(x, y) / alone)
    assert np.asarray(points.get_array()) == pytest.approx(expected, abs=1e-5)
    heights = [patch.get_height() for patch in axes.patches if isinstance(patch, Rectangle)]
    assert min(heights) < 100 * farm.wake_loss(x, y) < max(heights)


def test_the_energy_picture_has_every_seed_the_median_and_the_best(result_set: ResultSet) -> None:
    axes = plots.PICTURES["energy"][0](result_set)
    values = result_set.rows["aep"][(result_set.rows["farm_idx"] == 0) & (result_set.rows["type_idx"] == 1)]
    drawn = [np.asarray(line.get_ydata()) for line in axes.lines]
    assert any(np.array_equal(line, values) for line in drawn)
    assert any(np.allclose(line, [np.median(values)] * 2) for line in drawn if len(line) == 2)
    assert any(np.allclose(line, [values.max()]) for line in drawn if len(line) == 1)


@pytest.mark.parametrize("kind", plots.FORMATS)
def test_pictures_are_files_of_each_format_and_always_the_same(
    kind: str, result_set: ResultSet, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        plots.save(plots.layout(result_set, "farm0_t0_s0").figure, tmp_path / f"{name}.{kind}")
    one, other = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("a", "b"))
    assert one.startswith(CREATED[kind])
    assert one == other
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{kind}", f"b.{kind}"]


def test_colours_keep_their_order_in_black_and_white() -> None:
    grey = [np.dot(colour[:3], [0.2126, 0.7152, 0.0722]) for colour in shades(6)]
    assert all(later > earlier for earlier, later in itertools.pairwise(grey))


def test_drawing_leaves_the_settings_of_others_alone(result_set: ResultSet) -> None:
    before = dict(mpl.rcParams)
    plots.PICTURES["energy"][0](result_set)
    assert dict(mpl.rcParams) == before


def test_a_file_without_a_campaign_shows_the_layout_alone(tmp_path: Path) -> None:
    old_file(tmp_path / "old.h5", ["farm0_t0_s0", "farm0_t0_s1"])
    result_set = ResultSet(tmp_path / "old.h5")
    axes = plots.layout(result_set, "farm0_t0_s0")
    assert not axes.images
    assert not axes.patches
    assert len(axes.texts) == 6
    with pytest.raises(ArgumentError, match="without a campaign no wakes"):
        plots.layout(result_set, "farm0_t0_s0", direction=10.0)
    for name in ("map", "wind"):
        with pytest.raises(DataError):
            plots.PICTURES[name][0](result_set)


def test_show_writes_a_picture_that_can_be_opened(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign())
    done = vindeby(tmp_path, "show", "o.h5", "farm0_t0_s0", "--direction", "200", "--speed", "8")
    assert (done.returncode, done.stdout, done.stderr) == (0, "farm0_t0_s0.png\n", "")
    with Image.open(tmp_path / "farm0_t0_s0.png") as image:
        assert min(image.size) > 500
    best = ResultSet(tmp_path / "o.h5").best_key()
    done = vindeby(tmp_path, "show", "o.h5", "--best")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"{best}.png")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("o.h5",), 2, "give one of KEY, e.g. farm0_t0_s0, farm0_t0_s1, farm0_t0_s2, and "),
        (("o.h5",), 2, " more, --best or --picture NAME"),
        (
            ("o.h5", "farm0_t0_s0", "--best"),
            2,
            "give one of KEY, --best or --picture NAME",
        ),
        (("o.h5", "farm0_t0_s9"), 2, "do you mean farm0_t0_s"),
        (("o.h5", "farm0_t0_s0", "-o", "x.gif"), 2, "x.gif: pictures are made as png, svg, pdf"),
        (("o.h5", "--picture", "cat"), 2, "--picture: 'cat' is not known"),
        (("o.h5", "farm0_t0_s0", "--direction", "400"), 2, "--direction: 400 is not between 0 and 360"),
        (("o.h5", "farm0_t0_s0", "-o", "no/where.png"), 1, "no/where.png: cannot be written"),
    ],
)
def test_show_says_what_is_wrong(
    arguments: tuple[str, ...], status: int, message: str, tmp_path: Path
) -> None:
    publish(tmp_path / "o.h5", campaign())
    done = vindeby(tmp_path, "show", *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False)
    assert message in done.stderr
