"""Shards, the standing OUT.h5 and files from elsewhere, into a new OUT.h5.

The new file is written beside the old one, forced to the disk, read back, verified record by record against
the checksums of what was merged, looked at through the HDF5 library, and only then renamed over the old one.
Shards are deleted after that, and only those whose every record is in the new file. Killed at any moment, a
merge leaves the old OUT.h5 or the new one, whole, and every shard that is not in it; the next one just works.
What other programs added to OUT.h5 is carried over (``carry_additions``), and a file that they wrote last is kept.
"""

import contextlib
import glob
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vindeby._version import __version__
from vindeby.errors import ArgumentError, DataError, InputError, StorageError, VindebyError
from vindeby.store.disk.files import (
    Files,
    check_output,
    file_state,
    force_file,
    refuse_special,
    storage_error,
)
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.process import Identity
from vindeby.store.disk.run_directory import RunDirectory, keep_old_file
from vindeby.store.format.file_format import Content, FileFormat
from vindeby.store.format.formats import file_format_named
from vindeby.store.format.record import Attribute
from vindeby.store.format.root import (
    OWN_FIELDS,
    Addition,
    ArrayAttributes,
    description,
    root_checksum,
    stated,
)
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import FORMAT_VERSION, open_sealed
from vindeby.store.merge.audit import MergeReport, keep_replaced, write_audit
from vindeby.store.merge.carry_additions import carry_over, plan, rows_when_added, standing
from vindeby.store.merge.sources import MergeSelection, Source, by_precedence, folded, scan, select
from vindeby.store.read.guard import Guard, Limits
from vindeby.store.read.reading import iterate_sealed
from vindeby.text import listed, plural

DEFAULT_FORMAT = "classic"


class BadFilesError(DataError):
    """A merge that was not done, because files are bad; ``report`` lists them all."""

    def __init__(self, report: MergeReport) -> None:
        self.report = report
        bad = [f"  {line}" for entry in report.bad_files for line in str(entry).split("\n")]
        super().__init__(
            f"{report.output}: not merged, nothing was changed; {len(report.bad_files)} of {len(report.files)} "
            "files are bad:",
            *bad,
            "merge again with --on-bad skip to leave them out (they are kept in quarantine/), or run `salvage`",
        )


@dataclass(frozen=True)
class MergeOptions:
    """How to merge."""

    file_format: str | None = None
    on_bad: str = "abort"
    extra: Sequence[Path] = ()
    keep_shards: bool = False
    root: Mapping[str, Attribute] = field(default_factory=dict)
    array_attributes: ArrayAttributes = field(default_factory=dict)
    """What is written beside each array, by its name: ``{"aep": {"units": ...}}``; kept for later merges."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Keys with the fingerprint that each should have: a record that has it replaces one that has not."""
    invalid: Collection[str] = frozenset()
    """Checksums of records that are known to be invalid: any other record under their key replaces them."""
    wait_s: float = 0.0
    take_over: bool = False
    """Take the lock away from whoever holds it."""
    confirm: Callable[[], None] = lambda: None
    """Called before the new database takes its place; raises when the caller may not go on."""
    limits: Limits | None = None
    progress: Callable[[str], None] = lambda _: None
    drop_additions: bool = False
    """Leave out what others added to the database, and keep the old file; it is carried over otherwise."""

    def __post_init__(self) -> None:
        if self.on_bad not in {"abort", "skip"}:
            raise ArgumentError(f"--on-bad: {self.on_bad!r} is not known; use abort or skip")
        if self.file_format is not None:
            file_format_named(self.file_format)


def merge(output: Path | str | RunDirectory, options: MergeOptions | None = None) -> MergeReport:
    """Bring everything that is finished into ``output``; BadFilesError when files are bad and may not be."""
    options = options or MergeOptions()
    run = output if isinstance(output, RunDirectory) else RunDirectory(check_output(Path(output)))
    for path in options.extra:
        refuse_special(path)
    if not run.output.exists() and not run.path.exists() and not options.extra:
        raise InputError(f"{run.output}: there is no such database, nor a run directory {run.path}")
    try:
        with Lock(
            run.path / "merge.lock",
            "merge",
            wait_s=options.wait_s,
            take_over=options.take_over,
            say=options.progress,
        ) as lock:
            run.create()
            try:
                return _Merge(run, options, lock).do()
            except (OSError, VindebyError):
                with contextlib.suppress(OSError):
                    lock.confirm()  # whoever took it over removed or replaced files
                raise
    except OSError as error:
        raise storage_error(error, run.output, _space_needed(run), 1) from error


def take_over_merge(run: RunDirectory, say: Callable[[str], None]) -> None:
    """Take a merge away from whoever does one: what it has built is gone, so it cannot put it in place later."""
    with run.lock("merge", take_over=True, say=say) as lock:
        _Merge(run, MergeOptions(), lock).remove_leftovers()


