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
import math
import os
import re
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from vindeby.errors import DataError, InputError
from vindeby.store.disk.files import drop_cache, open_regular

_NUMERIC = re.compile(r"[<|][biuf][1248]")
_TEXT = re.compile(r"S([1-9][0-9]{0,11})")
_KINDS = {"str": 0, "int": 8, "float": 8, "bool": 1}
_MARKS = ("key", "fingerprint", "status")
_CHECKSUM_WIDTH = 64
_MAXIMUM_DIMENSIONS = 32

# What the directory of each kind of file must hold: an object with these members, a list of such elements, a list with
# one element each; ``{str: ...}`` is an object with any names, and ``int`` a whole number from 0.
_SCHEMA = {"arrays": [(str, str, [int])], "attributes": [(str, str)]}
_CHUNK = {"widths": {str: int}, "count": int, "offset": int}
_SHARD = {"segments": [{**_CHUNK, "schema": _SCHEMA}]}
_DATABASE = {"root": {str: object}, "count": int, "schemas": [_SCHEMA], "layout": str}
_CLASSIC = {"chunks": [{**_CHUNK, "schema": int}]}
_TABLE = {"chunk_rows": int, "columns": [(str, str, str, [int])], "places": [[int]]}


class DirectoryError(ValueError):
    """The directory makes no sense; the message says where."""


def check_directory(directory: object, length: int) -> dict[str, Any]:
    """The directory of a file of ``length`` bytes, where it makes sense."""
    found = _mapping(directory, "it")
    _expect(found.get("published_ns", 0), int, "published_ns")
    kind = found.get("kind")
    if kind == "shard":
        _expect(found, _SHARD, "it")
        _check_chunks(found["segments"], [entry["schema"] for entry in found["segments"]], length)
    elif kind == "database":
        _check_database(found, length)
    else:
        raise DirectoryError(f"kind is {_shown(kind)}, not shard or database")
    return found


def _check_database(directory: dict[str, Any], length: int) -> None:
    _expect(directory, _DATABASE, "it")
    _expect(directory.get("additions", []), [(str, str, bool)], "additions")
    for name, value in directory["root"].items():
        if not isinstance(value, str | int | float | bool):
            raise DirectoryError(f"root.{name} is {_shown(value)}")
    if directory["layout"] == "classic":
        _expect(directory, _CLASSIC, "it")
        chunks, schemas = directory["chunks"], directory["schemas"]
        if any(chunk["schema"] >= len(schemas) for chunk in chunks):
            raise DirectoryError(f"a chunk has a schema that is not one of {len(schemas)}")
        _check_chunks(chunks, [schemas[chunk["schema"]] for chunk in chunks], length)
        if sum(chunk["count"] for chunk in chunks) != directory["count"]:
            raise DirectoryError(
                f"count is {directory['count']}, but the chunks have another number of records"
            )
    elif directory["layout"] == "table":
        _expect(directory, _TABLE, "it")
        _check_table(directory, length)
    else:
        raise DirectoryError(f"layout is {_shown(directory['layout'])}, not classic or table")


def _check_chunks(chunks: list[dict[str, Any]], schemas: list[dict[str, Any]], length: int) -> None:
    needed = 0
    for number, (chunk, schema) in enumerate(zip(chunks, schemas, strict=True)):
        row = _check_schema(schema, length) + _CHECKSUM_WIDTH
        texts = [f"attribute:{name}" for name, kind in schema["attributes"] if kind == "str"]
        for field in (*_MARKS, *texts):
            width = chunk["widths"].get(field, 0)
            if not 1 <= width <= length:
                raise DirectoryError(f"chunk {number}: the width of {_shown(field)} is {width}")
            row += width
        needed += max(chunk["count"], 1) * row
    _fits(needed, length, "the chunks")


