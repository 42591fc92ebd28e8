"""The seal of a file: the proof that it is intact, checked before anything parses the file.

Every database is followed by a *seal*, which HDF5 itself never looks at: the SHA-256 of
each block of the file, a directory in JSON that says where the bytes of which column stand, and a trailer
with a SHA-256 over all of that. Reading goes through ``SealedFile``: a byte is handed out only when the block
it belongs to has the digest that the seal names. So a flipped bit, a lost write or a cut is found by hashing,
and the HDF5 library, which can crash or hang on bad bytes, never sees them.

A digest does not say who sealed a file, so the directory is not trusted either: what it describes must fit into the
file, and every record that it leads to must meet its own checksum.

A program that changes the file through HDF5 cuts the seal off; the file then counts as unsealed, and is read
like any other file that may be bad.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias

import numpy as np

from vindeby.errors import DataError, InputError
from vindeby.store.disk.files import drop_cache, open_regular, read_fully
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.rows import Schema, check_array

Buffer: TypeAlias = bytes | bytearray | memoryview

FORMAT_VERSION = 5
"""The format of databases that this version reads and writes."""

BLOCK_SIZE = 1 << 16
MAGIC = b"vindeby\x01"
_TRAILER = struct.Struct("<32sQQII8s")
_DIGEST_SIZE = 32
_SMALLEST_BLOCK = 512
_READ_SIZE = 1 << 20
"""Bytes that are read at once; a smaller file is kept in memory when it was verified as a whole."""
_LARGEST_SPAN = 1 << 26
"""Bytes that are read at once to pick parts out of them, if these are not few of them."""
_DIRECTORY_ERRORS = (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""The errors that wrong numbers and names in a directory lead to."""


_TEXT = re.compile(r"S[1-9][0-9]{0,11}")


class OtherFormatError(InputError):
    """The file is whole, and of a format version that this vindeby does not read."""

    def __init__(self, name: str, version: int, known: int) -> None:
        use = "a newer one" if version > known else "the vindeby that wrote it"
        super().__init__(
            f"{name}: written in format version {version}; this vindeby reads {known}, use {use}"
        )


class SealError(DataError):
    """The error for bytes of a database or a shard that do not match their digests."""

    def __init__(self, message: str, verdict: Verdict = Verdict.CHECKSUM) -> None:
        super().__init__(message)
        self.verdict = verdict

    def finding(self, path: Path) -> Finding:
        """Return the same as a finding about a file."""
        text = str(self).removeprefix(f"{path}: ").removeprefix(self.verdict.value)
        return Finding(self.verdict, text.lstrip(": "))


def check_directory(directory: dict[str, Any], length: int) -> None:
    """Raise one of ``_DIRECTORY_ERRORS`` where a directory claims more than a file of ``length`` bytes can hold.

    Where it is wrong in other ways, the bytes that it leads to are not records with the checksums that they state.
    """
    form, count = directory["layout"], whole_number(directory["count"], "count")
    if directory["kind"] != "database" or form not in ("classic", "table"):
        raise ValueError(f"kind is {directory['kind']!r:.60}, layout is {form!r:.60}")
    if not all(isinstance(value, str | int | float | bool) for value in directory["root"].values()):
        raise TypeError("a root attribute is not a text or a number")
    schemas = [Schema.from_json(entry) for entry in directory["schemas"]]
    if form == "classic":
        chunks = directory["chunks"]
        sizes = [
            (chunk["count"], schemas[chunk["schema"]].row_type(chunk["widths"]).itemsize) for chunk in chunks
        ]
    else:
        whole_number(directory["chunk_rows"] - 1, "chunk_rows - 1")
        columns = []
        for path, _, dtype, shape in directory["columns"]:
            check_array(path, "|b1" if _TEXT.fullmatch(dtype) else dtype, shape)
            columns.append(np.dtype((dtype, tuple(shape))))
        sizes = [(count, max(1, sum(column.itemsize for column in columns)))]
    needed = sum(whole_number(rows, "the count of a chunk") * size for rows, size in sizes)
    if needed > length:
        raise ValueError(f"its records need {needed} bytes, and the file has {length}")
    if sum(rows for rows, _ in sizes) != count:
        raise ValueError(f"count is {count}, but the chunks have another number of records")


