"""Shards, the standing OUT.h5 and files from elsewhere, into a new OUT.h5.

The new file is written beside the old one, forced to the disk, read back, verified record by record against
the checksums of what was merged, looked at through the HDF5 library, and only then renamed over the old one.
Shards are deleted after that, and only those whose every record is in the new file. Killed at any moment, a
merge leaves the old OUT.h5 or the new one, whole, and every shard that is not in it; the next one just works.
An OUT.h5 that another program has changed is kept whole under ``replaced/``; the new file has its verified records.
"""

import contextlib
import glob
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.campaign import Campaign
from vindeby.campaign.task_index import TaskIndex
from vindeby.campaign.tasks import RESULT_ARRAYS
from vindeby.errors import ArgumentError, DataError, InputError, VindebyError
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
from vindeby.store.disk.run_directory import RunDirectory, keep_old_file, read_recompute_request
from vindeby.store.foreign.guard import Guard, ReadLimits
from vindeby.store.format.file_format import ArrayAttributes, Content, FileFormat
from vindeby.store.format.formats import FILE_FORMATS, file_format_named
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealError, open_sealed
from vindeby.store.merge.audit import MergeReport, write_audit
from vindeby.store.merge.new_database import DEFAULT_FORMAT, keep_results, sealed_root, verify_new
from vindeby.store.merge.rekey import Rekeyed, Strays, rekey, taken_back
from vindeby.store.merge.sources import MergeSelection, Source, by_precedence, scan, select
from vindeby.store.read.columns import former_campaigns
from vindeby.text import part_of, plural


class BadFilesError(DataError):
    """A merge that was not done, because files are bad; ``report`` lists them all."""

    def __init__(self, report: MergeReport) -> None:
        self.report = report
        bad = [f"  {line}" for entry in report.bad_files for line in str(entry).split("\n")]
        super().__init__(
            f"{report.output}: not merged, nothing was changed; "
            f"{part_of(len(report.bad_files), len(report.files), 'file')} bad:",
            *bad,
            "merge again with --on-bad skip to leave them out (they are kept in quarantine/), or run `salvage`",
        )


@dataclass(frozen=True)
class MergeOptions:
    """The options of a merge."""

    file_format: str | None = None
    on_bad: str = "abort"
    extra: Sequence[Path] = ()
    given: Sequence[Source] = ()
    """Records from elsewhere that were read already."""
    root: Mapping[str, Attribute] = field(default_factory=dict)
    array_attributes: ArrayAttributes = field(default_factory=lambda: RESULT_ARRAYS)
    """The attributes to write with each array, by its name: ``{"aep": {"units": ...}}``."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Keys with the fingerprint that each should have: a record that has it replaces one that has not."""
    invalid: Collection[str] = frozenset()
    """Checksums of records that are known to be invalid: any other record under their key replaces them."""
    wait_s: float = 0.0
    take_over: bool = False
    """Take the lock away from whoever holds it."""
    confirm: Callable[[], None] = lambda: None
    """Called before the new database takes its place; raises when the caller may not go on."""
    limits: ReadLimits | None = None
    progress: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        if self.on_bad not in {"abort", "skip"}:
            raise ArgumentError(f"--on-bad: {self.on_bad!r} is not known; use abort or skip")
        if self.file_format is not None:
            file_format_named(self.file_format)


def merge(output: Path | str | RunDirectory, options: MergeOptions | None = None) -> MergeReport:
    """Merge all finished results into ``output``; BadFilesError if files are bad and ``on_bad`` is ``abort``."""
    options = options or MergeOptions()
    run = output if isinstance(output, RunDirectory) else RunDirectory(check_output(Path(output)))
    for path in options.extra:
        refuse_special(path)
    if not run.output.exists() and not run.path.exists() and not (options.extra or options.given):
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
        raise storage_error(error, run.output) from error


def take_over_merge(run: RunDirectory, say: Callable[[str], None]) -> None:
    """Take a merge away from whoever does one: what it has built is gone, so it cannot put it in place later."""
    with run.lock("merge", take_over=True, say=say) as lock:
        _Merge(run, MergeOptions(), lock).remove_leftovers()


