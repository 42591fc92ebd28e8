"""Files that vouch for their own bytes: shards, and OUT.h5 in its formats ``classic`` and ``table``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from vindeby.errors import ArgumentError
from vindeby.store.format.classic import ClassicFormat
from vindeby.store.format.file_format import FileFormat
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealedFile, directory_errors
from vindeby.store.format.shard import ShardFile, is_shard
from vindeby.store.format.table import TableFormat

FILE_FORMATS: Mapping[str, FileFormat] = {"classic": ClassicFormat(), "table": TableFormat()}


def file_format_named(name: str) -> FileFormat:
    """Return the file format of this name; ArgumentError if there is none."""
    if name not in FILE_FORMATS:
        raise ArgumentError(
            f"--format: there is no file format {name!r}; there are: {', '.join(FILE_FORMATS)}"
        )
    return FILE_FORMATS[name]


VerifiedFile: TypeAlias = SealedFile | ShardFile
"""A file that hands out only bytes that it vouches for."""


def open_verified(path: Path) -> VerifiedFile | None:
    """Open a shard or a sealed database; None where nothing vouches for the file."""
    return ShardFile.open(path) if is_shard(path) else SealedFile.open(path)


def chunk_count(file: VerifiedFile) -> int:
    """Return the number of chunks of records in a file."""
    if isinstance(file, ShardFile):
        return 1
    directory = file.seal.directory
    return FILE_FORMATS[directory["layout"]].chunk_count(directory)


def read_chunk(file: VerifiedFile, number: int) -> list[Segment]:
    """Return one chunk of a file."""
    if isinstance(file, ShardFile):
        return file.segments()
    with directory_errors(file.path):
        return FILE_FORMATS[file.seal.directory["layout"]].read_chunk(file, number)


def iterate(file: VerifiedFile) -> Iterator[Segment]:
    """Yield every segment of a file."""
    for number in range(chunk_count(file)):
        yield from read_chunk(file, number)
