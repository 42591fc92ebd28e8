"""``vindeby run --recompute``: chosen results are computed again, and the old ones count meanwhile."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command import INSTALLED, vindeby
from tests.runner.campaigns import ROOT, calling, one_cell, results
from vindeby.campaign import Campaign
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database

KEYS = [f"farm0_t0_s{seed}" for seed in range(6)]

FUNCTION = '''
"""Gives the energy that stands in a file beside it, which no fingerprint knows of."""
import time
from pathlib import Path

from tests.runner.functions import good

HERE = Path(__file__).parent

def run(task):
    with (HERE / "computed").open("a") as file:
        file.write(task.key + "\\n")
    time.sleep(float((HERE / "seconds").read_text()))
    if (HERE / "broken").exists():
        raise ValueError("broken")
    return {**good(task), "aep": float((HERE / "energy").read_text()) + task.seed}
'''


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    (folder / "mine.py").write_text(FUNCTION)
    (folder / "seconds").write_text("0")
    (folder / "energy").write_text("50")
    data = one_cell(calling("good", 6)).to_data()
    data["method"] = [{"call": {"function": "mine:run", "energy": "own"}}]
    data["run"] = {"workers": 1, "flush_s": 0.0}
    (folder / "c.yaml").write_text(Campaign.from_data(data).dumps())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        done = run(folder)
    assert done.returncode == 0, done.stderr
    (folder / "energy").write_text("90")
    (folder / "computed").unlink()
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six results, with energies of 50 to 55 GWh; a new one would have 40 more."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return Path(shutil.copytree(finished, tmp_path / "run"))


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return vindeby(folder, "run", "c.yaml", "-o", "out.h5", *options)


def energies(folder: Path) -> dict[str, float]:
    return {key: float(record.arrays["aep"]) for key, record in sorted(results(folder / "out.h5").items())}


def computed(folder: Path) -> list[str]:
    return (folder / "computed").read_text().split()


def expected(*anew: int) -> dict[str, float]:
    return {key: (90.0 if seed in anew else 50.0) + seed for seed, key in enumerate(KEYS)}


@pytest.mark.core
def test_named_results_are_computed_again_and_no_others(folder: Path) -> None:
    done = run(folder, "--recompute", KEYS[1], "--recompute", KEYS[4])
    assert done.returncode == 0, done.stderr
    assert "2 results are computed again; the old ones count until then" in done.stderr
    assert "computed 2 in" in done.stdout
    assert "4 were there before" in done.stdout
    assert sorted(computed(folder)) == [KEYS[1], KEYS[4]]
    assert energies(folder) == expected(1, 4)
    assert vindeby(folder, "validate", "out.h5").returncode == 0
    before: dict[str, float] = {}  # what was replaced is kept by itself
    for path in (folder / "out.h5.run" / "replaced").glob("*.h5"):
        with Database(path) as database:
            before |= {key: float(database[key].arrays["aep"]) for key in database}
    assert before == {KEYS[1]: 51.0, KEYS[4]: 54.0}
    assert run(folder).returncode == 0  # the request is over
    assert len(computed(folder)) == 2
    assert run(folder, "--recompute", KEYS[1]).returncode == 0  # and another one begins anew
    assert computed(folder)[2:] == [KEYS[1]]


@pytest.mark.core
def test_a_condition_chooses_results_in_the_language_of_query(folder: Path) -> None:
    done = run(folder, "--recompute-where", "farm == 'north' and aep < 52")
    assert done.returncode == 0, done.stderr
    assert energies(folder) == expected(0, 1)


@pytest.mark.core
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--recompute", "farm0_t0_s6"], "--recompute: 'farm0_t0_s6' is not a task of the campaign"),
        (["--recompute", "farm00_t0_s1"], "--recompute: 'farm00_t0_s1' is not a task of the campaign"),
        (["--recompute-where", "aep > 1000"], "--recompute-where: no valid result meets 'aep > 1000'"),
        (["--recompute-where", "colour == 'red'"], "'colour' is not a column of these results"),
        (["--recompute", "farm0_t0_s1", "--part", "1/2"], "give it without --part"),
    ],
)
def test_what_cannot_be_computed_again_is_an_error(folder: Path, options: list[str], message: str) -> None:
    done = run(folder, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (folder / "computed").exists()
    assert not (folder / "out.h5.run" / "recompute.json").exists()
    assert energies(folder) == expected()


@pytest.mark.parametrize("is_same_command", [True, False])
def test_killed_the_next_run_goes_on_with_it_and_the_old_results_count_meanwhile(
    folder: Path, is_same_command: bool
) -> None:
    (folder / "seconds").write_text("0.4")
    options = ["--recompute-where", "seed in [0, 1, 2, 3]"]
    command = [INSTALLED, "run", "c.yaml", "-o", "out.h5", *options]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run_directory = RunDirectory(folder / "out.h5")
    deadline = time.monotonic() + 60.0
    while len(run_directory.shard_names()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    there = len(run_directory.shard_names())
    assert 2 <= there < 4
    assert energies(folder) == expected()  # whoever reads now gets the old ones
    assert vindeby(folder, "validate", "out.h5").returncode == 0
    assert vindeby(folder, "missing", "out.h5").returncode == 0
    merged = vindeby(folder, "merge", "out.h5")  # as from cron
    assert merged.returncode == 0, merged.stdout
    assert sum(energy >= 90.0 for energy in energies(folder).values()) == there
    (folder / "seconds").write_text("0")
    begun = len(computed(folder))
    done = run(folder, *(options if is_same_command else ()))
    assert done.returncode == 0, done.stderr
    assert len(computed(folder)) == begun + 4 - there
    assert energies(folder) == expected(0, 1, 2, 3)
    assert not run_directory.recompute_file.exists()


def test_a_task_that_fails_keeps_its_old_result_and_is_tried_again(folder: Path) -> None:
    (folder / "broken").touch()
    assert run(folder, "--recompute", KEYS[2]).returncode == 1
    assert energies(folder) == expected()
    assert vindeby(folder, "missing", "out.h5").returncode == 0
    (folder / "broken").unlink()
    assert run(folder, "--recompute", KEYS[2]).returncode == 0
    assert energies(folder) == expected(2)


def test_from_python_the_same(folder: Path) -> None:
    code = (
        "import vindeby; summary = vindeby.run('c.yaml', 'out.h5', recompute=['farm0_t0_s3']); "
        "print(summary.done, summary.complete)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout == "1 True\n"
    assert energies(folder) == expected(3)
