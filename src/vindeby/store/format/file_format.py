"""The interface of a file format of OUT.h5; ``tests/contracts`` tests every file format against it.

A file format writes segments into a new sealed file and reads them back, chunk by chunk, from the bytes that the
seal vouches for. It decides nothing about which records belong there.
"""

from __future__ import annotations

import contextlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vindeby.store.format.netcdf import new_hdf5_file
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Schema, Segment
from vindeby.store.format.seal import SealedFile, seal_file

if TYPE_CHECKING:
    import h5py

SAMPLE = 64
"""The number of records read through the HDF5 library to check a new file."""


ArrayAttributes: TypeAlias = Mapping[str, Mapping[str, str]]
"""For each name of an array, the attributes of its dataset: ``{"aep": {"units": "GWh/year"}}``."""


@dataclass(frozen=True)
class Content:
    """The content of a new database; every schema and width is known before the first row is written."""

    count: int
    schemas: tuple[Schema, ...]
    widths: Mapping[str, int]
    root: Mapping[str, Attribute]
    segments: Iterable[Segment]
    array_attributes: ArrayAttributes = field(default_factory=dict)


class FileFormat(ABC):
    """A format of the database file; the root attribute ``layout`` names it."""

    name: ClassVar[str]

    def write(self, path: Path, content: Content) -> None:
        """Write a new sealed file and force it to the disk; on an error nothing is left at ``path``."""
        if path.exists():
            raise FileExistsError(f"{path}: there is a file already")
        try:
            with tempfile.TemporaryFile(dir=path.parent) as tail:
                with new_hdf5_file(path, content.root) as file:
                    places = self._write_records(file, content, tail)
                end = path.stat().st_size
                for chunk in places.get("chunks", ()):
                    chunk["offset"] += end
                directory = {
                    "kind": "database",
                    "layout": self.name,
                    "format_version": content.root["format_version"],
                    "count": content.count,
                    "root": dict(content.root),
                    "schemas": [schema.to_json() for schema in content.schemas],
                    **places,
                }
                seal_file(path, directory, tail)
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise

    @abstractmethod
    def _write_records(self, file: h5py.File, content: Content, tail: BinaryIO) -> dict[str, Any]:
        """Write every record; return their places for the directory.

        ``tail`` takes what stands behind the HDF5 part; the offsets of ``chunks`` count from its beginning.
        """

    @abstractmethod
    def look(self, path: Path) -> None:
        """Check a new file through the HDF5 library, as its readers will; StorageError when it differs."""

    @abstractmethod
    def chunk_count(self, directory: Mapping[str, Any]) -> int:
        """Return the number of chunks of records in a file with this directory."""

    @abstractmethod
    def read_keys(self, file: SealedFile, number: int) -> NDArray[np.bytes_]:
        """Return the keys of one chunk."""

    @abstractmethod
    def read_chunk(self, file: SealedFile, number: int) -> list[Segment]:
        """Return the records of one chunk, not yet compared with their checksums."""
