"""``vindeby cases``: the list, the check of what is stored, and the score of a layout, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import vindeby
from vindeby.campaign import presets
from vindeby.cases import all_cases

pytestmark = pytest.mark.slow


def written(folder: Path, first: str | None = None) -> None:
    """The record of a case as a file of a user; its first turbine replaced by ``first``."""
    lines = presets.case_file("iea37-cs2.csv").splitlines()
    if first is not None:
        lines[7] = first
    (folder / "layout.csv").write_text("\n".join(lines) + "\n")


def test_the_list_names_every_case_with_its_source_and_figures(tmp_path: Path) -> None:
    done = vindeby(tmp_path, "cases")
    assert (done.returncode, done.stderr) == (0, "")
    for case in all_cases():
        assert (
            f"\n{case.name}: {case.title}. {case.source}. Best published: {case.published_by}." in done.stdout
        )
    assert "2,913,220.60" in done.stdout
    listed = json.loads(vindeby(tmp_path, "cases", "--json").stdout)
    assert [entry["name"] for entry in listed] == [case.name for case in all_cases()]
    assert listed[0]["ours"]["worth"] == pytest.approx(424131.95, abs=0.01)


def test_a_feasible_layout_is_scored(tmp_path: Path) -> None:
    written(tmp_path)
    done = vindeby(tmp_path, "cases", "--score", "iea37-cs2", "layout.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "iea37-cs2, layout.csv: feasible, 251,775.59 MWh, +0.0015% against the best"
    )


def test_a_table_may_name_types_and_turbines_at_one_place_are_not_evaluated(tmp_path: Path) -> None:
    (tmp_path / "layout.csv").write_text("type,x [m],y [m]\n" + 9 * "3.35 MW,0,0\n")
    done = vindeby(tmp_path, "cases", "--score", "iea37-cs2", "layout.csv")
    assert (done.returncode, done.stdout.split(",")[1:4]) == (
        1,
        [" layout.csv: not feasible", " 0.00 MWh", " -100.0000% against the best published\n"],
    )


def test_a_layout_that_breaks_a_rule_is_scored_with_the_reason_and_status_1(tmp_path: Path) -> None:
    written(tmp_path, first="0,905")
    done = vindeby(tmp_path, "cases", "--score", "case:iea37-cs2", "layout.csv")
    assert done.returncode == 1
    assert done.stdout.startswith("iea37-cs2, layout.csv: not feasible, ")
    assert "iea37-cs2, layout.csv: turbine 0 at (0.00, 905.00) is 5 m outside the area" in done.stderr
    told = json.loads(vindeby(tmp_path, "cases", "--score", "iea37-cs2", "layout.csv", "--json").stdout)
    assert (len(told), told[0]["turbines"]) == (1, 9)
    assert told[0]["problems"][0] == "turbine 0 at (0.00, 905.00) is 5 m outside the area"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--score", "iea37-cs2", "layout.csv"], "layout.csv:8: the x is not a number; write a number"),
        (["--score", "iea37-cs2", "none.csv"], "none.csv: no such file; check the path"),
        (["--score", "iea37-cs9", "layout.csv"], "there is no case 'iea37-cs9'; did you mean 'case:iea37-cs"),
        (["--score", "iea37-cs2"], "--score CASE and FILE go together"),
        (["layout.csv"], "--score CASE and FILE go together"),
        (
            ["--score", "iea37-cs2", "far.csv"],
            "far.csv: holds a position farther than 1e+08 m from the origin",
        ),
        (["--score", "iea37-cs2", "many.csv"], "many.csv: holds 3,001 positions, and no case has more than"),
    ],
)
def test_wrong_input_is_refused_with_status_2(words: list[str], said: str, tmp_path: Path) -> None:
    written(tmp_path, first="one,2")
    (tmp_path / "far.csv").write_text("x,y\n1e307,-1e307\n0,0\n")
    (tmp_path / "many.csv").write_text("x,y\n" + "".join(f"{k},0\n" for k in range(3001)))
    done = vindeby(tmp_path, "cases", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_case_runs_and_is_written_like_a_preset(tmp_path: Path) -> None:
    assert vindeby(tmp_path, "init", "case:iea37-cs2").returncode == 0
    assert "name: iea37-cs2" in (tmp_path / "iea37-cs2.yaml").read_text()
    quick = ["--set", "method=[random-start]", "--seeds", "1", "--workers", "1", "--quiet", "-o", "out.h5"]
    assert vindeby(tmp_path, "run", "case:iea37-cs2", *quick).returncode == 0
    refused = vindeby(tmp_path, "check", "case:iea37-cs99")
    assert refused.returncode == 2
    assert "there is neither a file nor a case of this name; did you mean 'case:iea37-cs" in refused.stderr
