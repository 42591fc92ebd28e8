"""The heartbeats: what a worker notes is there after its death, and setting up does not run a task's clock."""

from __future__ import annotations

import subprocess
import sys
import time

from vindeby.runner.local.heartbeats import Heartbeats

BEATING = """
import sys
from vindeby.runner.local.heartbeats import Heartbeats
slot = Heartbeats(int(sys.argv[1])).slot(0)
for _ in range(60_000):
    slot.beat()
"""


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
    assert heartbeats.look(1).task is None
    heartbeats.close()


def test_what_a_task_says_of_itself_is_there_until_the_next_one_begins() -> None:
    heartbeats = Heartbeats.create(3)
    slot = heartbeats.slot(1)
    slot.clear()
    slot.begin(7, 0)
    slot.note(b'["gradient"]')
    slot.start_clock()
    slot.beat()
    assert (heartbeats.look(1).task, heartbeats.look(1).note) == (7, b'["gradient"]')
    assert [heartbeats.look(other).note for other in (0, 2)] == [b"", b""]
    slot.note(b"x" * 193)
    assert heartbeats.look(1).note == b""
    slot.note(b"x" * 192)
    assert heartbeats.look(1).note == b"x" * 192
    assert heartbeats.look(2).task == 0, "the next slot is not written to"
    slot.begin(8, 0)
    assert heartbeats.look(1).note == b""
    heartbeats.close()


def test_a_worker_never_looks_silent_while_its_heartbeat_is_written() -> None:
    heartbeats = Heartbeats.create(1)
    heartbeats.slot(0).clear()
    began, least = time.monotonic(), float("inf")
    command = [sys.executable, "-c", BEATING, str(heartbeats.descriptor)]
    with subprocess.Popen(command, pass_fds=(heartbeats.descriptor,)) as beating:
        while beating.poll() is None:
            least = min(least, *(heartbeats.look(0).beat_s for _ in range(1000)))
    assert beating.returncode == 0
    assert least >= began - 1.0
    heartbeats.close()
