"""The real commands merge, validate, missing and salvage, in a temporary folder."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.campaign.examples import SMALL
from tests.command import vindeby
from tests.store.examples import flip, foreign_file
from vindeby.campaign import Campaign
from vindeby.results.sources import campaign_of
from vindeby.store.disk.events import SET_ASIDE
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

pytestmark = pytest.mark.slow


def result(campaign: Campaign, number: int, **changes: object) -> Record:
    """A possible result of the campaign's task."""
    task = campaign.tasks()[number]
    area = campaign.farms[task.farm_idx].boundary.shape().representative_point()
    steps = np.arange(task.n_turbines) * task.spacing_m * 1.01
    layout = np.stack([np.full(task.n_turbines, area.x), area.y - steps / 2 + task.seed])
    if task.farm_idx == 0:
        layout = np.stack([100 + steps % 3500, 100 + 700 * (steps // 3500) + task.seed])
    arrays = {"layout": layout, "aep": np.array(10.0 + task.seed)} | changes
    attributes = {"farm_idx": task.farm_idx, "type_idx": task.type_idx, "ss_seed": task.seed}
    return Record(task.key, task.fingerprint, arrays, {**attributes, "n_turbines": task.n_turbines})  # type: ignore[arg-type]


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    (tmp_path / "c.yaml").write_text(SMALL)
    loaded = Campaign.loads(SMALL)
    RunDirectory(tmp_path / "out.h5").create().freeze_campaign(loaded.dumps())
    return loaded


def publish(folder: Path, batch: list[Record]) -> Path:
    return ShardWriter(RunDirectory(folder / "out.h5")).publish(batch).path


def test_merge_validate_and_missing_of_a_run(campaign: Campaign, tmp_path: Path) -> None:
    publish(tmp_path, [result(campaign, number) for number in range(4)])
    merged = vindeby(tmp_path, "merge", "out.h5")
    assert (merged.returncode, merged.stdout) == (0, "out.h5: 4 records, classic format; done\n")
    with h5py.File(tmp_path / "out.h5") as file:
        assert file.attrs["grid_size"] == 18
        assert file.attrs["random_pct"] == 30.0
        assert file.attrs["total_configs"] == 12
        assert Campaign.loads(file.attrs["campaign"]) == campaign
    checked = vindeby(tmp_path, "validate", "out.h5")
    assert checked.returncode == 1
    assert "4 records in 1 file" in checked.stdout
    assert "8 expected results are missing" in checked.stdout
    missing = vindeby(tmp_path, "missing", "out.h5", "--format", "csv")
    assert missing.returncode == 1
    assert missing.stdout.splitlines()[:2] == ["key,state,why", "farm0_t1_s1,open,never started"]
    assert missing.stderr == "vindeby: 8 of 12 results are missing\n"
    listed = vindeby(tmp_path, "missing", "out.h5", "--json")
    assert len(json.loads(listed.stdout)) == 8


def test_missing_knows_a_failure_whose_line_has_no_end(campaign: Campaign, tmp_path: Path) -> None:
    event = {
        "time": 1.0,
        "event": SET_ASIDE,
        "task": campaign.tasks()[0].key,
        "fingerprint": campaign.tasks()[0].fingerprint,
        "kind": "error",
        "reason": "odd",
    }
    (RunDirectory(tmp_path / "out.h5").events / "a.jsonl").write_text(json.dumps(event))
    assert f"{event['task']}\tfailed\terror: odd\n" in vindeby(tmp_path, "missing", "out.h5").stdout


def test_a_database_is_asked_for_its_campaign_only_where_nothing_else_names_one(
    campaign: Campaign, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "out.h5")
    assert campaign_of(run, None, lambda: pytest.fail("asked")) == campaign
    given = str(tmp_path / "c.yaml")
    assert campaign_of(RunDirectory(tmp_path / "b.h5"), given, lambda: pytest.fail("asked")) == campaign
    assert campaign_of(RunDirectory(tmp_path / "b.h5"), None, lambda: SMALL) == campaign


def test_a_complete_run_is_valid(campaign: Campaign, tmp_path: Path) -> None:
    publish(tmp_path, [result(campaign, number) for number in range(6)])
    publish(tmp_path, [result(campaign, number) for number in range(6)])
    assert vindeby(tmp_path, "merge", "out.h5", "--format", "table").returncode == 0
    report = json.loads(vindeby(tmp_path, "validate", "out.h5", "--json").stdout)
    assert report["issues"] == []
    assert len(report["missing"]) == 6
    assert report["sealed"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"aep": np.array(0.0)}, "aep is 0: no energy was stored"),
        ({"aep": np.array(-3.0)}, "aep is -3, and must be positive"),
        ({"aep": np.array(1e6)}, "without any wakes it would be"),
        ({"layout": np.ones((2, 6)) * 500}, "turbines 0 and 1 are 0 m apart"),
        (
            {"layout": np.stack([np.arange(6) * 1000.0, np.ones(6) * 500])},
            "turbine 5 by 1000 m",
        ),
        (
            {"layout": np.stack([np.arange(3) * 1000.0, np.ones(3) * 500])},
            "the campaign asks for 6",
        ),
        ({"layout": np.ones(6)}, "layout has the shape (6,)"),
    ],
)
def test_an_impossible_result_is_told(
    campaign: Campaign, changes: dict[str, object], words: str, tmp_path: Path
) -> None:
    publish(tmp_path, [result(campaign, 0, **changes)])
    done = vindeby(tmp_path, "validate", "out.h5")
    assert done.returncode == 1
    assert "farm0_t0_s0: " in done.stdout
    assert words in done.stdout


