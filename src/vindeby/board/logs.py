"""The one kind of file that the board serves: logs of this run, by name, from their own folder and nowhere else."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}\Z")
_TAIL = 200_000


def read_log(folder: Path, name: str) -> str | None:
    """The end of a log; None when there is no such file, or it is not a plain file right in the folder."""
    if not _NAME.match(name) or name in {".", ".."} or not name.endswith(".log"):
        return None
    try:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except OSError:
        return None
    finally:
        os.close(directory)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        file.seek(max(0, status.st_size - _TAIL))
        text = file.read(_TAIL).decode(errors="replace")
    return text if status.st_size <= _TAIL else f"... the last {_TAIL} bytes of {status.st_size} ...\n{text}"
