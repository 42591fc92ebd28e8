"""The line that ``run`` prints: its percentage is of what is done, and 100 % is said only of all."""

from __future__ import annotations

import pytest

from vindeby.cli.run_view import drawing, line_of
from vindeby.runner.progress import Progress


def progress(total: int, done: int, failed: int) -> Progress:
    return Progress(total, done, failed, 0, total - done - failed, 1.0, 1.0, ())


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


def test_the_bar_is_not_full_when_tasks_failed() -> None:
    grid = drawing(progress(4, 1, 3)).renderables[0]
    bar = grid.columns[0]._cells[0]  # type: ignore[union-attr]
    assert (bar.completed, bar.total) == (1, 4)
