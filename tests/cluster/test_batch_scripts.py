"""The scripts of job arrays and what is known of jobs, without any SLURM."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.command import vindeby
from tests.contracts.test_pools import steered
from tests.runner.campaigns import calling, one_cell
from vindeby.batch import Job, array_text, merge_text, what_is_left
from vindeby.campaign import Campaign
from vindeby.cli import main
from vindeby.runner import run
from vindeby.runner.processes import node_and_job
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.text import as_ranges


@given(some.sets(some.integers(1, 200), min_size=1))
def test_ranges_name_each_number_once(numbers: set[int]) -> None:
    named: list[int] = []
    for part in as_ranges(numbers).split(","):
        low, _, high = part.partition("-")
        named += range(int(low), int(high or low) + 1)
    assert named == sorted(numbers)


def job(folder: Path, campaign: Campaign | None = None, **options: object) -> Job:
    data = (campaign or one_cell(calling("good", 6))).to_data()
    data["run"]["slurm"] = {"nodes": 3, "cores": 4, "time": "12:00:00", **options}
    return Job(RunDirectory(folder / "with blank's.h5"), Campaign.from_data(data), folder)


def test_the_scripts_are_valid_shell_and_ask_for_what_was_given(tmp_path: Path) -> None:
    asked = job(
        tmp_path,
        memory="16G",
        partition="big",
        account="wind",
        directives=["--qos=low"],
        before=["module load x"],
    )
    text = array_text(asked, [1, 3])
    for line in (
        "--array=1,3", "--cpus-per-task=4", "--time=12:00:00", "--mem=16G", "--partition=big", "--account=wind",
        "--qos=low", "--requeue", "--signal=B:USR1@120",
    ):  # fmt: skip
        assert f"#SBATCH {line}\n" in text
    assert "\nmodule load x\n" in text
    for script in (text, merge_text(asked)):
        assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def test_the_notice_is_longer_than_the_grace_of_the_campaign(tmp_path: Path) -> None:
    data = one_cell(calling("good", 6)).to_data()
    data["run"]["grace_s"] = 300.0
    assert "--signal=B:USR1@360\n" in array_text(job(tmp_path, Campaign.from_data(data)), [1])


def test_only_parts_that_miss_something_are_left(tmp_path: Path) -> None:
    campaign, output = one_cell(calling("good", 7)), tmp_path / "out.h5"
    directory = RunDirectory(output)
    assert what_is_left(directory, campaign, 3).by_part == {1: 3, 2: 2, 3: 2}
    run(campaign, output, part="2/3", workers=1)
    assert what_is_left(directory, campaign, 3).by_part == {1: 3, 3: 2}
    for part in ("1/3", "3/3"):
        run(campaign, output, part=part, workers=1)
    assert what_is_left(directory, campaign, 3).by_part == {}


def test_tasks_that_failed_are_left_out_until_they_are_to_be_tried_again(tmp_path: Path) -> None:
    campaign, output = steered(tmp_path, 4, fails=[0, 1, 2, 3]), tmp_path / "out.h5"
    run(campaign, output, workers=1)
    left = what_is_left(RunDirectory(output), campaign, 2)
    assert (dict(left.by_part), left.failed, left.total) == ({}, 4, 4)
    assert what_is_left(RunDirectory(output), campaign, 2, retry_failed=True).by_part == {1: 2, 2: 2}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "run.slurm.time=soon"], "run.slurm.time: is not a time"),
        (["-o", "nowhere/out.h5"], "there is no folder"),
    ],
)
@pytest.mark.core
def test_mistakes_have_status_2_and_words(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["vindeby", "slurm", "energy-island-quick", *words])
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        gc.enable()  # the command switches it off for its short life
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_without_slurm_the_scripts_are_written_and_submitting_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("slurm", "energy-island-quick", "--seeds", "2", "--set", "run.slurm.nodes=2")
    written = vindeby(tmp_path, *words)
    assert written.returncode == 0
    assert "in parts 1-2 of 2" in written.stdout
    assert os.access(tmp_path / "layouts.slurm.sh", os.X_OK)
    assert (tmp_path / "layouts.merge.sh").is_file()
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    refused = vindeby(
        tmp_path, "slurm", "energy-island-quick", "--seeds", "2", "--set", "run.slurm.nodes=2", "--submit"
    )
    assert refused.returncode == 2
    assert "sbatch is not here" in refused.stderr


@pytest.mark.parametrize(
    ("known", "job_number"),
    [
        ({}, ""),
        ({"SLURM_JOB_ID": "12"}, "12"),
        ({"SLURM_JOB_ID": "14", "SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "3"}, "12_3"),
        ({"PBS_JOBID": "7.server"}, "7.server"),
    ],
)
def test_the_job_of_a_process_is_known_from_its_environment(known: dict[str, str], job_number: str) -> None:
    node, number = node_and_job(known)
    assert node
    assert number == job_number
