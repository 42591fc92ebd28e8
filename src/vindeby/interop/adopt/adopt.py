"""The whole of an adoption: read, examine, publish, merge, say what is missing.

It holds the lock of a run, so nothing computes the same campaign meanwhile. What is adopted goes the way of every
result: published as shards, then merged and verified. Killed at any moment, the same command goes on: keys that have a
valid result are passed over, whoever it is from, so nothing is lost and nothing is there twice.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from vindeby.assembly.done import Judge
from vindeby.assembly.merging import merge_options, refuse_another_campaign
from vindeby.assembly.physics import AEP_ORIGIN, RECOMPUTED
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import KEY_OF_ATTRIBUTES
from vindeby.errors import DataError, InputError
from vindeby.interop.adopt.examine import Examiner, RefusedError
from vindeby.interop.adopt.report import AdoptReport, FileReport, LeftOut
from vindeby.results.missing import missing_results
from vindeby.runner.resume import Again, ResumeState, TaskSpace, compare_with_disk, hold
from vindeby.store.disk.files import (
    Files,
    check_output,
    file_state,
    special_kind,
    storage_error,
)
from vindeby.store.disk.lock import LeasedFiles, Lock
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.foreign.door import Rescue
from vindeby.store.foreign.guard import Guard
from vindeby.store.format.finding import Finding, Verdict
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import batches
from vindeby.store.format.seal import SealedFile, SealError
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.reading import read_any
from vindeby.store.salvage import files_in
from vindeby.text import plural

_NEEDED = ("layout",)
"""The arrays that every record must have; an energy can be computed."""


def script_files(paths: Sequence[Path], run: RunDirectory) -> list[Path]:
    """Return the files to adopt, each once; refuse a database that another program made under the name of ours."""
    given = list(files_in(paths))
    if is_foreign(run.output):
        raise InputError(
            f"{run.output}: vindeby did not make this file and leaves it as it is; to adopt from it, name it with the "
            "files of the script, and choose another name with -o"
        )
    if run.output.exists() and os.path.realpath(run.output) in map(os.path.realpath, given):
        raise InputError(f"{run.output}: is a database of vindeby already; name the files of the script only")
    if not given:
        named = ", ".join(map(str, paths))
        raise InputError(f"{named}: there are no HDF5 files; name the folder of the script's worker files")
    found: dict[object, Path] = {}
    for path in given:
        found.setdefault(_identity(path), path)
    return list(found.values())


def _identity(path: Path) -> object:
    """Return the device and inode that all names of a file share, or the path if there is no file."""
    try:
        state = path.stat()
    except OSError:
        return path.absolute()
    return state.st_dev, state.st_ino


def is_foreign(output: Path) -> bool:
    """Return whether a file stands at this name that vindeby did not make."""
    if not output.exists():
        return False
    try:
        sealed = SealedFile.open(output)
    except (SealError, OSError):
        return False
    if sealed is not None:
        sealed.close()
        return False
    return not RunDirectory(output).was_merged()


class Found(NamedTuple):
    """A file with everything that can be saved from it."""

    path: Path
    report: FileReport
    records: dict[str, Record]


def read_all(files: Sequence[Path], guard: Guard) -> Iterator[Found]:
    """Yield each file with everything that can be saved from it."""
    for path in files:
        before = _state(path)
        reading = read_any(path, guard, rescue=Rescue(KEY_OF_ATTRIBUTES, _NEEDED))
        digest = ""
        with contextlib.suppress(OSError):  # it may vanish meanwhile, which the state below tells
            if before is not None and special_kind(path.stat().st_mode) is None:
                digest = Files().digest(path).hex()
        if _state(path) != before:
            changed = "it changed while it was read; does the script still run?"
            reading.findings.append(Finding(Verdict.INCOMPLETE, changed))
        name = os.fsencode(path).decode(errors="backslashreplace")
        records, size = reading.records(), 0 if before is None else before[1]
        report = FileReport(name, size, digest, len(records), means=reading.means)
        report.findings = [str(finding) for finding in reading.findings]
        yield Found(path, report, records)


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return a value that changes with the file; None if it cannot be found or opened, such as a link to itself."""
    try:
        return file_state(path) if os.access(path, os.R_OK) else None
    except OSError:
        return None


_BATCH = 100
"""Records that are published together: what is computed for more of them would be lost when the process is killed."""


