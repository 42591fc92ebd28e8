"""The shard protocol: when ``publish`` returns, its records survive the death of the process and the machine.

The image is built in memory, written to a temporary file beside its place, forced to the disk, read back and
compared, renamed, looked at once more, and the directory is forced to the disk; only then is there a receipt.
An fsync that failed is never tried again on the same file, because the kernel may have dropped the pages: the
shard is written anew under another name. A copy that was renamed but not acknowledged may stay behind; equal
records count once in a merge. A published shard is never opened for writing again.

Writers need no lock: the name of a shard holds the machine, the process and a random token of the writer.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vindeby.errors import ArgumentError
from vindeby.store.disk.files import Files, Retry, publish_bytes
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.image import build_image
from vindeby.store.format.record import Record

SHARDS_PER_DIRECTORY = 1000


@dataclass(frozen=True)
class Receipt:
    """What is durable now, and where."""

    path: Path
    keys: tuple[str, ...]
    checksums: tuple[str, ...]
    size: int


class ShardWriter:
    """Publishes batches of records for one process; make one in each process that writes."""

    def __init__(self, run: RunDirectory, *, files: Files | None = None, retry: Retry | None = None) -> None:
        self._run = run
        self._files = files or Files()
        self._retry = retry or Retry()
        self._counter = 0
        self._token = ""
        self._owner: Identity | None = None

    def publish(self, records: Iterable[Record]) -> Receipt:
        """Make a batch of records durable, in one shard; StorageError when the disk keeps refusing."""
        image = build_image(records)
        if not image.keys:
            raise ArgumentError("publish: there is no record to publish")
        if len(set(image.keys)) != len(image.keys):
            raise ArgumentError("publish: a key occurs twice in one batch")
        path = publish_bytes(self._files, self._retry, image.data, self._names, self._run.path)
        return Receipt(path, image.keys, image.checksums, len(image.data))

    @property
    def name(self) -> str:
        """What the names of this writer's directories of shards begin with, before a hyphen and a number."""
        owner = Identity.current()
        if owner != self._owner:  # the first time, and in a forked child
            self._owner, self._token, self._counter = owner, uuid.uuid4().hex[:12], 0
        return f"{owner.host}-{owner.pid}-{self._token}"

    def _names(self) -> tuple[Path, Path]:
        """A temporary and a final name that no other writer has."""
        owner, writer = Identity.current(), self.name
        directory = self._run.shards / f"{writer}-{self._counter // SHARDS_PER_DIRECTORY:04d}"
        name = f"{self._counter:06d}"
        self._counter += 1
        return directory / f".{name}.{owner.started}.tmp", directory / f"{name}.h5"