def test_bad_shards_stop_or_are_skipped(campaign: Campaign, tmp_path: Path) -> None:
    publish(tmp_path, [result(campaign, 0)])
    bad = publish(tmp_path, [result(campaign, 1)])
    flip(bad, 8 * bad.read_bytes().index(result(campaign, 1).layout.tobytes()))
    stopped = vindeby(tmp_path, "merge", "out.h5")
    assert stopped.returncode == 1
    assert "not merged, nothing was changed; 1 of 2 files is bad" in stopped.stderr
    assert "checksum mismatch" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "out.h5").exists()
    skipped = vindeby(tmp_path, "merge", "out.h5", "--on-bad", "skip", "--json")
    assert skipped.returncode == 1
    assert json.loads(skipped.stdout)["records"] == 1
    assert "11 of 12 results are missing" in skipped.stderr
    assert len(list((tmp_path / "out.h5.run" / "quarantine").glob("*.shard"))) == 1


def test_the_story_of_the_lost_campaign(tmp_path: Path) -> None:
    """A folder of good, empty, init-only and cut worker files, and every AEP stored as 0."""
    (tmp_path / "c.yaml").write_text(SMALL)
    folder = tmp_path / "layouts.h5_temp"
    folder.mkdir()
    foreign_file(folder / "worker_1.h5", range(3), aep=0.0)
    foreign_file(folder / "worker_2.h5", range(0))
    (folder / "worker_3.h5").touch()
    foreign_file(folder / "worker_4.h5", range(3, 9), aep=0.0)
    whole = (folder / "worker_4.h5").read_bytes()
    (folder / "worker_4.h5").write_bytes(whole[: len(whole) * 3 // 4])
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = vindeby(tmp_path, "salvage", "layouts.h5_temp", "-o", "layouts.h5", "--campaign", "c.yaml")
    assert done.returncode == 1
    assert "layouts.h5: 7 records saved from 4 files" in done.stdout
    assert (
        "worker_2.h5: given file, 2056 bytes, 0 records found, 0 taken; kept\n    holds no results"
        in done.stdout
    )
    assert (
        "worker_3.h5: given file, 0 bytes, 0 records found, 0 taken; kept\n    empty (0 bytes)" in done.stdout
    )
    assert "4 records found, 4 taken (4 filled up to its recorded end); kept" in done.stdout
    assert "all 12 results are missing (3 of them invalid)" in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    checked = vindeby(tmp_path, "validate", "layouts.h5")
    assert checked.returncode == 1
    assert "aep is 0: no energy was stored" in checked.stdout
    missing = vindeby(tmp_path, "missing", "layouts.h5")
    assert missing.stdout.splitlines()[0] == "farm0_t0_s0\topen\tnever started"
    again = vindeby(tmp_path, "salvage", "layouts.h5_temp", "-o", "layouts.h5")
    assert again.returncode == 2
    assert "layouts.h5: exists and is left as it is" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["merge", "no.h5"], 2, "no.h5: there is no such database"),
        (["validate", "no.h5"], 2, "no.h5: there is no such database"),
        (["missing", "no.h5"], 2, "no.h5: there is no such database"),
        (["salvage", "no.h5", "-o", "x.h5"], 2, "no.h5: there is no such file or folder"),
        (["validate", "."], 1, "no campaign is kept with it"),
        (["missing", "."], 2, "name it with --campaign FILE"),
        (["merge", "text.h5"], 1, "no HDF5 signature"),
        (["missing", "text.h5"], 1, "no HDF5 signature"),
        (["validate", "text.h5"], 1, ""),
        (["salvage", "text.h5", "-o", "x.h5"], 1, "no result could be saved from 1 file"),
        (["missing", "text.h5", "--format", "xml"], 2, "use text, csv or json"),
        (["merge", "text.h5", "--format", "rows"], 2, "there are: classic, table"),
    ],
)
def test_a_mistake_gives_a_message_and_a_status_and_no_traceback(
    arguments: list[str], status: int, words: str, tmp_path: Path
) -> None:
    (tmp_path / "text.h5").write_text("hello\n" * 100)
    done = vindeby(tmp_path, *arguments)
    assert done.returncode == status, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "text.h5").read_text() == "hello\n" * 100