def adopt(
    paths: Sequence[Path | str],
    output: Path | str,
    campaign: Campaign,
    *,
    recompute_aep: bool = False,
    take_over: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> AdoptReport:
    """Make the results of another script, in these files and folders, results of a run of this campaign.

    The files are not changed. ``recompute_aep`` adopts records whose stored energy is not what the campaign gives,
    with an energy computed anew. InputError where ``output`` holds another campaign, BusyError while a process runs
    this one. What was not adopted is in the report.
    """
    if campaign.vary is not None:
        raise InputError(
            "a script's results do not say which values of the axes (vary) they are of; adopt them with a campaign "
            "without vary, and add the axes then: results that answer a combination are kept"
        )
    run = RunDirectory(check_output(Path(output)))
    files = script_files([Path(path) for path in paths], run)
    refuse_another_campaign(run, campaign)
    try:
        run.create()
        with hold(run, None, take_over=take_over, say=say) as lock:
            return _Adoption(run, Examiner(campaign, recompute_aep=recompute_aep), lock, say).do(files)
    except OSError as error:
        raise storage_error(error, run.path) from error


class _Adoption:
    def __init__(
        self,
        run: RunDirectory,
        examiner: Examiner,
        lock: Lock,
        say: Callable[[str], None],
    ) -> None:
        self._run, self._examiner, self._lock, self._say = run, examiner, lock, say
        self._campaign = examiner.campaign
        self._report = AdoptReport(str(run.output), self._campaign.total_configs)
        self._taken: dict[str, tuple[str, bytes]] = {}
        """The origin and the layout of each key that is adopted in this run: the file, and the layout."""

    def do(self, paths: Sequence[Path]) -> AdoptReport:
        with Guard() as guard:
            files = list(read_all(paths, guard))
        refuse_another_campaign(self._run, self._campaign)
        self._run.freeze_campaign(self._campaign.dumps())
        space = TaskSpace(self._campaign)
        state = self._what_is_there(space)
        open_keys = {space.key(number) for number in state.todo}
        writer = ShardWriter(self._run, files=LeasedFiles(self._lock.path, self._lock.token))
        for batch in batches(self._adopted(files, open_keys), most=_BATCH):
            writer.publish(batch)
            if self._report.adopted >= 10 * _BATCH:
                self._say(f"{plural(self._report.adopted, 'result')} adopted")
        if self._run.shard_names() or self._run.output.exists():
            how = MergeOptions(wait_s=600.0, progress=self._say, confirm=self._lock.confirm)
            merge(self._run, merge_options(self._campaign, how, invalid=state.verdicts.invalid.keys()))
        self._report.missing = missing_results(self._run, self._campaign)
        answered = self._campaign.fingerprints().keys() - {entry.key for entry in self._report.missing}
        self._report.unanswered = sum(one.key not in answered for one in self._report.left_out)
        self._report.keep(self._run)
        return self._report

    def _what_is_there(self, space: TaskSpace) -> ResumeState:
        judge, again = Judge(self._campaign), Again(failed=True)
        state = compare_with_disk(self._run, space, judge, part=None, again=again)
        if state.bad:
            count = plural(len(state.bad), "file of the run is", "files of the run are")
            raise DataError(
                f"{self._run.output}: {count} bad; nothing was adopted:",
                *(f"  {path}: {'; '.join(map(str, findings))}" for path, findings in state.bad.items()),
                f"`vindeby merge {self._run.output} --on-bad skip` leaves them out; then adopt again",
            )
        return state

    def _adopted(self, files: Sequence[Found], open_keys: set[str]) -> Iterator[Record]:
        for _, report, records in files:
            self._report.files.append(report)
            for group, found in records.items():
                record = self._one(report, group, found, open_keys)
                if record is not None:
                    report.adopted += 1
                    self._count_changes(record)
                    yield record

    def _count_changes(self, record: Record) -> None:
        attributes, changed = record.attributes, self._report.changed
        found = {
            "energy computed anew": attributes.get(AEP_ORIGIN) == RECOMPUTED,
            "layout transposed": "adopted_layout" in attributes,
        }
        for what in (name for name, holds in found.items() if holds):
            changed[what] = changed.get(what, 0) + 1

    def _one(self, report: FileReport, group: str, found: Record, open_keys: set[str]) -> Record | None:
        """Return a found record as it is to be published; None if it is passed over."""
        key = self._examiner.key_of(found)
        if self._examiner.asked(key) and key not in open_keys:
            report.there_already += 1
            return None
        provenance: dict[str, Attribute] = {
            "adopted_file": report.path,
            "adopted_group": group,
            "adopted_size": report.size,
            "adopted_sha256": report.sha256,
        }
        try:
            record = self._examiner.adopt(key, found, provenance)
        except RefusedError as error:
            self._report.left_out.append(LeftOut(report.path, group, key, str(error)))
            return None
        layout = record.arrays["layout"].tobytes()
        if key not in self._taken:
            self._taken[key] = (report.path, layout)
            return record
        first, same = self._taken[key]
        report.duplicates += 1
        if same != layout:
            reason = f"another layout than the one adopted from {first}"
            self._report.left_out.append(LeftOut(report.path, group, key, reason))
        return None
