"""The system calls that make writes durable, and how often to retry them.

``Files`` is the only door to the disk for publishing, so that a test can count, fail, drop or reorder what
passes through it. ``write_durably`` puts bytes in place under a new name such that, when it returns, they
survive a power cut; when it raises, nothing stands under that name that was not there before, or a whole
copy of the bytes does.
"""

import contextlib
import errno
import hashlib
import io
import itertools
import math
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vindeby.errors import ArgumentError, InputError, StorageError


class CarefulFile(io.FileIO):
    """A new file for h5py, which can crash when a write fails: the file keeps the first error for ``check``."""

    def __init__(self, path: Path) -> None:
        self._error: OSError | None = None
        self._position = 0
        super().__init__(path, "x+")

    def check(self) -> None:
        """Raise the first error that occurred, if any."""
        if self._error is not None:
            raise self._error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move within the file; a position that the file system does not support fails at the next write."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (os.fstat(self.fileno()).st_size if start is None else start)
        return self._position

    def tell(self) -> int:
        """Return the position in the file."""
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read into a buffer; zeros stand for bytes beyond the end, and for all bytes after an error."""
        view = memoryview(buffer).cast("B")
        got = os.preadv(self.fileno(), [view], self._position)
        view[got:] = bytes(len(view) - got)
        self._position += len(view)
        return len(view)

    def write(self, data: memoryview) -> int:  # type: ignore[override]
        """Write all the data, or store the error."""
        view = memoryview(data).cast("B")
        done = 0
        try:
            while done < len(view) and self._error is None:
                done += os.pwrite(self.fileno(), view[done:], self._position + done)
        except OSError as error:
            self._error = error
        self._position += len(view)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Set the length, or store the error."""
        try:
            if self._error is None:
                super().truncate(size)
        except OSError as error:
            self._error = error
        return size or 0

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if kind is None:
            self.check()


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
    """The error for a path that is not a regular file, or whose file is far too large."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))


def special_kind(mode: int) -> str | None:
    """Return the kind of a file with this mode, in words; None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    return _KINDS.get(stat.S_IFMT(mode), "no regular file")


def refuse_special(path: Path) -> None:
    """Raise InputError if the path is not a regular file; a path that does not exist passes."""
    try:
        kind = special_kind(path.stat().st_mode)
    except OSError:
        return
    if kind is not None:
        raise InputError(f"{path}: this is {kind}, not a regular file; name an HDF5 file")


_OTHER_FORMATS = {".csv", ".geojson", ".json", ".npy", ".npz", ".tsv", ".txt", ".xlsx", ".yaml", ".yml"}


def refuse_other_formats(path: Path) -> None:
    """Raise InputError if the file is not HDF5 by its name; a damaged or missing file passes."""
    refuse_special(path)
    if path.suffix.lower() in _OTHER_FORMATS and path.is_file():
        raise InputError(f"{path}: is named as a {path.suffix} file; name an HDF5 file, such as layouts.h5")


