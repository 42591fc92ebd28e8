"""The real command in a temporary folder."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command import vindeby
from tests.runner.campaigns import FULL, ROOT, calling, marked_processes, one_cell, results
from vindeby.store.disk.events import EventTail
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database
from vindeby.store.states import fingerprints

pytestmark = pytest.mark.slow


def campaign(folder: Path, seeds: int = 3, **parameters: float | str) -> None:
    asked = one_cell(calling("versatile", seeds, parameters))
    (folder / "c.yaml").write_text(asked.dumps())


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.core
def test_a_campaign_is_run_into_layouts_h5_of_the_current_folder(tmp_path: Path) -> None:
    campaign(tmp_path)
    done = vindeby(tmp_path, "run", "c.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("layouts.h5: 3 of 3 results, all valid\n  computed 3 in ")
    assert "    north        50.000        50.002\n" in done.stdout
    assert "3 of 3 done (100 %), 0 failed" in done.stderr
    assert len(results(tmp_path / "layouts.h5")) == 3
    again = vindeby(tmp_path, "run", "c.yaml", "--quiet")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


@pytest.mark.core
def test_what_fails_is_said_with_what_to_do_and_exits_1(tmp_path: Path) -> None:
    campaign(tmp_path, seeds=4, bad=2, mended=str(tmp_path / "mended"))
    done = vindeby(tmp_path, "run", "c.yaml", "-o", "out.h5")
    assert done.returncode == 1
    assert done.stdout.startswith("out.h5: 3 of 4 results, all valid\n")
    assert (
        "failed: 1 (1 exception)\n    farm0_t0_s2  exception: ValueError: no layout for seed 2\n"
        in done.stdout
    )
    assert "then: vindeby run c.yaml -o out.h5 --retry-failed" in done.stdout
    listed = vindeby(tmp_path, "missing", "out.h5")
    assert listed.stdout == "farm0_t0_s2\tfailed\texception: ValueError: no layout for seed 2\n"
    again = vindeby(tmp_path, "run", "c.yaml", "-o", "out.h5")
    assert again.returncode == 1
    assert "1 task failed before and is left out; --retry-failed tries again: farm0_t0_s2" in again.stderr
    (tmp_path / "mended").touch()
    mended = vindeby(tmp_path, "run", "c.yaml", "-o", "out.h5", "--retry-failed")
    assert mended.returncode == 0, mended.stdout


@pytest.mark.core
def test_a_quiet_run_that_is_not_complete_says_why_in_one_line(tmp_path: Path) -> None:
    campaign(tmp_path, seeds=1, bad=0)
    done = vindeby(tmp_path, "run", "c.yaml", "-q")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "vindeby: layouts.h5: no results; 1 task failed, the first is farm0_t0_s0: "
        "exception: ValueError: no layout for seed 0\n"
    )
    campaign(tmp_path, seeds=2)
    assert vindeby(tmp_path, "run", "c.yaml", "-q", "-o", "out.h5").returncode == 0
    campaign(tmp_path, seeds=2, other=1)
    done = vindeby(tmp_path, "run", "c.yaml", "-q", "-o", "out.h5")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "vindeby: out.h5: 0 of 2 results; 2 stale results, which --replace-stale computes again\n"
    )


def test_overrides_and_parts_work_on_the_command_line(tmp_path: Path) -> None:
    campaign(tmp_path)
    for part in ("1/2", "2/2"):
        done = vindeby(tmp_path, "run", "c.yaml", "--seeds", "5", "--part", part, "--workers", "1")
        assert done.returncode == 0, done.stderr
        assert f"part {part}: " in done.stdout
        assert "when all parts are done: vindeby merge layouts.h5" in done.stdout
    assert vindeby(tmp_path, "merge", "layouts.h5").returncode == 0
    assert vindeby(tmp_path, "validate", "layouts.h5").returncode == 0
    assert len(results(tmp_path / "layouts.h5")) == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--part", "4/3"], "--part: '4/3' is not a part"),
        (["--workers", "0"], "workers=0"),
        (["--max-failures", "many"], "'--max-failures': 'many' is not a whole number"),
        (["--max-failures", "-1"], "max_failures=-1"),
        (["--on-bad", "panic"], "--on-bad: 'panic' is not known"),
        (["--seeds", "x"], "seeds"),
        (["-o", "."], "is a folder"),
    ],
)
def test_a_users_mistake_is_a_message_and_status_2(arguments: list[str], words: str, tmp_path: Path) -> None:
    campaign(tmp_path)
    done = vindeby(tmp_path, "run", "c.yaml", *arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "layouts.h5").exists()


@contextmanager
def started(folder: Path, *arguments: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """The command, running; Ctrl-C reaches it even where the tests themselves were told to ignore it."""
    command = [str(Path(sys.executable).with_name("vindeby")), "run", "c.yaml", *arguments]
    environment = os.environ | {"VINDEBY_MARK": f"cli-{folder}", "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_results(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        if (folder / "layouts.h5.run" / "shards").exists():
            with Database(folder / "layouts.h5") as database:
                if len(fingerprints(database)) >= count:
                    return
        time.sleep(0.05)
    raise AssertionError("no results came")


def wait_for_file(path: Path) -> None:
    deadline = time.monotonic() + 60.0
    while not path.exists():
        assert time.monotonic() < deadline, f"never: {path}"
        time.sleep(0.05)


def wait_for_event(folder: Path, event: str) -> None:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        events = EventTail(RunDirectory(folder / "layouts.h5")).read_new(complete=True)
        if any(entry["event"] == event for entry in events):
            return
        time.sleep(0.05)
    raise AssertionError(f"never: {event}")


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]


@pytest.mark.parametrize("number", SIGNALS if FULL else SIGNALS[:1])
@pytest.mark.core
def test_a_signal_lets_running_tasks_finish_and_the_same_command_goes_on(
    number: signal.Signals, tmp_path: Path
) -> None:
    campaign(tmp_path, seeds=12, gate=str(tmp_path / "gate"))
    with started(tmp_path) as process:
        wait_for_results(tmp_path, 2)
        process.send_signal(number)
        wait_for_event(tmp_path, "asked to stop")
        (tmp_path / "gate").touch()
        output, messages = process.communicate(timeout=100)
    assert (process.returncode, output) == (130, ""), messages
    assert "vindeby: stopped; " in messages
    assert "rerun the same command to resume" in messages
    assert "Traceback" not in messages
    assert marked_processes(f"VINDEBY_MARK=cli-{tmp_path}") == []
    safe = int(messages.rpartition("stopped; ")[2].split()[0])
    with Database(tmp_path / "layouts.h5") as database:
        assert len(fingerprints(database)) == safe
    assert 2 <= safe < 12
    again = vindeby(tmp_path, "run", "c.yaml")
    assert again.returncode == 0, again.stderr
    assert f"vindeby: {safe} results are there already" in again.stderr


def test_the_second_ctrl_c_stops_now(tmp_path: Path) -> None:
    campaign(tmp_path, seeds=3, seconds=1000, began=str(tmp_path / "began"))
    with started(tmp_path, "--set", "run.grace_s=1000") as process:
        wait_for_file(tmp_path / "began")  # a worker that waits for its first task may stop at once
        process.send_signal(signal.SIGINT)
        wait_for_event(tmp_path, "asked to stop")
        time.sleep(0.5)
        assert process.poll() is None, "the first one waits for running tasks"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=100)
    assert process.returncode == 130
    assert marked_processes(f"VINDEBY_MARK=cli-{tmp_path}") == []


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_task_that_was_running_when_its_run_ended_is_not_called_never_started(
    how: str, tmp_path: Path
) -> None:
    campaign(tmp_path, seeds=4, gate=str(tmp_path / "gate"))  # seed 2 waits for the gate
    shown = '"task": "farm0_t0_s2"'
    with started(tmp_path, "--workers", "1") as process:
        wait_for_results(tmp_path, 2)
        deadline = time.monotonic() + 60.0
        events = RunDirectory(tmp_path / "layouts.h5").events
        while not any(shown in path.read_text() for path in events.glob("*.now.json")):
            assert time.monotonic() < deadline, "the task was never shown"
            time.sleep(0.05)
        running = vindeby(tmp_path, "missing", "layouts.h5").stdout.splitlines()
        assert "farm0_t0_s2\trunning" in running
        for _ in range(1 if how == "killed" else 2):
            process.send_signal(signal.SIGKILL if how == "killed" else signal.SIGINT)
            wait_for_event(tmp_path, "asked to stop" if how == "stopped" else "run started")
            time.sleep(0.3)
        process.communicate(timeout=100)
    listed = vindeby(tmp_path, "missing", "layouts.h5")
    ended = "run" if how == "killed" else "worker"
    assert listed.stdout.splitlines() == [
        f"farm0_t0_s2\topen\twas running when its {ended} ended",
        "farm0_t0_s3\topen\tnever started",
    ]


def test_after_a_resume_run_counts_as_monitor_does(tmp_path: Path) -> None:
    campaign(tmp_path, seeds=6)
    first = vindeby(tmp_path, "run", "c.yaml", "--part", "1/3")
    assert "2 of 2 done (100 %), 0 failed" in first.stderr
    again = vindeby(tmp_path, "run", "c.yaml", "--interval", "0.001")
    lines = [line for line in again.stderr.splitlines() if " done (" in line]
    assert "2 of 6 done (33 %), 0 failed" in lines[0]
    assert "6 of 6 done (100 %), 0 failed" in lines[-1]
    assert "vindeby: writing 6 records" in again.stderr
    assert (
        "vindeby: writing 1 record\n"
        in vindeby(tmp_path, "run", "c.yaml", "--seeds", "1", "-o", "one.h5").stderr
    )


def test_a_terminal_gets_a_line_with_counts_and_running_tasks(tmp_path: Path) -> None:
    campaign(tmp_path, seeds=12, seconds=0.2)
    ours, theirs = pty.openpty()
    shown = b""
    with started(tmp_path, stderr=theirs) as process:
        os.close(theirs)
        while process.poll() is None or select.select([ours], [], [], 0.0)[0]:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    shown += os.read(ours, 65536)
                except OSError:
                    break
        process.communicate(timeout=100)
    os.close(ours)
    assert process.returncode == 0
    text = shown.decode(errors="replace")
    assert "of 12 done" in text
    assert "farm0_t0_s" in text
    assert "per minute" in text or "per second" in text


def test_help_explains_the_options(tmp_path: Path) -> None:
    text = vindeby(tmp_path, "run", "--help").stdout
    for option in ("--output", "--part", "--max-failures", "--retry-failed", "--replace-stale", "--on-bad"):
        assert option in text