def _space_needed(run: RunDirectory) -> int:
    """About as much as the new database will take."""
    needed = 0
    for path in [run.output, *run.shard_paths()]:
        with contextlib.suppress(OSError):
            needed += 2 * path.stat().st_size
    return needed


class _Merge:
    def __init__(self, run: RunDirectory, options: MergeOptions, lock: Lock) -> None:
        self.run, self.options, self.lock = run, options, lock
        self.started = time.monotonic()
        self.standing = file_state(run.output)
        self.temporary = run.output.with_name(f".{run.output.name}.merge-{Identity.current().token}.tmp")

    def do(self) -> MergeReport:
        self.remove_leftovers()
        sources = self._scan()
        selection = select(sources, self.options.asked, self.options.invalid)
        file_format = self._file_format(sources)
        root = self._root(sources, selection.count, file_format)
        report = MergeReport(str(self.run.output), file_format.name, records=selection.count)
        report.files = [source.entry for source in sources]
        report.conflicts = selection.conflicts
        if report.bad_files and self.options.on_bad == "abort":
            self._audit(report, "nothing changed: bad files")
            raise BadFilesError(report)
        if self._nothing_new(sources, selection, root):
            self._audit(report, "nothing to do")
            return report
        if not sources:
            raise DataError(f"{self.run.output}: there is nothing to merge in {self.run.shards}")
        drop = self.options.drop_additions
        carried, left = plan(sources, selection.masks, file_format, self.run.output, drop=drop)
        report.additions = [str(one) for one in carried]
        report.additions_left = [str(one) for one in left]
        try:
            self._build(file_format, sources, selection, root, report, carried)
            self.lock.confirm()
            self._keep_old(sources, left)
            keep_replaced(self.run, selection.replaced)
            self._audit(report, "verified; about to take its place")
            self._replace()
        except BaseException:
            with contextlib.suppress(OSError):
                self.temporary.unlink(missing_ok=True)
            raise
        self._clean(sources, selection)
        self._audit(report, "done")
        return report

    def remove_leftovers(self) -> None:
        """Half-built databases of merges that died, or that lost the lock.

        One that lost it just after it had confirmed it finds nothing left to rename, so it cannot replace ours. The
        lock is confirmed after they are listed: then none of them is of a merge that took it over from this one.
        """
        left = list(self.run.output.parent.glob(f".{glob.escape(self.run.output.name)}.merge-*.tmp"))
        self.lock.confirm()
        for path in left:
            path.unlink(missing_ok=True)

    def _scan(self) -> list[Source]:
        with Guard(self.options.limits) as guard:
            sources = []
            if self.run.output.exists():
                sources.append(scan(self.run.output, "database", guard))
            for number, path in enumerate(self.run.shard_paths(), 1):
                source = scan(path, "shard", guard)
                if path.exists() or not source.entry.bad:  # else deleted by the merge that made the database
                    sources.append(source)
                if number % 1000 == 0:
                    self.options.progress(f"{number} shards verified")
            sources += [scan(path, "given file", guard) for path in self.options.extra]
        return by_precedence(sources)

    def _file_format(self, sources: Sequence[Source]) -> FileFormat:
        standing = next(
            (source.reading.root.get("layout") for source in sources if source.reading.root), None
        )
        return file_format_named(self.options.file_format or str(standing or DEFAULT_FORMAT))

    def _root(self, sources: Sequence[Source], count: int, file_format: FileFormat) -> dict[str, Attribute]:
        root: dict[str, Attribute] = {}
        for source in reversed(sources):
            if source.entry.kind != "shard":
                root |= source.reading.root
        root |= self.options.root
        root = stated(root, self.options.array_attributes)
        root |= {
            "format_version": FORMAT_VERSION,
            "layout": file_format.name,
            "successful_configs": count,
            "version": __version__,
        }
        root.setdefault("total_configs", count)
        root.pop("root_checksum", None)
        schemas = {schema for source in sources for schema in source.schemas}
        root[OWN_FIELDS] = description(root, schemas, rows_when_added(standing(sources)))
        return {**root, "root_checksum": root_checksum(root)}

    def _nothing_new(
        self,
        sources: Sequence[Source],
        selection: MergeSelection,
        root: dict[str, Attribute],
    ) -> bool:
        database = standing(sources)
        if database is None or any(source.entry.bad for source in sources):
            return False
        reading, fresh = database.reading, any(mask.any() for mask in selection.masks[1:])
        if fresh or reading.root != root or not reading.digest:
            return False
        if reading.additions and self.options.drop_additions:
            return False
        self.lock.confirm()
        keep_replaced(self.run, selection.replaced)
        force_file(self.run.output)  # the merge that made it may have been killed before it did
        self._clean(sources, selection)
        return True

    def _build(
        self,
        file_format: FileFormat,
        sources: Sequence[Source],
        selection: MergeSelection,
        root: dict[str, Attribute],
        report: MergeReport,
        carried: Sequence[Addition],
    ) -> None:
        widths: dict[str, int] = {}
        for source in sources:
            for name, width in source.widths.items():
                widths[name] = max(width, widths.get(name, 1))
        ordered = tuple(sorted({schema for source in sources for schema in source.schemas}))
        rows = _chosen(sources, selection)
        self.options.progress(f"writing {plural(selection.count, 'record')}")
        if carried:
            self.options.progress(f"carrying over {plural(len(carried), 'addition')} by others")
        database, limits = standing(sources), self.options.limits
        carry = partial(carry_over, database, carried, self.temporary, self.run.output, limits)
        file_format.write(self.temporary, Content(selection.count, ordered, widths, root, rows, carry))
        self.options.progress("verifying")
        report.digest = verify_new(self.temporary, selection.checksums(sources))
        file_format.look(self.temporary)

    def _keep_old(self, sources: Sequence[Source], left: Sequence[Addition]) -> None:
        """Before it is replaced, a database that is damaged, not sealed, or holds what the new one lacks is kept."""
        source = standing(sources)
        if source is None:
            return
        entry = source.entry
        if entry.bad:
            why = "; ".join(str(finding) for finding in entry.findings)
            entry.fate = f"copied to {self.run.put_in_quarantine(source.path, why, move=False)}"
        elif not entry.digest:
            why = "it has no seal: another program made it or wrote to it"
            entry.fate = f"kept as {keep_old_file(self.run, why)}"
        elif left:
            why = f"it holds additions by others that were left out: {listed(left, None, most=10)}"
            entry.fate = f"kept as {keep_old_file(self.run, why)}"

    def _replace(self) -> None:
        """The step that cannot be undone: only with the lock in hand and the old file as it was read."""
        self._confirm()
        self.temporary.replace(self.run.output)
        Files().fsync_directory(self.run.output.parent)

    def _confirm(self) -> None:
        self.options.confirm()
        self.lock.confirm()
        if file_state(self.run.output) != self.standing:
            raise DataError(
                f"{self.run.output}: another program replaced it during the merge; nothing was changed, merge again"
            )

    def _clean(self, sources: Sequence[Source], selection: MergeSelection) -> None:
        for number, source in enumerate(sources):
            self.lock.confirm()
            if source.entry.bad and source.entry.kind == "shard":
                why = "; ".join(str(finding) for finding in source.entry.findings)
                source.entry.fate = f"moved to {self.run.put_in_quarantine(source.path, why)}"
            elif source.entry.kind != "shard" or self.options.keep_shards:
                continue
            elif number in selection.incomplete:
                source.entry.fate = "kept: it holds a record that is in conflict"
            else:
                source.path.unlink(missing_ok=True)
                source.entry.fate = "merged and deleted"
        if not self.options.keep_shards:
            for path in self.run.abandoned_paths():
                path.unlink(missing_ok=True)
            for directory in {source.path.parent for source in sources} & set(self.run.shards.glob("*")):
                with contextlib.suppress(OSError):
                    directory.rmdir()

    def _audit(self, report: MergeReport, outcome: str) -> None:
        self.lock.confirm()
        report.outcome, report.seconds = outcome, time.monotonic() - self.started
        write_audit(self.run, report)


def _chosen(sources: Sequence[Source], selection: MergeSelection) -> Iterator[Segment]:
    """The rows that were selected, source by source."""
    for source, mask in zip(sources, selection.masks, strict=True):
        if not mask.any():
            continue
        start = 0
        for segment in source.reading.iterate():
            part = mask[start : start + len(segment)]
            start += len(segment)
            if part.all():
                yield segment
            elif part.any():
                yield segment.take(part)


def verify_new(path: Path, expected: NDArray[np.uint64]) -> str:
    """Every record of a new database against the checksums it was made from; the digest of its seal.

    It is read from the disk: every block is compared with the seal, and each record with its own checksum.
    """
    found = [np.empty(0, np.uint64)]
    with open_sealed(path) as file:
        file.read_from_disk()
        file.verify(once=True)
        for segment in iterate_sealed(file):
            if not segment.intact().all():
                raise StorageError(f"{path}: a record is not what was written; the disk or memory is failing")
            found.append(folded(segment.rows["checksum"]))
        digest = file.seal.digest
    if not np.array_equal(np.sort(np.concatenate(found)), np.sort(expected)):
        raise StorageError(
            f"{path}: the new database does not hold the records that were merged; nothing changed"
        )
    return digest
