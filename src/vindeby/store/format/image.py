"""Records to the bytes of a shard; ``shard`` reads them back.

The HDF5 image of a shard is built in memory (HDF5's core driver, nothing on disk), because the library can
crash the process when a disk is full; the bytes are then written with plain system calls. One dataset per
schema, ``records/0``, ``records/1``, ...: a table with one row per record, in a single chunk with Fletcher-32.
The seal's directory says where each table's bytes stand, so that an intact shard is read without HDF5.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import h5py

from vindeby._version import __version__
from vindeby.errors import ArgumentError
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Segment, segments_of
from vindeby.store.format.seal import FORMAT_VERSION, block_digests, seal_bytes

MAXIMUM_SEGMENT = 1 << 30
"""Bytes of one table in a shard; HDF5 allows a chunk just under 4 GiB."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Image:
    """A shard, ready to be written."""

    data: bytes
    keys: tuple[str, ...]
    checksums: tuple[str, ...]


def build_image(records: Iterable[Record]) -> Image:
    """The sealed bytes of a shard with these records."""
    return build_image_of(segments_of(records))


def build_image_of(segments: Sequence[Segment]) -> Image:
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
    seal = seal_bytes(len(hdf5), block_digests(hdf5), directory)
    keys = [key.decode() for segment in segments for key in segment.rows["key"].tolist()]
    checksums = [text.decode() for segment in segments for text in segment.rows["checksum"].tolist()]
    return Image(hdf5 + seal, tuple(keys), tuple(checksums))


def _fresh_name() -> str:
    """A name that no other image of this process has: HDF5 takes files of one name, in memory too, for the same."""
    return f"shard-{next(_numbers)}"


def _hdf5_image(segments: Sequence[Segment]) -> tuple[bytes, list[int]]:
    places = []
    with h5py.File(_fresh_name(), "w", driver="core", backing_store=False, libver=("v110", "v110")) as file:
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
