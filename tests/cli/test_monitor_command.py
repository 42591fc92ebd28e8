from __future__ import annotations

import json
import re
import shutil
import signal
import time
from pathlib import Path

import pexpect
import pytest

from tests.command import vindeby
from tests.results.examples import EVIL, campaign, events, finished, publish, record, set_aside
from vindeby.cli import COMMANDS
from vindeby.store.format.shard import ShardWriter

pytestmark = pytest.mark.slow


def test_monitor_prints_counts_a_matrix_and_failures(tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign(), lambda task: task.farm_idx == 0 or task.seed == 1)
    events(run, [set_aside("farm1_t0_s0", "ValueError: \x1b[31mred")])
    done = vindeby(tmp_path, "monitor", "o.h5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "66.6 %  8 of 12 done" in done.stdout
    assert "done 8 · failed 1 · running 0 · missing 4 · invalid 0" in done.stdout
    assert re.search(r"farm1 south +1!1 +1 *\n", done.stdout)
    assert r"farm1_t0_s0  exception: ValueError: \x1b[31mred" in done.stdout
    assert "o.h5.run/logs/node-1-aaaa-worker0.log" in done.stdout
    assert "\x1b" not in done.stdout


def test_monitor_says_100_percent_only_of_all(tmp_path: Path) -> None:
    asked = campaign(seeds=500)
    publish(tmp_path / "o.h5", asked, lambda task: task.key != "farm0_t0_s0", batch=500)
    assert "99.9 %  1,999 of 2,000 done" in vindeby(tmp_path, "monitor", "o.h5").stdout


def test_monitor_as_json(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign(farm=EVIL), lambda task: task.seed == 1)
    data = json.loads(vindeby(tmp_path, "monitor", "o.h5", "--json").stdout)
    assert (data["expected"], data["done"], data["farms"]) == (12, 4, [EVIL, "south"])
    assert len(data["counts"]) == 4
    data = json.loads(vindeby(tmp_path, "monitor", "o.h5", "--json", "--by", "seed").stdout)
    assert [(row["seed"], row["done"]) for row in data["counts"]] == [(0, 0), (1, 4), (2, 0)]


def test_monitor_by_seed_and_failures_in_full(tmp_path: Path) -> None:
    run = publish(tmp_path / "o.h5", campaign(), lambda task: task.seed == 1)
    events(run, [set_aside("farm1_t0_s0")])
    table = vindeby(tmp_path, "monitor", "o.h5", "--by", "seed,turbine").stdout
    assert re.search(r"seed  turbine +done  failed", table)
    assert re.search(r" 1  tabulated +2 +0 +0 +0 +0 +0\b", table)
    full = vindeby(tmp_path, "monitor", "o.h5", "--failures").stdout
    assert "Traceback (most recent call last):" in full
    assert "1 attempt" in full


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("none.h5",), 2, "none.h5: there is no such database"),
        (("folder",), 2, "folder: this folder holds no HDF5 files"),
        (("text.h5",), 1, "text.h5: no HDF5 signature"),
        (("o.h5", "--by", "colour"), 2, "--by: 'colour' is not understood"),
        (("o.h5", "--by", "farm,farm"), 2, "each once"),
        (("o.h5", "--watch", "--json"), 2, "--watch needs a terminal, and no --json"),
        (("o.h5", "--campaign", "nowhere.yaml"), 2, "nowhere.yaml"),
    ],
)
def test_what_is_wrong_is_said_without_a_traceback(
    arguments: tuple[str, ...], status: int, message: str, tmp_path: Path
) -> None:
    finished(tmp_path / "o.h5", campaign())
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.h5").write_text("no\n" * 100)
    done = vindeby(tmp_path, "monitor", *arguments)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("vindeby: ")


def test_watching_into_a_file_is_refused(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign(), lambda task: task.seed == 1)
    done = vindeby(tmp_path, "monitor", "o.h5", "--watch")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--watch needs a terminal" in done.stderr


def _heed_interrupts() -> None:
    """A shell that runs the tests in the background lets them ignore Ctrl-C, and what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Screen:
    """The command in a real pseudo-terminal."""

    def __init__(self, folder: Path, *arguments: str, size: tuple[int, int] = (40, 100)) -> None:
        import sys

        command = str(Path(sys.executable).with_name("vindeby"))
        self.child = pexpect.spawn(
            command, list(arguments), cwd=str(folder), dimensions=size, encoding="utf-8", timeout=30,
            env={"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"},
            preexec_fn=_heed_interrupts,
        )  # fmt: skip

    def sees(self, text: str) -> None:
        self.child.expect_exact(text)


def test_watch_in_a_terminal_follows_a_run_resizing_and_a_vanished_directory(tmp_path: Path) -> None:
    asked = campaign()
    run = publish(tmp_path / "o.h5", asked, lambda task: task.seed == 0)
    screen = Screen(tmp_path, "monitor", "o.h5", "--watch")
    screen.sees("\x1b[?1049h")  # the other screen of the terminal
    screen.sees("4 of 12 done")
    screen.sees("Ctrl-C quits")
    ShardWriter(run).publish([record(asked, task) for task in asked.tasks() if task.seed == 1])
    screen.sees("8 of 12 done")
    screen.child.setwinsize(18, 60)
    time.sleep(0.6)
    ShardWriter(run).publish([record(asked, task) for task in asked.tasks() if task.seed == 2])
    screen.sees("12 of 12 done")
    moved = tmp_path / "elsewhere"
    shutil.move(run.path, moved)
    screen.sees("it is gone")
    screen.sees("waiting for it to come back")
    shutil.move(moved, run.path)
    screen.sees("12 of 12 done")
    screen.child.sendintr()
    screen.sees("\x1b[?1049l")
    screen.child.expect(pexpect.EOF)
    screen.child.close()
    assert screen.child.exitstatus == 130


def test_watch_shows_what_fits_in_a_small_terminal(tmp_path: Path) -> None:
    publish(tmp_path / "o.h5", campaign(), lambda task: task.seed == 0)
    screen = Screen(tmp_path, "monitor", "o.h5", "--watch", size=(8, 40))
    screen.sees("4 of 12 done")
    screen.child.sendintr()
    screen.child.expect(pexpect.EOF)
    screen.child.close()
    assert screen.child.exitstatus == 130


def test_the_commands_are_in_the_order_of_use() -> None:
    looking = [name for name in COMMANDS if name in {"monitor", "show", "report", "board"}]
    assert looking == ["monitor", "show", "report", "board"]
