"""Every example runs by the commands of its README, gives a database that holds, and resumes."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.runner.campaigns import ROOT, results
from vindeby.campaign import Campaign
from vindeby.store.format.record import Record

EXAMPLES = ROOT / "examples"
NEEDS = {"topfarm_layouts": "topfarm", "floris_layouts": "floris", "plain_numpy": "numpy"}


def prepared(name: str, tmp_path: Path) -> Path:
    """A copy of an example, so that nothing is written into the project."""
    needed = NEEDS[name]
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed: pip install 'vindeby[examples,floris]'")
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))


def commands(folder: Path) -> list[str]:
    return re.findall(r"^    (\S.*)$", (folder / "README.md").read_text(), flags=re.MULTILINE)


def run_command(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def done_by_readme(folder: Path, *, twice: bool) -> dict[str, Record]:
    """Run what the README shows; everything must succeed. Run twice, the campaign finds nothing left to do."""
    shown = commands(folder)
    assert [command.split()[:2] for command in shown[:2]] == [["vindeby", "run"], ["vindeby", "validate"]]
    for command in shown:
        done = run_command(folder, command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    (output,) = folder.glob("*.h5")
    if twice:
        again = run_command(folder, shown[0])
        assert (again.returncode, "computed 0 " in again.stdout) == (0, True), again.stdout
    return results(output)


def test_every_folder_is_tested_and_listed() -> None:
    folders = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "__pycache__")
    assert folders == sorted(NEEDS)
    listed = (EXAMPLES / "README.md").read_text()
    assert [name for name in folders if f"({name}/README.md)" not in listed] == []


def test_a_numpy_function_runs_and_is_resumed_with_more_seeds(tmp_path: Path) -> None:
    folder = prepared("plain_numpy", tmp_path)
    first = run_command(folder, f"{commands(folder)[0]} --seeds 4")
    assert first.returncode == 0, first.stderr
    before = results(folder / "minima.h5")
    found = done_by_readme(folder, twice=False)
    assert {key: found[key] for key in before} == before  # they were not computed again
    assert len(found) == len(Campaign.load(folder / "campaign.yaml").seeds) == 12
    for record in found.values():
        x = record.arrays["x"]
        assert record.value == pytest.approx(10 * 5 + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)), rel=1e-12)
        assert (
            0.0 <= float(record.value) < 1.0
        )  # 0 is the minimum, and 4.97 the best of a neighbouring valley
    assert len({record.arrays["x"].tobytes() for record in found.values()}) == 12


@pytest.mark.parametrize("name", ["topfarm_layouts", "floris_layouts"])
def test_an_optimiser_of_another_tool_runs_under_vindeby(name: str, tmp_path: Path) -> None:
    folder = prepared(name, tmp_path)
    found = done_by_readme(folder, twice=True)
    campaign = Campaign.load(folder / "campaign.yaml")
    assert sorted(found) == sorted(task.key for task in campaign.tasks())
    count, rated_gwh = campaign.tasks()[0].n_turbines, 5.0 * 8.76
    for record in found.values():
        assert record.layout.shape == (2, count)
        assert 0.2 < float(record.aep) / (count * rated_gwh) < 0.7
        assert record.attributes["engine"] == campaign.method[0].call.function  # type: ignore[union-attr]
        if name == "floris_layouts":
            assert float(record.aep) > float(record.start_aep)
    first, second = found.values()
    assert not np.array_equal(first.layout, second.layout)
