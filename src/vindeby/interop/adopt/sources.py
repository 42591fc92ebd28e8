"""The files of a script, read as broken as they are; none of them is changed.

A file that the script left under the very name of the database is moved into the run directory first, where every later
adoption reads it too: killed at any moment, it stands in one of the two places or in both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vindeby.campaign.tasks import KEY_OF_ATTRIBUTES
from vindeby.errors import InputError
from vindeby.interop.adopt.report import adopted_folder
from vindeby.store.disk.files import Files, file_state, make_directories
from vindeby.store.disk.keep_old_file import link_or_copy
from vindeby.store.disk.regular_files import special_kind
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Finding, Verdict
from vindeby.store.read.origin import FOREIGN, origin_of_file
from vindeby.store.salvage.attempts import rescue
from vindeby.store.salvage.salvage import files_in
from vindeby.store.salvage.saved import Saved
from vindeby.store.salvage.spool import Spool

_NEEDED = ("layout",)
"""All that a record must have; an energy can be computed."""


@dataclass
class ScriptFile:
    """One file: what was saved from it, and what it was when it was read."""

    name: str
    """As it was given, in text that can be stored."""
    saved: Saved
    sha256: str = ""


def script_files(paths: Sequence[Path], run: RunDirectory) -> list[Path]:
    """The files to adopt, each once: what an earlier adoption set aside, then those given, then a foreign OUT.h5."""
    given = list(files_in(paths))
    kept = sorted(path for path in adopted_folder(run).glob("*") if path.suffix not in {".json", ".tmp"})
    if is_foreign(run.output):
        kept.append(run.output)
    elif any(_same(path, run.output) for path in given):
        raise InputError(f"{run.output}: is a database of vindeby already; name the files of the script only")
    files: dict[object, Path] = {}
    for path in [*kept, *given]:
        files.setdefault(_identity(path), path)
    if not files:
        named = ", ".join(map(str, paths))
        raise InputError(f"{named}: there are no HDF5 files; name the folder of the script's worker files")
    return list(files.values())


def is_foreign(output: Path) -> bool:
    """Does a file stand at this name that vindeby did not make?"""
    if not output.exists():
        return False
    try:
        sealed = SealedFile.open(output)
    except (SealError, OSError):
        return False
    if sealed is not None:
        sealed.close()
        return False
    return origin_of_file(output) == FOREIGN


def set_aside(run: RunDirectory) -> Path:
    """Move a foreign OUT.h5 into the run directory; where it is."""
    folder = adopted_folder(run)
    make_directories(Files(), folder, run.path.parent)
    digest = Files().digest(run.output).hex()
    target = folder / f"{run.output.stem}-{digest[:12]}{run.output.suffix}"
    if not target.exists():
        link_or_copy(run.output, target)
    Files().fsync_directory(folder)
    run.output.unlink()
    Files().fsync_directory(run.output.parent)
    return target


def read_all(files: Sequence[Path], folder: Path, spool: Spool, guard: Guard) -> Iterator[ScriptFile]:
    """Each file with everything that can be saved from it."""
    for path in files:
        before = _state(path)
        saved = rescue(path, folder, guard, KEY_OF_ATTRIBUTES, spool, _NEEDED)
        name = os.fsencode(path).decode(errors="backslashreplace")
        digest = _digest(path)
        if _state(path) != before:
            changed = "it changed while it was read; does the script still run?"
            saved.findings.append(Finding(Verdict.INCOMPLETE, changed))
        yield ScriptFile(name, saved, digest)


def _state(path: Path) -> tuple[int, int, int] | None:
    """What tells whether a file changed; None where it cannot be found, such as a link that leads to itself."""
    try:
        return file_state(path)
    except OSError:
        return None


def _digest(path: Path) -> str:
    """Of a plain file that can be read; empty for anything else, which has findings already."""
    try:
        plain = special_kind(path.stat().st_mode) is None
        return Files().digest(path).hex() if plain else ""
    except OSError:
        return ""


def _identity(path: Path) -> object:
    """What tells a file from any other, whatever its name; its name where it cannot be found."""
    try:
        state = path.stat()
    except OSError:
        return path
    return state.st_dev, state.st_ino


def _same(one: Path, other: Path) -> bool:
    return other.exists() and one.exists() and one.samefile(other)
