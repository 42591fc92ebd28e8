"""Costs, depths and objectives in a campaign file: what is read, what is refused, and what decides a result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.campaign.costed import COSTED, COSTS, DEPTH, DEPTHS, X, Y, write_netcdf, write_table
from tests.campaign.examples import SMALL
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError


def _with_file(tmp_path: Path, name: str, options: str = "") -> Campaign:
    path = tmp_path / "campaign.yaml"
    path.write_text(COSTED.replace(DEPTH, f"{{file: {name}{options}}}" if options else name))
    return Campaign.load(path)


_WRITERS: dict[str, Callable[[Path], None]] = {
    "d.csv": write_table,
    "named.csv": partial(write_table, header="easting,northing,water_depth [m]"),
    "d.nc": partial(write_netcdf, names={"depth": 1.0}),
    "units.nc": partial(write_netcdf, names={"depth": 1.0}, units="metres"),
}


@pytest.mark.parametrize("name", _WRITERS)
def test_depths_of_a_file_are_those_around_the_farms_whatever_the_format(name: str, tmp_path: Path) -> None:
    _WRITERS[name](tmp_path / name)
    campaign = _with_file(tmp_path, name)
    assert campaign.costs is not None
    assert campaign.costs.depth is not None
    depth = campaign.costs.depth
    # The farms go from (0, -9000) to (9000, 3000); the grid is kept from the point before to the one after.
    columns, rows = (X >= 0.0) & (X <= 9000.0), (Y >= -10000.0) & (Y <= 4000.0)
    assert depth.x == tuple(X[columns])
    assert depth.y == tuple(Y[rows])
    np.testing.assert_allclose(depth.array(), DEPTHS[np.ix_(columns, rows)], rtol=0.0, atol=0.0)
    assert depth.source == name
    assert Campaign.loads(campaign.dumps()) == campaign


def test_the_format_of_depths_decides_no_fingerprint(tmp_path: Path) -> None:
    marks = set()
    for name, write in _WRITERS.items():
        write(tmp_path / name)
        marks.add(tuple(_with_file(tmp_path, name).fingerprints().values()))
    assert len(marks) == 1


def test_a_variable_of_any_name_can_be_named_and_turned_upside_down(tmp_path: Path) -> None:
    write_netcdf(tmp_path / "d.nc", names={"Seabed": -1.0, "depth": 2.0})
    campaign = _with_file(tmp_path, "d.nc", ", variable: Seabed, positive: up")
    assert campaign.costs is not None
    assert campaign.costs.depth is not None
    assert campaign.costs.depth.array()[0, 0] == DEPTHS[1, 0]


@pytest.mark.parametrize("name", ["d.csv", "d.nc"])
def test_heights_are_depths_upside_down(name: str, tmp_path: Path) -> None:
    if name == "d.csv":
        write_table(tmp_path / name, header="x,y,elevation", sign=-1.0)
    else:
        write_netcdf(tmp_path / name, names={"depth": -1.0})
    turned = _with_file(tmp_path, name, ", positive: up")
    write_table(tmp_path / "d.csv")
    assert turned.fingerprints() == _with_file(tmp_path, "d.csv").fingerprints()


def test_gaps_away_from_the_farms_are_no_obstacle(tmp_path: Path) -> None:
    # (8000, 4000): beside the bounds of both farms, far from each
    write_netcdf(tmp_path / "d.nc", {"depth": 1.0}, gap=(9, 7))
    campaign = _with_file(tmp_path, "d.nc")
    assert campaign.costs is not None
    assert campaign.costs.depth is not None
    assert campaign.costs.depth.array()[8, 7] == -9999.0


def test_a_farm_beside_the_depths_of_a_file_is_refused_by_the_part_of_it_that_is_kept(tmp_path: Path) -> None:
    write_table(tmp_path / "d.csv")
    third = "  - {name: third, boundary: [[3000, 5000], [99500, 5000], [99500, 9500]]}\n"
    (tmp_path / "c.yaml").write_text(
        COSTED.replace("turbines:\n", third + "turbines:\n", 1).replace(DEPTH, "d.csv")
    )
    with pytest.raises(CampaignError, match=r"outside the grid of depths around the farms, which"):
        Campaign.load(tmp_path / "c.yaml")


def test_depths_around_another_farm_change_no_fingerprint(tmp_path: Path) -> None:
    write_table(tmp_path / "d.csv")
    before = _with_file(tmp_path, "d.csv")
    third = "  - {name: third, boundary: [[3000, 5000], [9500, 5000], [9500, 9500]]}\n"
    text = COSTED.replace("turbines:\n", third + "turbines:\n", 1).replace(DEPTH, "d.csv")
    (tmp_path / "three.yaml").write_text(text)
    after = Campaign.load(tmp_path / "three.yaml")
    assert before.costs is not None
    assert after.costs is not None
    assert before.costs.depth != after.costs.depth
    assert before.fingerprints().items() < after.fingerprints().items()
    deeper = (tmp_path / "d.csv").read_text().replace("1000.0,0.0,21.0", "1000.0,0.0,22.0")
    (tmp_path / "d.csv").write_text(deeper)
    assert _with_file(tmp_path, "d.csv").fingerprints()["farm0_t0_s0"] != before.fingerprints()["farm0_t0_s0"]


@pytest.mark.parametrize("depth", [-9999.0, 70.0], ids=["land", "deep"])
def test_depths_beside_an_area_that_is_no_rectangle_are_no_obstacle(depth: float) -> None:
    corner = "[[20, 20, 20], [20, 20, 20], [20, 20, {}]]"
    grid = f"{{x: [-500, 2000, 10000], y: [-9500, 2000, 9000], values: {corner.format(depth)}}}"
    one_farm = COSTED.replace(DEPTH, grid)
    angle = "[[0, 0], [3000, 0], [3000, 500], [500, 500], [500, 3000], [0, 3000]]"
    first = one_farm.index("boundary: ")
    start, end = first + len("boundary: "), one_farm.index("\n", first)
    Campaign.loads(one_farm[:start] + angle + one_farm[end:])
    with pytest.raises(CampaignError, match=r"in and around farm 'north'"):
        Campaign.loads(one_farm[:start] + "[[0, 0], [3000, 0], [3000, 3000], [0, 3000]]" + one_farm[end:])


def test_masses_of_a_file_are_sorted_and_converted(tmp_path: Path) -> None:
    (tmp_path / "pile.csv").write_text("mass [t];depth\n2000;60\n500;10\n")
    path = tmp_path / "campaign.yaml"
    path.write_text(COSTED.replace("[[10, 5.0e+5], [60, 2.0e+6]]", "pile.csv"))
    assert Campaign.load(path).costs == Campaign.loads(COSTED).costs


_UNPRICED = COSTED.replace("objective: lcoe\n", "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.0661", "0.0662"),
        ("years: 25", "years: 26"),
        ("8.9e+7", "8.8e+7"),
        ("five: 2.0e+6", "five: 2.1e+6"),
        ("[30, 40]]", "[30, 41]]"),
        ("least: 10", "least: 11"),
        ("[60, 2.0e+6]]", "[60, 2.1e+6]]"),
        ("3.36", "3.37"),
        ("fixed: 1.0e+6", "fixed: 1.1e+6"),
        ("1.2e+9", "1.3e+9"),
        ("objective: lcoe\n", ""),
        ("objective: lcoe\n", "objective: {of: npv, price: 80}\n"),
    ],
)
def test_whatever_changes_costs_or_objective_changes_the_fingerprint(old: str, new: str) -> None:
    assert COSTED.count(old) == 1
    before = Campaign.loads(COSTED).fingerprints()
    after = Campaign.loads(COSTED.replace(old, new)).fingerprints()
    assert before["farm0_t0_s0"] != after["farm0_t0_s0"]


def test_how_costs_are_written_does_not_change_the_fingerprint() -> None:
    before = Campaign.loads(COSTED).fingerprints()
    for old, new in (
        ("opex: {five: 2.0e+6, tabulated: 1.0e+6}", "opex: {tabulated: 1000000, five: 2000000}"),
        ("objective: lcoe", "objective: {of: lcoe}"),
        ("[[20, 25], [30, 40]]", "[20, 25, 30, 40.0]"),
        ("name: five", "name: cinq"),
    ):
        text = COSTED.replace(old, new)
        text = text.replace("{five:", "{cinq:") if new == "name: cinq" else text
        assert Campaign.loads(text).fingerprints() == before, new


def test_a_campaign_without_costs_keeps_its_fingerprint() -> None:
    """The digests are those of test_fingerprint.py: sections that are left out do not count."""
    marks = Campaign.loads(SMALL).fingerprints()
    assert marks["farm0_t0_s0"] == "055527e7f341839f2a364126b1ac8923d5c2eeb9262451dda6c9acd97fb88109"


def test_what_is_counted_is_said_in_words() -> None:
    costs = Campaign.loads(COSTED).costs
    assert costs is not None
    assert costs.title == "25 years at 6.61 % per year; foundations in 20 to 40 m of water"
    assert COSTS in COSTED
