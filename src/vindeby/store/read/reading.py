"""One file, whatever state it is in, as segments of records and findings about the rest.

A sealed file is verified by hashing and read without HDF5. Anything else is looked at from outside first
(``inspect``) and then read in a guarded child. Nothing here raises for a bad file: what is wrong is a finding.
"""

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from vindeby.store.format.formats import FILE_FORMATS
from vindeby.store.format.record import Attribute
from vindeby.store.format.root import Addition, own_root
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import SealedFile, SealError, directory_errors, open_sealed
from vindeby.store.format.shard import read_segments
from vindeby.store.read.guard import DONE, DOUBTFUL, RESULT, Guard, GuardError
from vindeby.store.read.inspect import Finding, Verdict, inspect, origin_of_file, origins

_MOST_CRASHES = 64
_MOST_HANGS = 4
_SLACK = 1 << 26

Sink: TypeAlias = Callable[[Segment], None]


@dataclass
class Reading:
    """What a file gave.

    Of a guarded reading, ``form`` is the kind of file, and ``visited`` where the groups are that were read to the end.
    """

    segments: list[Segment] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    root: dict[str, Attribute] = field(default_factory=dict)
    digest: str = ""
    published_ns: int = 0
    sealed: bool = False
    lost_its_seal: bool = False
    additions: list[Addition] = field(default_factory=list)
    """What others added to the file."""
    inexact: list[str] = field(default_factory=list)
    """Root attributes whose plain value is not all that is stored."""
    form: str = ""
    visited: list[int] = field(default_factory=list)
    streamed: Path | None = None
    """The sealed file from which the records are read each time that they are asked for."""

    in_memory: ClassVar[bool] = True

    def take(self, segment: Segment) -> None:
        """Keep records that are right; a salvage keeps them elsewhere."""
        self.segments.append(segment)

    def doubt(self, segment: Segment) -> None:
        """Records that do not meet their checksum: only a salvage keeps them."""

    def iterate(self) -> Iterator[Segment]:
        """The records, whether they are kept in memory or not; each time in the same order.

        Whoever asks compares each with its checksum: those of a file that is not kept are not verified again.
        """
        yield from self.segments
        if self.streamed is None:
            return
        with self.noting(self.streamed), open_sealed(self.streamed) as file:
            for segment in iterate_sealed(file.unverified()):
                marked = segment.marked()
                yield segment if marked.all() else segment.take(marked)

    def marked(self, segment: Segment) -> Segment:
        """Whatever vouches for its bytes: a record without the success mark is not a result."""
        marked = segment.marked()
        if marked.all():
            return segment
        for key in segment.rows["key"][~marked].tolist():
            self.findings.append(Finding(Verdict.NOT_MARKED, "", key.decode(errors="replace")))
        return segment.take(marked)

    @contextlib.contextmanager
    def noting(self, path: Path) -> Iterator[None]:
        """Note where a file that is sealed is not what its directory says."""
        try:
            yield
        except SealError as error:
            self.findings.append(Finding(Verdict.CHECKSUM, _detail(error, path)))


def iterate_sealed(file: SealedFile) -> Iterator[Segment]:
    """Every segment of a sealed shard or database."""
    for number in range(chunk_count(file)):
        yield from read_chunk(file, number)


def chunk_count(file: SealedFile) -> int:
    """How many chunks of records a sealed file has."""
    directory = file.seal.directory
    return 1 if directory["kind"] == "shard" else FILE_FORMATS[directory["layout"]].chunk_count(directory)


def read_chunk(file: SealedFile, number: int, fields: Collection[str] | None = None) -> list[Segment]:
    """One chunk of a sealed shard or database; rows may lack other ``fields`` than those that are named, if any are."""
    if file.seal.directory["kind"] == "shard":
        return read_segments(file)
    with directory_errors(file.path):
        return FILE_FORMATS[file.seal.directory["layout"]].read_chunk(file, number, fields)


