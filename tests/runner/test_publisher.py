"""The thread that makes results durable: in company, again when the disk was full, and each for itself if need be."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vindeby.errors import ArgumentError, StorageError
from vindeby.runner.protocol import CannotGoOn, Failed, Kind, Outcome, TasksDurable
from vindeby.runner.publisher import Publisher
from vindeby.store.format.record import Record
from vindeby.store.format.shard import Receipt


class Disk:
    """A writer whose disk can be full, and which refuses some keys."""

    def __init__(self) -> None:
        self.full = threading.Event()
        self.refused: set[str] = set()
        self.batches: list[list[str]] = []

    def publish(self, records: Sequence[Record]) -> Receipt:
        keys = [record.key for record in records]
        if self.full.is_set():
            raise StorageError("the disk is full")
        if self.refused & set(keys):
            raise ArgumentError("too many bytes for one shard")
        self.batches.append(keys)
        return Receipt(Path("writer/000000.h5"), tuple(keys), ("",) * len(keys), 1)


def record(number: int) -> Record:
    return Record(f"farm0_t0_s{number}", "f", {"layout": np.zeros((2, 1)), "aep": np.array(1.0)})


def publisher(disk: Disk, said: list[object], *, flush_s: float = 0.0) -> Publisher:
    return Publisher(
        disk,  # type: ignore[arg-type]
        said.append,
        flush_s=flush_s,
    )


def done(said: list[object]) -> list[int]:
    return sorted(task for message in said if isinstance(message, TasksDurable) for task in message.tasks)


def test_results_share_a_file_and_are_reported_after_it_is_written() -> None:
    disk = Disk()
    said: list[object] = []
    writer = publisher(disk, said, flush_s=1000.0)
    writer._interval_s = 1000.0
    for number in range(5):
        writer.add(number, record(number), 0.1)
    time.sleep(0.05)
    assert said == []
    assert writer.close()
    assert disk.batches == [[f"farm0_t0_s{number}" for number in range(5)]]
    assert done(said) == [0, 1, 2, 3, 4]


def test_a_young_worker_publishes_early_and_waits_longer_as_it_grows_older() -> None:
    writer = publisher(Disk(), [], flush_s=10.0)
    first = writer._interval_s
    writer.add(0, record(0), 0.1)
    assert writer.flush()
    deadline = time.monotonic() + 10.0
    while writer._interval_s == first and time.monotonic() < deadline:
        time.sleep(0.01)
    assert first < writer._interval_s == 2 * first
    assert writer.close()


def test_a_full_disk_ends_it_and_nothing_is_reported_as_durable() -> None:
    disk = Disk()
    said: list[object] = []
    disk.full.set()
    writer = publisher(disk, said)
    writer.add(0, record(0), 0.1)
    assert not writer.close()
    assert CannotGoOn(Outcome.STORAGE, "the disk is full") in said
    assert done(said) == []


def test_a_record_that_cannot_be_stored_fails_and_its_neighbours_are_published() -> None:
    disk = Disk()
    said: list[object] = []
    disk.refused = {"farm0_t0_s2"}
    writer = publisher(disk, said, flush_s=1000.0)
    writer._interval_s = 1000.0
    for number in range(5):
        writer.add(number, record(number), 0.1)
    assert writer.close()
    assert done(said) == [0, 1, 3, 4]
    (failed,) = [message for message in said if isinstance(message, Failed)]
    assert (failed.task, failed.failure.kind) == (2, Kind.INVALID)
    assert "too many bytes" in failed.failure.reason
