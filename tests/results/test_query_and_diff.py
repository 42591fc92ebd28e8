"""The commands query and diff, and --where of the other views."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vindeby
from tests.command import vindeby as command
from tests.results.examples import campaign, publish
from vindeby.errors import ArgumentError
from vindeby.results.query import Labels, Query

CAMPAIGN = """
name: small
farms:
  - {name: west, boundary: {polygon: [[0, 0], [6000, 0], [6000, 6000], [0, 6000]]}, n_turbines: 4}
  - {name: east, boundary: {polygon: [[0, 0], [9000, 0], [9000, 9000], [0, 9000]]}, n_turbines: 5}
turbines: [{name: ten, generic: {rated_power_mw: 10, rotor_diameter_m: 195, hub_height_m: 121}}]
min_spacing: 3 D
site:
  table:
    {wind_directions: [0, 90, 180, 270], wind_speeds: [9.8], probability: [[0.2], [0.1], [0.4], [0.3]],
     turbulence_intensity: 0.08}
wake: nygaard-2022
method: {random-start: {}}
seeds: 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("databases")
    (path / "campaign.yaml").write_text(CAMPAIGN)
    for name, text in (("a", CAMPAIGN), ("b", CAMPAIGN.replace("seeds: 2", "seeds: [1, 2]"))):
        (path / f"{name}.yaml").write_text(text)
        vindeby.run(str(path / f"{name}.yaml"), str(path / f"{name}.h5"), workers=1)
    return path


def keys_of(folder: Path, expression: str, *more: str) -> list[str]:
    done = command(folder, "query", "a.h5", expression, "--json", *more)
    assert done.returncode == 0, done.stderr
    return [row["key"] for row in json.loads(done.stdout)]


def test_a_query_lists_what_it_is_true_for_the_best_first(folder: Path) -> None:
    db = vindeby.open(folder / "a.h5")
    aep = {key: float(db[key].arrays["aep"]) for key in db}
    middle = sorted(aep.values())[1]
    wanted = sorted((key for key in aep if aep[key] > middle), key=lambda key: -aep[key])
    assert keys_of(folder, f"aep > {middle}") == wanted
    assert len(wanted) == 2


@pytest.mark.parametrize(
    ("expression", "keys"),
    [
        ("farm == 'west' and seed == 1", {"farm0_t0_s1"}),
        ("farm == 'farm0' and not seed in [0]", {"farm0_t0_s1"}),
        ("turbines * 2 == 10 and type != 't1'", {"farm1_t0_s0", "farm1_t0_s1"}),
        ("0 <= seed < 1 and type == 'ten'", {"farm0_t0_s0", "farm1_t0_s0"}),
        ("wake_loss > 0.9 or key == 'farm1_t0_s1'", {"farm1_t0_s1"}),
        ("ss_seed == 1 and n_turbines == 4", {"farm0_t0_s1"}),
        ("origin == 'computed' and aep < 0", set()),
    ],
)
def test_a_query_knows_names_numbers_and_attributes(folder: Path, expression: str, keys: set[str]) -> None:
    assert set(keys_of(folder, expression)) == keys


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("aeq > 3", "'aeq' is not a column of these results; they have key, farm, type,"),
        ("lcoe < 40", "search_status"),  # the attributes are listed, too
        ("aep >", "cannot be read"),
        ("aep", "is not a condition"),
        ("aep > 'x'", "cannot be compared"),
        ("type > 3", "cannot be compared"),
        ("type == 3", "cannot be compared"),
        ("key + 1 == 2", "cannot be compared"),
        ("aep and seed", "which is not a condition"),
        ("seed in 3", "'in' without a list"),
        ("key.upper() == 'X'", "does not evaluate"),
        ("(lambda: aep)() > 1", "does not evaluate"),
        ("aep ** 9 > 1", "does not evaluate"),
        ("[aep for aep in (1, 2)] == 1", "does not evaluate"),
        ("aep > 1" + 5000 * " or aep > 1", "characters"),
        ("(" * 300 + "aep" + ")" * 300, "cannot be read"),
    ],
)
def test_what_is_not_a_condition_is_refused(folder: Path, expression: str, why: str) -> None:
    done = command(folder, "query", "a.h5", expression)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_a_query_lists_wake_loss_and_capacity_factor(folder: Path) -> None:
    done = command(folder, "query", "a.h5", "capacity_factor > 0 and wake_loss >= 0", "--json")
    rows = json.loads(done.stdout)
    assert len(rows) == 4
    for row in rows:
        full = 8.76 * 10 * row["turbines"]
        assert row["capacity_factor"] == pytest.approx(row["aep"] / full, rel=1e-12)
        free = vindeby.Campaign.loads(CAMPAIGN).wind_farm(row["farm"]).wake_free_aep(row["turbines"])
        assert row["wake_loss"] == pytest.approx(1.0 - row["aep"] / free, rel=1e-9)


