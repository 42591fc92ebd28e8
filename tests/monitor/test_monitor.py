from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from rich.console import Console

from tests.results.examples import campaign, events, finished, publish, record, set_aside
from vindeby.errors import DataError, InputError
from vindeby.monitor.view import whole
from vindeby.results import sources
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.process import Identity
from vindeby.store.format.shard import ShardFile, ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge


def old_file(path: Path, keys: list[str], **root: object) -> None:
    """What an older script leaves: groups with a layout and an energy, nothing else."""
    with h5py.File(path, "w") as file:
        file.attrs.update(root)
        for number, key in enumerate(keys):
            group = file.create_group(key)
            group["layout"] = np.arange(12.0).reshape(2, 6) * 1000 + number
            group["aep"] = 100.0 + number


def test_a_run_in_progress_is_counted(tmp_path: Path) -> None:
    asked = campaign()
    publish(tmp_path / "o.h5", asked, lambda task: task.farm_idx == 0 or task.seed == 1)
    seen = ResultSet(tmp_path / "o.h5").look()
    assert (seen.kind, seen.name) == ("campaign", "small")
    assert (seen.expected, seen.done, seen.missing, seen.failed, seen.invalid) == (12, 8, 4, 0, 0)
    assert seen.fraction == pytest.approx(8 / 12)
    assert [row["done"] for row in seen.counts_by(("farm",))] == [6, 2]
    assert seen.disk is not None
    assert seen.disk.run_directory > 1000


def test_a_finished_database_is_counted_without_its_run_directory(tmp_path: Path) -> None:
    run = finished(tmp_path / "o.h5", campaign())
    shutil.rmtree(run.path)
    seen = ResultSet(tmp_path / "o.h5").look()
    assert (seen.kind, seen.expected, seen.done, seen.missing) == ("database", 12, 12, 0)


def test_a_campaign_that_has_not_begun_is_all_missing_and_grows(tmp_path: Path) -> None:
    asked = campaign()
    run = publish(tmp_path / "o.h5", asked, lambda _: False)
    run.shards.rmdir()
    results = ResultSet(tmp_path / "o.h5")
    assert (results.look().done, results.look().missing) == (0, 12)
    run.create()
    ShardWriter(run).publish([record(asked, task) for task in asked.tasks()])
    assert results.look().done == 12


def test_counts_by_any_dimensions_agree(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign(), lambda task: task.seed != 2 or task.type_idx == 1)
    seen = ResultSet(tmp_path / "o.h5").look()
    for dimensions in (
        ("farm",),
        ("seed",),
        ("turbine", "seed"),
        ("seed", "farm"),
        ("farm", "turbine", "seed"),
    ):
        rows = seen.counts_by(dimensions)
        assert sum(row["done"] for row in rows) == seen.done == 10
        assert sum(row["expected"] for row in rows) == 12
        assert all(list(row)[: len(dimensions)] == list(dimensions) for row in rows)
    by_seed = {row["seed"]: row["done"] for row in seen.counts_by(("seed",))}
    assert by_seed == {0: 4, 1: 4, 2: 2}
    mixed = seen.counts_by(("turbine", "seed"))
    assert [(row["turbine"], row["seed"], row["done"]) for row in mixed][:3] == [
        ("five", 0, 2), ("five", 1, 2), ("five", 2, 0),
    ]  # fmt: skip


def test_failures_workers_and_rate_come_from_the_events(tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign(), lambda task: task.farm_idx == 0)
    now = time.time()
    events(
        run,
        [
            {"event": "published", "tasks": 2, "time": now - 20},
            {"event": "failed", "task": "farm1_t0_s0", "time": now - 15},
            set_aside("farm1_t0_s0", "older", time=now - 12),
            set_aside("farm1_t0_s1", time=now - 11),
            set_aside("farm0_t0_s0", "but it was done later", time=now - 11),
            {"event": "published", "tasks": 4, "time": now - 10},
        ],
    )
    state = {
        "time": now,
        "workers": [
            {"seat": 0, "pid": 7, "task": "farm1_t1_s0", "seconds": 2.0, "silent_s": 0.5, "memory": 5e7}
        ],
    }
    (run.events / "elsewhere-1-a.now.json").write_text(json.dumps(state))
    seen = ResultSet(tmp_path / "o.h5").look()
    assert [(failure.key, failure.reason) for failure in seen.failures] == [
        ("farm1_t0_s1", "ValueError: no"),
        ("farm1_t0_s0", "older"),
    ]
    assert (seen.failed, seen.running, seen.retried, seen.done) == (2, 1, 1, 6)
    assert seen.workers[0].task == "farm1_t1_s0"
    assert seen.workers[0].seconds >= 2.0
    assert seen.rate == pytest.approx(4 / 20, rel=0.1)
    assert seen.eta_s == pytest.approx((12 - 6 - 2) / (4 / 20), rel=0.1)