def read_any(path: Path, guard: Guard, sink: Sink | None = None) -> Reading:
    """Everything usable in a file, and what is wrong with it.

    With a ``sink``, which takes each segment, nothing of a sound sealed file is kept in memory.
    """
    reading = Reading()
    try:
        file = SealedFile.open(path)
    except FileNotFoundError:
        reading.findings.append(Finding(Verdict.MISSING))
    except SealError as error:
        _read_unsealed(path, guard, reading)
        reading.findings.insert(0, Finding(Verdict.CHECKSUM, _detail(error, path)))
    except OSError as error:
        reading.findings.append(Finding(Verdict.CANNOT_OPEN, error.strerror or str(error)))
    else:
        if file is None:
            _read_unsealed(path, guard, reading)
        else:
            with file:
                read_sealed(file, reading, sink)
    if sink is not None:
        for segment in reading.segments:
            sink(segment)
    return reading


def read_sealed(file: SealedFile, reading: Reading, sink: Sink | None = None) -> None:
    """Everything in a sealed file; when it is damaged, every record whose own checksum still holds.

    A ``sink`` takes the segments of a sound file only, which are then not kept; it compares each with its checksum.
    """
    directory = file.seal.directory
    reading.root = dict(directory.get("root", {}))
    reading.digest, reading.sealed = file.seal.digest, True
    reading.published_ns = int(directory.get("published_ns", 0))
    reading.additions = [Addition.from_json(entry) for entry in directory.get("additions", ())]
    try:
        file.verify(once=sink is not None)
    except SealError as error:
        reading.findings.append(Finding(Verdict.CHECKSUM, _detail(error, file.path)))
        _take_intact(file.unverified(), reading)
        return
    reading.streamed = None if sink is None else file.path
    with reading.noting(file.path):
        for segment in iterate_sealed(file):
            (sink or reading.take)(reading.marked(segment))


def _take_intact(file: SealedFile, reading: Reading) -> None:
    """Every record that can be made out and meets its checksum; what cannot be is a finding."""
    for number in range(chunk_count(file)):
        try:
            segments = read_chunk(file, number)
        except SealError as error:
            reading.findings.append(
                Finding(Verdict.INCOMPLETE, f"chunk {number}: {_detail(error, file.path)}")
            )
            continue
        for segment in segments:
            intact = segment.intact()
            for key in segment.rows["key"][~intact].tolist():
                reading.findings.append(Finding(Verdict.CHECKSUM, "", key.decode(errors="replace")))
            if not intact.all():
                reading.doubt(segment.take(~intact))
            right = reading.marked(segment.take(intact))
            if len(right):
                reading.take(right)


def _read_unsealed(path: Path, guard: Guard, reading: Reading) -> None:
    """A file without a seal: first from outside, then through the library in a guarded child."""
    finding = inspect(path)
    if finding is not None:
        reading.findings.append(finding)
        return
    read_guarded(path, guard, reading, real_size=path.stat().st_size, origin=origin_of_file(path))
    reading.lost_its_seal = "root_checksum" in reading.root
    _separate_root(reading)
    _drop_incomplete(reading)
    if not reading.segments and not reading.findings:
        reading.findings.append(Finding(Verdict.NO_RESULTS))


def _separate_root(reading: Reading) -> None:
    """Tell the root attributes of ours from those that others added."""
    found = {*reading.root, *reading.inexact}
    if reading.lost_its_seal:
        own = own_root(reading.root)
        if own is None:
            reading.findings.insert(0, Finding(Verdict.CHECKSUM, "in the root attributes"))
            own, found = {}, set()
    else:
        own = {name: value for name, value in reading.root.items() if name not in reading.inexact}
    added = [Addition("", name, attribute=True) for name in sorted(found - own.keys())]
    reading.root, reading.additions = own, added + reading.additions


def usual_names(names: Iterable[tuple[Collection[str], int]]) -> set[str]:
    """The names that more than half of the records have, given the names of some and how many they are."""
    counts: Counter[str] = Counter()
    total = 0
    for some, count in names:
        counts.update(dict.fromkeys(some, count))
        total += count
    return {name for name, count in counts.items() if 2 * count > total}


