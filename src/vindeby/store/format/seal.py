"""How a file proves that it is whole before anything parses it.

Every HDF5 file that vindeby writes is followed by a *seal*, which HDF5 itself never looks at: the SHA-256 of
each block of the file, a directory in JSON that says where the bytes of which column stand, and a trailer
with a SHA-256 over all of that. Reading goes through ``SealedFile``: a byte is handed out only when the block
it belongs to has the digest that the seal names. So a flipped bit, a lost write or a cut is found by hashing,
and the HDF5 library, which can crash or hang on bad bytes, never sees them.

A program that changes the file through HDF5 cuts the seal off; the file then counts as unsealed, and is read
like any other file that may be bad.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from vindeby.errors import DataError, InputError
from vindeby.store.disk.files import drop_cache
from vindeby.store.disk.regular_files import open_regular
from vindeby.store.format.seal_directory import DirectoryError, check_directory

Buffer: TypeAlias = bytes | bytearray | memoryview

FORMAT_VERSION = 3
"""The newest format of shards and databases that this version reads, and the one that it writes."""

BLOCK_SIZE = 1 << 16
MAGIC = b"vindeby\x01"
_TRAILER = struct.Struct("<32sQQII8s")
TRAILER_SIZE = _TRAILER.size
_DIGEST_SIZE = 32
_SMALLEST_BLOCK = 512
_CACHED_BLOCKS = 256


class NewerFormatError(InputError):
    """The file is whole, and newer than this version of vindeby."""


class SealError(DataError):
    """The file is sealed and its bytes are not those that were sealed."""


def block_digests(data: Buffer) -> list[bytes]:
    """SHA-256 of each block of a whole file."""
    view = memoryview(data)
    return [hashlib.sha256(view[at : at + BLOCK_SIZE]).digest() for at in range(0, len(view), BLOCK_SIZE)]


def seal_bytes(length: int, digests: Iterable[bytes], directory: dict[str, Any]) -> bytes:
    """The seal to append to a file of this length."""
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

    @property
    def block_count(self) -> int:
        """How many blocks the file has."""
        return len(self.blocks) // _DIGEST_SIZE

    def block_ok(self, number: int, data: Buffer) -> bool:
        """Is this the block that was sealed?"""
        wanted = self.blocks[number * _DIGEST_SIZE : (number + 1) * _DIGEST_SIZE]
        return hashlib.sha256(data).digest() == wanted


@contextlib.contextmanager
def directory_errors(path: Path) -> Iterator[None]:
    """Where a directory leads to bytes that are not what it says: SealError, whatever went wrong with them."""
    try:
        yield
    except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, struct.error) as error:
        raise SealError(
            f"{path}: the directory of the seal does not fit the file: {type(error).__name__}: {error}"
        ) from error


def has_magic(tail: bytes) -> bool:
    """Does a file that ends like this claim to be sealed?"""
    return tail[-len(MAGIC) :] == MAGIC


def read_seal(read: Callable[[int, int], bytes], size: int, name: str) -> Seal | None:
    """The seal of a file, given ``read(length, offset)``; None when there is none, SealError if it is broken."""
    if size < TRAILER_SIZE:
        return None
    trailer = read(TRAILER_SIZE, size - TRAILER_SIZE)
    if len(trailer) < TRAILER_SIZE or not has_magic(trailer):
        return None
    digest, length, text_length, block_size, version, _ = _TRAILER.unpack(trailer)
    if block_size < _SMALLEST_BLOCK:
        raise SealError(f"{name}: checksum mismatch in the seal: its blocks have {block_size} bytes")
    count = -(-length // block_size)
    if length + count * _DIGEST_SIZE + text_length + TRAILER_SIZE != size:
        raise SealError(
            f"{name}: checksum mismatch in the seal: its lengths do not fit the file's {size} bytes"
        )
    body = read(count * _DIGEST_SIZE + text_length, length)
    lengths = trailer[_DIGEST_SIZE : -len(MAGIC)]
    if hashlib.sha256(body + lengths).digest() != digest:
        raise SealError(f"{name}: checksum mismatch in the seal")
    blocks, text = body[: count * _DIGEST_SIZE], body[count * _DIGEST_SIZE :]
    try:
        directory = json.loads(text)
        stated = directory.get("format_version", 1) if isinstance(directory, dict) else 1
        if type(stated) is not int:
            raise DirectoryError(f"format_version is {stated!r:.60}, not a whole number")
        newest = max(version, stated)
        if newest <= FORMAT_VERSION:
            check_directory(directory, length)
    except (ValueError, RecursionError) as error:
        raise SealError(f"{name}: the directory of the seal makes no sense: {error}") from None
    if newest > FORMAT_VERSION:
        raise NewerFormatError(
            f"{name}: written in format version {newest}; this vindeby reads up to {FORMAT_VERSION}, use a newer one"
        )
    return Seal(length, block_size, blocks, directory, digest.hex())


class SealedFile:
    """Random access to the verified bytes of a sealed file; keeps a few blocks in memory.

    With ``verify=False`` the bytes come as they are, for salvaging: whoever asks compares the checksum of
    each record instead.
    """

    def __init__(
        self, path: Path, read: Callable[[int, int], bytes], seal: Seal, *, verify: bool = True
    ) -> None:
        self.path = path
        self.seal = seal
        self._read = read
        self._verify = verify
        self._descriptor = -1
        self._whole: bytes | None = None
        self._cache: OrderedDict[int, bytes] = OrderedDict()
        self._proven = bytearray(seal.block_count)

    @classmethod
    def open(cls, path: Path, *, verify: bool = True) -> SealedFile | None:
        """Open a file for verified reading; None when it has no seal, OSError when it is no file."""
        descriptor = open_regular(path)

        def read(length: int, offset: int) -> bytes:
            return _read_fully(descriptor, length, offset)

        try:
            seal = read_seal(read, os.fstat(descriptor).st_size, str(path))
        except BaseException:
            os.close(descriptor)
            raise
        if seal is None:
            os.close(descriptor)
            return None
        file = cls(path, read, seal, verify=verify)
        file._descriptor = descriptor
        return file

    @classmethod
    def of_bytes(cls, data: bytes, name: str) -> SealedFile | None:
        """The same for a file that is already in memory."""

        def read(length: int, offset: int) -> bytes:
            return data[offset : offset + length]

        seal = read_seal(read, len(data), name)
        return None if seal is None else cls(Path(name), read, seal)

    def load(self) -> None:
        """Read and verify the whole file, and keep it in memory."""
        self._whole = self._run(0, self.seal.block_count - 1)

    def prove_rest(self) -> None:
        """Read and verify every block that nothing has asked for yet."""
        for number in range(self.seal.block_count):
            if not self._proven[number]:
                self._block(number)

    def read_from_disk(self) -> None:
        """From now on, see what the disk holds and not what the system remembers of it."""
        if self._descriptor >= 0:
            drop_cache(self._descriptor)

    def read(self, offset: int, length: int) -> bytes:
        """Verified bytes; SealError names the block that is not what it was."""
        if offset < 0 or length < 0 or offset + length > self.seal.length:
            raise SealError(f"{self.path}: the directory points outside the file (byte {offset + length})")
        if self._whole is not None:
            return self._whole[offset : offset + length]
        size = self.seal.block_size
        first, last = offset // size, (offset + max(length, 1) - 1) // size
        if last - first < _CACHED_BLOCKS // 16:
            return b"".join(
                self._block(number)[max(0, offset - number * size) : offset + length - number * size]
                for number in range(first, last + 1)
            )
        return self._run(first, last)[offset - first * size : offset - first * size + length]

    def _run(self, first: int, last: int) -> bytes:
        """Many blocks in one read, past the cache."""
        size = self.seal.block_size
        start, stop = first * size, min((last + 1) * size, self.seal.length)
        data = self._read(stop - start, start)
        view = memoryview(data)
        for number in range(first, last + 1):
            at = number * size - start
            self._check(number, view[at : at + size])
        return data

    def _block(self, number: int) -> bytes:
        cached = self._cache.get(number)
        if cached is not None:
            self._cache.move_to_end(number)
            return cached
        start = number * self.seal.block_size
        data = self._read(min(self.seal.block_size, self.seal.length - start), start)
        self._check(number, data)
        self._cache[number] = data
        if len(self._cache) > _CACHED_BLOCKS:
            self._cache.popitem(last=False)
        return data

    def _check(self, number: int, data: Buffer) -> None:
        if self._verify:
            if not self.seal.block_ok(number, data):
                raise self._mismatch(number)
            self._proven[number] = 1

    def _mismatch(self, number: int) -> SealError:
        start = number * self.seal.block_size
        stop = min(start + self.seal.block_size, self.seal.length)
        return SealError(f"{self.path}: checksum mismatch in bytes {start} to {stop}")

    def bad_blocks(self) -> Iterator[int]:
        """The number of every block that is not what was sealed."""
        size = self.seal.block_size
        for number, start in enumerate(range(0, self.seal.length, size)):
            data = self._read(min(size, self.seal.length - start), start)
            if not self.seal.block_ok(number, data):
                yield number

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _read_fully(descriptor: int, length: int, offset: int) -> bytes:
    """All the bytes there are, up to ``length``; a system call may give fewer."""
    data = os.pread(descriptor, length, offset)
    if len(data) == length:
        return data
    parts = [data]
    while data:
        offset += len(data)
        length -= len(data)
        data = os.pread(descriptor, length, offset)
        parts.append(data)
    return b"".join(parts)
