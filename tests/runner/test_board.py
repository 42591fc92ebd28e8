"""The board: what a worker notes is there after its death, and setting up does not run a task's clock."""

from __future__ import annotations

from vindeby.runner.board import Board


def test_a_tasks_clock_starts_when_its_set_up_is_done() -> None:
    board = Board.create(2)
    seat = board.seat(1)
    seat.clear()
    assert board.look(1).task is None
    seat.begin(7, 123)
    glance = board.look(1)
    assert (glance.task, glance.started_s, glance.log_offset) == (7, 0.0, 123)
    seat.start_clock()
    assert board.look(1).started_s > 0.0
    seat.end()
    assert (board.look(1).task, board.look(1).count) == (None, 1)
    assert board.look(0).count == 0
    board.close()