class _Merge:
    def __init__(self, run: RunDirectory, options: MergeOptions, lock: Lock) -> None:
        self.run, self.options, self.lock = run, options, lock
        self.started = time.monotonic()
        self.standing = file_state(run.output)
        self.temporary = run.output.with_name(f".{run.output.name}.merge-{Identity.current().token}.tmp")
        asked = options.asked
        self._tasks = asked.with_formers(self._formers) if isinstance(asked, TaskIndex) else None
        self._strays: dict[Path, Strays] = {}
        self._may_be_replaced = {*options.invalid, *read_recompute_request(run).replaced}

    def _formers(self) -> Iterator[Campaign]:
        """Return earlier versions of the campaign, beginning with the one in the current database."""
        text = None
        with contextlib.suppress(OSError, SealError), open_sealed(self.run.output) as file:
            text = file.seal.directory["root"].get("campaign")
        return former_campaigns(self.run, text, self.run.campaign_text())

    def do(self) -> MergeReport:
        self.remove_leftovers()
        sources = self._scan()
        rekeyed = self._rekey(sources)
        sources += rekeyed.sources
        selection = select(sources, self.options.asked, self._may_be_replaced)
        file_format = self._file_format(sources)
        stale = rekeyed.taken_stale(sources, selection)
        root = self._root(sources, selection.count, len(stale), file_format)
        report = MergeReport(str(self.run.output), file_format.name, records=selection.count, stale=stale)
        report.notes = rekeyed.notes(self._tasks, stale)
        report.files = [source.entry for source in sources]
        report.conflicts = selection.conflicts
        if report.bad_files and self.options.on_bad == "abort":
            self._audit(report, "nothing changed: bad files")
            raise BadFilesError(report)
        if not rekeyed.gone and self._nothing_new(sources, selection, root):
            self._audit(report, "nothing to do")
            return report
        if not sources:
            raise DataError(f"{self.run.output}: there is nothing to merge in {self.run.shards}")
        try:
            self._build(file_format, sources, selection, root, report)
            self.lock.confirm()
            self._keep_old(sources)
            self._keep_results(sources, selection, rekeyed)
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
        """Delete half-built databases and half-written notes of merges that died, or that lost the lock.

        One that lost it just after it had confirmed it finds nothing left to rename, so it cannot replace ours. The
        lock is confirmed after they are listed: then none of them is of a merge that took it over from this one.
        """
        left = list(self.run.output.parent.glob(f".{glob.escape(self.run.output.name)}.merge-*.tmp"))
        for folder in (self.run.audit, self.run.replaced, self.run.quarantine):
            left += folder.glob(".*.tmp")
        self.lock.confirm()
        for path in left:
            path.unlink(missing_ok=True)

    def _scan(self) -> list[Source]:
        def look(path: Path) -> Strays | None:
            if self._tasks is None:
                return None
            self._strays[path] = Strays(self._tasks)
            return self._strays[path]

        with Guard(self.options.limits) as guard:
            sources = []
            if self.run.output.exists():
                sources.append(scan(self.run.output, "database", guard, look(self.run.output)))
            for number, path in enumerate(self.run.shard_paths(), 1):
                source = scan(path, "shard", guard, look(path))
                if path.exists() or not source.entry.bad:  # else deleted by the merge that made the database
                    sources.append(source)
                if number % 1000 == 0:
                    self.options.progress(f"{plural(number, 'shard')} verified")
            sources += [scan(path, "given file", guard, look(path)) for path in self.options.extra]
        sources += self.options.given
        return by_precedence(sources)

    def _rekey(self, sources: list[Source]) -> Rekeyed:
        """Give results the keys of their tasks in the campaign, and restore results that were replaced before."""
        if self._tasks is None:
            return Rekeyed()
        rekeyed = rekey(sources, self._strays, self._tasks)
        answered = {
            key.decode(errors="replace")
            for one in [*sources, *rekeyed.sources]
            for key, checksum in zip(
                one.keys[one.intact].tolist(), one.checksums[one.intact].tolist(), strict=True
            )
            if checksum not in rekeyed.stale
        }
        back = taken_back(self.run, self._tasks, answered, self._may_be_replaced)
        rekeyed.back = back
        rekeyed.sources += [] if back is None else [back]
        return rekeyed

    def _keep_results(self, sources: Sequence[Source], selection: MergeSelection, rekeyed: Rekeyed) -> None:
        """Store results that are not in the new database in ``replaced/``."""
        standing = _standing(sources)
        root = {} if standing is None else standing.reading.root
        text = self.run.campaign_text()
        before = {"campaign": text, **root} if text else root
        keep_results(self.run, rekeyed.gone, before, "the campaign has no such tasks any more")
        keep_results(self.run, selection.replaced, before, "other results of their tasks took their place")
        former = root.get("campaign")
        if isinstance(former, str) and former != self.options.root.get("campaign", former):
            self.run.keep_former(former)

    def _file_format(self, sources: Sequence[Source]) -> FileFormat:
        stated = [source.reading.root["layout"] for source in sources if "layout" in source.reading.root]
        known = [str(name) for name in stated if name in FILE_FORMATS]
        return file_format_named(self.options.file_format or next(iter(known), DEFAULT_FORMAT))

    def _root(
        self, sources: Sequence[Source], count: int, stale: int, file_format: FileFormat
    ) -> dict[str, Attribute]:
        root: dict[str, Attribute] = {}
        for source in reversed(sources):
            if source.entry.kind != "shard":
                root |= source.reading.root
        schemas = {schema for source in sources for schema in source.schemas}
        return sealed_root({**root, **self.options.root}, file_format, schemas, count, stale)

    def _nothing_new(
        self, sources: Sequence[Source], selection: MergeSelection, root: dict[str, Attribute]
    ) -> bool:
        database = _standing(sources)
        if database is None or any(source.entry.bad for source in sources):
            return False
        reading, fresh = database.reading, any(mask.any() for mask in selection.masks[1:])
        if fresh or reading.root != root or not reading.digest:
            return False
        self.lock.confirm()
        self._keep_results(sources, selection, Rekeyed())
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
    ) -> None:
        widths: dict[str, int] = {}
        for source in sources:
            for name, width in source.widths.items():
                widths[name] = max(width, widths.get(name, 1))
        ordered = tuple(sorted({schema for source in sources for schema in source.schemas}))
        rows = _chosen(sources, selection)
        self.options.progress(f"writing {plural(selection.count, 'record')}")
        about = self.options.array_attributes
        file_format.write(self.temporary, Content(selection.count, ordered, widths, root, rows, about))
        self.options.progress("verifying")
        report.digest = verify_new(self.temporary, selection.checksums(sources))
        file_format.look(self.temporary)

    def _keep_old(self, sources: Sequence[Source]) -> None:
        """Keep a database that is damaged, or that another program made or changed, before it is replaced."""
        source = _standing(sources)
        if source is None:
            return
        entry = source.entry
        if entry.bad:
            why = "; ".join(str(finding) for finding in entry.findings)
            entry.fate = f"copied to {self.run.put_in_quarantine(source.path, why, move=False)}"
        elif not entry.digest:
            is_ours = source.reading.lost_its_seal
            why = "another program " + ("changed it since it was merged" if is_ours else "made it")
            entry.fate = (
                f"{why}; kept whole as {keep_old_file(self.run, why)}, the new file has its verified records"
            )
            self.options.progress(f"{source.path}: {entry.fate}")

    def _replace(self) -> None:
        """Replace the database, which cannot be undone, once the lock and the old file are confirmed."""
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
            elif source.entry.kind != "shard":
                continue
            elif number in selection.incomplete:
                source.entry.fate = "kept: it holds a record that is in conflict"
            else:
                source.path.unlink(missing_ok=True)
                source.entry.fate = "merged and deleted"
        for path in self.run.abandoned_paths():
            path.unlink(missing_ok=True)
        for directory in {source.path.parent for source in sources} & set(self.run.shards.glob("*")):
            with contextlib.suppress(OSError):
                directory.rmdir()

    def _audit(self, report: MergeReport, outcome: str) -> None:
        self.lock.confirm()
        report.outcome, report.seconds = outcome, time.monotonic() - self.started
        write_audit(self.run, report)


def _standing(sources: Iterable[Source]) -> Source | None:
    """Return the database that is about to be replaced, if there is one."""
    return next((one for one in sources if one.entry.kind == "database"), None)


def _chosen(sources: Sequence[Source], selection: MergeSelection) -> Iterator[Segment]:
    """Yield the selected rows, source by source."""
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
