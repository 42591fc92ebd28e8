"""Shards: plain files of finished records, which one process publishes and no library but numpy is needed to read.

```
magic                  the 13 letters "vindeby shard" and a line end
header                 one line of JSON: version, published_ns, and of each table its schema, widths and count
rows                   of each table, as they are in memory; a row ends with the SHA-256 of its record
SHA-256                of all before, 32 bytes
```
A shard has one table per schema. A shard that was cut or changed on the disk still gives every record that meets its
own checksum; a checksum covers the names, types and shapes that the header states, too.

When ``publish`` returns, its records survive the death of the process and the machine. The bytes are written to a
temporary file beside their place, forced to the disk, read back and compared, renamed, looked at once more, and the
directory is forced to the disk; only then is there a receipt. An fsync that failed is never tried again on the same
file, because the kernel may have dropped the pages: the shard is written anew under another name. A copy that was
renamed but not acknowledged may stay behind; equal records count once in a merge. A published shard is never opened for
writing again. Writers need no lock: the name of a shard holds the machine, the process and a random token.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from vindeby._version import __version__
from vindeby.errors import ArgumentError
from vindeby.store.disk.files import Files, Retry, open_regular, publish_bytes
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import SHARD_SUFFIX, RunDirectory
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Schema, Segment, segments_of
from vindeby.store.format.seal import OtherFormatError, SealError, directory_errors, whole_number

SHARD_VERSION = 1
"""The version of shards that this version reads and writes."""
MAXIMUM_SEGMENT = 1 << 30
"""Bytes of one table in a shard; a shard is read as a whole."""
_MAGIC = b"vindeby shard\n"
_DIGEST_SIZE = 32
_ROWS = ("schema", "widths")


def shard_bytes(segments: Sequence[Segment]) -> bytes:
    """Return the bytes of a shard with these segments."""
    for segment in segments:
        if segment.rows.nbytes > MAXIMUM_SEGMENT:
            key = segment.rows["key"][0].decode()
            raise ArgumentError(
                f"{segment.rows.nbytes} bytes are too many for one shard (record {key} and its like); "
                f"publish at most {MAXIMUM_SEGMENT} at a time"
            )
    header = {
        "format_version": SHARD_VERSION,
        "version": __version__,
        "published_ns": time.time_ns(),
        "tables": [_entry(segment) for segment in segments],
    }
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    body = b"".join([_MAGIC, text, b"\n", *(segment.rows.tobytes() for segment in segments)])
    return body + hashlib.sha256(body).digest()


def _entry(segment: Segment) -> dict[str, Any]:
    row = segment.rows.dtype
    widths = {name: row[name].itemsize for name in segment.schema.text_fields}
    return {"schema": segment.schema.to_json(), "widths": widths, "count": len(segment)}


def is_shard(path: Path) -> bool:
    """Return whether the file is a shard, by its name or its first bytes."""
    if path.suffix == SHARD_SUFFIX:
        return True
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


@lru_cache(maxsize=256)  # the shards of a run have few kinds of rows
def _row_type(text: str) -> tuple[Schema, np.dtype[Any]]:
    """Return the schema and the type of the rows of a table, from its part of the header."""
    table = json.loads(text)
    schema = Schema.from_json(table["schema"])
    return schema, schema.row_type(table["widths"])


class ShardFile(contextlib.AbstractContextManager["ShardFile"]):
    """A shard in memory, which hands out records only if every byte is as it was written."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self._data = path, data
        self.published_ns = 0
        """When it was published, by its writer's clock; 0 as long as nothing is verified."""
        self._segments: list[Segment] | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read a shard; OSError when there is no regular file."""
        with os.fdopen(open_regular(path), "rb") as file:
            return cls(path, file.read())

    @property
    def root(self) -> dict[str, Any]:
        """The root attributes, of which a shard has none."""
        return {}

    @property
    def digest(self) -> str:
        """The digest at the end of the file, in hex."""
        return self._data[-_DIGEST_SIZE:].hex()

    def verify(self, *, once: bool = False) -> None:  # noqa: ARG002 - as a sealed file
        """Raise SealError if the file is not as it was written."""
        if self._segments is not None:
            return
        body = memoryview(self._data)[:-_DIGEST_SIZE]
        if not self._data.startswith(_MAGIC) or hashlib.sha256(body).hexdigest() != self.digest:
            finding = self._damage()
            raise SealError(f"{self.path}: {finding}", finding.verdict)
        header, start = self._header()
        if header["format_version"] != SHARD_VERSION:
            raise OtherFormatError(str(self.path), header["format_version"], SHARD_VERSION)
        segments, end = self._tables(header, start)
        if end != len(body):
            raise SealError(f"{self.path}: its header states {end} bytes, and there are {len(body)}")
        self._segments, self.published_ns = segments, header["published_ns"]

    def segments(self) -> list[Segment]:
        """Return every record of an intact shard; SealError where it is not intact."""
        self.verify()
        return self._segments or []

    def unverified(self) -> ShardFile:
        """Return the same shard with whatever rows are there: the caller compares each with its own checksum."""
        file = ShardFile(self.path, self._data)
        file._segments = []
        with contextlib.suppress(SealError):
            file._segments, _ = self._tables(*self._header())
        return file

    def _header(self) -> tuple[dict[str, Any], int]:
        """Return the header, with a version, and where it ends."""
        with directory_errors(self.path):
            end = self._data.index(b"\n", len(_MAGIC)) + 1
            header: dict[str, Any] = json.loads(self._data[len(_MAGIC) : end])
            whole_number(header["format_version"], "format_version")
            return header, end

    def _tables(self, header: dict[str, Any], start: int) -> tuple[list[Segment], int]:
        """Return the rows that are there, and where those that the header states end."""
        data, at, segments = self._data, start, []
        with directory_errors(self.path):
            whole_number(header["published_ns"], "published_ns")
            for table in header["tables"]:
                schema, dtype = _row_type(json.dumps({name: table[name] for name in _ROWS}))
                count = whole_number(table["count"], "count")
                there = max(0, min(count, (len(data) - at) // dtype.itemsize))
                rows = np.frombuffer(data, dtype, there, at) if there else np.empty(0, dtype)
                segments.append(Segment(schema, rows))
                at += count * dtype.itemsize
        return segments, at

    def _damage(self) -> Finding:
        """Describe what is wrong with a damaged shard, and which of its records are lost for sure."""
        if not self._data:
            return Finding(Verdict.EMPTY)
        try:
            header, start = self._header()
            segments, end = self._tables(header, start)
        except SealError:
            return Finding(Verdict.CHECKSUM, "its header cannot be read, and so none of its records")
        size, needed, there = len(self._data), end + _DIGEST_SIZE, sum(map(len, segments))
        if size >= needed:
            return Finding(Verdict.CHECKSUM, "its bytes are not those that were written")
        total = sum(table["count"] for table in header["tables"])
        lost = ""
        if there < total:
            lost = f"; record {total}" if there == total - 1 else f"; records {there + 1} to {total}"
            lost += f" of {total} cut off"
        return Finding(Verdict.TRUNCATED, f"{size} bytes of {needed}{lost}")

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: the file was closed when it was read."""