@given(st.text(st.sampled_from("aepb<>=!()[],'\"+-*/. 019ndotri\n"), max_size=40))
def test_any_text_is_a_condition_or_one_clear_error(text: str) -> None:
    columns: dict[str, Any] = {"a": np.arange(3.0), "b": Labels(np.array(["x", "y", "z"]))}
    try:
        found = Query(text).matches(columns, 3)
    except ArgumentError as error:
        assert str(error).startswith(("query: ", "'"))  # noqa: PT017
    else:
        assert found.shape == (3,)
        assert found.dtype == np.bool_


@pytest.mark.slow
def test_other_views_take_a_condition(folder: Path) -> None:
    condition = "farm == 'east' and seed == 0"
    done = command(folder, "export", "a.h5", "--to", "csv", "--where", condition)
    assert done.returncode == 0, done.stderr
    assert {row["key"] for row in csv.DictReader((folder / "a.csv").read_text().splitlines())} == {
        "farm1_t0_s0"
    }
    assert "no valid result" not in done.stderr
    done = command(folder, "report", "a.h5", "--where", condition, "-o", "page.html", "-q")
    assert done.returncode == 0, done.stderr
    page = (folder / "page.html").read_text()
    assert "the 1 of 4 results with farm ==" in page
    assert "farm1_t0_s1" not in page
    done = command(folder, "show", "a.h5", "--best", "--where", condition, "-o", "g.png")
    assert done.returncode == 0, done.stderr
    few, every = (vindeby.ResultSet(folder / "a.h5", where=where) for where in (condition, None))
    assert (few.keys, len(every.keys)) == (["farm1_t0_s0"], 4)


def test_two_databases_are_compared(folder: Path) -> None:
    done = command(folder, "diff", "a.h5", "a.h5")
    assert (done.returncode, done.stdout) == (
        0,
        "a.h5 against a.h5, by AEP in GWh per year\n  4 results the same\n",
    )
    done = command(folder, "diff", "a.h5", "b.h5", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["same"], found["added"], found["removed"]) == (
        2,
        ["farm0_t0_s2", "farm1_t0_s2"],
        ["farm0_t0_s0", "farm1_t0_s0"],
    )
    assert found["fields"] == [["seeds", "[0, 1]", "[1, 2]"]]


