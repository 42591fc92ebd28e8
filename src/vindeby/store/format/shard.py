"""Shards: records to bytes, bytes to a durable file, and a sealed file back to records.

The HDF5 image of a shard is built in memory (HDF5's core driver, nothing on disk), because the library can crash the
process when a disk is full; the bytes are then written with plain system calls. One dataset per schema, ``records/0``,
``records/1``, ...: a table with one row per record, in a single chunk with Fletcher-32. The seal's directory says where
each table's bytes are, so that an intact shard is read without HDF5.

When ``publish`` returns, its records survive the death of the process and the machine. The image is written to a
temporary file beside its place, forced to the disk, read back and compared, renamed, looked at once more, and the
directory is forced to the disk; only then is there a receipt. An fsync that failed is never tried again on the same
file, because the kernel may have dropped the pages: the shard is written anew under another name. A copy that was
renamed but not acknowledged may stay behind; equal records count once in a merge. A published shard is never opened for
writing again. Writers need no lock: the name of a shard holds the machine, the process and a random token.
"""

import itertools
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vindeby._version import __version__
from vindeby.errors import ArgumentError
from vindeby.store.disk.files import Files, Retry, publish_bytes
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Schema, Segment, segments_of
from vindeby.store.format.seal import (
    FORMAT_VERSION,
    SealedFile,
    SealError,
    block_digests,
    directory_errors,
    seal_bytes,
)

MAXIMUM_SEGMENT = 1 << 30
"""Bytes of one table in a shard; HDF5 allows a chunk just under 4 GiB."""
_numbers = itertools.count()


def build_image(segments: Sequence[Segment]) -> bytes:
    """The sealed bytes of a shard with these segments."""
    for segment in segments:
        if segment.rows.nbytes > MAXIMUM_SEGMENT:
            key = segment.rows["key"][0].decode()
            raise ArgumentError(
                f"{segment.rows.nbytes} bytes are too many for one shard (record {key} and its like); "
                f"publish at most {MAXIMUM_SEGMENT} at a time"
            )
    hdf5, places = _hdf5_image(segments)
    directory = {
        "kind": "shard",
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "published_ns": time.time_ns(),
        "segments": [_entry(segment, place) for segment, place in zip(segments, places, strict=True)],
    }
    return hdf5 + seal_bytes(len(hdf5), block_digests(hdf5), directory)


def _hdf5_image(segments: Sequence[Segment]) -> tuple[bytes, list[int]]:
    import h5py  # not needed to read a shard, and loading it takes as long as reading thousands of records

    places = []
    name = f"shard-{next(_numbers)}"  # HDF5 takes files of one name, in memory too, for the same
    with h5py.File(name, "w", driver="core", backing_store=False, libver=("v110", "v110")) as file:
        file.attrs["format_version"] = FORMAT_VERSION
        file.attrs["kind"] = "vindeby shard"
        group = file.create_group("records")
        for number, segment in enumerate(segments):
            rows = segment.rows
            dataset = group.create_dataset(str(number), data=rows, chunks=rows.shape, fletcher32=True)
            places.append(int(dataset.id.get_chunk_info(0).byte_offset))
        file.flush()
        return bytes(file.id.get_file_image()), places


def _entry(segment: Segment, offset: int) -> dict[str, Any]:
    row = segment.rows.dtype
    widths = {name: row[name].itemsize for name in segment.schema.text_fields}
    return {"schema": segment.schema.to_json(), "widths": widths, "count": len(segment), "offset": offset}


def read_segments(file: SealedFile) -> list[Segment]:
    """Every record of an intact shard."""
    directory = file.seal.directory
    if directory.get("kind") != "shard":
        raise SealError(f"{file.path}: foreign format: this is a {directory.get('kind')}, not a shard")
    with directory_errors(file.path):
        return [_read(file, entry) for entry in directory["segments"]]


def _read(file: SealedFile, entry: dict[str, Any]) -> Segment:
    schema = Schema.from_json(entry["schema"])
    dtype = schema.row_type(entry["widths"])
    data = file.read(entry["offset"], entry["count"] * dtype.itemsize)
    return Segment(schema, np.frombuffer(data, dtype))


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
        segments = segments_of(records)
        keys, checksums = (
            tuple(text.decode() for segment in segments for text in segment.rows[field].tolist())
            for field in ("key", "checksum")
        )
        if not keys:
            raise ArgumentError("publish: there is no record to publish")
        if len(set(keys)) != len(keys):
            raise ArgumentError("publish: a key occurs twice in one batch")
        data = build_image(segments)
        path = publish_bytes(self._files, self._retry, data, self._names, self._run.path)
        return Receipt(path, keys, checksums, len(data))

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