def test_long_tasks_say_how_far_they_are_and_few_results_at_once_are_no_rate(tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign(), lambda task: task.farm_idx == 0)
    now = time.time()
    events(
        run,
        [
            {"event": "run started", "time": now - 600},
            {"event": "published", "tasks": 1, "time": now - 0.4},
            {"event": "published", "tasks": 1, "time": now - 0.1},
        ],
    )
    seen = ResultSet(tmp_path / "o.h5").look()
    assert seen.rate == pytest.approx(2 / 120, rel=0.1)
    progress = {"stage": "gradient (step 2 of 2)", "iteration": 120, "iterations": 320, "aep_gwh": 812.34}
    doing = "gradient (step 2 of 2) 120 of 320, 812.3 GWh so far"
    at_work = {"slot": 0, "pid": 7, "task": "farm1_t1_s0", "progress": progress, "doing": doing}
    state = {"time": now, "workers": [at_work, {"slot": 1, "progress": ["odd"]}], "eta_s": 540.0}
    (run.events / "elsewhere-1-a.now.json").write_text(json.dumps(state))
    seen = ResultSet(tmp_path / "o.h5").look()
    assert seen.eta_s == 540.0
    first, second = seen.to_json()["workers"]
    assert (first["progress"], first["doing"]) == (progress, doing)
    assert (second["progress"], second["doing"]) == ({}, "")
    console = Console(width=200)
    with console.capture() as shown:
        console.print(whole(seen, run.logs))
    assert doing in shown.get()
    assert "9 min left" in shown.get()


@pytest.mark.parametrize("dead", ["by its process", "by its silence"])
def test_after_a_crash_nobody_is_running(dead: str, tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign(), lambda task: task.farm_idx == 0)
    host = Identity.current().host if dead == "by its process" else "elsewhere"
    age = 0.0 if dead == "by its process" else 60.0
    state = {"time": time.time() - age, "workers": [{"seat": 0, "pid": 7, "task": "farm1_t1_s0"}]}
    (run.events / f"{host}-{2**22 + 1}-a.now.json").write_text(json.dumps(state))
    seen = ResultSet(tmp_path / "o.h5").look()
    assert (seen.running, seen.workers, seen.active, seen.eta_s) == (0, (), False, None)
    assert [coordinator.alive for coordinator in seen.coordinators] == [False]


def test_a_result_of_an_older_campaign_is_stale_and_missing(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign(seconds=0.0))
    run = publish(tmp_path / "o.h5", campaign(seconds=1.0), lambda _: False)
    seen = ResultSet(run.output).look()
    assert (seen.done, seen.stale, seen.missing) == (0, 12, 12)


def test_a_campaign_that_is_frozen_anew_is_read_again(tmp_path: Path) -> None:
    asked, newer = campaign(), campaign(seeds=5)
    run = publish(tmp_path / "o.h5", asked)
    results = ResultSet(run.output)
    assert (results.look().expected, results.campaign) == (12, asked)
    run.freeze_campaign(newer.dumps())
    look = results.look()
    assert (look.name, look.expected, look.done) == ("small", 20, 12)
    assert results.campaign == newer


def test_results_that_the_campaign_does_not_ask_for_are_said(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign(seeds=4))
    publish(tmp_path / "o.h5", campaign(seeds=3), lambda _: False)
    seen = ResultSet(tmp_path / "o.h5").look()
    assert (seen.expected, seen.done, seen.extra) == (12, 12, 4)


