"""The heartbeats: what a worker notes is there after its death, and setting up does not run a task's clock."""

from __future__ import annotations

from vindeby.runner.local.heartbeats import Heartbeats


def test_a_tasks_clock_starts_when_its_set_up_is_done() -> None:
    heartbeats = Heartbeats.create(2)
    slot = heartbeats.slot(1)
    slot.clear()
    assert heartbeats.look(1).task is None
    slot.begin(7, 123)
    worker_status = heartbeats.look(1)
    assert (worker_status.task, worker_status.started_s, worker_status.log_offset) == (7, 0.0, 123)
    slot.start_clock()
    assert heartbeats.look(1).started_s > 0.0
    slot.end()
    assert (heartbeats.look(1).task, heartbeats.look(1).count) == (None, 1)
    assert heartbeats.look(0).count == 0
    heartbeats.close()
