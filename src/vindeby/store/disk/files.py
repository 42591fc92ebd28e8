"""The few system calls that durability is made of, and how often to try again.

``Files`` is the only door to the disk for publishing, so that a test can count, fail, drop or reorder what
passes through it. ``write_durably`` puts bytes in place under a new name such that, when it returns, they
survive a power cut; when it raises, nothing stands under that name that was not there before, or a whole
copy of the bytes does.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vindeby.errors import StorageError

_TRANSIENT = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ESTALE, errno.EAGAIN, errno.EINTR, errno.ENOENT}
)
_READ_SIZE = 1 << 20
_FEW_INODES = 16
"""So few left mean that they ran out: some were given back when what had failed was removed."""


class Files:
    """Plain system calls."""

    def create(self, path: Path) -> int:
        """A new file for writing; it must not exist."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write some of the data; how much."""
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        """Force a file to the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close, which on network file systems can fail too."""
        os.close(descriptor)

    def digest(self, path: Path) -> bytes:
        """SHA-256 of a file, read back from the disk where the system lets us drop its cache."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            drop_cache(descriptor)
            digest = hashlib.sha256()
            while data := os.read(descriptor, _READ_SIZE):
                digest.update(data)
            return digest.digest()
        finally:
            os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Rename within a file system, replacing the target."""
        source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove a file."""
        path.unlink(missing_ok=True)

    def make_directory(self, path: Path) -> bool:
        """Make a directory; whether it is new."""
        try:
            path.mkdir()
        except FileExistsError:
            return False
        return True

    def fsync_directory(self, path: Path) -> None:
        """Force the names in a directory to the disk."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def file_state(path: Path) -> tuple[int, int, int] | None:
    """What tells one file at this path from another; None when there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def force_file(path: Path) -> None:
    """Force a file that stands, whoever wrote it, and its name to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    Files().fsync_directory(path.parent)


def drop_cache(descriptor: int) -> None:
    """Ask the system to read this file from the disk again; it may not be able to."""
    with contextlib.suppress(OSError, AttributeError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


@dataclass(frozen=True)
class Retry:
    """How often a failing disk is tried again, and how long between; the wait doubles each time."""

    attempts: int = 5
    first_wait_s: float = 0.1
    sleep: Callable[[float], None] = time.sleep

    def waits(self) -> Iterator[float]:
        """The wait before each further attempt."""
        for number in range(self.attempts - 1):
            yield self.first_wait_s * 2**number


def is_transient(error: OSError) -> bool:
    """Could the same thing succeed later: full, over quota, failing, stale?"""
    return error.errno in _TRANSIENT


def make_directories(files: Files, path: Path, above: Path) -> None:
    """Make a directory and its parents below ``above``, each name forced to the disk."""
    for directory in [*reversed(path.relative_to(above).parents[:-1]), path.relative_to(above)]:
        if files.make_directory(above / directory):
            files.fsync_directory((above / directory).parent)


def write_durably(files: Files, data: bytes, temporary: Path, target: Path) -> None:
    """One attempt: write, fsync, read back, rename, check, fsync the directory."""
    view = memoryview(data)
    try:
        descriptor = files.create(temporary)
        try:
            while view:
                view = view[files.write(descriptor, view) :]
            files.fsync(descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                files.close(descriptor)
            raise
        files.close(descriptor)
        _compare(files, temporary, hashlib.sha256(data).digest())
        _rename(files, temporary, target, len(data))
        files.fsync_directory(target.parent)
    except OSError:
        with contextlib.suppress(OSError):
            files.unlink(temporary)
        raise


def _compare(files: Files, path: Path, wanted: bytes) -> None:
    if files.digest(path) != wanted:
        raise OSError(errno.EIO, "what was read back is not what was written", str(path))


def _rename(files: Files, temporary: Path, target: Path, size: int) -> None:
    """Rename and look: a network file system may report failure after success, and the reverse."""
    try:
        files.rename(temporary, target)
    except OSError:
        if temporary.exists() or not target.exists():
            raise
    if target.stat().st_size != size:
        raise OSError(errno.EIO, "the renamed file does not have its size", str(target))


def publish_bytes(
    files: Files, retry: Retry, data: bytes, names: Callable[[], tuple[Path, Path]], above: Path
) -> Path:
    """Write under a fresh name until it is durable; each attempt starts anew with a new file."""
    waits = retry.waits()
    while True:
        temporary, target = names()
        try:
            if not target.parent.is_dir():
                make_directories(files, target.parent, above)
            write_durably(files, data, temporary, target)
            return target
        except OSError as error:
            wait = next(waits, None) if is_transient(error) else None
            if wait is None:
                raise storage_error(error, target, len(data), retry.attempts) from error
        retry.sleep(wait)


def storage_error(error: OSError, target: Path, needed: int, attempts: int) -> StorageError:
    """What a user needs to know when the disk keeps refusing: for want of space the folder, else the file."""
    reason = error.strerror or str(error)
    tries = f" after {attempts} attempts" if is_transient(error) else ""
    where = Path(error.filename or target)
    free, remedy = _room(target.parent, needed)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        where = target.parent
    elif error.errno == errno.EFBIG:
        remedy = "raise the limit on file size (ulimit -f)"
    elif error.errno in {errno.EMFILE, errno.ENFILE}:
        remedy = "raise the limit on open files (ulimit -n)"
    elif error.errno == errno.ECANCELED:
        free, remedy = "the lock is lost", "wait until that process ends"
    else:
        remedy = "check the disk or choose another place"
    return StorageError(
        f"{where}: cannot write{tries}: {reason}; {free}; everything acknowledged so far is safe; {remedy}, "
        "then run the same command"
    )


def _room(folder: Path, needed: int) -> tuple[str, str]:
    """What is left on the file system of a folder, and what to do about it."""
    remedy = "make room there"
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        status = os.statvfs(place)
    except OSError:
        return f"{needed} bytes are needed", remedy
    free = f"{status.f_bavail * status.f_frsize} bytes are free, {needed} are needed"
    if status.f_files and status.f_favail < _FEW_INODES:
        used = f"{status.f_favail} of the {status.f_files} files (inodes) that it can hold are left"
        return f"out of inodes: {used}; {free}", "delete files there that nobody needs, of whatever size"
    return free, remedy