def _check_table(directory: Mapping[str, Any], length: int) -> None:
    count, chunk_rows = directory["count"], directory["chunk_rows"]
    most = length if count else 1 << 40
    columns, places = directory["columns"], directory["places"]
    if len(columns) != len(places) or not 1 <= chunk_rows <= 1 << 32:
        raise DirectoryError(f"{len(columns)} columns, places of {len(places)}, {chunk_rows} rows in a chunk")
    known: dict[tuple[str, str, int], list[int]] = {}
    needed = 0
    for (path, field, dtype, shape), found in zip(columns, places, strict=True):
        needed += count * _type_size(dtype, path) * _elements(shape, path, most)
        known[field, "text" if dtype.startswith("S") else dtype, len(shape)] = shape
        if len(found) != -(-count // chunk_rows):
            raise DirectoryError(f"{_shown(path)} has {len(found)} chunks for {count} rows")
    _fits(needed, length, "the columns")
    if not columns or [columns[0][1], *columns[-1][1:3]] != ["key", "schema", "<i4"]:
        raise DirectoryError("the first column is not key, or the last is not schema")
    if count and not directory["schemas"]:
        raise DirectoryError("there are rows, and no schemas")
    for schema in directory["schemas"]:
        _check_schema(schema, most)
        _check_columns(schema, known)


def _check_columns(schema: Mapping[str, Any], known: Mapping[tuple[str, str, int], list[int]]) -> None:
    """Has each field of a schema a column that is wide enough?"""
    types = {"str": "text", "int": "<i8", "float": "<f8", "bool": "|b1"}
    wanted: list[tuple[str, str, list[int]]] = [(mark, "text", []) for mark in (*_MARKS, "checksum")]
    wanted += [(f"attribute:{name}", types[kind], []) for name, kind in schema["attributes"]]
    wanted += [(f"array:{name}", dtype, shape) for name, dtype, shape in schema["arrays"] if 0 not in shape]
    for field, kind, shape in wanted:
        column = known.get((field, kind, len(shape)))
        if column is None or any(one > other for one, other in zip(shape, column, strict=True)):
            raise DirectoryError(f"no column holds {_shown(field)}")


def _check_schema(schema: Mapping[str, Any], length: int) -> int:
    """The bytes that the numbers in a row of this schema take."""
    names = {f"attribute:{name}" for name, _ in schema["attributes"]}
    names |= {f"array:{name}" for name, _, _ in schema["arrays"]}
    if len(names) != len(schema["attributes"]) + len(schema["arrays"]):
        raise DirectoryError("a schema has a name twice")
    if any(kind not in _KINDS for _, kind in schema["attributes"]):
        raise DirectoryError(f"a schema has attributes {_shown(schema['attributes'])}")
    size = sum(_KINDS[kind] for _, kind in schema["attributes"])
    for name, dtype, shape in schema["arrays"]:
        if dtype.startswith("S"):
            raise DirectoryError(f"{_shown(name)} has type {_shown(dtype)}")
        size += _type_size(dtype, name) * _elements(shape, name, length)
    return size


def _type_size(dtype: str, name: str) -> int:
    text = _TEXT.fullmatch(dtype)
    if text is None and _NUMERIC.fullmatch(dtype) is None:
        raise DirectoryError(f"{_shown(name)} has type {_shown(dtype)}")
    return int(dtype[-1]) if text is None else int(text.group(1))


def _elements(shape: list[int], name: str, length: int) -> int:
    elements = math.prod(shape)
    if len(shape) > _MAXIMUM_DIMENSIONS or elements > length or max(shape, default=0) > 1 << 40:
        raise DirectoryError(f"{_shown(name)} has shape {_shown(shape)}, more than the file can hold")
    return elements


def _fits(needed: int, length: int, what: str) -> None:
    if needed > length:
        raise DirectoryError(f"{what} need {needed} bytes, and the file has {length}")


def _expect(value: object, pattern: Any, where: str) -> None:
    """DirectoryError where a value of the directory is not what the pattern says."""
    if isinstance(pattern, dict):
        found = _mapping(value, where)
        if str in pattern:
            pattern = dict.fromkeys(found, pattern[str])
        for name, inner in pattern.items():
            if name not in found:
                raise DirectoryError(f"{where} has no {_shown(name)}")
            _expect(found[name], inner, name)
    elif isinstance(pattern, list | tuple):
        if not isinstance(value, list) or (isinstance(pattern, tuple) and len(value) != len(pattern)):
            raise DirectoryError(f"{where} is {_shown(value)}, not a list of what it should hold")
        inners = pattern if isinstance(pattern, tuple) else pattern * len(value)
        for element, inner in zip(value, inners, strict=True):
            _expect(element, inner, where)
    elif pattern is int:
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise DirectoryError(f"{where} is {_shown(value)}, not a whole number")
    elif not isinstance(value, pattern):
        raise DirectoryError(f"{where} is {_shown(value)}, not {pattern.__name__}")


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DirectoryError(f"{where} is {_shown(value)}, not an object")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


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
        """Open a file for verified reading; None when it has no seal, OSError when it is not a file."""
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


def write_at(descriptor: int, view: memoryview, offset: int) -> None:
    """Write all of it at a place in a file."""
    while view:
        done = os.pwrite(descriptor, view, offset)
        view, offset = view[done:], offset + done


def open_sealed(path: Path) -> SealedFile:
    """Open a file that must be sealed."""
    file = SealedFile.open(path)
    if file is None:
        raise SealError(f"{path}: the seal is missing")
    return file


def seal_file(path: Path, directory: dict[str, Any], tail: bytes = b"") -> None:
    """Append ``tail`` to a closed HDF5 file, hash the whole, append the seal and force it to the disk."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        write_at(descriptor, memoryview(tail), os.fstat(descriptor).st_size)
        length = os.fstat(descriptor).st_size
        digests: list[bytes] = []
        step = 1 << 24
        for start in range(0, length, step):
            digests += block_digests(os.pread(descriptor, min(step, length - start), start))
        write_at(descriptor, memoryview(seal_bytes(length, digests, directory)), length)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
