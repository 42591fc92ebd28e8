"""What a campaign would take, from a few timed tasks that leave nothing behind."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path

import pytest

from vindeby.campaign import Campaign
from vindeby.cli import check
from vindeby.errors import TaskError
from vindeby.runner.estimate import estimate

FUNCTION = """
import time

def work(task):
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
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


def test_cpu_time_and_disk_grow_with_the_number_of_tasks_and_nothing_is_left(scratch: Path) -> None:
    said: list[str] = []
    few, many = estimate(campaign(10), said.append), estimate(campaign(1000))
    assert (few.tasks, many.tasks, many.workers) == (10, 1000, 4)
    assert many.timed == ("farm0_t0_s0", "farm0_t0_s1")
    assert many.task_s[0] == many.task_s[1] > 0.0
    assert many.cpu_s >= 1000 * many.task_s[0]
    assert many.wall_s >= many.cpu_s / 4
    assert few.database > 10 * 8000  # the numbers themselves
    assert many.database > 1000 * 8000
    assert not list(scratch.iterdir())
    assert "spends_time.py will be executed" in said[0]
    assert said[1] == "timing farm0_t0_s0"


def test_what_tasks_print_goes_to_standard_error(scratch: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = "import os\n\nprint('imported')\n\ndef work(task):\n    print('from Python')\n"
    code += "    os.write(1, b'from C')\n    return {'numbers': [1.0]}\n"
    (scratch.parent / "prints_much.py").write_text(code)
    estimate(Campaign.loads(CAMPAIGN.replace("spends_time", "prints_much").format(seeds=2, fails="false")))
    print("after")  # noqa: T201
    out, err = capfd.readouterr()
    assert out == "after\n"
    assert all(text in err for text in ("imported", "from Python", "from C"))


def test_a_task_that_fails_is_named_and_nothing_is_left(scratch: Path) -> None:
    with pytest.raises(TaskError, match=r"farm0_t0_s0 failed, so nothing can be estimated: .*no luck"):
        estimate(campaign(10, fails=True))
    assert not list(scratch.iterdir())


def test_a_request_to_stop_removes_the_folder(scratch: Path) -> None:
    code = "import os, signal\n\ndef work(task):\n    os.kill(os.getpid(), signal.SIGTERM)\n"
    (scratch.parent / "stops_itself.py").write_text(code)
    asked = Campaign.loads(CAMPAIGN.replace("spends_time", "stops_itself").format(seeds=2, fails="false"))
    former = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt):
            check._estimated(asked, in_words=True)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, former)
    assert not list(scratch.iterdir())
