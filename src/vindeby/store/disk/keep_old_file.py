"""Keeps a file that is about to be replaced: under a second name, or as a copy that was compared.

When this returns, the file is in the run directory and on the disk, with a note that says when and why; when it
raises, for example because the disk is full, nothing may be replaced.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import time
from pathlib import Path

from vindeby.store.disk.files import Files, force_file, make_directories
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory, replace_text

_READ_SIZE = 1 << 20
_NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES})


def keep_old_file(run: RunDirectory, why: str) -> Path:
    """Keep the standing OUT.h5 in ``OUT.h5.run/replaced/``, with a note; where it is."""
    folder = run.path / "replaced"
    make_directories(Files(), folder, run.path.parent)
    now = time.gmtime()
    target = _free_name(folder, run.output, time.strftime("%Y%m%dT%H%M%SZ", now))
    note = {"file": str(run.output), "why": why, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", now)}
    replace_text(
        target.with_name(f"{target.name}.why.json"), json.dumps(note, indent=1) + "\n", run.path.parent
    )
    link_or_copy(run.output.resolve(), target)
    return target


def _free_name(folder: Path, path: Path, stamp: str) -> Path:
    for number in itertools.count(1):
        ending = "" if number == 1 else f"-{number}"
        target = folder / f"{path.stem}-{stamp}{ending}{path.suffix}"
        if not target.exists():
            return target
    raise AssertionError


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where that is not possible; durable when this returns."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _copy(source, target)
    force_file(target)


def _copy(source: Path, target: Path) -> None:
    files = Files()
    temporary = target.with_name(f".{target.name}.{Identity.current().token}.tmp")
    try:
        with source.open("rb") as old, temporary.open("xb") as new:
            while data := old.read(_READ_SIZE):
                new.write(data)
            new.flush()
            os.fsync(new.fileno())
        if files.digest(temporary) != files.digest(source):
            raise OSError(errno.EIO, "the copy is not what was copied", str(target))
        temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)
