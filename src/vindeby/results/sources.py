"""What a user named: a database with its run directory, or a folder of worker files; and the campaign kept with it.

Both are read through the store, which verifies what it hands out and lets no damaged file near this process. What was
read once is not read again until its file changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from vindeby.campaign import Campaign, Farm, Turbine
from vindeby.errors import ArgumentError, DataError, InputError
from vindeby.store.disk.run_directory import RunDirectory, hdf5_files
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import FORMAT_VERSION, SealedFile, SealError
from vindeby.store.read.database import Database
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Finding
from vindeby.store.read.reading import read_any


@dataclass(frozen=True)
class ChangedCampaign:
    """A campaign with fields overridden, such as ``seeds=2``; the one kept with the results where none is named."""

    source: str | None
    overrides: tuple[str, ...]


GivenCampaign: TypeAlias = "str | ChangedCampaign | None"
"""A campaign file or the name of a preset, perhaps changed; None is the one kept with the results."""


def campaign_of(run: RunDirectory, given: GivenCampaign, kept: Attribute | None = None) -> Campaign | None:
    """The campaign that was given, else the frozen one of the run directory, else the database's own."""
    source, overrides = (given.source, given.overrides) if isinstance(given, ChangedCampaign) else (given, ())
    if source is not None:
        return Campaign.load(source, overrides)
    text = run.campaign_text()
    if text is not None:
        return Campaign.loads(text, str(run.campaign_file), overrides)
    if isinstance(kept, str) and kept:
        return Campaign.loads(kept, f"{run.output} (campaign)", overrides)
    if overrides:
        raise ArgumentError(
            f"{run.output}: --set and --seeds need a campaign, and none is kept here; name it with --campaign FILE"
        )
    return None


def farm_of(campaign: Campaign | None, farm_idx: int) -> Farm | None:
    """The farm of this number; None where no campaign knows it."""
    return campaign.farms[farm_idx] if campaign and 0 <= farm_idx < len(campaign.farms) else None


def turbine_of(campaign: Campaign | None, type_idx: int) -> Turbine | None:
    """The turbine type of this number; None where no campaign knows it."""
    return campaign.turbines[type_idx] if campaign and 0 <= type_idx < len(campaign.turbines) else None


def has_neighbours(campaign: Campaign | None, farm_idx: int) -> bool:
    """Whether turbines stand already around this farm."""
    farm = farm_of(campaign, farm_idx)
    return campaign is not None and bool(campaign.neighbours or (farm is not None and farm.neighbours))


class ResultSource(Protocol):
    """Results that may grow while they are looked at."""

    path: Path
    run: RunDirectory
    attributes: dict[str, Attribute]
    findings: dict[Path, list[Finding]]

    def refresh(self) -> object:
        """Look for what is new."""

    def new_segments(self, fields: Collection[str] | None = None) -> Iterator[Segment]:
        """The records that came since this was last asked; rows may have only these fields."""

    def __contains__(self, key: object) -> bool: ...

    def __getitem__(self, key: str) -> Record: ...

    @property
    def campaign_text(self) -> str | None:
        """The campaign file that is kept with the results."""


def named_output(path: Path | str) -> Path:
    """The database or folder that a user named: of a run directory, the database that it belongs to."""
    path = Path(path)
    if path.is_dir() and path.name.endswith(".h5.run"):
        return path.with_name(path.name.removesuffix(".run"))
    return path


def kept_campaign(path: Path) -> Attribute | None:
    """The campaign inside a database, sealed or not; None where there is none or the file cannot be read."""
    try:
        file = SealedFile.open(path)
    except (OSError, SealError):
        file = None
    if file is not None:
        with file:
            root = file.seal.directory.get("root")
            return root.get("campaign") if isinstance(root, dict) else None
    if not path.is_file():
        return None
    with Guard() as guard:
        return read_any(path, guard).root.get("campaign")


def open_source(path: Path | str) -> ResultSource:
    """Whatever stands at ``path``: a database, a run in progress, a folder of worker files."""
    path = named_output(path)
    if path.is_dir():
        return Folder(path)
    run = RunDirectory(path)
    if run.nothing_yet:
        return NothingYet(path, run)
    database = Database(path)
    version = database.attributes.get("format_version", FORMAT_VERSION)
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise InputError(
            f"{path}: was written by a newer vindeby (format {version}, this one reads {FORMAT_VERSION}); "
            "install the newer one"
        )
    return database


