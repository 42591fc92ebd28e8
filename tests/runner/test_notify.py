"""The command that is run when a run has ended."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from vindeby.campaign import Campaign
from vindeby.errors import BusyError, CampaignError, StoppedError
from vindeby.runner import notify, run
from vindeby.runner.notify import Ending, notifying

FUNCTION = """
def work(task):
    if task.seed in task.parameters["bad"]:
        raise ValueError("no luck")
    return {"number": task.seed}
"""
WRITES = (
    "import json, os; json.dump({k: v for k, v in os.environ.items() if 'VINDEBY_' in k}, open('said', 'w'))"
)


def campaign(tmp_path: Path, command: object, bad: list[int]) -> Campaign:
    (tmp_path / "is_notified.py").write_text(FUNCTION)
    call = {"function": "is_notified:work", "returns": ["number"], "parameters": {"bad": bad}}
    data: dict[str, Any] = {"name": "told", "method": {"call": call}, "seeds": 3, "run": {"notify": command}}
    return Campaign.from_data(data)


@pytest.mark.parametrize(("bad", "state", "done"), [([], "complete", "3"), ([1], "incomplete", "2")])
def test_the_command_learns_how_the_run_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: list[int], state: str, done: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    given = campaign(tmp_path, [sys.executable, "-c", WRITES], bad)
    summary = run(given, "out.h5", workers=1, on_message=said.append)
    assert summary.complete == (not bad)
    heard = json.loads(Path("said").read_text())
    assert heard["VINDEBY_STATE"] == state
    assert (heard["VINDEBY_DONE"], heard["VINDEBY_TOTAL"], heard["VINDEBY_FAILED"]) == (
        done,
        "3",
        str(len(bad)),
    )
    assert heard["VINDEBY_OUTPUT"] == str(tmp_path / "out.h5")
    assert heard["VINDEBY_CAMPAIGN"] == "told"
    assert "will be executed when this run ends" in said[0]


def ended(command: str | list[str], error: BaseException | None = None) -> list[str]:
    said: list[str] = []
    expected = nullcontext() if error is None else pytest.raises(type(error), match=str(error))
    with expected, notifying(command, "name", Path("out.h5"), said.append):
        if error is not None:
            raise error
    return said


def test_a_command_that_fails_is_a_warning_and_what_was_raised_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "LONGEST_S", 0.5)
    stopped = StoppedError("stopped")
    assert "warning: run.notify: false ended with status 1" in ended("false", stopped)
    assert "cannot be started" in ended("/no/such/program 'of mine'", stopped)[-1]
    assert "was ended after 0.5 s" in ended("sleep 1000")[-1]
    assert len(ended("true")) == 1


def test_ctrl_c_ends_the_command_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    wait, waits = subprocess.Popen.wait, []

    def interrupted(process: Any, timeout: float | None = None) -> int:
        waits.append(process)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    assert "sleep 1000 was ended" in ended("sleep 1000")[-1]
    assert waits[0].returncode == -9


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def test_any_error_makes_a_reason_of_a_bounded_size() -> None:
    def reason(error: BaseException) -> str:
        return Ending().variables("name", Path("out.h5"), error)["VINDEBY_REASON"]

    assert reason(StoppedError("stopped; 2 are safe")) == "stopped; 2 are safe"
    assert "UnprintableError" in reason(UnprintableError())
    assert 1000 < len(reason(ValueError("x" * 200_000))) <= 4096


def test_a_campaign_that_another_process_runs_notifies_when_that_ends(tmp_path: Path) -> None:
    command = ["touch", str(tmp_path / "notified")]
    ended(command, BusyError("another process runs it"))
    assert not (tmp_path / "notified").exists()
    ended(command, StoppedError("stopped"))
    assert (tmp_path / "notified").exists()


def test_the_state_follows_from_what_was_raised() -> None:
    def state(error: BaseException | None) -> str:
        return Ending().variables("name", Path("out.h5"), error)["VINDEBY_STATE"]

    assert state(StoppedError("x")) == "stopped"
    assert state(ValueError("x")) == "failed"
    assert state(None) == "incomplete"


@pytest.mark.parametrize("wrong", ["", [], [""], 3, ["echo", 3], "echo 'open"])
def test_what_is_not_a_command_is_refused(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(CampaignError, match=r"run\.notify: "):
        campaign(tmp_path, wrong, [])
