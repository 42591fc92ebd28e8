"""Which limits a worker of this machine is held to."""

from __future__ import annotations

import pytest

from tests.runner.campaigns import calling
from vindeby.runner.local.local_pool import excess
from vindeby.runner.protocol import Kind, Seen
from vindeby.runner.task_executor import Setup

SETUP = Setup(
    calling("good", 1, time_limit_s=5.0, silent_limit_s=60.0),
    "out.h5",
    memory_limit=1000,
    memory_limit_alone=9000,
)


def test_a_worker_below_its_limits_goes_on() -> None:
    assert excess(Seen(0, 0, 4.9, 59.0, 999), SETUP) is None


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        (Seen(0, 0, 5.1, 0.0, 0), Kind.TIME),
        (Seen(0, 0, 0.0, 61.0, 0), Kind.STUCK),
        (Seen(0, 0, 0.0, 0.0, 1001), Kind.MEMORY),
    ],
)
def test_limits_on_time_silence_and_memory_name_the_reason(seen: Seen, kind: Kind) -> None:
    failure = excess(seen, SETUP)
    assert failure is not None
    assert failure.kind is kind


def test_a_retry_has_the_memory_of_the_machine() -> None:
    assert excess(Seen(0, 0, 0.0, 0.0, 8999), SETUP, alone=True) is None
    assert excess(Seen(0, 0, 0.0, 0.0, 9001), SETUP, alone=True) is not None


def test_tasks_at_the_same_time_share_their_time_limit() -> None:
    assert excess(Seen(0, 2, 19.0, 0.0, 0), SETUP, together=4) is None
    assert excess(Seen(0, 2, 21.0, 0.0, 0), SETUP, together=4) is not None
