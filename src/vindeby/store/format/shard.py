"""The records of a sealed shard, read without HDF5: its directory says where the bytes of each table stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from vindeby.store.format.rows import Schema, Segment
from vindeby.store.format.seal import SealedFile, SealError, directory_errors


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
