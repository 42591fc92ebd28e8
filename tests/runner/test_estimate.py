"""What a campaign would take, from a few timed tasks that leave nothing behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.command import vindeby
from vindeby.campaign import Campaign
from vindeby.errors import StoppedError, TaskError
from vindeby.runner.estimate import estimate

FUNCTION = """
import time

def work(task):
    time.sleep(0.02)
    if task.parameters["fails"]:
        raise ValueError("no luck")
    return {"numbers": [float(task.seed)] * 1000}
"""
CAMPAIGN = """
name: numbers
method: {{call: {{function: "spends_time:work", returns: [numbers], parameters: {{fails: {fails}}}}}}}
seeds: {seeds}
run: {{workers: 4}}
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "spends_time.py").write_text(FUNCTION)
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def campaign(seeds: int, *, fails: bool = False) -> Campaign:
    return Campaign.loads(CAMPAIGN.format(seeds=seeds, fails=str(fails).lower()))


def test_time_and_disk_grow_with_the_number_of_tasks_and_nothing_is_left(scratch: Path) -> None:
    said: list[str] = []
    few, many = estimate(campaign(10), said.append), estimate(campaign(1000))
    assert (few.tasks, many.tasks, many.workers) == (10, 1000, 4)
    assert many.timed == ("farm0_t0_s167", "farm0_t0_s501", "farm0_t0_s835")
    assert many.task_s[0] == many.task_s[1] >= 0.02
    assert many.cpu_s == pytest.approx(1000 * many.task_s[0])
    assert many.wall_s == pytest.approx(many.cpu_s / 4 + many.set_up_s)
    assert few.database > 10 * 8000  # the numbers themselves
    assert many.database > 1000 * 8000
    assert not list(scratch.iterdir())
    assert "spends_time.py will be executed" in said[0]


def test_the_command_prints_it_and_what_tasks_print_stays_out_of_it(scratch: Path) -> None:
    code = "import os\n\nprint('imported')\n\ndef work(task):\n    print('from Python')\n"
    code += "    os.write(1, b'from C')\n    return {'numbers': [1.0]}\n"
    (scratch.parent / "prints_much.py").write_text(code)
    (scratch.parent / "c.yaml").write_text(
        CAMPAIGN.replace("spends_time", "prints_much").format(seeds=2, fails="false")
    )
    done = vindeby(scratch.parent, "check", "c.yaml", "--estimate")
    assert done.returncode == 0, done.stderr
    assert "estimate from 2 tasks, timed on a processor of this machine" in done.stdout
    assert "time: " in done.stdout
    assert not any(text in done.stdout for text in ("imported", "from Python", "from C"))


def test_a_task_that_fails_is_named_and_nothing_is_left(scratch: Path) -> None:
    with pytest.raises(TaskError, match=r"farm0_t0_s\d failed, so nothing can be estimated: .*no luck"):
        estimate(campaign(10, fails=True))
    assert not list(scratch.iterdir())


def test_a_request_to_stop_removes_the_folder(scratch: Path) -> None:
    code = (
        "import os, signal\n\ndef work(task):\n    os.kill(int(os.environ['COORDINATOR']), signal.SIGTERM)\n"
    )
    code += "    raise ValueError\n"
    (scratch.parent / "stops_it.py").write_text(code)
    asked = Campaign.loads(CAMPAIGN.replace("spends_time", "stops_it").format(seeds=2, fails="false"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COORDINATOR", str(os.getpid()))
        with pytest.raises(StoppedError):
            estimate(asked)
    assert not list(scratch.iterdir())
