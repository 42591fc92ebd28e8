"""The line that ``run`` prints: its percentage is of what is done, and 100 % is said only of all."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from vindeby.cli.run_view import line_of
from vindeby.runner.protocol import TaskProgress
from vindeby.runner.supervisor import Progress
from vindeby.store.disk.events import WorkerState
from vindeby.text import part_of, plural


def progress(total: int, done: int, failed: int) -> Progress:
    return Progress(total, done, failed, 0, total - done - failed, 1.0, ())


@pytest.mark.parametrize(
    ("total", "done", "failed", "words"),
    [
        (1, 0, 1, "0 of 1 done (0 %), 1 failed"),
        (20, 19, 1, "19 of 20 done (95 %), 1 failed"),
        (1000, 999, 0, "999 of 1,000 done (99 %), 0 failed"),
        (1000, 999, 1, "999 of 1,000 done (99 %), 1 failed"),
        (3, 3, 0, "3 of 3 done (100 %), 0 failed"),
        (0, 0, 0, "0 of 0 done (100 %), 0 failed"),
    ],
)
def test_the_percentage_is_of_what_is_done_and_rounded_down(
    total: int, done: int, failed: int, words: str
) -> None:
    assert line_of(progress(total, done, failed)).startswith(words)


def at_work(seconds: float) -> WorkerState:
    progress = TaskProgress("gradient", 120, 320, 812.34)
    about: dict[str, Any] = {"progress": asdict(progress), "doing": str(progress)}
    return WorkerState("host-1-a", 0, 7, "farm0_t0_s0", seconds, 0.1, 10**8, **about)


def test_the_line_says_how_far_long_tasks_are() -> None:
    workers = (at_work(300.0), at_work(300.0))
    line = line_of(Progress(4, 0, 0, 2, 4, 0.0, workers, eta_s=800.0))
    assert line == (
        "0 of 4 done (0 %), 0 failed, 2 running (farm0_t0_s0 gradient 120 of 320, 812.3 GWh so far, "
        "farm0_t0_s0 gradient 120 of 320, 812.3 GWh so far), 13 min 20 s to go"
    )


@pytest.mark.parametrize(
    ("per_second", "words"),
    [
        (2815.0, "2,815 per second"),
        (1.04, "1.0 per second"),
        (0.1, "6.0 per minute"),
        (0.07, "4.2 per minute"),
        (0.02, "1.2 per minute"),
        (0.01, "36.0 per hour"),
    ],
)
def test_a_rate_is_in_the_unit_in_which_it_is_one_or_more(per_second: float, words: str) -> None:
    assert f", {words}, " in line_of(Progress(9, 1, 0, 0, 8, per_second, ()))


@pytest.mark.parametrize(
    ("number", "total", "words"),
    [
        (1, 1, "the only result is"),
        (0, 1, "0 of 1 result is"),
        (1, 3, "1 of 3 results is"),
        (8, 1200, "8 of 1,200 results are"),
        (60, 60, "all 60 results are"),
    ],
)
def test_nouns_and_verbs_agree_with_their_numbers(number: int, total: int, words: str) -> None:
    assert part_of(number, total, "result") == words
    assert (
        plural(number, "result is", "results are")
        == f"{number} {'result is' if number == 1 else 'results are'}"
    )
