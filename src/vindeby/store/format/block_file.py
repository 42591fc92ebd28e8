"""Writes a large sealed file front to back with plain system calls, hashing each block on its way.

The first block is held back until the end, because an HDF5 superblock names addresses that are known only
then. ``finish`` writes the seal and forces the file to the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from vindeby.store.format.seal import BLOCK_SIZE, SealedFile, SealError, block_digests, seal_bytes

_FLUSH_SIZE = 64 * BLOCK_SIZE


class BlockWriter:
    """A new file; removed again when the ``with`` block ends in an error."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._pending = bytearray()
        self._flushed = 0
        self._first = b""
        self._digests: list[bytes] = []

    def append(self, data: bytes | bytearray | memoryview) -> int:
        """Add bytes at the end; where they begin."""
        at = self.position
        self._pending += data
        self.position += len(data)
        if len(self._pending) >= _FLUSH_SIZE:
            self._flush(len(self._pending) // BLOCK_SIZE * BLOCK_SIZE)
        return at

    def align(self, multiple: int = 8) -> int:
        """Fill up with zeros; where the next bytes begin."""
        self.append(bytes(-self.position % multiple))
        return self.position

    def _flush(self, length: int) -> None:
        view = memoryview(self._pending)[:length]
        for start in range(0, length, BLOCK_SIZE):
            self._digests.append(hashlib.sha256(view[start : start + BLOCK_SIZE]).digest())
        if not self._flushed:
            self._first = bytes(view[:BLOCK_SIZE])
        write_at(self._descriptor, view, self._flushed)
        self._flushed += length
        view.release()
        del self._pending[:length]

    def finish(self, head: bytes, directory: dict[str, Any]) -> None:
        """Put ``head`` over the first bytes, append the seal, force to disk."""
        if self._pending:
            self._flush(len(self._pending))
        self._first = head + self._first[len(head) :]
        self._digests[0] = hashlib.sha256(self._first).digest()
        write_at(self._descriptor, memoryview(self._first), 0)
        write_at(
            self._descriptor, memoryview(seal_bytes(self.position, self._digests, directory)), self.position
        )
        os.fsync(self._descriptor)
        descriptor, self._descriptor = self._descriptor, -1  # closed even when closing it fails
        os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        if error is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)


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


def seal_file(path: Path, directory: dict[str, Any]) -> None:
    """Hash a closed HDF5 file, append its seal and force it to the disk."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        length = os.fstat(descriptor).st_size
        digests: list[bytes] = []
        step = 1 << 24
        for start in range(0, length, step):
            digests += block_digests(os.pread(descriptor, min(step, length - start), start))
        write_at(descriptor, memoryview(seal_bytes(length, digests, directory)), length)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
