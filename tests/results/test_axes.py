"""Axes of a campaign in the views and exports: columns, dimensions, counts, groups, pictures."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import xarray

import vindeby
from tests.command import vindeby as command
from tests.results.test_query_and_diff import CAMPAIGN
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop.export.exporting import ExportOptions, export
from vindeby.plots import PICTURES, layout
from vindeby.plots.layout import Drawn
from vindeby.report import build_report
from vindeby.results.difference import difference
from vindeby.results.groups import summaries
from vindeby.results.result_set import ResultSet

AXES = """
vary:
  wake: {nygaard: nygaard-2022, jensen: {jensen: {k: 0.1}}}
  wind: {calm: {site.table.wind_speeds: [8.0]}, windy: {site.table.wind_speeds: [11.0]}}
"""
PAIRS = [(wake, wind) for wake in ("nygaard", "jensen") for wind in ("calm", "windy")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("axes")
    (path / "c.yaml").write_text(CAMPAIGN + AXES)
    vindeby.run(str(path / "c.yaml"), str(path / "o.h5"), workers=1)
    return path


@pytest.fixture
def results(folder: Path) -> ResultSet:
    return ResultSet(folder / "o.h5")


def test_a_result_has_the_values_of_its_axes_in_every_table(folder: Path, results: ResultSet) -> None:
    with vindeby.open(folder / "o.h5") as database:
        frame, data = database.to_dataframe(), database.to_xarray()
        said = {key: record.attributes for key, record in database.items()}
    assert len(frame) == 16
    for row in frame.itertuples():
        assert (row.wake, row.wind) == (said[row.key]["wake"], said[row.key]["wind"])
        one = data.sel(farm=row.farm, type=row.type, wake=row.wake, wind=row.wind, seed=row.seed)
        assert (str(one.key.values), float(one.aep)) == (row.key, row.aep)
    assert frame.columns.tolist()[:6] == ["key", "farm", "type", "wake", "wind", "seed"]
    assert frame[["farm", "wake", "wind"]].drop_duplicates().values.tolist() == [
        [farm, *pair] for farm in ("west", "east") for pair in PAIRS
    ]
    assert dict(data.sizes) == {"farm": 2, "type": 1, "wake": 2, "wind": 2, "seed": 2, "turbine": 5}
    assert data.wake.values.tolist() == ["nygaard", "jensen"]
    assert not np.isnan(data.aep).any()


def test_exports_have_axes_as_columns_and_dimensions(results: ResultSet, tmp_path: Path) -> None:
    export(results, "csv", tmp_path / "a.csv")
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 * (4 + 5)
    assert {(row["wake"], row["wind"]) for row in rows} == set(PAIRS)
    jensen = ResultSet(results.path, where="wake == 'jensen'")
    export(jensen, "netcdf", tmp_path / "a.nc", ExportOptions(best=True))
    with xarray.open_dataset(tmp_path / "a.nc") as data:
        assert dict(data.sizes)["wake"] == 1
        assert int(data.aep.notnull().sum()) == 4
        for (farm, kind, combination), row in results.best().items():
            wake, wind = results.axes.values_of(combination)
            if wake == "jensen":
                found = data.sel(farm=results.axes.farm_name(farm), wind=wind).isel(type=kind, wake=0)
                assert float(np.nanmax(found.aep)) == results.rows["aep"][row]


def test_formats_of_one_model_take_one_combination(results: ResultSet, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="these results are of 4; choose one with --where"):
        export(results, "floris", tmp_path / "a")
    one = ResultSet(
        results.path, where="wake == 'jensen' and wind == 'calm' and seed == 0 and farm == 'west'"
    )
    export(one, "windio", tmp_path / "b")
    assert "0.1" in (tmp_path / "b" / "attributes.yaml").read_text()


def test_a_query_chooses_by_axes_and_groups_by_them(folder: Path, results: ResultSet) -> None:
    done = command(folder, "query", "o.h5", "wake == 'jensen' and wind != 'calm'", "--json")
    rows = json.loads(done.stdout)
    assert [(row["wake"], row["wind"]) for row in rows] == [("jensen", "windy")] * 4
    done = command(folder, "query", "o.h5", "--by", "farm,wake", "--to", "latex")
    lines = done.stdout.splitlines()
    assert (lines[0], lines[1]) == (r"\begin{tabular}{llrlrrrrr}", r"\toprule")
    assert lines[4].startswith("west & nygaard & 4 & farm0\\_t0\\_s")
    assert (len(lines), done.stderr) == (10, "vindeby: 16 of 16 results\n")
    command(folder, "query", "o.h5", "seed == 0", "--to", "csv", "-o", "a.csv")
    with (folder / "a.csv").open() as file:
        assert {row["wake"] for row in csv.DictReader(file)} == {"nygaard", "jensen"}
    done = command(folder, "query", "o.h5", "seed == 0", "--by", "wake|wind")
    assert (done.returncode, "'wake|wind' is not a column" in done.stderr) == (2, True)


def test_groups_are_those_of_their_values(results: ResultSet) -> None:
    frame = vindeby.open(results.path).to_dataframe().groupby(["farm", "wake"]).aep
    for row in summaries(results, ("farm", "wake")):
        mine = frame.get_group((row["farm"], row["wake"]))
        found = row["results"], row["aep_best"], row["aep_median"], row["aep_std"]
        assert found == pytest.approx((4, mine.max(), mine.median(), mine.std()), rel=1e-12)


def test_losses_follow_from_the_combination(results: ResultSet) -> None:
    stored, rows = results.wake_losses(), results.answers
    rows["aep_free"] = np.nan
    np.testing.assert_allclose(results.wake_losses(), stored, rtol=1e-9)
    campaign = Campaign.loads(results.source.campaign_text or "")
    for row in range(len(rows)):
        drawn = Drawn(results, results.key_of(row))
        assert drawn.farm is not None
        assert drawn.farm.model == campaign.variants[rows["combination"][row]].wind_farm(0, 0).model
        assert drawn.wake_loss == pytest.approx(stored[row], rel=1e-9)


def test_monitor_counts_by_axes(folder: Path, results: ResultSet) -> None:
    seen = results.look()
    assert (seen.expected, seen.done, seen.extra) == (16, 16, 0)
    assert [(row["wake"], row["done"], row["expected"]) for row in seen.counts_by(("wake",))] == [
        ("nygaard", 8, 8),
        ("jensen", 8, 8),
    ]
    done = command(folder, "monitor", "o.h5", "--by", "wind,farm")
    assert "windy  east" in done.stdout
    done = command(folder, "monitor", "o.h5", "--by", "wnd")
    assert (done.returncode, "one or more of farm, turbine, seed, wake, wind" in done.stderr) == (2, True)


def test_pictures_and_the_report_name_the_combination(results: ResultSet) -> None:
    key = results.best_key()
    wake, wind = results.axes.values_of(results.place(key).combination)
    assert f", ten, {wake}, {wind}, seed " in layout(results, key).get_title(loc="left")
    axes = PICTURES["energy"][0](results)
    assert [text.get_text() for text in axes.get_xticklabels()] == [", ".join(pair) for pair in PAIRS]
    text = build_report(results)
    cells = ('</td><td class="name">'.join(("ten", *pair)) for pair in PAIRS)
    assert all(f'<td class="name">{cell}</td>' in text for cell in cells)
    assert "--by farm,type,wake,wind --to latex" in text


def test_databases_are_compared_combination_by_combination(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CAMPAIGN + AXES.replace("k: 0.1", "k: 0.05"))
    vindeby.run(str(tmp_path / "c.yaml"), str(tmp_path / "o.h5"), workers=1)
    found = difference(ResultSet(folder / "o.h5"), ResultSet(tmp_path / "o.h5"))
    assert (found.same, len(found.not_comparable), found.unlike) == (8, 8, ["wake"])


def test_missing_names_the_combination_and_takes_a_condition(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        CAMPAIGN + AXES.replace("windy:", "mild: {site.table.wind_speeds: [9.0]}, windy:")
    )
    given = ("missing", str(folder / "o.h5"), "--campaign", "c.yaml")
    done = command(tmp_path, *given, "--json")
    rows = json.loads(done.stdout)
    assert [(row["wake"], row["wind"], row["state"]) for row in rows[:2]] == [("nygaard", "mild", "open")] * 2
    assert len(rows) == 8
    done = command(tmp_path, *given, "--where", "wake == 'jensen' and farm == 'farm1'", "--format", "csv")
    listed = list(csv.DictReader(done.stdout.splitlines()))
    assert (done.returncode, done.stderr) == (1, "vindeby: 2 of 6 results are missing\n")
    assert [row["key"] for row in listed] == [row["key"] for row in rows[-2:]]
    done = command(tmp_path, *given, "--where", "wind == 'calm'")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "vindeby: all 8 results are there\n")