def _drop_incomplete(reading: Reading) -> None:
    """A record that nothing proves, and that lacks an array which most records of the file have, is not a result."""
    usual = usual_names((segment.schema.array_names, len(segment)) for segment in reading.segments)
    for number, segment in enumerate(reading.segments):
        lacking = sorted(usual - set(segment.schema.array_names))
        unproven = origins(segment.rows) != b""
        if lacking and unproven.any():
            for key in segment.rows["key"][unproven].tolist():
                what = f"no dataset {', '.join(lacking)}"
                reading.findings.append(Finding(Verdict.INCOMPLETE, what, key.decode(errors="replace")))
            reading.segments[number] = segment.take(~unproven)
    reading.segments = [segment for segment in reading.segments if len(segment)]


def read_guarded(
    path: Path, guard: Guard, reading: Reading, *, real_size: int, deadline: float | None = None, **how: Any
) -> None:
    """Read through the HDF5 library; a record that kills the child is left out and the rest is read again.

    ``how`` are further fields of ``Asked``, such as ``rooted``, ``naming``, ``origin`` and ``needed``. A reading that
    is kept in memory takes as many bytes as the limits allow for that. It ends at ``deadline`` (of
    ``time.monotonic``), or when the limits say.
    """
    limits = guard.limits
    allowed = limits.result_bytes(real_size)
    if reading.in_memory:
        allowed = min(allowed, limits.kept_bytes)
    request = {
        "path": str(path),
        "real_size": real_size,
        "result_bytes": allowed,
        "batch_bytes": limits.batch_bytes,
        "most_findings": limits.most_findings,
        "deadline": deadline or time.monotonic() + limits.seconds(real_size),
        **how,
    }
    skip: list[str] = []
    sent: list[str] = []
    crashes: list[Finding] = []
    received = 0
    while True:
        try:
            for kind, data in guard.call("read", skip=skip, sent=sent, **request):
                received += len(data)
                if received > 2 * allowed + _SLACK:
                    crashes.append(Finding(Verdict.IMPLAUSIBLE, "it gives too much for its size"))
                    break
                sent += _take_answer(kind, data, path, reading)
            break
        except GuardError as error:
            crashes.append(Finding(error.finding.verdict, error.finding.detail, error.doing))
            hangs = sum(finding.verdict is Verdict.HUNG for finding in crashes)
            if (
                not error.doing
                or error.doing in skip
                or len(crashes) >= _MOST_CRASHES
                or hangs >= _MOST_HANGS
            ):
                break
            skip.append(error.doing)
        except SealError as error:
            guard.abort()
            crashes.append(Finding(Verdict.CRASHED, f"what the child sent makes no sense: {error}"))
            break
    reading.findings += crashes


def _take_answer(kind: bytes, data: bytes, path: Path, reading: Reading) -> list[str]:
    """One message of the child; the keys of the records in it that are right."""
    keys: list[str] = []
    if kind in {RESULT, DOUBTFUL}:
        image = SealedFile.of_bytes(data, f"{path} (guarded)")
        for segment in [] if image is None else read_segments(image):
            if kind == DOUBTFUL:
                reading.doubt(segment)
                continue
            keys += [key.decode(errors="replace") for key in segment.rows["key"].tolist()]
            right = reading.marked(segment)
            if len(right):
                reading.take(right)
    elif kind == DONE:
        answer = json.loads(data)
        root, inner = answer["root"], {"schemas", "kind"}
        reading.root = {name: root[name] for name in root if name not in inner} | reading.root
        reading.inexact = [name for name in answer["inexact"] if name not in inner]
        reading.additions = [Addition.from_json(entry) for entry in answer["additions"]]
        reading.findings += [
            Finding(Verdict(entry["verdict"]), entry["detail"], entry["key"]) for entry in answer["findings"]
        ]
        reading.form, reading.visited = answer["form"], answer["visited"]
    else:
        reading.findings.append(Finding(Verdict.CANNOT_OPEN, data.decode(errors="replace")))
    return keys


def _detail(error: SealError, path: Path) -> str:
    return str(error).removeprefix(f"{path}: ").removeprefix("checksum mismatch ")
