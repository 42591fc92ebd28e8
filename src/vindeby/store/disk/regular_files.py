"""Opens regular files only: what is no file is refused by name, without being opened.

Opening a named pipe waits for a writer that may never come, opening a device can have effects of its own, and
reading one may never end. The kind of file is asked for before it is opened, and again once it is open, in case
another file took its place in between.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from vindeby.errors import InputError

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


class NotRegularError(OSError):
    """What is at a path is not a regular file."""

    def __init__(self, path: Path | str, kind: str) -> None:
        super().__init__(errno.EINVAL, f"it is {kind}, not a regular file", str(path))


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


def open_regular(path: Path) -> int:
    """A descriptor to read a regular file from; NotRegularError for anything else, without waiting."""
    _check(path, path.stat().st_mode)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _check(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(path: Path, mode: int) -> None:
    kind = special_kind(mode)
    if kind is not None:
        raise NotRegularError(path, kind)