def test_a_changed_result_is_better_or_worse_and_says_how_many_turbines_moved(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(
        CAMPAIGN.replace("{random-start: {}}", "[random-start, {random-search: {max_evaluations: 60}}]")
    )
    vindeby.run(str(path), str(tmp_path / "other.h5"), workers=1)
    found = json.loads(command(tmp_path, "diff", str(folder / "a.h5"), "other.h5", "--json").stdout)
    before, after = vindeby.open(folder / "a.h5"), vindeby.open(tmp_path / "other.h5")
    assert len(found["better"]) == 4
    for change in found["better"]:
        key = change["key"]
        assert change["before"] == float(before[key].arrays["aep"])
        assert change["after"] == float(after[key].arrays["aep"])
        assert change["moved"] == (before[key].layout != after[key].layout).any(axis=0).sum()
        assert not change["is_same_task"]
    said = command(tmp_path, "diff", str(folder / "a.h5"), "other.h5").stdout
    assert "campaign: method[1].random-search" in said
    assert "from a task with other settings" in said


@pytest.mark.parametrize("section", ["wake", "site", "turbines", "neighbours"])
def test_values_under_models_that_differ_are_not_better_or_worse(
    folder: Path, tmp_path: Path, section: str
) -> None:
    changes = {
        "wake": ("wake: nygaard-2022", "wake: {nygaard-2022: {a: 0.05}}"),
        "site": ("[[0.2], [0.1], [0.4], [0.3]]", "[[0.1], [0.2], [0.4], [0.3]]"),
        "turbines": ("rated_power_mw: 10,", "rated_power_mw: 11,"),
        "neighbours": ("wake:", "neighbours: [{type: ten, positions: [[-900, 0]]}]\nwake:"),
    }
    path = tmp_path / "other.yaml"
    path.write_text(CAMPAIGN.replace(*changes[section]).replace("name: west", "name: north"))
    vindeby.run(str(path), str(tmp_path / "other.h5"), workers=1)
    done = command(tmp_path, "diff", str(folder / "a.h5"), "other.h5", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert not found["better"] + found["worse"] + found["equal"]
    assert found["unlike"] == [section]
    assert {one["gain_percent"] for one in found["not_comparable"]} == {None}
    said = command(tmp_path, "diff", str(folder / "a.h5"), "other.h5").stdout
    assert f"not comparable, as their campaigns differ in {section}\n" in said
    assert "run `vindeby evaluate` on both databases with the same campaign" in said
    assert "%" not in said


@pytest.mark.slow
def test_layouts_of_two_models_are_compared_where_both_are_evaluated_with_one(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "other.yaml"
    text = CAMPAIGN.replace("{random-start: {}}", "[random-start, {random-search: {max_evaluations: 60}}]")
    path.write_text(text.replace("nygaard-2022", "{jensen: {k: 0.09}}"))
    vindeby.run(str(path), str(tmp_path / "other.h5"), workers=1)
    (tmp_path / "with.yaml").write_text(
        "name: same\nmethod: {stored: {seeds: all}}\nwake: {jensen: {k: 0.04}}\n"
    )
    for name, source in (("a", folder / "a.h5"), ("b", tmp_path / "other.h5")):
        done = command(tmp_path, "evaluate", str(source), "--with", "with.yaml", "-o", f"{name}.h5")
        assert done.returncode == 0, done.stderr
    found = json.loads(command(tmp_path, "diff", "a.h5", "b.h5", "--json").stdout)
    changed = [*found["better"], *found["worse"], *found["equal"]]
    assert (len(changed), found["not_comparable"]) == (4, [])


@pytest.mark.slow
def test_results_are_better_by_the_objective_where_both_campaigns_have_it(tmp_path: Path) -> None:
    for name in "ab":
        steps = "[random-start]" if name == "a" else "[random-start, {random-search: {max_evaluations: 60}}]"
        changes = [f"method={steps}", "seeds=1"]
        words = [word for change in changes for word in ("--set", change)]
        done = command(tmp_path, "run", "sandbank-lcoe", "-o", f"{name}.h5", "-q", *words)
        assert done.returncode == 0, done.stderr
    found = json.loads(command(tmp_path, "diff", "a.h5", "b.h5", "--json").stdout)
    assert "LCOE" in found["compared_by"]
    assert not found["worse"]
    for one in found["better"]:
        lcoe = [
            float(vindeby.open(tmp_path / f"{name}.h5")[one["key"]].attributes["objective"]) for name in "ab"
        ]
        assert [one["before"], one["after"]] == lcoe
        assert lcoe[1] < lcoe[0]
        assert one["gain_percent"] == pytest.approx(100 * (lcoe[0] - lcoe[1]) / lcoe[0])
    assert found["better"]


def test_results_are_listed_where_the_code_of_their_wakes_is_not_installed(tmp_path: Path) -> None:
    data = campaign(seeds=1).to_data()
    data["wake"] = {"python": {"model": "gone_package:Model", "code": "0" * 64}}
    publish(tmp_path / "o.h5", vindeby.Campaign.from_data(data))
    done = command(tmp_path, "query", "o.h5", "aep > 0", "--json")
    rows = json.loads(done.stdout)
    assert all(0.0 < row["wake_loss"] < 1.0 for row in rows)
    frame = vindeby.open(tmp_path / "o.h5").to_dataframe()
    assert sorted(frame.wake_loss) == sorted(row["wake_loss"] for row in rows)