def whole_number(value: Any, where: str) -> int:
    """Return the value; ValueError if it is not a whole number from 0 that fits 64 bits."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"{where} is {value!r:.60}, not a whole number from 0")
    return value


def block_digests(data: Buffer) -> list[bytes]:
    """Return the SHA-256 of each block of a whole file."""
    view = memoryview(data)
    return [hashlib.sha256(view[at : at + BLOCK_SIZE]).digest() for at in range(0, len(view), BLOCK_SIZE)]


def seal_bytes(length: int, digests: Iterable[bytes], directory: dict[str, Any]) -> bytes:
    """Return the seal to append to a file of this length."""
    blocks = b"".join(digests)
    text = json.dumps(directory, separators=(",", ":"), sort_keys=True).encode()
    lengths = struct.pack("<QQII", length, len(text), BLOCK_SIZE, 1)
    digest = hashlib.sha256(blocks + text + lengths).digest()
    return blocks + text + digest + lengths + MAGIC


@dataclass(frozen=True)
class Seal:
    """A seal that was read and found consistent in itself."""

    length: int
    block_size: int
    blocks: bytes
    directory: dict[str, Any]
    digest: str


@contextlib.contextmanager
def directory_errors(path: Path) -> Iterator[None]:
    """Raise SealError for any error that a directory causes by pointing at bytes it does not describe."""
    try:
        yield
    except _DIRECTORY_ERRORS as error:
        raise SealError(
            f"{path}: what it says of itself does not fit its bytes: {type(error).__name__}: {error}"
        ) from error


def read_seal(read: Callable[[int, int], bytes], size: int, name: str) -> Seal | None:
    """Return the seal of a file, given ``read(length, offset)``; None if there is none, SealError if it is broken."""
    trailer = read(_TRAILER.size, size - _TRAILER.size) if size >= _TRAILER.size else b""
    if len(trailer) < _TRAILER.size or not trailer.endswith(MAGIC):
        return None
    digest, length, text_length, block_size, version, _ = _TRAILER.unpack(trailer)
    if block_size < _SMALLEST_BLOCK:
        raise SealError(f"{name}: checksum mismatch in the seal: its blocks have {block_size} bytes")
    digests_length = -(-length // block_size) * _DIGEST_SIZE
    if length + digests_length + text_length + _TRAILER.size != size:
        raise SealError(
            f"{name}: checksum mismatch in the seal: its lengths do not fit the file's {size} bytes"
        )
    body = read(digests_length + text_length, length)
    if hashlib.sha256(body + trailer[_DIGEST_SIZE : -len(MAGIC)]).digest() != digest:
        raise SealError(f"{name}: checksum mismatch in the seal")
    try:
        directory = json.loads(body[digests_length:])
        found = directory["format_version"]
        if version < 2 and found == FORMAT_VERSION:
            check_directory(directory, length)
        whole_number(found, "format_version")
    except (AttributeError, *_DIRECTORY_ERRORS) as error:
        why = f"{type(error).__name__}: {error}"
        raise SealError(f"{name}: the directory of the seal makes no sense: {why:.500}") from None
    if version > 1 or found != FORMAT_VERSION:
        raise OtherFormatError(name, max(version, found), FORMAT_VERSION)
    return Seal(length, block_size, body[:digests_length], directory, digest.hex())


class SealedFile:
    """Random access to the verified bytes of a sealed file."""

    def __init__(
        self, path: Path, read: Callable[[int, int], bytes], seal: Seal, *, verify: bool = True
    ) -> None:
        self.path = path
        self.seal = seal
        self._read = read
        self._verify = verify
        self._descriptor = -1
        self._whole: bytes | None = None

    @classmethod
    def open(cls, path: Path) -> SealedFile | None:
        """Open a file for verified reading; None when it has no seal, OSError when it is not a file."""
        descriptor = open_regular(path)

        def read(length: int, offset: int) -> bytes:
            return read_fully(descriptor, length, offset)

        seal = None
        try:
            seal = read_seal(read, os.fstat(descriptor).st_size, str(path))
        finally:
            if seal is None:
                os.close(descriptor)
        if seal is None:
            return None
        file = cls(path, read, seal)
        file._descriptor = descriptor
        return file

    @property
    def digest(self) -> str:
        """The digest of the file's seal, in hex."""
        return self.seal.digest

    published_ns = 0
    """Only shards say when they were published."""

    @property
    def root(self) -> dict[str, Any]:
        """The root attributes of the file."""
        return dict(self.seal.directory["root"])

    def unverified(self) -> SealedFile:
        """Return the same file without block checks; the caller compares the checksum of each record instead."""
        return SealedFile(self.path, self._read, self.seal, verify=False)

    def verify(self, *, once: bool = False) -> None:
        """Read every block; SealError names the first that does not match its digest.

        With ``once``, what is read later is not hashed again: for those who compare every record with its checksum.
        """
        if self.seal.length <= _READ_SIZE:
            self._whole = self.read(0, self.seal.length)
            return
        for start in range(0, self.seal.length, _READ_SIZE):
            self.read(start, min(_READ_SIZE, self.seal.length - start))
        self._verify = not once

    def read_from_disk(self) -> None:
        """Drop the system's cache of the file, so that reads see the disk."""
        if self._descriptor >= 0:
            drop_cache(self._descriptor)

    def read(self, offset: int, length: int) -> bytes:
        """Return verified bytes; SealError names the block that does not match its digest.

        Where nothing is verified, what a damaged address outside the file leads to is zeros.
        """
        if offset < 0 or length < 0 or offset + length > self.seal.length:
            if self._verify:
                raise SealError(
                    f"{self.path}: the directory points outside the file (byte {offset + length})"
                )
            return bytes(length)
        if self._whole is not None:
            return self._whole[offset : offset + length]
        if not self._verify:
            return self._read(length, offset)
        size = self.seal.block_size
        start = offset // size * size
        stop = min(-(-(offset + length) // size) * size, self.seal.length)
        data = self._read(stop - start, start)
        for at in range(start, stop, size):
            self._check(at, memoryview(data)[at - start : at - start + size])
        return data[offset - start : offset - start + length]

    def read_parts(self, places: list[int], lengths: list[int]) -> list[Buffer]:
        """Return several parts of the file, in one read if they are close together."""
        start = min(places, default=0)
        stop = max(map(sum, zip(places, lengths, strict=True)), default=0)
        parts = zip(places, lengths, strict=True)
        if stop > self.seal.length or stop - start > min(_LARGEST_SPAN, _READ_SIZE + 8 * sum(lengths)):
            return [self.read(at, length) for at, length in parts]
        whole = memoryview(self.read(start, stop - start))
        return [whole[at - start : at - start + length] for at, length in parts]

    def _check(self, at: int, block: memoryview) -> None:
        place = at // self.seal.block_size * _DIGEST_SIZE
        if hashlib.sha256(block).digest() != self.seal.blocks[place : place + _DIGEST_SIZE]:
            stop = min(at + self.seal.block_size, self.seal.length)
            raise SealError(f"{self.path}: checksum mismatch in bytes {at} to {stop}")

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_sealed(path: Path) -> SealedFile:
    """Open a file that must be sealed."""
    file = SealedFile.open(path)
    if file is None:
        raise SealError(f"{path}: the seal is missing")
    return file


def seal_file(path: Path, directory: dict[str, Any], tail: BinaryIO) -> None:
    """Append ``tail`` to a closed HDF5 file, hash the whole, append the seal and force it to the disk."""
    with path.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        tail.seek(0)
        shutil.copyfileobj(tail, file)
        length = file.tell()
        file.seek(0)
        digests: list[bytes] = []
        while data := file.read(_READ_SIZE):
            digests += block_digests(data)
        file.write(seal_bytes(length, digests, directory))
        file.flush()
        os.fsync(file.fileno())