def open_regular(path: Path, most: float = math.inf) -> int:
    """Return a descriptor of a regular file of at most ``most`` bytes; NotRegularError, without waiting, otherwise."""
    _check(path, path.stat(), most)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _check(path, os.fstat(descriptor), most)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def stored_ranges(descriptor: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each range with bytes on disk; the holes in between read as zeros."""
    end, size = 0, os.fstat(descriptor).st_size
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end


def read_fully(descriptor: int, length: int, offset: int) -> bytes:
    """Return all bytes there are, up to ``length``, although one system call may return fewer."""
    parts = [os.pread(descriptor, length, offset)]
    while parts[-1] and (got := sum(map(len, parts))) < length:
        parts.append(os.pread(descriptor, length - got, offset + got))
    return b"".join(parts)


def open_bounded(path: Path, most: int = _LARGEST) -> BinaryIO:
    """Open a file of a run directory for reading; NotRegularError if it is too large or not a regular file."""
    return os.fdopen(open_regular(path, most), "rb")


def read_bounded(path: Path) -> bytes:
    """Return the content of a small file of a run directory; NotRegularError if it is not a regular file."""
    with open_bounded(path, _LARGEST // 4) as file:
        return file.read(_LARGEST // 4)


def _check(path: Path, status: os.stat_result, most: float) -> None:
    kind = special_kind(status.st_mode)
    if kind is not None:
        raise NotRegularError(path, f"it is {kind}, not a regular file")
    if status.st_size > most:
        raise NotRegularError(path, f"it has {status.st_size:,} bytes, more than the {most:,} that are read")


LONGEST_TEXT = 1 << 16
"""Bytes of a text that are kept, in UTF-8."""


def bounded(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return the text as valid Unicode; if it exceeds ``longest`` bytes, only its beginning and end."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= longest:
        return data.decode()
    half = longest // 2 - 50
    left_out = f" ... ({len(data) - 2 * half:,} bytes left out) ... "
    return data[:half].decode(errors="ignore") + left_out + data[-half:].decode(errors="ignore")


_TRANSIENT = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ESTALE, errno.EAGAIN, errno.EINTR, errno.ENOENT}
)
"""Errors after which the same thing could succeed later: full, over quota, failing, stale."""
_READ_SIZE = 1 << 20
_FEW_INODES = 16
"""So few left mean that they ran out: some were given back when what had failed was removed."""


class Files:
    """Plain system calls."""

    def create(self, path: Path) -> int:
        """Open a new file for writing, which must not exist yet; return its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write some of the data; return the number of bytes written."""
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        """Force a file to the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close, which on network file systems can fail too."""
        os.close(descriptor)

    def digest(self, path: Path) -> bytes:
        """Return the SHA-256 of a file, read from the disk where the system allows its cache to be dropped."""
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
        """Make a directory; return whether it is new."""
        try:
            path.mkdir()
        except FileExistsError:
            return False
        return True

    def fsync_directory(self, path: Path) -> None:
        """Force the entries of a directory to the disk."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def file_state(path: Path) -> tuple[int, int, int] | None:
    """Return the inode, size and time of a file, which tell whether it was replaced; None if it does not exist."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def force_file(path: Path) -> None:
    """Force an existing file and its name to the disk, whoever wrote it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    Files().fsync_directory(path.parent)


def drop_cache(descriptor: int) -> None:
    """Ask the system to read this file from the disk the next time, which it may not be able to do."""
    with contextlib.suppress(OSError, AttributeError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


@dataclass(frozen=True)
class Retry:
    """The number of attempts on a failing disk, and the first wait between two; the wait doubles each time."""

    attempts: int = 5
    first_wait_s: float = 0.1
    sleep: Callable[[float], None] = time.sleep


def make_directories(files: Files, path: Path, above: Path) -> None:
    """Make a directory and its parents below ``above``, each name forced to the disk."""
    for directory in [*reversed(path.relative_to(above).parents[:-1]), path.relative_to(above)]:
        if files.make_directory(above / directory):
            files.fsync_directory((above / directory).parent)


def write_durably(files: Files, data: bytes, temporary: Path, target: Path) -> None:
    """Make one attempt to write: write, fsync, read back, rename, check, fsync the directory."""
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
    """Rename and check the result: a network file system may report failure after success, and the reverse."""
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
    """Write under a new name until the data is durable; each attempt uses a new file."""
    for attempt in itertools.count(1):
        temporary, target = names()
        try:
            if not target.parent.is_dir():
                make_directories(files, target.parent, above)
            write_durably(files, data, temporary, target)
            return target
        except OSError as error:
            if error.errno not in _TRANSIENT or attempt >= retry.attempts:
                raise storage_error(error, target, len(data), retry.attempts) from error
        retry.sleep(retry.first_wait_s * 2 ** (attempt - 1))
    raise AssertionError


def storage_error(error: OSError, target: Path, needed: int = 0, attempts: int = 1) -> StorageError:
    """Return the error to show when the disk keeps failing; it names the folder if space is missing, else the file."""
    reason = error.strerror or str(error)
    tries = f" after {attempts} attempts" if error.errno in _TRANSIENT and attempts > 1 else ""
    where = Path(error.filename or target)
    free, remedy = _room(target.parent, needed, is_full=error.errno == errno.ENOSPC)
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


def _room(folder: Path, needed: int, *, is_full: bool) -> tuple[str, str]:
    remedy = "make room there"
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        status = os.statvfs(place)
    except OSError:
        return f"{needed:,} bytes are needed", remedy
    available = status.f_bavail * status.f_frsize
    free = f"{available:,} bytes are free"
    if status.f_files and status.f_favail < _FEW_INODES:
        used = f"{status.f_favail} of the {status.f_files} files (inodes) that it can hold are left"
        return (
            f"out of inodes: {used}; {free}, {needed:,} are needed",
            "delete files there that nobody needs, of whatever size",
        )
    if needed > available:
        return f"{free}, {needed:,} are needed", remedy
    return f"{free}, more are needed" if is_full else free, remedy


_LONGEST_NAME = 191
"""Bytes that leave room for what is added: ``.run``, ``.merge-TOKEN.tmp``, ``-2.why.json.PID-TOKEN-NUMBER.tmp``."""


def resolve_output(path: Path) -> Path:
    """Return the target of a symbolic link, which need not exist; any other path is returned as it is."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else path  # noqa: PTH114 - it raises for long names


def check_output(output: Path, *, database: bool = True) -> Path:
    """Return the resolved path of a file to be written; ArgumentError if no such file can exist.

    The name of a ``database`` must be valid UTF-8, because logs and reports state it.
    """
    if database:
        _check_encoding(output)
    _check_length(output)
    path = resolve_output(output)
    shown = str(output) if path == output else f"{output} (a symbolic link to {path})"
    if os.path.islink(path):  # noqa: PTH114 - it raises for long names
        raise ArgumentError(f"{output}: is a symbolic link that leads to itself; name another file with -o")
    if database:
        _check_encoding(path)
    _check_length(path)
    kind = _kind(path)
    if kind == "a folder":
        raise ArgumentError(f"{shown}: is a folder; name a file in it, such as {output / 'layouts.h5'}")
    if kind:
        raise ArgumentError(
            f"{shown}: this is {kind}, not a regular file; name a plain file, such as layouts.h5, with -o"
        )
    return path


def _check_encoding(path: Path) -> None:
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        name = os.fsencode(path.absolute()).decode(errors="backslashreplace")
        raise ArgumentError(
            f"{name}: the name is not valid UTF-8, and could not be written into logs and reports; "
            "choose another name with -o"
        ) from None


def _check_length(path: Path) -> None:
    length = len(os.fsencode(path.name))
    if length > _LONGEST_NAME:
        raise ArgumentError(
            f"{path.name[:40]}...: the name has {length} bytes, more than the {_LONGEST_NAME} that leave room for the "
            "names of the files beside it; choose a shorter one with -o"
        )


def _kind(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return ""
    except NotADirectoryError:
        raise ArgumentError(f"{path}: {path.parent} is not a folder; choose another name with -o") from None
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}; choose another name with -o") from None
    return special_kind(mode) or ""
