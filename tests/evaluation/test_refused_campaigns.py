"""Campaigns of stored layouts that are wrong: messages name file, field, value and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.stored import asked_of, campaign, compute, of_layouts, series
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import write
from vindeby.errors import DataError, InputError
from vindeby.runner import evaluate
from vindeby.store.disk.run_directory import RunDirectory

B: dict[str, Any] = {"farm": "farm b", "type": "small"}
SITE = series(4, times=True)
TOGETHER = "vary.neighbours.together"

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown key": ({"neighbors": "none"}, "neighbors: is not a known key", "did you mean 'neighbours'"),
    "no name": ({"name": None}, "name: must be text", "write text"),
    "unknown key of layouts": (
        {"method": {"stored": {"farm": "farm a"}}},
        "farm: is not a known key",
        "'farms'",
    ),
    "farm": (
        of_layouts(farms=["farm z"]),
        "method.stored.farms[0]: is not in the database (got 'farm z')",
        "has: farm a",
    ),
    "farm twice": (
        of_layouts(farms=["farm a", "farm a"]),
        "method.stored.farms[1]: is listed twice",
        "list it once",
    ),
    "type": (of_layouts(types="big"), "method.stored.types", "has: small, table"),
    "seed": (
        of_layouts(seeds=[0, 9]),
        "method.stored.seeds[1]: is not a seed of the database (got 9)",
        "0, 1",
    ),
    "word for seeds": (
        of_layouts(seeds="worst"),
        "method.stored.seeds: must be 'best' or 'all' or must be a list (got 'worst')",
        "write a list",
    ),
    "seed twice": (of_layouts(seeds=[1, 1]), "method.stored.seeds[1]: is listed twice", "once"),
    "negative seed": (
        of_layouts(seeds=[-1]),
        "method.stored.seeds[0]: must be at least 0 (got -1)",
        "larger",
    ),
    "seeds of a campaign": (
        {"seeds": 3},
        "seeds: is that of the stored layouts",
        "method: {stored: {seeds: ...}}",
    ),
    "a start": ({"start": {"x": [1.0], "y": [1.0]}}, "start: is that of the stored layouts", "leave it out"),
    "internal wakes": (
        of_layouts(internal_wakes="maybe"),
        "internal_wakes: must be 'on', 'off' or 'both' (got 'maybe')",
        "write one of these",
    ),
    "output": (of_layouts(output="energy"), "output: ", "'aep' or 'power'"),
    "power without steps": (of_layouts(output="power"), "output: needs a time series", "output: aep"),
    "float64 without power": (
        of_layouts(power_type="float64"),
        "power_type: has a meaning only with",
        "leave it out",
    ),
    "wake": ({"wake": "larsen"}, "wake.larsen: is not a known key", "known here"),
    "unknown key of a farm that stands": (
        {"neighbours": [B | {"sed": 1}]},
        "neighbours[0].sed: is not a known key (got 1)",
        "did you mean 'seed'? known here: farm,",
    ),
    "another farm": (
        {"farms": [{"name": "farm z", "boundary": [[0, 0], [1, 0], [1, 1]]}]},
        "farms[0]: is not in the database (got 'farm z')",
        "has: farm a",
    ),
    "among other steps": (
        {"method": [{"stored": {}}, "gradient"]},
        "method: does not evaluate stored layouts",
        "write method: {stored: {...}}, or leave method out",
    ),
    "in an axis": (
        {"vary": {"method": {"one": {"stored": {}}, "two": "smart-start"}}},
        "cannot be one of several values of an axis",
        "the method of the campaign",
    ),
    "neighbours word": (
        of_layouts(neighbours={"some": "everyone"}),
        "neighbours.some: is not known",
        "write none",
    ),
    "neighbour farm": (
        of_layouts(neighbours={"together": [{"farm": "x"}]}),
        f"{TOGETHER}[0].farm: ",
        "there is no farm 'x'; it has: farm a",
    ),
    "neighbour by name": (
        of_layouts(neighbours={"together": ["x"]}),
        f"{TOGETHER}[0].farm: ",
        "there is no farm 'x'; it has: farm a",
    ),
    "neighbour beside": (
        of_layouts() | {"neighbours": ["x"]},
        "neighbours[0].farm: ",
        "there is no farm 'x'; it has: farm a",
    ),
    "neighbour type": (
        of_layouts(neighbours={"together": [{"farm": "farm b"}]}),
        f"{TOGETHER}[0].type: ",
        "the type is missing; it has: small, table",
    ),
    "neighbour seed": (
        of_layouts(neighbours={"together": [{**B, "seed": 7}]}),
        f"{TOGETHER}[0].seed: ",
        "is not a task",
    ),
    "seed of true": (
        of_layouts(neighbours={"together": [{**B, "seed": True}]}),
        "must be a whole number or must be 'best' (got True)",
        "write one of these",
    ),
    "farm twice together": (
        of_layouts(neighbours={"subsets": [B, B]}),
        "subsets[1].farm: is listed twice",
        "once",
    ),
    "farm twice in a value": (of_layouts(neighbours={"two": [B, B]}), "two[1].farm: is listed twice", "once"),
    "no date": (
        of_layouts(site=SITE, neighbours={"together": [{**B, "from": "soon"}]}),
        "is not a date (got 'soon')",
        "2015-01-31",
    ),
    "date without times": (
        of_layouts(neighbours={"together": [{**B, "from": "2020-01-02"}]}),
        f"{TOGETHER}[0].from: needs a time series with times (got '2020-01-02')",
        "leave it out",
    ),
    "date with zone": (
        of_layouts(site=SITE, neighbours={"together": [{**B, "from": "2020-01-02T00:00+01:00"}]}),
        "has a time zone",
        "like 2020-01-01",
    ),
    "row without farm": (
        of_layouts(neighbours={"table": [{"combination": 1, "seed": 3}]}),
        "says a type, seed or date of no farm",
        "name the farm",
    ),
    "row twice": (
        of_layouts(neighbours={"table": [{"combination": 1, **B}] * 2}),
        "table[1].farm: is listed twice",
        "once",
    ),
    "row without combination": (
        of_layouts(neighbours={"table": [B]}),
        "table[0].combination: is missing",
        "add it",
    ),
    "too many subsets": (
        of_layouts(neighbours={"subsets": [{"farm": str(i)} for i in range(40)]}),
        "neighbours.subsets: must have at most 12 entries, but has 40",
        "remove what is too much",
    ),
    "bad wind": (
        {"site": {"time_series": {"wind_direction": [270], "wind_speed": [-1], "turbulence_intensity": 0.1}}},
        "wind_speed",
        "got -1",
    ),
    "no file": (
        of_layouts(neighbours={"table": {"file": "no.csv"}}),
        "neighbours.table.file: no such file",
        "check the path",
    ),
    "file and more": (
        of_layouts(neighbours={"table": {"file": "a.csv", "x": 1}}),
        "is neither a list of rows nor a file",
        "COMBINATIONS.csv",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_campaign_that_is_wrong_is_refused_with_its_place(name: str, source: Path, tmp_path: Path) -> None:
    change, where, remedy = REFUSED[name]
    path = tmp_path / "study.yaml"
    path.write_text(write({"name": "study", **change}))
    with pytest.raises(InputError) as caught:
        evaluate(source, path, tmp_path / "out.h5")
    assert str(path) in str(caught.value)
    assert where in str(caught.value)
    assert remedy in str(caught.value)
    assert not (tmp_path / "out.h5.run").exists()


BROKEN_TABLES = {
    "empty": ("", 1, "has no rows"),
    "no rows": ("combination,farm\n", 1, "has no rows"),
    "no farm column": ("combination,type\n1,small\n", 1, "names no column of farm"),
    "unknown column": ("combination,farm,date\n1,farm b,2020\n", 1, "a column that is not known"),
    "column twice": ("combination,farm,farm\n1,farm b,farm b\n", 1, "both name the farm"),
    "seed": ("combination,farm,type,seed\n1,farm b,small,x\n", 2, "must be a whole number or must be 'best'"),
    "no combination": ("combination,farm\n\n,farm b\n", 3, "combination: is missing"),
    "too many cells": ("combination,farm\n1,farm b,small\n", 2, "has 3 columns instead of 2"),
    "unknown farm": (
        "combination,farm,type\n1,farm b,small\n1,farm q,small\n",
        3,
        "there is no farm 'farm q'",
    ),
    "date": ("combination;farm;type;from\n1;farm b;small;2020-13-01\n", 2, "is not a date"),
}


@pytest.mark.parametrize("name", BROKEN_TABLES)
def test_a_table_that_is_wrong_is_refused_with_its_line(name: str, source: Path, tmp_path: Path) -> None:
    text, line, told = BROKEN_TABLES[name]
    (tmp_path / "c.csv").write_text(text)
    path = tmp_path / "study.yaml"
    path.write_text(write(of_layouts(neighbours={"table": {"file": "c.csv"}})))
    with pytest.raises(InputError) as caught:
        evaluate(source, path, tmp_path / "out.h5")
    assert f"c.csv:{line}: vary.neighbours." in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize("first", ["", "sep=;\n", "# by hand\n"])
def test_a_table_in_a_file_is_the_same_as_its_rows(first: str, source: Path, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(
        f"{first}Combination; Farm; type; seed; from\nnobody\n"
        " c1; farm b; small; 1; 2020-01-03\nc1;farm c;table;best;\n"
    )
    path = tmp_path / "study.yaml"
    path.write_text(write(of_layouts(site=SITE, neighbours={"table": {"file": "c.csv"}})))
    rows = [
        {"combination": "nobody"},
        {"combination": "c1", "farm": "farm b", "type": "small", "seed": 1, "from": "2020-01-03"},
        {"combination": "c1", "farm": "farm c", "type": "table"},
    ]
    by_hand = asked_of(source, site=SITE, neighbours={"table": rows})
    assert Campaign.of_stored(source, path).fingerprints() == by_hand.fingerprints()


def test_a_file_or_database_that_is_not_there_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        evaluate(source, tmp_path / "no.yaml", tmp_path / "out.h5")
    with pytest.raises(InputError, match="there is no such database"):
        evaluate(tmp_path / "no.h5", {"name": "s"}, tmp_path / "out.h5")
    with pytest.raises(InputError, match="is the database that is evaluated"):
        evaluate(source, {"name": "s"}, source)


def test_a_database_that_is_being_written_is_refused(source: Path, tmp_path: Path) -> None:
    with (
        RunDirectory(source).lock("run"),
        pytest.raises(InputError, match=r"method.stored.database: .* is being written by process"),
    ):
        evaluate(source, {"name": "s"}, tmp_path / "out.h5")
    assert [*tmp_path.iterdir()] == []


def test_stored_layouts_are_not_one_of_several_steps() -> None:
    data = campaign(1, 1).to_data() | {"method": [{"stored": "layouts.h5"}, "gradient"]}
    with pytest.raises(InputError, match="stored cannot be one of several steps"):
        Campaign.from_data(data)


def test_a_database_of_a_function_without_wind_is_refused(tmp_path: Path) -> None:
    call = {"function": "tests.runner.functions:without_wind", "returns": ["layout", "extra"]}
    plain = Campaign.from_data({"name": "plain", "method": {"call": call}, "seeds": 1})
    made = compute(plain, tmp_path / "plain.h5")
    with pytest.raises(InputError, match="holds results of a function without wind"):
        asked_of(made)


def test_layouts_that_are_missing_are_refused(tmp_path: Path) -> None:
    few = campaign(1, 1)
    compute(few, tmp_path / "few.h5")
    more = campaign(1, 2)
    from vindeby.assembly.merging import merge_options
    from vindeby.store.merge.merge import merge

    merge(RunDirectory(tmp_path / "few.h5"), merge_options(more))
    with pytest.raises(DataError, match="seed 1: farm0_t0_s1: is missing"):
        asked_of(tmp_path / "few.h5", types="small", seeds="all")
