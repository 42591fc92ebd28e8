"""Opens regular files only: what is no file is refused by name, without being opened.

Opening a named pipe waits for a writer that may never come, opening a device can have effects of its own, and
reading one may never end. The kind of file is asked for before it is opened, and again once it is open, in case
another file took its place in between.
"""

from __future__ import annotations

import errno
import math
import os
import stat
from pathlib import Path
from typing import BinaryIO

from vindeby.errors import InputError

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}
_LARGEST = 1 << 30
"""Bytes of a file in a run directory that is read; far more than a run writes."""


class NotRegularError(OSError):
    """What is at a path is not a regular file, or far too large."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))


def special_kind(mode: int) -> str | None:
    """What a file of this mode is, in words; None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    return _KINDS.get(stat.S_IFMT(mode), "no regular file")


def refuse_special(path: Path) -> None:
    """InputError where something other than a regular file was named; a path that does not exist passes."""
    try:
        kind = special_kind(path.stat().st_mode)
    except OSError:
        return
    if kind is not None:
        raise InputError(f"{path}: this is {kind}, not a regular file; name an HDF5 file")


def open_regular(path: Path, most: float = math.inf) -> int:
    """A descriptor to read a regular file of at most so many bytes; NotRegularError for all else, without waiting."""
    _check(path, path.stat(), most)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _check(path, os.fstat(descriptor), most)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_bounded(path: Path, most: int = _LARGEST) -> BinaryIO:
    """A file of a run directory to be read; NotRegularError where it is too large or no regular file."""
    return os.fdopen(open_regular(path, most), "rb")


def read_bounded(path: Path) -> bytes:
    """All of a small file of a run directory, whatever stands there in its place."""
    with open_bounded(path, _LARGEST // 4) as file:
        return file.read(_LARGEST // 4)


def _check(path: Path, status: os.stat_result, most: float) -> None:
    kind = special_kind(status.st_mode)
    if kind is not None:
        raise NotRegularError(path, f"it is {kind}, not a regular file")
    if status.st_size > most:
        raise NotRegularError(path, f"it has {status.st_size:,} bytes, more than the {most:,} that are read")