@dataclass
class NothingYet:
    """A campaign that was frozen and has not published anything."""

    path: Path
    run: RunDirectory
    attributes: dict[str, Attribute] = field(default_factory=dict)
    findings: dict[Path, list[Finding]] = field(default_factory=dict)

    def refresh(self) -> int:
        """Nothing comes here; whoever asks opens the path again."""
        return 0

    def new_segments(self, fields: Collection[str] | None = None) -> Iterator[Segment]:  # noqa: ARG002 - as others
        """None."""
        return iter(())

    def __contains__(self, key: object) -> bool:
        return False

    def __getitem__(self, key: str) -> Record:
        raise KeyError(key)

    @property
    def campaign_text(self) -> str | None:
        """The frozen campaign."""
        return self.run.campaign_text()


class Folder:
    """The files of a folder, each read as far as it can be; the first one that has a key counts."""

    def __init__(self, path: Path) -> None:
        self.path, self.run = path, RunDirectory(path)
        self.attributes: dict[str, Attribute] = {}
        self.findings: dict[Path, list[Finding]] = {}
        self._known: dict[Path, tuple[int, int, int]] = {}
        self._segments: dict[Path, list[Segment]] = {}
        self._index: dict[str, tuple[Path, int, int]] = {}
        self._fresh: list[Segment] = []
        self.refresh()
        if not self._known:
            raise InputError(
                f"{path}: this folder holds no HDF5 files; name a database, or a folder of worker files"
            )

    def refresh(self) -> int:
        """Read the files that are new or have changed."""
        before = len(self._index)
        with Guard() as guard:
            for path in self._paths():
                try:
                    status = path.stat()
                except OSError:
                    continue
                state = (status.st_ino, status.st_size, status.st_mtime_ns)
                if self._known.get(path) != state:
                    self._known[path] = state
                    self._read(path, guard)
        return len(self._index) - before

    def _paths(self) -> list[Path]:
        return hdf5_files(self.path)

    def _read(self, path: Path, guard: Guard) -> None:
        reading = read_any(path, guard)
        self._index = {key: place for key, place in self._index.items() if place[0] != path}
        self.findings.pop(path, None)
        if reading.findings:
            self.findings[path] = reading.findings
        self._segments[path] = reading.segments
        self.attributes = {**reading.root, **self.attributes}
        for number, segment in enumerate(reading.segments):
            mine = []
            for row, key in enumerate(segment.rows["key"].tolist()):
                if key.decode(errors="replace") not in self._index:
                    self._index[key.decode(errors="replace")] = (path, number, row)
                    mine.append(row)
            self._fresh.append(segment.take(mine))

    def new_segments(self, fields: Collection[str] | None = None) -> Iterator[Segment]:  # noqa: ARG002 - as others
        """The records of files that were read since this was last asked."""
        fresh, self._fresh = self._fresh, []
        return iter(fresh)

    def segments(self) -> Iterator[Segment]:
        """Every record once."""
        rows: dict[tuple[Path, int], list[int]] = {}
        for path, number, row in self._index.values():
            rows.setdefault((path, number), []).append(row)
        for (path, number), mine in rows.items():
            yield self._segments[path][number].take(mine)

    def counts(self) -> dict[Path, int]:
        """How many records each file gives."""
        return {path: sum(map(len, self._segments.get(path, []))) for path in sorted(self._known)}

    def copies(self, key: str) -> list[Record]:
        """The record that counts; a folder is not asked for others."""
        return [self[key]] if key in self._index else []

    def __contains__(self, key: object) -> bool:
        return key in self._index

    def __getitem__(self, key: str) -> Record:
        path, number, row = self._index[key]
        segment = self._segments[path][number]
        if not segment.take(slice(row, row + 1)).intact().all():
            raise DataError(f"{path}: record {key}: checksum mismatch")
        return segment.record(row)

    @property
    def campaign_text(self) -> str | None:
        """The campaign that one of the files carries."""
        text = self.attributes.get("campaign")
        return text if isinstance(text, str) else None
