"""A folder of worker files as a crashed script leaves it: told file by file, and finished by two commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import h5py
import pytest

from tests.cli.worker_files import broken_folder
from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, one_cell
from vindeby.runner import run

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT))


def test_validate_and_missing_tell_what_each_worker_file_is_and_two_commands_finish(tmp_path: Path) -> None:
    campaign = one_cell(calling("good", 12))
    (tmp_path / "c.yaml").write_text(campaign.dumps())
    broken_folder(tmp_path / "t", campaign, aep=50.0)
    before = {path: path.read_bytes() for path in (tmp_path / "t").iterdir()}
    told = vindeby(tmp_path, "validate", "t", "--campaign", "c.yaml")
    assert told.returncode == 1
    lines = told.stdout.splitlines()
    assert lines[0] == "t: NOT valid: 4 records in 5 files"
    assert lines[1].endswith(" bytes: 4 records")
    assert lines[2] == "  t/worker_2.h5: 0 bytes: empty (0 bytes)"
    assert lines[3].endswith(" bytes: holds no results")
    assert lines[4].startswith("  t/worker_4.h5: 800 bytes: no HDF5 signature")
    assert ": truncated: " in lines[5]
    assert lines[6] == "  8 expected results are missing; `vindeby missing t --campaign c.yaml` lists them"
    assert "`vindeby adopt t -o OUT.h5 --campaign CAMPAIGN` keeps every layout that is right" in lines[7]
    report = json.loads(vindeby(tmp_path, "validate", "t", "--json").stdout)
    assert [entry["found"] for entry in report["contents"]] == [4, 0, 0, 0, 0]
    missing = vindeby(tmp_path, "missing", "t", "--campaign", "c.yaml")
    assert missing.returncode == 1
    assert missing.stdout.splitlines() == [f"farm0_t0_s{seed}\topen\tnever started" for seed in range(4, 12)]
    assert "vindeby: t/worker_1.h5: 4 records\nvindeby: t/worker_2.h5: empty (0 bytes)\n" in missing.stderr
    assert missing.stderr.endswith("vindeby: 8 of 12 results are missing\n")
    assert {path: path.read_bytes() for path in (tmp_path / "t").iterdir()} == before
    assert vindeby(tmp_path, "salvage", "t", "-o", "o.h5", "--campaign", "c.yaml").returncode == 1
    done = vindeby(tmp_path, "run", "c.yaml", "-o", "o.h5")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("o.h5: 12 of 12 results, all valid\n")


def test_a_folder_without_energies_is_told_as_invalid(tmp_path: Path) -> None:
    campaign = one_cell(calling("good", 3))
    (tmp_path / "c.yaml").write_text(campaign.dumps())
    broken_folder(tmp_path / "t", campaign)
    missing = vindeby(tmp_path, "missing", "t", "--campaign", "c.yaml", "--format", "csv")
    assert missing.stdout.splitlines()[1] == (
        "farm0_t0_s0,invalid,aep is 0: no energy was stored; only the layout can be used"
    )
    watched = json.loads(vindeby(tmp_path, "monitor", "t", "--campaign", "c.yaml", "--json").stdout)
    assert (watched["done"], watched["invalid"], watched["missing"]) == (0, 1, 3)


@pytest.mark.parametrize("command", ["validate", "missing"])
def test_a_folder_without_worker_files_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    done = vindeby(tmp_path, command, "t")
    assert (done.returncode, done.stdout) == (2, "")
    assert "t: this folder holds no HDF5 files" in done.stderr


def test_missing_of_a_folder_needs_the_campaign(tmp_path: Path) -> None:
    broken_folder(tmp_path / "t", one_cell(calling("good", 3)))
    done = vindeby(tmp_path, "missing", "t")
    assert done.returncode == 2
    assert "name it with --campaign FILE" in done.stderr


def test_validate_finds_the_campaign_inside_a_database_away_from_its_run_directory(tmp_path: Path) -> None:
    """Also when another program wrote into it, so that its seal is gone."""
    run(one_cell(calling("good", 2)), tmp_path / "o.h5")
    shutil.copy(tmp_path / "o.h5", tmp_path / "sealed.h5")
    with h5py.File(tmp_path / "sealed.h5") as whole, h5py.File(tmp_path / "copied.h5", "w") as copy:
        copy.attrs.update({name: value for name, value in whole.attrs.items() if name != "root_checksum"})
        for key in ["farm0_t0_s0"]:
            whole.copy(key, copy)
    for name, count in (("sealed.h5", 0), ("copied.h5", 1)):
        report = json.loads(vindeby(tmp_path, "validate", name, "--json").stdout)
        listed = vindeby(tmp_path, "missing", name, "--json")
        assert len(report["missing"]) == len(json.loads(listed.stdout)) == count
        assert "no campaign is kept" not in listed.stderr
