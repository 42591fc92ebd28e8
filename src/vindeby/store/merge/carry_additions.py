"""What a merge does about the things that others added to the database that it is about to replace.

They are copied into the new file before it is sealed, by the HDF5 library in a guarded child. What cannot be copied
stops the merge by name. Additions to a result that is itself replaced are not put beside the new one; the old file is
then kept (``keep_old_file``).
"""

import errno
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from vindeby.arrays import BoolArray
from vindeby.errors import DataError
from vindeby.store.format.file_format import FileFormat
from vindeby.store.format.root import Addition, row_counts
from vindeby.store.merge.sources import Source
from vindeby.store.read.guard import DONE, Guard, GuardError, Limits
from vindeby.text import listed

_SLOWEST_BYTES_PER_S = 5e6
_LEAST_ROOM = 1 << 16
"""Bytes free on a disk, below which it counts as full."""
_REMEDY = (
    "copy them into a file of your own and delete them from the database, or merge with --drop-additions, which leaves "
    "them out and keeps the old file in the run directory under replaced/"
)


class AdditionsError(DataError):
    """A merge that was not done, because what others added cannot be carried over."""

    def __init__(self, output: Path, reasons: Iterable[str]) -> None:
        lines = list(reasons)
        more = [f"  and {len(lines) - 20} more"] if len(lines) > 20 else []
        super().__init__(
            f"{output}: not merged, nothing was changed; {len(lines)} additions by others cannot be carried over into "
            "the new database:",
            *(f"  {line}" for line in lines[:20]),
            *more,
            _REMEDY,
        )


def plan(
    sources: list[Source], kept: list[BoolArray], file_format: FileFormat, output: Path, *, drop: bool
) -> tuple[list[Addition], list[Addition]]:
    """What is carried from the standing database, and what is left out: additions to results that are replaced.

    AdditionsError names what has no place in the new file.
    """
    source = standing(sources)
    additions = [] if source is None else source.reading.additions
    if source is None or drop:
        return [], list(additions)
    form = str(source.reading.root.get("layout", "classic"))
    homeless = [one for one in additions if one.owner and form != file_format.name]
    if homeless:
        reason = f"it has no place in the {file_format.name} format"
        raise AdditionsError(output, [f"{one}: {reason}" for one in homeless])
    if form != "classic" or file_format.name != "classic":
        return list(additions), []
    taken = {key.decode(errors="replace") for key in source.keys[kept[sources.index(source)]].tolist()}
    carried = [one for one in additions if not one.owner or one.record in taken]
    return carried, [one for one in additions if one.owner and one.record not in taken]


def standing(sources: Iterable[Source]) -> Source | None:
    """The database that is about to be replaced, if there is one."""
    return next((one for one in sources if one.entry.kind == "database"), None)


def rows_when_added(source: Source | None) -> list[int]:
    """The numbers of rows of the standing table by which columns that others added to it are known."""
    if source is None or not source.reading.additions or source.reading.root.get("layout") != "table":
        return []
    return [*row_counts(source.reading.root), *([] if source.entry.digest else [len(source.keys)])]


def carry_over(
    source: Source | None, carried: Sequence[Addition], new: Path, output: Path, limits: Limits | None
) -> Sequence[Addition]:
    """Copy the additions into the new file, which is not sealed yet; those that were carried.

    A guarded child does it; it may be silent for as long as copying one large object takes.
    """
    if source is None or not carried:
        return ()
    old, limits = source.path, limits or Limits()
    patient = replace(limits, silence_s=limits.silence_s + old.stat().st_size / _SLOWEST_BYTES_PER_S)
    request = {
        "old": str(old),
        "new": str(new),
        "additions": [one.to_json() for one in carried],
        "row_counts": rows_when_added(source),
    }
    with Guard(patient) as guard:
        try:
            kind, data = list(guard.call("carry", **request))[-1]
        except GuardError as error:
            _raise_if_full(new, "")
            raise AdditionsError(output, [f"{error.doing or 'the file'}: {error.finding}"]) from None
    if kind != DONE:
        why = data.decode(errors="replace")
        _raise_if_full(new, why)
        raise AdditionsError(output, [f"{listed(carried, None, most=10)}: {why}"])
    if refused := json.loads(data)["refused"]:
        raise AdditionsError(output, refused)
    return carried


def _raise_if_full(new: Path, why: str) -> None:
    """A disk without room, on which the library may also crash, says nothing about the additions."""
    full = os.strerror(errno.ENOSPC)
    if full in why or shutil.disk_usage(new.parent).free < _LEAST_ROOM:
        raise OSError(errno.ENOSPC, full, str(new))
