"""A run with axes: what its results say, and that values can come, go and be renamed without computing again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.examples import small
from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, content, results
from vindeby.assembly.search import problem_of
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.layout import LayoutProblem
from vindeby.runner import run
from vindeby.runner.methods import search

pytestmark = pytest.mark.slow
WINDS = {"low": {"site.wind_speed_factor": 0.9}, "high": {"site.wind_speed_factor": 1.1}}


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))


def with_axes(axes: dict[str, Any] | None, **more: Any) -> Campaign:
    data = calling("good", 2).to_data() | more
    return Campaign.from_data(data | {"vary": axes} if axes else data)


def test_values_come_and_go_without_computing_again(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    plain = with_axes(None)
    assert run(plain, output).done == 8
    before = {record.fingerprint: record.layout.tobytes() for record in results(output).values()}
    as_it_was = {"as it was": {"site.wind_speed_factor": None}}
    assert run(with_axes({"wind": as_it_was}), output).done == 0, (
        "one combination is the campaign without axes"
    )
    first = with_axes({"wind": as_it_was | WINDS})
    assert run(first, output).done == 16
    found = results(output)
    assert found.keys() == {task.key for task in first.tasks()}
    assert {str(record.wind) for record in found.values()} == {"as it was", "low", "high"}
    assert {
        mark: found[key].layout.tobytes() for key, mark in first.fingerprints().items() if mark in before
    } == before
    whole = {key: content(record) for key, record in found.items()}

    assert run(with_axes({"wind": as_it_was | {"high": WINDS["high"]}}), output).done == 0
    assert len(results(output)) == 16, "those of the value that was dropped are in replaced/"
    assert run(first, output).done == 0, "and come back"
    assert {key: content(record) for key, record in results(output).items()} == whole

    renamed = with_axes(
        {"wind": {"calm" if name == "low" else name: value for name, value in (as_it_was | WINDS).items()}}
    )
    assert run(renamed, output).done == 0
    assert {str(record.wind) for record in results(output).values()} == {"as it was", "calm", "high"}
    two = with_axes(
        {
            "wind": as_it_was | WINDS,
            "spacing": {"far": {"min_spacing": "4 D"}, "near": {"min_spacing": "3 D"}},
        }
    )
    assert run(two, output).done == 24, "a second axis: half of the results are there"

    assert run(plain, output).done == 0
    found = results(output)
    assert found.keys() == plain.fingerprints().keys()
    assert not [
        name for record in found.values() for name in ("wind", "spacing") if name in record.attributes
    ]


def test_an_edited_value_makes_its_results_stale(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    run(with_axes({"wind": WINDS}), output)
    edited = with_axes({"wind": WINDS | {"high": {"site.wind_speed_factor": 1.2}}})
    (tmp_path / "edited.yaml").write_text(edited.dumps())
    shown = vindeby(tmp_path, "run", "edited.yaml", "-o", "out.h5")
    assert "8 results of an older version of the campaign (changed: site.wind_speed_factor)" in shown.stderr
    listed = vindeby(tmp_path, "missing", "out.h5")
    assert listed.stdout.count("stale") == 8
    assert "site.wind_speed_factor" in listed.stdout


def test_searches_in_every_combination_are_those_without_axes(tmp_path: Path) -> None:
    data = small() | {
        "seeds": 1,
        "run": {"workers": 1},
        "farms": small()["farms"][:1],
        "turbines": small()["turbines"][:1],
    }
    del data["wake"], data["method"]
    wakes: dict[str, Any] = {"nygaard": "nygaard-2022", "jensen": {"jensen": {"k": 0.04}}}
    methods: dict[str, Any] = {"one": "random-start", "two": {"smart-start": {"grid_size": 12}}}
    run(Campaign.from_data(data | {"vary": {"method": methods, "wake": wakes}}), tmp_path / "varied.h5")
    found = {(record.wake, record.method): record for record in results(tmp_path / "varied.h5").values()}
    assert len(found) == 4
    for (wake, method), record in found.items():
        plain = Campaign.from_data(data | {"wake": wakes[str(wake)], "method": methods[str(method)]})
        run(plain, tmp_path / f"{wake}-{method}.h5")
        (alone,) = results(tmp_path / f"{wake}-{method}.h5").values()
        mine = content(record)
        del mine["attributes"]["wake"], mine["attributes"]["method"]
        assert mine == content(alone)
    assert "valid: 4 records" in vindeby(tmp_path, "validate", "--deep", "varied.h5").stdout


def test_the_problem_of_a_cell_is_set_up_once_for_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    data = small() | {"seeds": 1, "farms": small()["farms"][:1], "turbines": small()["turbines"][:1]}
    methods = {"one": "random-start", "two": {"smart-start": {"grid_size": 12}}}
    wakes = {"nygaard": "nygaard-2022", "jensen": {"jensen": {"k": 0.04}}}
    campaign = Campaign.from_data(data | {"vary": {"method": methods, "wake": wakes}})
    made: list[str] = []

    def noted(variant: Campaign, cell: Cell) -> LayoutProblem:
        made.append(variant.wake.title)
        return problem_of(variant, cell)

    monkeypatch.setattr(search, "problem_of", noted)
    method = search.SearchMethod(campaign)
    solved = [method.prepare(cell) for cell in campaign.cells()]
    assert len(solved) == 4
    assert made == ["nygaard-2022", "jensen"], "cells that differ in their method only follow each other"
