"""The thread that makes finished results durable, many per file, while the next task is already running.

A result waits at most ``flush_s`` for others to share a file with. A young worker waits less, so that one which is
killed soon has still published something. The coordinator hears of a task only after its shard is durable; whatever a
killed worker had not published is computed again.
"""

import errno
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from vindeby.errors import StorageError, VindebyError
from vindeby.runner.protocol import CannotGoOn, Failed, Failure, Kind, Outcome, TasksDurable
from vindeby.store.disk.files import bounded
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter

_NO_DESCRIPTOR = frozenset({errno.EMFILE, errno.ENFILE})

Finished: TypeAlias = tuple[int, Record, float]
"""The number of a task, its record, and the seconds it took."""

Report: TypeAlias = Callable[[TasksDurable | Failed | CannotGoOn], None]
"""Called with what becomes of the tasks of a worker."""

MOST_WAITING = 20_000
"""Records in memory before the worker waits for the disk."""
_FIRST_FLUSH_S = 0.05
_RETRY_S = 0.1


class Publisher:
    """A thread with a list of finished records."""

    def __init__(self, writer: ShardWriter, report: Report, worker: int = 0, *, flush_s: float) -> None:
        self._writer, self._report, self._worker = writer, report, worker
        self._flush_s = flush_s
        self._interval_s = min(flush_s, _FIRST_FLUSH_S)
        self._waiting: list[Finished] = []
        self._oldest = 0.0
        self._hurry = False
        self._busy = False
        self._closed = False
        self.publishing = threading.Lock()
        """Held while HDF5 is in use; who forks must hold it, or h5py's lock and that of ``logging`` may deadlock."""
        self.blocked = ""
        """Why this process cannot publish what the disk would take; empty when it can."""
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="publisher", daemon=True)
        self._thread.start()

    def add(self, task: int, record: Record, seconds: float) -> None:
        """Take over a finished record; wait while too many are queued."""
        with self._change:
            if not self._waiting:
                self._oldest = time.monotonic()
                self._change.notify_all()
            self._waiting.append((task, record, seconds))
            while len(self._waiting) >= MOST_WAITING and not self._closed:
                self._hurry = True
                self._change.notify_all()
                self._change.wait(1.0)

    def flush(self, timeout_s: float | None = None) -> bool:
        """Publish now and wait until done or timed out; return whether everything is durable."""
        with self._change:
            self._hurry = True
            self._change.notify_all()
            return (
                self._change.wait_for(
                    lambda: self._closed or (not self._waiting and not self._busy), timeout_s
                )
                and not self._waiting
            )

    def close(self) -> bool:
        """Publish the rest, with one attempt on a failing disk, and end; return whether everything is durable."""
        with self._change:
            self._hurry = True
            self._closed = True
            self._change.notify_all()
        self._thread.join()
        return not self._waiting

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._closed)
                due = self._oldest + self._interval_s
                self._change.wait_for(lambda: self._hurry or self._closed, max(0.0, due - time.monotonic()))
                batch, self._waiting, self._busy, self._hurry = self._waiting, [], True, False
                closed = self._closed
            refused = None
            try:
                left = self._publish(batch) if batch else []
            except StorageError as error:
                left, refused = batch, error
            with self._change:
                self._busy = False
                self._waiting = left + self._waiting
                self._closed |= refused is not None
                self._change.notify_all()
                if refused is None and left and not closed:
                    self._change.wait(_RETRY_S)
                elif self._closed and (left or not self._waiting):
                    break
            self._interval_s = min(self._flush_s, 2.0 * self._interval_s)
        if refused is not None:
            self._report(CannotGoOn(Outcome.STORAGE, str(refused)))

    def _publish(self, batch: list[Finished]) -> list[Finished]:
        """Publish a batch; return the entries to try again later. StorageError when the disk refuses."""
        try:
            with self.publishing:
                receipt = self._writer.publish([record for _, record, _ in batch])
        except Exception as error:  # noqa: BLE001 - a record that cannot be stored must not end the thread
            return self._not_published(batch, error)
        self.blocked = ""
        tasks, seconds = tuple(task for task, _, _ in batch), sum(spent for _, _, spent in batch)
        self._report(
            TasksDurable(self._worker, tasks, f"{receipt.path.parent.name}/{receipt.path.name}", seconds)
        )
        return []

    def _not_published(self, batch: list[Finished], error: Exception) -> list[Finished]:
        for cause in (error, error.__cause__, error.__context__):
            # A task may hold them for a while.
            if isinstance(cause, OSError) and cause.errno in _NO_DESCRIPTOR:
                self.blocked = f"results cannot be published: {cause.strerror}"
                return batch
        if isinstance(error, StorageError):
            raise error
        return self._publish_apart(batch, error)

    def _publish_apart(self, batch: list[Finished], error: Exception) -> list[Finished]:
        """Publish each entry of a batch by itself, since one of them cannot be stored."""
        if len(batch) > 1:  # each of them, whatever becomes of the others
            return [entry for one in batch for entry in self._publish([one])]
        reason = bounded(f"the result cannot be stored: {error}")
        kind = Kind.MEMORY if isinstance(error, MemoryError) else Kind.INVALID
        # Others are faults of this process: it is tried again in another.
        if not isinstance(error, MemoryError | VindebyError):
            self.blocked, kind = reason, Kind.KILLED
        failed = Failed(self._worker, batch[0][0], Failure(kind, reason), final=kind is Kind.INVALID)
        self._report(failed)
        return []