SHARDS_PER_DIRECTORY = 1000


@dataclass(frozen=True)
class Receipt:
    """The path, keys and checksums of records that are durable now."""

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
        segments = segments_of(records)
        keys, checksums = (
            tuple(text.decode() for segment in segments for text in segment.rows[field].tolist())
            for field in ("key", "checksum")
        )
        if not keys:
            raise ArgumentError("publish: there is no record to publish")
        if len(set(keys)) != len(keys):
            raise ArgumentError("publish: a key occurs twice in one batch")
        data = shard_bytes(segments)
        path = publish_bytes(self._files, self._retry, data, self._names, self._run.path)
        return Receipt(path, keys, checksums, len(data))

    @property
    def name(self) -> str:
        """The prefix of this writer's shard directories, before a hyphen and a number."""
        owner = Identity.current()
        if owner != self._owner:  # the first time, and in a forked child
            self._owner, self._token, self._counter = owner, uuid.uuid4().hex[:12], 0
        return f"{owner.host}-{owner.pid}-{self._token}"

    def _names(self) -> tuple[Path, Path]:
        """Return a temporary and a final name that no other writer uses."""
        owner, writer = Identity.current(), self.name
        directory = self._run.shards / f"{writer}-{self._counter // SHARDS_PER_DIRECTORY:04d}"
        name = f"{self._counter:06d}"
        self._counter += 1
        return directory / f".{name}.{owner.started}.tmp", directory / f"{name}{SHARD_SUFFIX}"
