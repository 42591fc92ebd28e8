"""``vindeby.run``: from a campaign to its database, again after any change, with both ways to start workers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import vindeby
from tests.runner.campaigns import ROOT, calling, equal, one_cell, results
from tests.runner.functions import good
from vindeby.errors import ArgumentError, BusyError, DataError, InputError, TaskError
from vindeby.runner import CallTask, run
from vindeby.runner.protocol import Kind
from vindeby.runner.supervisor import Progress
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

pytestmark = pytest.mark.slow


@pytest.mark.core
def test_a_campaign_becomes_a_valid_database(tmp_path: Path) -> None:
    campaign = calling("good", 5)
    summary = vindeby.run(campaign, tmp_path / "out.h5", workers=2)
    assert summary.complete
    assert (summary.done, summary.total, summary.failed) == (20, 20, {})
    found = results(tmp_path / "out.h5")
    assert sorted(found) == sorted(task.key for task in campaign.tasks())
    record = found["farm1_t0_s3"]
    task = CallTask(
        key="farm1_t0_s3",
        farm="south",
        boundary=campaign.farms[1].boundary,
        turbine=campaign.turbines[0],
        n_turbines=6,
        min_spacing_m=378.0,
        seed=3,
        site=campaign.site,
        parameters={},
    )
    assert np.array_equal(record.arrays["layout"], good(task)["layout"])
    assert float(record.aep) == 50.003
    assert np.array_equal(record.extra, good(task)["extra"])
    expected: dict[str, object] = {
        "farm_idx": 1,
        "type_idx": 0,
        "ss_seed": 3,
        "n_turbines": 6,
        "diameter": 126.0,
    }
    expected |= {"farm": "south", "turbine": "five", "note": "fine", "version": vindeby.__version__}
    assert {name: record.attributes[name] for name in expected} == expected
    assert record.attributes["engine"] == "tests.runner.functions:good"
    assert summary.aep_by_farm == {"north": (50.0, 50.004), "south": (50.0, 50.004)}


def test_the_same_again_computes_nothing_and_more_seeds_are_added(tmp_path: Path) -> None:
    trace = {"seconds": 0.0, "trace": str(tmp_path / "trace")}
    assert run(calling("slow", 2, trace), tmp_path / "out.h5").done == 8
    again = run(calling("slow", 2, trace), tmp_path / "out.h5")
    assert (again.done, again.resume_state.done, again.complete) == (0, 8, True)
    more = run(calling("slow", 3, trace), tmp_path / "out.h5")
    assert (more.done, more.resume_state.done, more.complete) == (4, 8, True)
    calls = (tmp_path / "trace").read_text().split()
    assert len(calls) == len(set(calls)) == 12


def test_the_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    for workers in (1, 3):
        run(calling("good", 4), tmp_path / f"{workers}.h5", workers=workers)
    assert equal(results(tmp_path / "1.h5"), results(tmp_path / "3.h5"))


def test_results_of_a_changed_campaign_are_left_unless_they_may_be_replaced(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    said: list[str] = []
    before = calling("slow", 2, {"seconds": 0.0})
    run(before, output)
    old = results(output)
    changed = calling("slow", 3, {"seconds": 0.001})
    kept = run(changed, output, on_message=said.append)
    assert (kept.done, len(kept.resume_state.stale), kept.complete) == (4, 8, False)
    assert any("8 results of an older version of the campaign" in line for line in said)
    assert all(results(output)[key] == record for key, record in old.items())
    replaced = run(changed, output, replace_stale=True)
    assert (replaced.done, replaced.complete) == (8, True)
    marks = {task.key: task.fingerprint for task in changed.tasks()}
    assert {key: record.fingerprint for key, record in results(output).items()} == marks


def test_a_replacement_that_is_not_merged_yet_is_not_computed_again(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    run(calling("slow", 2, {"seconds": 0.0}), output)
    changed = calling("slow", 2, {"seconds": 0.001})
    run(changed, output, part="1/1", replace_stale=True)
    again = run(changed, output)
    assert (again.done, again.resume_state.done, again.resume_state.stale, again.complete) == (0, 8, [], True)
    marks = {task.key: task.fingerprint for task in changed.tasks()}
    assert {key: record.fingerprint for key, record in results(output).items()} == marks


def test_parts_share_a_run_directory_and_together_make_the_whole(tmp_path: Path) -> None:
    campaign, output = calling("good", 5), tmp_path / "out.h5"
    parts = [run(campaign, output, part=f"{number}/3") for number in (1, 2, 3)]
    assert [part.done for part in parts] == [7, 7, 6]
    assert all(part.complete for part in parts)
    assert not output.exists()
    whole = run(campaign, output)
    assert (whole.done, whole.resume_state.done, whole.complete) == (0, 20, True)


def test_a_campaign_larger_than_a_pipe_holds_reaches_the_workers(tmp_path: Path) -> None:
    campaign = one_cell(calling("good", 3, {"of no use": "turbine" * 70_000}))
    one, other = socket.socketpair()
    with one, other:
        assert len(campaign.dumps()) > 2 * one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    assert run(campaign, tmp_path / "out.h5").done == 3


@pytest.mark.parametrize("part", ["", "3", "0/3", "4/3", "a/b", "1/3/5", "-1/3", "1/0"])
def test_a_part_that_is_none_is_refused(part: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="write 3/32 for the third of 32"):
        run(calling("good"), tmp_path / "out.h5", part=part)


def test_two_runs_of_one_campaign_are_refused_with_who_holds_it_and_the_dead_hold_nothing(
    tmp_path: Path,
) -> None:
    directory = RunDirectory(tmp_path / "out.h5").create()
    for purpose, part in [("run", None), ("run", "1/2"), ("run-2-of-2", None)]:
        with directory.lock(purpose), pytest.raises(BusyError, match=rf"process {os.getpid()} on"):
            run(calling("good", 1), tmp_path / "out.h5", part=part)
    with directory.lock("run-2-of-2"):
        assert run(calling("good", 1), tmp_path / "out.h5", part="1/2").complete
    code = (
        "import os; from pathlib import Path; from vindeby.store.disk.run_directory import RunDirectory;"
        f"RunDirectory(Path({str(tmp_path / 'out.h5')!r})).lock('run').acquire(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (directory.path / "run.lock").exists()
    assert run(calling("good", 1), tmp_path / "out.h5").complete


def test_too_many_failures_stop_a_campaign(tmp_path: Path) -> None:
    poisons = {"poisons": {str(seed): "nan" for seed in range(40)}}
    with pytest.raises(TaskError, match=r"tasks failed, and at most 3 may \(max_failures\)"):
        run(calling("poisonous", 40, poisons), tmp_path / "out.h5", max_failures=3)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("nothing_of_the_kind", "has no nothing_of_the_kind; name a function in it"),
        ("POISONS", "is a dict, not a function"),
    ],
)
def test_a_function_that_is_not_there_is_the_users_mistake(function: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        run(calling(function), tmp_path / "out.h5")


def test_a_module_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    data = calling("good").to_data()
    data["method"] = [{"call": "not_installed:function"}]
    campaign = vindeby.Campaign.from_data(data)
    with pytest.raises(InputError, match="not_installed:function: No module named 'not_installed'"):
        run(campaign, tmp_path / "out.h5")


def test_a_module_that_cannot_be_imported_is_said_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_module.py").write_text("import math\nmath.no_such_thing\n")
    monkeypatch.chdir(tmp_path)
    data = calling("good").to_data()
    data["method"] = [{"call": "broken_module:function"}]
    with pytest.raises(InputError, match=r"(?s)broken_module.py.*has no attribute 'no_such_thing'"):
        run(vindeby.Campaign.from_data(data), tmp_path / "out.h5")


def test_a_place_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="is a folder; name a file in it"):
        run(calling("good"), tmp_path)
    with pytest.raises(ArgumentError, match="make it first"):
        run(calling("good"), tmp_path / "no" / "out.h5")
    with pytest.raises(ArgumentError, match=r"^run: workers=0: give a number of workers of at least 1"):
        run(calling("good"), tmp_path / "out.h5", workers=0)
    with pytest.raises(ArgumentError, match="'ignore' is not known; use abort, skip, rerun"):
        run(calling("good"), tmp_path / "out.h5", on_bad="ignore")


def damaged(tmp_path: Path) -> tuple[Path, Path]:
    """A run of which one shard, with two results, has a flipped bit in the first of them."""
    output = tmp_path / "out.h5"
    campaign = one_cell(calling("good", 4))
    run(campaign, tmp_path / "whole.h5")
    whole = results(tmp_path / "whole.h5")
    directory = RunDirectory(output).create()
    ShardWriter(directory).publish([whole["farm0_t0_s0"], whole["farm0_t0_s1"]])
    (shard,) = directory.shard_paths()
    data = bytearray(shard.read_bytes())
    place = data.find(whole["farm0_t0_s0"].arrays["layout"].tobytes())
    data[place] ^= 1
    shard.write_bytes(bytes(data))
    return output, shard


def test_a_bad_file_stops_a_run_before_anything_happens(tmp_path: Path) -> None:
    output, shard = damaged(tmp_path)
    with pytest.raises(DataError, match=r"(?s)1 file with results is bad; nothing was run.*000000\.shard"):
        run(one_cell(calling("good", 4)), output)
    assert RunDirectory(output).shard_paths() == [shard]


@pytest.mark.core
def test_with_rerun_what_is_bad_is_kept_in_quarantine_and_computed_again(tmp_path: Path) -> None:
    output, shard = damaged(tmp_path)
    bad = shard.read_bytes()
    summary = run(one_cell(calling("good", 4)), output, on_bad="rerun")
    assert summary.complete
    assert (summary.resume_state.done, summary.done) == (1, 3)
    assert equal(results(output), results(tmp_path / "whole.h5"))
    kept = [path for path in RunDirectory(output).quarantine.iterdir() if path.suffix == ".shard"]
    assert [path.read_bytes() for path in kept] == [bad]


def test_a_damaged_database_is_completed_and_a_copy_of_it_is_kept(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    campaign = one_cell(calling("good", 4))
    run(campaign, output)
    whole = results(output)
    data = bytearray(output.read_bytes())
    data[data.find(whole["farm0_t0_s2"].arrays["layout"].tobytes())] ^= 1
    output.write_bytes(bytes(data))
    with pytest.raises(DataError, match="1 file with results is bad"):
        run(campaign, output)
    assert run(campaign, output, on_bad="rerun").complete
    assert equal(results(output), whole)
    kept = [path for path in RunDirectory(output).quarantine.iterdir() if "copy" in path.name]
    assert any(path.read_bytes() == bytes(data) for path in kept)


def test_progress_is_told_and_ends_complete(tmp_path: Path) -> None:
    told: list[Progress] = []
    run(calling("slow", 10, {"seconds": 0.02}), tmp_path / "out.h5", on_progress=told.append)
    assert told[-1].done == told[-1].total == 40
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    busy = [view for progress in told for view in progress.workers if view.task]
    assert busy
    assert all(view.task.startswith("farm") and view.memory > 10e6 for view in busy if view.task)


def test_a_task_that_hangs_is_tried_once_more(tmp_path: Path) -> None:
    campaign = one_cell(calling("poisonous", 3, {"poisons": {"1": "hang"}}, time_limit_s=0.5))
    summary = run(campaign, tmp_path / "out.h5")
    assert summary.failures == {Kind.TIME: 1}
    assert summary.done == 2
    events = "".join(path.read_text() for path in RunDirectory(tmp_path / "out.h5").events.glob("*.jsonl"))
    assert events.count('"event":"failed"') == 1


def test_a_worker_has_one_thread_for_each_library(tmp_path: Path) -> None:
    run(one_cell(calling("threads", 1)), tmp_path / "out.h5")
    (record,) = results(tmp_path / "out.h5").values()
    assert record.attributes["threads"] == "1 1 1 1"
    assert "OMP_NUM_THREADS" not in os.environ or os.environ["OMP_NUM_THREADS"] != ""


def test_a_script_needs_no_guard_and_a_run_may_be_in_a_thread(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(calling("good", 1).dumps())
    script = tmp_path / "script.py"
    script.write_text("import vindeby\nprint(vindeby.run(vindeby.Campaign.load('c.yaml'), 'out.h5').done)\n")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("4\n", "")
    thread = threading.Thread(target=run, args=(calling("good", 1), tmp_path / "thread.h5"))
    thread.start()
    thread.join()
    assert len(results(tmp_path / "thread.h5")) == 4


def test_a_result_from_elsewhere_without_a_fingerprint_counts_as_there(tmp_path: Path) -> None:
    campaign = one_cell(calling("good", 2))
    directory = RunDirectory(tmp_path / "out.h5").create()
    layout = np.stack([np.arange(6) * 500.0 + 100.0, np.full(6, 100.0)])
    foreign = Record("farm0_t0_s0", "", {"layout": layout, "aep": np.array(5.0)}, {})
    ShardWriter(directory).publish([foreign])
    assert run(campaign, tmp_path / "out.h5").done == 1
