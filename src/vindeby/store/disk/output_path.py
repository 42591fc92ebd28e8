"""Where a database stands: the file that its name leads to, and whether a database can be made there.

A symbolic link is followed once, when a command begins: the file that it leads to is written, and the run directory and
its locks stand beside that file, whatever name was given. What could only fail when the results are merged (a device, a
name that leaves no room for the names beside it) is refused before anything is computed.
"""

from __future__ import annotations

import os
from pathlib import Path

from vindeby.errors import ArgumentError
from vindeby.store.disk.regular_files import special_kind

_LONGEST_NAME = 255
_LONGEST_PATH = 4096
_ROOM_IN_NAME = 64
"""Bytes for what is added to the name: ``.run``, ``.merge-TOKEN.tmp``, ``-2.why.json.PID-TOKEN-NUMBER.tmp``."""
_ROOM_IN_PATH = 400
"""Bytes for the longest path in a run directory, with the name of a machine in it."""


def resolve_output(path: Path) -> Path:
    """The file that this name leads to, which need not exist; the name itself unless it is a symbolic link."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else path  # noqa: PTH114 - it raises for long names


def check_output(output: Path) -> Path:
    """The same, for a database that is to be written; ArgumentError when there cannot be one."""
    _check_encoding(output)
    _check_length(output)
    path = resolve_output(output)
    shown = str(output) if path == output else f"{output} (a symbolic link to {path})"
    if path.is_symlink():
        raise ArgumentError(f"{output}: is a symbolic link that leads to itself; name another file with -o")
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
    whole = path.absolute()
    for text, longest, what in (
        (whole.name, _limit(whole.parent, "PC_NAME_MAX", _LONGEST_NAME) - _ROOM_IN_NAME, "name"),
        (str(whole), _limit(whole.parent, "PC_PATH_MAX", _LONGEST_PATH) - _ROOM_IN_PATH, "path"),
    ):
        length = len(os.fsencode(text))
        if length > longest:
            raise ArgumentError(
                f"{text[:40]}...: the {what} has {length} bytes, more than the {longest} that leave room for the names "
                "of the files beside it; choose a shorter one with -o"
            )


def _limit(folder: Path, name: str, usual: int) -> int:
    try:
        return min(usual, os.pathconf(folder, name))
    except (OSError, ValueError):
        return usual


def _kind(path: Path) -> str:
    """What stands there if it is not a plain file; empty where nothing does."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return ""
    except NotADirectoryError:
        raise ArgumentError(f"{path}: {path.parent} is not a folder; choose another name with -o") from None
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}; choose another name with -o") from None
    return special_kind(mode) or ""
