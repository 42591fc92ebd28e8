"""What a merge does about the things that others added to the database that it is about to replace.

They are copied into the new file before it is sealed. A record with additions is written twice: once as every
record, for readers of the seal, but without a name in HDF5; and once through the library, with what was added, for
readers of HDF5. So the bytes that the seal's directory points to are never moved by the library. What cannot be
copied stops the merge by name. Additions to a result that is itself replaced are not put beside the new one; the old
file is then kept (``keeping``).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import DataError
from vindeby.store.format.block_file import open_sealed, seal_file
from vindeby.store.format.hdf5.file_format import Content, FileFormat, Others
from vindeby.store.format.own_fields import Addition, listed, row_counts
from vindeby.store.format.rows import Segment
from vindeby.store.merge.sources import Source
from vindeby.store.read.guard import DONE, Guard, GuardError, Limits

_SLOWEST_BYTES_PER_S = 5e6
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


@dataclass(frozen=True)
class Carriage:
    """What is to be carried from the standing database, and what is not."""

    source: Source | None = None
    carried: tuple[Addition, ...] = ()
    left: tuple[Addition, ...] = ()
    """Additions to results that the new database does not hold."""
    keys: frozenset[str] = field(default=frozenset())
    """Records that others added something to."""

    @property
    def others(self) -> Others:
        """What shows among the records of the new file."""
        objects = {one.name for one in self.carried if not one.owner and not one.attribute}
        return Others(frozenset(objects), self.keys)


def plan(
    sources: list[Source], kept: list[NDArray[np.bool_]], file_format: FileFormat, output: Path, *, drop: bool
) -> Carriage:
    """Decide what is carried; AdditionsError names what has no place in the new file."""
    source = next((one for one in sources if one.entry.kind == "database"), None)
    if source is None or not source.additions:
        return Carriage()
    if drop:
        return Carriage(source, (), tuple(source.additions))
    form = str(source.root.get("layout", "classic"))
    if form != file_format.name:
        homeless = [one for one in source.additions if one.owner]
        if homeless:
            reason = f"it has no place in the {file_format.name} format"
            raise AdditionsError(output, [f"{one}: {reason}" for one in homeless])
    if form != "classic" or file_format.name != "classic":
        return Carriage(source, tuple(source.additions))
    taken = {key.decode(errors="replace") for key in source.keys[kept[sources.index(source)]].tolist()}
    carried: list[Addition] = []
    left: list[Addition] = []
    for one in source.additions:
        (carried if not one.owner or _record_of(one) in taken else left).append(one)
    return Carriage(
        source, tuple(carried), tuple(left), frozenset(_record_of(one) for one in carried if one.owner)
    )


def rows_when_added(sources: Sequence[Source]) -> list[int]:
    """The numbers of rows of the standing table by which columns that others added to it are known."""
    for source in sources:
        if source.entry.kind == "database" and source.additions and source.root.get("layout") == "table":
            now = [] if source.entry.digest else [len(source.keys)]
            return [*row_counts(source.root), *now]
    return []


def _record_of(addition: Addition) -> str:
    return addition.owner.partition("/")[0]


def carry_over(
    carriage: Carriage,
    file_format: FileFormat,
    content: Content,
    again: Callable[[], Iterable[Segment]],
    temporary: Path,
    output: Path,
    limits: Limits | None,
) -> None:
    """Copy the additions into the new file at ``temporary``, which was written from ``content``, and seal it again.

    ``again`` gives the segments of the content once more.
    """
    assert carriage.source is not None
    with open_sealed(temporary) as file:
        directory = file.seal.directory
    groups = temporary.with_name(f"{temporary.name.removesuffix('.tmp')}-groups.tmp")
    try:
        if carriage.keys:
            some = _only(again(), carriage.keys)
            file_format.write(
                groups, replace(content, count=len(carriage.keys), segments=some, unlinked=frozenset())
            )
            file_format.look(groups, len(carriage.keys))
        _ask(carriage, carriage.source.path, temporary, groups, output, limits)
    finally:
        with contextlib.suppress(OSError):
            groups.unlink(missing_ok=True)
    seal_file(temporary, {**directory, "additions": [one.to_json() for one in carriage.carried]})


def _only(segments: Iterable[Segment], keys: frozenset[str]) -> Iterable[Segment]:
    wanted = np.array(sorted(key.encode() for key in keys))
    for segment in segments:
        mine = np.isin(segment.rows["key"], wanted)
        if mine.any():
            yield segment.take(mine)


def _ask(carriage: Carriage, old: Path, new: Path, groups: Path, output: Path, limits: Limits | None) -> None:
    """Have a guarded child copy and compare; it may be silent for as long as copying one large object takes."""
    limits = limits or Limits()
    patient = replace(limits, silence_s=limits.silence_s + old.stat().st_size / _SLOWEST_BYTES_PER_S)
    with Guard(patient) as guard:
        try:
            kind, data = list(
                guard.call(
                    "carry",
                    old=str(old),
                    new=str(new),
                    records=str(groups),
                    keys=sorted(carriage.keys),
                    additions=[one.to_json() for one in carriage.carried],
                    row_counts=rows_when_added([carriage.source]) if carriage.source else [],
                )
            )[-1]
        except GuardError as error:
            raise AdditionsError(output, [f"{error.doing or 'the file'}: {error.finding}"]) from None
    if kind != DONE:
        reason = data.decode(errors="replace")
        raise AdditionsError(output, [f"{listed(carriage.carried)}: {reason}"])
    answer = json.loads(data)
    if answer["refused"]:
        raise AdditionsError(output, answer["refused"])
    if answer["different"]:
        raise AdditionsError(output, [f"{name}: the copy reads otherwise" for name in answer["different"]])
