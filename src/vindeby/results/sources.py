"""What a user named: a database with its run directory, or a folder of worker files; and the campaign kept with it.

Both are read through the store, which verifies what it hands out and lets no damaged file near this process. What was
read once is not read again until its file changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from vindeby.campaign import Campaign
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.sections.turbines import Turbine
from vindeby.errors import ArgumentError, DataError, InputError
from vindeby.store.disk.files import file_state
from vindeby.store.disk.run_directory import RunDirectory, hdf5_files
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Segment
from vindeby.store.format.seal import FORMAT_VERSION
from vindeby.store.read.database import Database
from vindeby.store.read.guard import Guard
from vindeby.store.read.inspect import Finding
from vindeby.store.read.reading import Reading, read_any


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


def named_output(path: Path | str) -> Path:
    """The database or folder that a user named: of a run directory, the database that it belongs to."""
    path = Path(path)
    if path.is_dir() and path.name.endswith(".h5.run"):
        return path.with_name(path.name.removesuffix(".run"))
    return path


def kept_campaign(path: Path) -> Attribute | None:
    """The campaign inside a database, sealed or not; None where there is none or the file cannot be read."""
    with contextlib.suppress(DataError, InputError, OSError), Database(path) as database:
        return database.campaign_text
    if not path.is_file():
        return None
    with Guard() as guard:  # a file from which no record can be read may still hold its campaign
        return read_any(path, guard).root.get("campaign")


def open_source(path: Path | str) -> ResultSource:
    """Whatever stands at ``path``: a database, a run in progress, a folder of worker files."""
    path = named_output(path)
    if path.is_dir():
        return Folder(path)
    database = Database(path)
    version = database.attributes.get("format_version", FORMAT_VERSION)
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise InputError(
            f"{path}: was written by a newer vindeby (format {version}, this one reads {FORMAT_VERSION}); "
            "install the newer one"
        )
    return database


class Folder:
    """The files of a folder, each read as far as it can be; the first one that has a key counts."""

    def __init__(self, path: Path) -> None:
        self.path, self.run = path, RunDirectory(path)
        self.attributes: dict[str, Attribute] = {}
        self.findings: dict[Path, list[Finding]] = {}
        self._readings: dict[Path, tuple[object, Reading]] = {}
        self._index: dict[str, tuple[Path, Segment, int]] = {}
        self._is_new = False
        self.refresh()
        if not self._readings:
            raise InputError(
                f"{path}: this folder holds no HDF5 files; name a database, or a folder of worker files"
            )

    def refresh(self) -> int:
        """Read the files that are new or have changed; how many records came."""
        before, changed = len(self._index), False
        with Guard() as guard:
            for path in hdf5_files(self.path):
                state = file_state(path)
                if state is not None and self._readings.get(path, (None,))[0] != state:
                    self._readings[path] = state, read_any(path, guard)
                    changed = True
        if changed:
            self._combine()
        return len(self._index) - before

    def _combine(self) -> None:
        self._index, self._is_new = {}, True
        for path, (_, reading) in sorted(self._readings.items()):
            self.attributes = {**reading.root, **self.attributes}
            for segment in reading.segments:
                for row, key in enumerate(segment.rows["key"].tolist()):
                    self._index.setdefault(key.decode(errors="replace"), (path, segment, row))
        findings = {path: reading.findings for path, (_, reading) in self._readings.items()}
        self.findings = {path: found for path, found in findings.items() if found}

    def new_segments(self, fields: Collection[str] | None = None) -> Iterator[Segment]:  # noqa: ARG002 - as others
        """Every record once, if a file was read since this was last asked."""
        is_new, self._is_new = self._is_new, False
        return self.segments() if is_new else iter(())

    def segments(self) -> Iterator[Segment]:
        """Every record once."""
        rows: dict[int, tuple[Segment, list[int]]] = {}
        for _, segment, row in self._index.values():
            rows.setdefault(id(segment), (segment, []))[1].append(row)
        for segment, mine in rows.values():
            yield segment.take(mine)

    def counts(self) -> dict[Path, int]:
        """How many records each file gives."""
        return {
            path: sum(map(len, reading.segments)) for path, (_, reading) in sorted(self._readings.items())
        }

    def copies(self, key: str) -> list[Record]:
        """The record that counts; a folder is not asked for others."""
        return [self[key]] if key in self._index else []

    def __contains__(self, key: object) -> bool:
        return key in self._index

    def __getitem__(self, key: str) -> Record:
        path, segment, row = self._index[key]
        if not segment.take(slice(row, row + 1)).intact().all():
            raise DataError(f"{path}: record {key}: checksum mismatch")
        return segment.record(row)

    @property
    def campaign_text(self) -> str | None:
        """The campaign that one of the files carries."""
        text = self.attributes.get("campaign")
        return text if isinstance(text, str) else None


ResultSource: TypeAlias = Database | Folder
"""Results that may grow while they are looked at."""
