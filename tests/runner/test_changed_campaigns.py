"""A result belongs to what it is, not to its number: farms, types and seeds are dropped, reordered and come back."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, content, results
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Task
from vindeby.results.result_set import ResultSet
from vindeby.runner import run
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))


def changed(campaign: Campaign, change: Callable[[dict[str, Any]], object]) -> Campaign:
    data = campaign.to_data()
    change(data)
    return Campaign.from_data(data)


def by_names(output: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Each result without its numbers, by farm, type and seed."""
    found = {}
    for record in results(output).values():
        attributes = record.attributes
        rest = content(record)
        for number in ("farm_idx", "type_idx"):
            del rest["attributes"][number]
        found[str(attributes["farm"]), str(attributes["turbine"]), int(record.ss_seed)] = rest
    return found


def shown(output: Path) -> set[tuple[str, str, int]]:
    """Farm, type and seed of each result as a query, and from Python a data frame, name it."""
    columns = ResultSet(output).columns(["farm", "type", "seed"])
    rows = zip(columns["farm"].forms[0], columns["type"].forms[0], columns["seed"].tolist(), strict=True)
    found = {(str(farm), str(type_), seed) for farm, type_, seed in rows}
    with Database(output) as database:
        frame = database.to_dataframe()
    assert found == set(zip(frame["farm"], frame["type"], frame["seed"].tolist(), strict=True))
    return found


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a farm is dropped": lambda data: data["farms"].pop(0),
    "farms are reordered": lambda data: data["farms"].reverse(),
    "a type is dropped": lambda data: data["turbines"].pop(0),
    "types are reordered": lambda data: data["turbines"].reverse(),
    "seeds are dropped": lambda data: data.update(seeds=[1]),
    "a farm is renamed": lambda data: data["farms"][0].update(name="elsewhere"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_merged", [True, False], ids=["merged", "not merged"])
def test_results_keep_their_farm_and_type_and_nothing_is_computed_again(
    change: str, is_merged: bool, tmp_path: Path
) -> None:
    campaign, output = calling("good", 2), tmp_path / "layouts.h5"
    run(campaign, output, part=None if is_merged else "1/1")
    merge_first = [] if is_merged else [run(campaign, tmp_path / "whole.h5")]
    before = by_names(tmp_path / "whole.h5" if merge_first else output)
    if change == "a farm is renamed":
        before = {
            ("elsewhere" if farm == "north" else farm, type_, seed): value
            for (farm, type_, seed), value in before.items()
        }
        for (farm, _, _), value in before.items():
            value["attributes"]["farm"] = farm
    other = changed(campaign, CHANGES[change])
    summary = run(other, output)
    assert (summary.done, summary.complete) == (0, True)
    after = by_names(output)
    assert {task.key for task in other.tasks()} == results(output).keys()
    names = {
        (other.farm_names[task.farm_idx], other.type_names[task.type_idx], task.seed)
        for task in other.tasks()
    }
    assert after.keys() == names == shown(output)
    assert after == {name: before[name] for name in names}

    # What is gone is a database of its own, and comes back from there.
    gone = {
        key: record
        for path in RunDirectory(output).replaced.glob("*.h5")
        for key, record in results(path).items()
    }
    assert len(gone) == len(before) - len(after)
    for path in RunDirectory(output).replaced.glob("*.h5"):
        assert shown(path) == before.keys() - after.keys()
    again = run(campaign, output)
    assert (again.done, again.complete, len(results(output))) == (0, True, 8)


def test_a_merge_that_is_killed_before_the_last_step_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, output = calling("good", 2), tmp_path / "layouts.h5"
    run(campaign, output)
    before, other = by_names(output), changed(campaign, lambda data: data["farms"].pop(0))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("_replace", "_keep_results", "_clean"):
        with monkeypatch.context() as patched:
            patched.setattr(f"vindeby.store.merge.merge._Merge.{step}", killed)
            with pytest.raises(KeyboardInterrupt):
                run(other, output)
        assert before.items() >= by_names(output).items()
    assert run(other, output).done == 0
    assert by_names(output) == {name: value for name, value in before.items() if name[0] == "south"}
    assert run(campaign, output).done == 0
    assert by_names(output) == before


def test_stale_results_are_in_no_view_unless_they_are_asked_for(tmp_path: Path) -> None:
    campaign, output = calling("good", 2), tmp_path / "layouts.h5"
    run(campaign, output)
    edited = changed(
        campaign, lambda data: data["turbines"][1]["table"].update(power_kw=[0, 71, 700, 2000, 2000])
    )
    messages: list[str] = []
    summary = run(edited, output, on_message=messages.append)
    assert (summary.done, summary.complete) == (0, False)
    said = [message for message in messages if "older version" in message]
    assert len(said) == 1
    assert said[0].startswith(
        "4 results of an older version of the campaign (changed: turbines[1].table.power_kw) are left"
    )
    current = {("north", "five", 0), ("north", "five", 1), ("south", "five", 0), ("south", "five", 1)}
    assert shown(output) == current
    with Database(output) as database:
        assert int(database.to_xarray()["aep"].notnull().sum()) == 4
    look = ResultSet(output).look()
    assert (look.done, look.stale, look.missing) == (4, 4, 4)
    assert set(summary.aep_by_farm) == {"north", "south"}
    listed = vindeby(tmp_path, "missing", "layouts.h5")
    assert listed.stdout.count("changed: turbines[1].table.power_kw") == 4
    refused = vindeby(tmp_path, "show", "layouts.h5", "farm0_t1_s0")
    assert refused.returncode == 1
    assert "answers an older version of the campaign (changed: turbines[1].table.power_kw)" in refused.stderr
    (earlier,) = Path(f"{output}.run/campaigns").glob("*.yaml")
    older = vindeby(tmp_path, "query", "layouts.h5", "aep > 0", "--campaign", str(earlier))
    assert "vindeby: 8 of 8 results" in older.stderr
    assert "4 stale results left out" in vindeby(tmp_path, "query", "layouts.h5", "aep > 0").stderr

    replaced = run(edited, output, replace_stale=True)
    assert (replaced.done, replaced.complete) == (4, True)
    reverted = run(campaign, output)
    assert (reverted.done, reverted.complete) == (0, True)


def test_ranges_of_the_summary_are_of_this_campaign(tmp_path: Path) -> None:
    five, output = calling("good", [0, 1, 90_000]), tmp_path / "layouts.h5"
    assert max(run(five, output).aep_by_farm["north"]) == pytest.approx(140.0)
    two = changed(five, lambda data: data.update(seeds=2))
    assert max(run(two, output).aep_by_farm["north"]) < 51.0


def test_a_merge_says_how_many_results_do_not_belong_and_why(tmp_path: Path) -> None:
    campaign, output = calling("good", 2), tmp_path / "layouts.h5"
    run(campaign, output)
    (tmp_path / "less.yaml").write_text(changed(campaign, lambda data: data["farms"].pop(0)).dumps())
    done = vindeby(tmp_path, "merge", "layouts.h5", "--campaign", "less.yaml")
    assert done.returncode == 0
    assert "4 results of no task of the campaign went to replaced/: farm0_t0_s0" in done.stdout
    assert (
        "4 results got the numbers and names of the campaign: farm1_t0_s0 is now farm0_t0_s0" in done.stdout
    )


def mixed(*before: str) -> Campaign:
    """A farm with a mix of two types, behind others that only make the numbers of the types larger."""
    data = calling("good", 1).to_data()
    data.pop("capacity_mw")
    data["farms"] = [data["farms"][0] | {"mix": {"five": 1, "tabulated": 2}}]
    generic = {"rated_power_mw": 6, "rotor_diameter_m": 120, "hub_height_m": 90}
    data["turbines"] = [*({"name": name, "generic": generic} for name in before), *data["turbines"]]
    return Campaign.from_data(data)


def test_type_numbers_of_a_mix_follow_the_campaign(tmp_path: Path) -> None:
    first, second, output = mixed(), mixed("another", "third"), tmp_path / "layouts.h5"
    run_directory = RunDirectory(output).create()
    [task] = first.tasks()
    layout = np.array([[100.0, 1500.0, 3000.0], [100.0, 1500.0, 2500.0]])
    ShardWriter(run_directory).publish([_mixed_record(task, layout)])
    merge(output, MergeOptions(root=first.root_attributes()))
    run_directory.freeze_campaign(first.dumps())
    summary = run(second, output)
    assert (summary.done, summary.complete) == (0, True)
    [record] = results(output).values()
    assert (record.key, record.types.tolist(), record.type_idx) == ("farm0_t2_s0", [2, 3, 3], 2)
    assert run(first, output).done == 0
    [record] = results(output).values()
    assert (record.key, record.types.tolist()) == ("farm0_t0_s0", [0, 1, 1])


def _mixed_record(task: Task, layout: Any) -> Record:
    arrays = {"layout": layout, "types": np.array([0, 1, 1]), "aep": np.array(20.0)}
    attributes: dict[str, Attribute] = {
        "farm_idx": 0,
        "type_idx": 0,
        "ss_seed": 0,
        "farm": "north",
        "turbine": "five+tabulated",
    }
    return Record(task.key, task.fingerprint, arrays, attributes)
