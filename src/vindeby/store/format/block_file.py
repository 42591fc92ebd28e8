"""Seals a new file, and opens a file that must be sealed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from vindeby.store.format.seal import SealedFile, SealError, block_digests, seal_bytes


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