def test_a_damaged_shard_is_named_and_the_rest_counted(tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign())
    path = run.shard_paths()[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    seen = ResultSet(tmp_path / "o.h5").look()
    assert [Path(bad.path) for bad in seen.bad_files] == [path]
    assert "checksum" in seen.bad_files[0].findings[0]
    assert seen.done >= 7
    assert seen.done + seen.invalid <= 12


def test_a_file_of_an_older_script_is_counted(tmp_path: Path) -> None:
    keys = [f"farm{farm}_t{kind}_s{seed}" for farm in range(2) for kind in range(3) for seed in range(4)]
    old_file(tmp_path / "old.h5", keys[:20], total_configs=24)
    seen = ResultSet(tmp_path / "old.h5").look()
    assert (seen.kind, seen.expected, seen.done, seen.missing) == ("database", 24, 20, 4)
    assert [row["done"] for row in seen.counts_by(("farm", "turbine"))] == [4, 4, 4, 4, 4, 0]


def test_an_older_file_that_does_not_say_what_it_should_hold(tmp_path: Path) -> None:
    old_file(tmp_path / "old.h5", ["farm0_t0_s0", "farm1_t1_s7"])
    seen = ResultSet(tmp_path / "old.h5").look()
    assert (seen.expected, seen.done, seen.missing) == (None, 2, None)
    old_file(tmp_path / "other.h5", ["alpha", "beta"])
    seen = ResultSet(tmp_path / "other.h5").look()
    assert (seen.expected, seen.done) == (None, 2)


def test_a_folder_of_old_worker_files_with_bad_ones_among_them(tmp_path: Path) -> None:
    folder = tmp_path / "layouts.h5_temp"
    folder.mkdir()
    old_file(folder / "worker_1.h5", ["farm0_t0_s0", "farm0_t0_s1"])
    old_file(folder / "worker_2.h5", ["farm0_t0_s1", "farm0_t0_s2"])
    (folder / "worker_3.h5").write_bytes(b"")
    with h5py.File(folder / "worker_4.h5", "w") as file:
        file["init"] = 1
    results = ResultSet(folder)
    seen = results.look()
    assert (seen.kind, seen.done) == ("folder", 3)
    found = {Path(bad.path).name: bad.findings[0] for bad in seen.bad_files}
    assert found["worker_3.h5"] == "empty (0 bytes)"
    assert "no results" in found["worker_4.h5"] or "foreign" in found["worker_4.h5"]
    old_file(folder / "worker_3.h5", ["farm0_t0_s9"])
    assert results.look().done == 4


def test_what_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = campaign()
    run = publish(tmp_path / "o.h5", asked, lambda task: task.seed < 2, batch=2)
    opened: list[Path] = []
    original = ShardFile.open

    def counting(path: Path) -> ShardFile:
        opened.append(path)
        return original(path)

    monkeypatch.setattr(ShardFile, "open", counting)
    results = ResultSet(tmp_path / "o.h5")
    assert results.look().done == 8
    assert set(opened) == set(run.shard_paths())
    opened.clear()
    assert results.look().done == 8
    assert opened == []
    before = set(run.shard_paths())
    ShardWriter(run).publish([record(asked, task) for task in asked.tasks() if task.seed == 2])
    assert results.look().done == 12
    assert set(opened) == set(run.shard_paths()) - before


def test_results_stay_counted_when_a_merge_moves_them(tmp_path: Path) -> None:
    asked = campaign()
    run = publish(tmp_path / "o.h5", asked, batch=2)
    results = ResultSet(run.output)
    assert results.look().done == 12
    merge(run.output, MergeOptions(root=asked.root_attributes()))
    assert run.shard_paths() == []
    assert results.look().done == 12
    assert results.source["farm1_t1_s2"].key == "farm1_t1_s2"


def test_a_database_that_is_replaced_while_it_is_read(tmp_path: Path) -> None:
    finished(tmp_path / "a.h5", campaign(seeds=2))
    finished(tmp_path / "b.h5", campaign(seeds=3))
    versions = [(tmp_path / name).read_bytes() for name in ("a.h5", "b.h5")]
    target = tmp_path / "o.h5"
    target.write_bytes(versions[0])
    ending = threading.Event()

    def replace() -> None:
        number = 0
        while not ending.is_set():
            number += 1
            (tmp_path / "new").write_bytes(versions[number % 2])
            (tmp_path / "new").replace(target)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(40):
            seen = ResultSet(target).look()
            assert (seen.done, seen.expected) in {(8, 8), (12, 12), (8, 12), (12, 8)}
    finally:
        ending.set()
        thread.join()


def test_a_vanished_database_is_said_to_be_gone(tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign())
    results = ResultSet(run.output)
    assert results.look().done == 12
    shutil.rmtree(run.path)
    with pytest.raises(InputError, match="it is gone"):
        results.look()
    publish(tmp_path / "o.h5", campaign(), lambda task: task.seed == 0)
    assert results.look().done == 4


def test_a_database_that_is_deleted_beside_its_run_directory_counts_no_more(tmp_path: Path) -> None:
    run = finished(tmp_path / "o.h5", campaign())
    results = ResultSet(run.output)
    assert results.look().done == 12
    run.output.unlink()
    assert results.look().done == 0


def test_what_is_no_database_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such database"):
        ResultSet(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("hello, this is not HDF5 at all\n" * 10)
    with pytest.raises(DataError, match="no HDF5 signature"):
        ResultSet(tmp_path / "text.h5")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="holds no HDF5 files"):
        ResultSet(tmp_path / "folder")


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(tmp_path / "o.h5", campaign())
    monkeypatch.setattr(sources, "FORMAT_VERSION", 0)
    with pytest.raises(InputError, match=r"format version \d+; this vindeby reads 0, use a newer one"):
        ResultSet(tmp_path / "o.h5")
