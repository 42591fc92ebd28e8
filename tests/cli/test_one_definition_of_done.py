"""What is done is the same for every command, and what is not done can always be finished."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.worker_files import Layout, layout_for, worker_file
from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, one_cell, results
from vindeby.assembly.done import Judge, judge, not_done
from vindeby.campaign import Campaign, Task
from vindeby.campaign.tasks import KEY_OF_ATTRIBUTES
from vindeby.results.result_set import ResultSet
from vindeby.runner import run
from vindeby.runner.protocol import Kind
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.store.salvage import salvage
from vindeby.store.states import TaskState
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow

NAMING = KEY_OF_ATTRIBUTES


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT))


def counts(output: Path) -> tuple[int, int, int | None]:
    """Done, invalid and missing, as monitor says."""
    snapshot = ResultSet(output).look()
    return snapshot.done, snapshot.invalid, snapshot.missing


def test_an_older_scripts_results_without_energy_are_computed_again(tmp_path: Path) -> None:
    """Every result of the script has aep = 0: salvage, then run, finishes the campaign."""
    campaign = calling("good", 15)
    (tmp_path / "c.yaml").write_text(campaign.dumps())
    (tmp_path / "t").mkdir()
    worker_file(tmp_path / "t" / "worker_1.h5", campaign, campaign.tasks()[:30])
    worker_file(tmp_path / "t" / "worker_2.h5", campaign, campaign.tasks()[30:])
    output = tmp_path / "layouts.h5"
    salvaged = vindeby(tmp_path, "salvage", "t", "-o", "layouts.h5", "--campaign", "c.yaml")
    assert salvaged.returncode == 1
    assert "all 60 results are missing (60 of them invalid)" in salvaged.stderr
    assert counts(output) == (0, 60, 60)
    listed = vindeby(tmp_path, "missing", "layouts.h5")
    assert listed.stdout.splitlines()[0] == (
        "farm0_t0_s0\tinvalid\taep is 0: no energy was stored; only the layout can be used"
    )
    assert listed.stderr == "vindeby: all 60 results are missing\n"
    checked = json.loads(vindeby(tmp_path, "validate", "layouts.h5", "--json").stdout)
    assert {entry["state"] for entry in checked["missing"]} == {"invalid"}
    assert len(checked["missing"]) == 60
    done = vindeby(tmp_path, "run", "c.yaml")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("layouts.h5: 60 of 60 results, all valid\n  computed 60 in ")
    assert "vindeby: 60 results are not valid and computed again; the first: " in done.stderr
    assert (
        "\n  60 results were not valid and computed again; what they replace is in layouts.h5.run/replaced/"
        in done.stdout
    )
    assert counts(output) == (60, 0, 0)
    again = vindeby(tmp_path, "run", "c.yaml")
    assert (again.returncode, "computed 0 in " in again.stdout) == (0, True)
    (replaced,) = RunDirectory(output).replaced.glob("*.h5")
    found = results(replaced)
    assert len(found) == 60
    assert all(record.aep == 0.0 for record in found.values())


def unchanged(_: Task, layout: Layout) -> Layout:
    return layout


def outside(_: Task, layout: Layout) -> Layout:
    return np.asarray(layout + np.array([[9000.0], [0.0]]))


def crowded(_: Task, layout: Layout) -> Layout:
    return np.column_stack([layout[:, :1] + 1.0, layout[:, 1:-1], layout[:, :1]])


def fewer(_: Task, layout: Layout) -> Layout:
    return layout[:, :-1]


@pytest.mark.parametrize(
    ("aep", "changed", "words"),
    [
        (50.0, outside, "stand outside the boundary"),
        (50.0, crowded, "1 m apart, but must be 378 m"),
        (50.0, fewer, "n_turbines is 6, but the layout has 5"),
        (-1.0, unchanged, "aep is -1, and must be positive"),
        (np.nan, unchanged, "aep is nan"),
        (6 * 5 * 8.766 + 0.01, unchanged, "but at rated power all year it would be 262.98"),
        (None, unchanged, "has no aep"),
    ],
)
def test_every_command_calls_the_same_results_invalid(
    aep: float | None, changed: Callable[[Task, Layout], Layout], words: str, tmp_path: Path
) -> None:
    campaign, output = one_cell(calling("good", 4)), tmp_path / "o.h5"
    (tmp_path / "t").mkdir()
    bad, fine = campaign.tasks()[:1], campaign.tasks()[1:]
    worker_file(tmp_path / "t" / "b.h5", campaign, fine, aep=50.0)
    if aep is None or np.isnan(aep):  # salvage does not save such a record
        salvage([tmp_path / "t"], output, naming=NAMING, root=campaign.root_attributes())
        arrays = {"layout": layout_for(campaign, bad[0])} | ({} if aep is None else {"aep": np.array(aep)})
        ShardWriter(RunDirectory(output)).publish([Record(bad[0].key, "", arrays)])
    else:
        worker_file(tmp_path / "t" / "a.h5", campaign, bad, aep=aep, changed=changed)
        salvage([tmp_path / "t"], output, naming=NAMING, root=campaign.root_attributes())
    assert counts(output) == (3, 1, 1)
    with Database(output) as database:
        why = not_done(database, judge(database, Judge(campaign)))
    assert list(why) == ["farm0_t0_s0"]
    assert words in why["farm0_t0_s0"]
    report = validate(output, expected=campaign.fingerprints(), checks=Judge(campaign).checks)
    assert [(entry.key, entry.state) for entry in report.missing] == [("farm0_t0_s0", TaskState.INVALID)]
    assert np.isnan(ResultSet(output).rows["aep"]).sum() == 1
    summary = run(campaign, output)
    assert (summary.done, summary.resume_state.done, summary.complete) == (1, 3, True)
    assert list(summary.resume_state.invalid) == list(why)
    assert counts(output) == (4, 0, 0)
    (replaced,) = RunDirectory(output).replaced.glob("*.h5")
    assert list(results(replaced)) == ["farm0_t0_s0"]


def published(campaign: Campaign, output: Path, aep: float = 50.0, **changes: Layout) -> None:
    """Results with the right fingerprints, as a version that checked less would publish them."""
    records = [
        Record(
            task.key,
            task.fingerprint,
            {"layout": layout_for(campaign, task), "aep": np.array(aep), **changes},
        )
        for task in campaign.tasks()
    ]
    ShardWriter(RunDirectory(output).create()).publish(records)


def test_an_invalid_result_with_the_right_fingerprint_is_replaced_and_not_in_conflict(tmp_path: Path) -> None:
    campaign, output = one_cell(calling("good", 2)), tmp_path / "o.h5"
    published(campaign, output, aep=1e6)
    merge(output, MergeOptions(root=campaign.root_attributes()))
    summary = run(campaign, output)
    assert (summary.done, summary.complete) == (2, True)
    assert summary.merged is not None
    assert summary.merged.conflicts == []
    assert all(float(record.aep) < 51 for record in results(output).values())


def test_what_was_computed_again_counts_before_it_is_merged(tmp_path: Path) -> None:
    campaign, output = one_cell(calling("good", 3)), tmp_path / "o.h5"
    published(campaign, output, aep=1e6)
    merge(output, MergeOptions(root=campaign.root_attributes()))
    assert run(campaign, output, part="1/1").done == 3
    assert counts(output) == (3, 0, 0)
    assert vindeby(tmp_path, "missing", "o.h5").returncode == 0
    again = run(campaign, output, part="1/1")
    assert (again.done, again.resume_state.done) == (0, 3)
    assert vindeby(tmp_path, "merge", "o.h5").returncode == 0
    assert all(float(record.aep) < 51 for record in results(output).values())
    assert len(results(*RunDirectory(output).replaced.glob("*.h5"))) == 3
    assert counts(output) == (3, 0, 0)


def test_a_merge_that_was_interrupted_keeps_replaced_records_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, output = one_cell(calling("good", 2)), tmp_path / "o.h5"
    published(campaign, output, aep=1e6)
    merge(output, MergeOptions(root=campaign.root_attributes()))
    run(campaign, output, part="1/1")

    def no(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("vindeby.store.merge.merge._Merge._replace", no)
        with pytest.raises(KeyboardInterrupt):
            run(campaign, output)
    assert run(campaign, output).complete
    assert len(list(RunDirectory(output).replaced.glob("*.h5"))) == 1


def test_a_function_whose_layouts_are_impossible_fails_and_is_not_computed_for_ever(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(
        "from tests.runner.functions import good\n"
        "def away(task):\n    result = good(task)\n    result['layout'] = result['layout'] + 1e5\n    return result\n"
    )
    data = one_cell(calling("good", 2)).to_data()
    data["method"] = [{"call": "far:away"}]
    campaign, output = Campaign.from_data(data), tmp_path / "o.h5"
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(tmp_path))
        summary = run(campaign, output)
        assert summary.failures == {Kind.INVALID: 2}
        assert "6 turbines stand outside the boundary" in summary.failed["farm0_t0_s0"].reason
        again = run(campaign, output)
    assert (again.done, len(again.resume_state.failed), again.complete) == (0, 2, False)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"invalid": 3}', "\0\xff"])
def test_a_verdict_file_that_is_damaged_is_not_used(text: str, tmp_path: Path) -> None:
    campaign, output = one_cell(calling("good", 2)), tmp_path / "o.h5"
    run(campaign, output)
    RunDirectory(output).verdicts_file.write_text(text)
    assert counts(output) == (2, 0, 0)
    assert run(campaign, output).complete


def test_verdicts_of_another_campaign_are_not_used(tmp_path: Path) -> None:
    """A farm that shrinks makes results stale, not invalid; with its old size back they are done."""
    output = tmp_path / "o.h5"
    data = one_cell(calling("good", 2)).to_data()
    campaign = Campaign.from_data(data)
    run(campaign, output)
    data["farms"][0]["boundary"] = [[0, 0], [1300, 0], [1300, 3000], [0, 3000]]
    smaller = Campaign.from_data(data)
    assert len(run(smaller, output).resume_state.stale) == 2
    assert ResultSet(output).look().stale == 2
    assert run(campaign, output).resume_state.done == 2
    assert counts(output) == (2, 0, 0)
