"""Files and folders that a command writes: checked first, written under a temporary name, synced, renamed.

What stands under the name is replaced only where that was asked for, and never when it is the database that is read.
A full disk, an error or a kill leaves nothing under the final name that was not there before. After a kill the
temporary file or folder (``.NAME.PID-TOKEN.tmp``) is left, and may be deleted.
"""

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vindeby.errors import ArgumentError, StorageError
from vindeby.store.disk.files import Files, check_output, force_file, storage_error
from vindeby.store.disk.run_directory import RunDirectory

_REMOVE = "name another file, or remove this one"
_FORCE = "name another one with -o, or replace it with --force"

_REMOVALS, _PAUSE_S = 20, 0.1
"""Threads of a library may go on writing into a folder for a moment after an error."""


def write_file(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Write a whole file; if this fails, an earlier file stays, and a symbolic link stays a link."""
    with new_file(path, replace=replace) as temporary:
        temporary.write_bytes(data)


@contextmanager
def new_file(path: Path, *, replace: bool, database: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path to write to; if the block succeeds, the file is renamed to ``path``.

    ``database`` is the one that an export is made from, which is never replaced.
    """
    path = check_output(path, database=False)
    _refuse_database(path, database)
    if not replace:
        refuse_existing(path, _REMOVE if database is None else _FORCE)
    temporary = _beside(path)
    try:
        with _disk_errors(path):
            yield temporary
            force_file(temporary)
            if replace:
                temporary.replace(path)
            else:
                _rename_to_new(temporary, path)
            Files().fsync_directory(path.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def refuse_existing(path: Path, remedy: str = _REMOVE) -> None:
    """Raise ArgumentError if the path exists."""
    if path.exists():
        raise ArgumentError(f"{path}: exists and is left as it is; {remedy}")


@contextmanager
def new_folder(
    path: Path, *, replace: bool, database: Path, replaceable: Callable[[Path], bool]
) -> Iterator[Path]:
    """Yield a new folder to write into; if the block succeeds, it is renamed to ``path``.

    With ``replace`` a folder that ``replaceable`` recognises as an earlier export is replaced; any other never is.
    """
    path = Path(os.path.realpath(path))
    _refuse_database(path, database)
    _refuse_folder(path, replace, replaceable)
    temporary = _beside(path)
    try:
        with _disk_errors(path):
            temporary.mkdir()
            yield temporary
            for folder, _, names in os.walk(temporary, topdown=False):
                for name in names:
                    force_file(Path(folder, name))
                Files().fsync_directory(Path(folder))
            _swap(temporary, path)
            Files().fsync_directory(path.parent)
    finally:
        for _ in range(_REMOVALS if temporary.exists() else 0):
            shutil.rmtree(temporary, ignore_errors=True)
            time.sleep(_PAUSE_S)
            if not temporary.exists():
                break


def _refuse_folder(path: Path, replace: bool, replaceable: Callable[[Path], bool]) -> None:
    if path.is_dir() and not any(path.iterdir()):
        return
    if not replace:
        refuse_existing(path, _FORCE)
    if path.exists() and not (path.is_dir() and replaceable(path)):
        raise ArgumentError(
            f"{path}: is not an earlier export of this format, so it is not replaced; name another folder with -o"
        )


def _refuse_database(path: Path, database: Path | None) -> None:
    if database is None:
        return
    run = RunDirectory(database).path
    whole = Path(os.path.realpath(path))
    if whole == Path(os.path.realpath(database)) or (
        path.exists() and database.exists() and path.samefile(database)
    ):
        raise ArgumentError(f"{path}: is the database itself; name another file with -o")
    inside = Path(os.path.realpath(run))
    if whole == inside or inside in whole.parents:
        raise ArgumentError(f"{path}: is inside the run directory {run}; name a place outside of it with -o")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _rename_to_new(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise ArgumentError(
            f"{path}: was made by another process meanwhile and is left as it is; {_REMOVE}"
        ) from None
    except OSError:  # the file system has no hard links: look just before
        refuse_existing(path)
        temporary.replace(path)


def _swap(temporary: Path, path: Path) -> None:
    """Put a folder in place; an earlier folder is renamed first, and renamed back if this fails."""
    if not path.exists():
        temporary.rename(path)
        return
    old = _beside(path)
    path.rename(old)
    try:
        temporary.rename(path)
    except OSError:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (ArgumentError, StorageError):
        raise
    except (PermissionError, FileNotFoundError, NotADirectoryError) as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror}; name a place in a folder of yours"
        ) from None
    except OSError as error:
        raise storage_error(error, path) from error
