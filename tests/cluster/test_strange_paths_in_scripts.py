"""Paths with blanks, quotes and percent signs in scripts for sbatch; those that cannot stand there are refused."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vindeby.cli.app import build

_CAMPAIGN = """
name: small
farms: [{name: north, boundary: [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]}]
turbines: [{name: five, generic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}}]
n_turbines: 6
min_spacing: 4 D
site: {weibull: {turbulence_intensity: 0.1, sectors: [{direction: 0, a: 9, k: 2, frequency: 1}]}}
wake: nygaard-2022
method: random-start
seeds: 2
"""


def _slurm(folder: Path, output: Path) -> tuple[int, str]:
    campaign = folder / "campaign.yaml"
    campaign.write_text(_CAMPAIGN)
    result = CliRunner().invoke(build(), ["slurm", str(campaign), "-o", str(output)])
    return result.exit_code, result.output + str(result.exception or "")


def _words(script: Path, option: str) -> list[str]:
    """The words of the directive with this option, split at blanks, quotes and backslashes as sbatch does."""
    found = [line for line in script.read_text().splitlines() if line.startswith(f"#SBATCH {option}=")]
    assert len(found) == 1
    return shlex.split(found[0].removeprefix("#SBATCH "), comments=True)


@pytest.mark.parametrize("name", ["plain", "a b", "it's", 'x"y', "a # b", "back\\slash"])
def test_a_directive_holds_the_whole_path(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    code, told = _slurm(tmp_path, folder / f"{name}.h5")
    assert code == 0, told
    for script, job, log in (("slurm", "", "slurm-%A_%a"), ("merge", "-merge", "slurm-merge-%j")):
        path = folder / f"{name}.{script}.sh"
        assert _words(path, "--job-name") == [f"--job-name=vindeby-{name}{job}"]
        assert _words(path, "--output") == [f"--output={folder}/{name}.h5.run/logs/{log}.log"]


def test_a_percent_sign_in_a_path_is_no_pattern(tmp_path: Path) -> None:
    code, told = _slurm(tmp_path, tmp_path / "50%j.h5")
    assert code == 0, told
    logs = f"{tmp_path}/50%%j.h5.run/logs"
    assert _words(tmp_path / "50%j.slurm.sh", "--output") == [f"--output={logs}/slurm-%A_%a.log"]


def test_a_path_with_an_end_of_line_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a\ntouch b\n"
    folder.mkdir()
    code, told = _slurm(tmp_path, folder / "out.h5")
    assert code != 0
    assert "cannot stand in a script" in told
    assert list(folder.iterdir()) == []
