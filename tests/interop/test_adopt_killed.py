"""An adoption that is killed with -9 is finished by the same command: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.worker_files import worker_file
from tests.command import vindeby
from tests.interop.adopt_and_die import PLACES
from tests.interop.script_files import bytes_of
from tests.runner.campaigns import ROOT, calling, content, one_cell, results
from vindeby.campaign import Campaign
from vindeby.interop.adopt import adopt
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT))


def script_run(folder: Path) -> Campaign:
    """A run of a script: of 12 results, 5 in a worker's file, one of them in its merged file too, with 2 others."""
    campaign = one_cell(calling("good", 12))
    (folder / "c.yaml").write_text(campaign.dumps())
    (folder / "t").mkdir()
    worker_file(folder / "t" / "worker_1.h5", campaign, campaign.tasks()[:5], aep=50.0)
    worker_file(folder / "t" / "merged.h5", campaign, campaign.tasks()[4:7], aep=50.0)
    return campaign


def contents(output: Path) -> dict[str, object]:
    """All results, but for the file that one of them was found in first."""
    return {key: content(without_place(record)) for key, record in results(output).items()}


def without_place(record: Record) -> Record:
    attributes = {name: value for name, value in record.attributes.items() if name != "adopted_file"}
    return Record(record.key, record.fingerprint, dict(record.arrays), attributes)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("undisturbed")
    campaign = script_run(folder)
    assert adopt([folder / "t"], folder / "new.h5", campaign).adopted == 7
    return contents(folder / "new.h5")


@pytest.mark.parametrize("place", PLACES)
def test_the_same_command_goes_on_after_a_kill(
    place: str, tmp_path: Path, undisturbed: dict[str, object]
) -> None:
    campaign = script_run(tmp_path)
    before = bytes_of(tmp_path / "t")
    killed = subprocess.run(
        [sys.executable, "-m", "tests.interop.adopt_and_die", place],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    report = adopt([tmp_path / "t"], tmp_path / "new.h5", campaign)
    assert contents(tmp_path / "new.h5") == undisturbed
    assert bytes_of(tmp_path / "t") == before
    run = RunDirectory(tmp_path / "new.h5")
    assert not run.shard_paths()
    assert not list(run.path.glob(".adopt-*"))
    assert report.left_out == []


def test_the_commands_agree_about_an_adopted_run(tmp_path: Path) -> None:
    script_run(tmp_path)
    needed = vindeby(tmp_path, "adopt", "t", "-o", "new.h5")
    assert needed.returncode == 2
    assert "add --campaign FILE; `vindeby init energy-island campaign.yaml` writes one" in needed.stderr
    done = vindeby(tmp_path, "adopt", "t", "-o", "o.h5", "--campaign", "c.yaml", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["adopted"], len(report["missing"])) == (1, 7, 5)
    assert "vindeby: 5 of 12 results are missing; `vindeby missing o.h5` lists them" in done.stderr
    assert "`vindeby run c.yaml -o o.h5` computes them" in done.stderr
    missing = json.loads(vindeby(tmp_path, "missing", "o.h5", "--json").stdout)
    assert missing == report["missing"]
    watched = json.loads(vindeby(tmp_path, "monitor", "o.h5", "--json").stdout)
    assert (watched["done"], watched["missing"], watched["invalid"]) == (7, 5, 0)
    finished = vindeby(tmp_path, "run", "c.yaml", "-o", "o.h5")
    assert finished.returncode == 0, finished.stderr
    assert "computed 5 " in finished.stdout
    again = vindeby(tmp_path, "adopt", "t", "-o", "o.h5")
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("o.h5: 0 results adopted from 2 files; 8 were there already\n")
