"""The run directory, OUT.h5.run/: all files of a campaign that are not in OUT.h5 itself.

```
campaign.yaml   the campaign, frozen          shards/      results, immutable files
logs/           one log per worker             events/      who started, finished, failed, died, when
quarantine/     what was found bad, kept       audit/       one record per merge
replaced/       databases and records that a merge replaced, kept
campaigns/      former texts of the campaign   verdicts.json results known to be invalid
recompute.json  which results are computed again, and the checksums of the old ones; gone when that run is over
adopted/        reports of adoptions, and a file of another script that stood in the place of OUT.h5
```
It may stand on a file system that several machines share. Small files in it are replaced as a whole
(temporary file, fsync, rename, fsync of the directory): after a crash the old text or the new one is there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vindeby._version import __version__
from vindeby.errors import InputError, StorageError
from vindeby.store.disk.files import (
    Files,
    NotRegularError,
    Retry,
    force_file,
    make_directories,
    publish_bytes,
    read_bounded,
    resolve_output,
    storage_error,
)
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.process import Identity
from vindeby.text import parse_json

SHARD_SUFFIX = ".shard"
_ABANDONED_AFTER_S = 24 * 3600.0
_numbers = itertools.count()


class _Below:
    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, run: RunDirectory, _: type[RunDirectory]) -> Path:
        return run.path / self._name


@dataclass(frozen=True)
class RunDirectory:
    """The paths that belong to one OUT.h5, through any symbolic link; creating the object changes nothing."""

    output: Path

    @classmethod
    def of(cls, output: Path | str | RunDirectory) -> RunDirectory:
        """Return the run directory of the database at a path; a RunDirectory is returned as it is."""
        return output if isinstance(output, RunDirectory) else cls(Path(output))

    def __post_init__(self) -> None:
        object.__setattr__(self, "output", resolve_output(self.output))

    @property
    def path(self) -> Path:
        """The path of the run directory."""
        return self.output.parent / f"{self.output.name}.run"

    campaign_file = _Below("campaign.yaml")
    """The campaign as it was when the run began."""
    shards = _Below("shards")
    logs = _Below("logs")
    """One log per worker."""
    events = _Below("events")
    """The folder of the event logs."""
    quarantine = _Below("quarantine")
    """Bad files, kept, each with a note why."""
    audit = _Below("audit")
    """One record per merge."""
    replaced = _Below("replaced")
    """Records that a merge replaced by others, kept, in files like shards."""
    campaigns = _Below("campaigns")
    """Former texts of the campaign."""
    adopted = _Below("adopted")
    """Reports of adoptions, and a file of the script that stood under the name of the database."""
    verdicts_file = _Below("verdicts.json")
    """Which results are invalid, as they were last checked; it may be missing."""
    recompute_file = _Below("recompute.json")
    """Which results are computed again; it is there from before the first task until the run is over."""

    def create(self, files: Files | None = None) -> RunDirectory:
        """Make the directory and its folders, durably; existing content stays."""
        try:
            for part in (self.shards, self.logs, self.events, self.quarantine, self.audit):
                make_directories(files or Files(), part, self.path.parent)
        except OSError as error:
            raise storage_error(error, self.path) from error
        return self

    def freeze_campaign(self, text: str) -> None:
        """Store the text of the campaign, replacing an older text; the former text is stored too."""
        former = self.campaign_text()
        if former is not None and former != text:
            self.keep_former(former)
        replace_text(self.campaign_file, text, self.path.parent)

    def keep_former(self, text: str) -> None:
        """Store a former campaign text once, under the time of its replacement and its digest."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        if not any(self.campaigns.glob(f"*-{digest}.yaml")):
            stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            replace_text(self.campaigns / f"{stamp}-{digest}.yaml", text, self.path.parent)

    def former_texts(self) -> Iterator[str]:
        """Yield the former texts of the campaign, the latest first, without unreadable ones."""
        for path in sorted(self.campaigns.glob("*.yaml"), reverse=True):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                yield read_bounded(path).decode()

    def campaign_text(self) -> str | None:
        """Return the text of the frozen campaign; None if there is none."""
        return _text_if_any(self.campaign_file)

    def was_merged(self) -> bool:
        """Return whether a merge has ever written the database."""
        for audit in sorted(self.audit.glob("merge-*.json"), reverse=True):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                if parse_json(read_bounded(audit)).get("outcome") == "done":
                    return True
        return False

    def shard_paths(self) -> list[Path]:
        """Return the paths of all published shards, in a fixed order."""
        return [Path(name) for name in self.shard_names()]

    def shard_names(self) -> list[str]:
        """Return the paths of all published shards as text, which is faster than making thousands of Paths.

        InputError where there are shards of a vindeby that was never released, which wrote them as HDF5 files.
        """
        names = sorted(_files_below(self.shards))
        old = next((name for name in names if name.endswith(".h5")), None)
        if old is not None:
            raise InputError(
                f"{old}: is a shard of an older vindeby, which this version does not read; finish the run with the "
                "vindeby that began it"
            )
        return [name for name in names if name.endswith(SHARD_SUFFIX)]

    def temporary_paths(self) -> list[Path]:
        """Return the shards that are being written, or were when their writer died."""
        return [Path(name) for name in sorted(_files_below(self.shards)) if name.endswith(".tmp")]

    def abandoned_paths(self) -> list[Path]:
        """Return the temporary shards whose writer is dead; their content was never acknowledged."""
        return [path for path in self.temporary_paths() if _abandoned(path)]

    def lock(
        self, purpose: str, *, take_over: bool = False, say: Callable[[str], None] = lambda _: None
    ) -> Lock:
        """Return a lock in this run directory, e.g. ``merge`` or ``run``."""
        return Lock(self.path / f"{purpose}.lock", purpose, take_over=take_over, say=say)

    def put_in_quarantine(self, path: Path, why: str, *, move: bool = True) -> Path:
        """Move or copy a bad file aside with a note; it is never deleted. Where it is now."""
        start = f"{path.parent.name}--" if path.is_relative_to(self.shards) else ""
        target = self.noted_place(self.quarantine, f"{start}{path.stem}", path, why)
        if move:
            path.rename(target)
        else:
            shutil.copyfile(path, target)
        force_file(target)
        Files().fsync_directory(path.parent)
        return target

    def noted_place(self, folder: Path, stem: str, path: Path, why: str) -> Path:
        """Return an unused name in a folder for a file to keep, and write a note beside it that says why."""
        make_directories(Files(), folder, self.path.parent)
        names = (f"{stem}{f'-{number}' if number > 1 else ''}{path.suffix}" for number in itertools.count(1))
        target = next(folder / name for name in names if not (folder / name).exists())
        note = {"file": str(path), "why": why, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        text = json.dumps(note, indent=1) + "\n"
        replace_text(target.with_name(f"{target.name}.why.json"), text, self.path.parent)
        return target


def replace_text(path: Path, text: str, above: Path) -> None:
    """Put a small file in place as a whole; after a crash the old text or the new one is there."""
    owner = Identity.current()

    def names() -> tuple[Path, Path]:
        return path.with_name(f".{path.name}.{owner.pid}-{owner.token}-{next(_numbers)}.tmp"), path

    publish_bytes(Files(), Retry(), text.encode(), names, above)


def _files_below(top: Path) -> Iterator[str]:
    """Yield every file below a folder; OSError if one folder cannot be listed, which does not mean it is empty."""
    for folder, _, names in os.walk(top, onerror=_raise_unless_gone):
        yield from (f"{folder}/{name}" for name in names)


def _raise_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _text_if_any(path: Path) -> str | None:
    try:
        return read_bounded(path).decode()
    except FileNotFoundError:
        return None
    except (NotRegularError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"{path}: {why}; move it away, or restore it from a copy") from None


def _abandoned(path: Path) -> bool:
    """Return whether the writer of a temporary shard is dead or, on another machine, silent for a day."""
    try:
        host, pid, _, _ = path.parent.name.rsplit("-", 3)
        _, _, started, _ = path.name.split(".", 3)
        owner = Identity(host, Identity.current().boot, int(pid), started, "")
        if owner.is_here:
            return owner.is_dead
        return time.time() - path.stat().st_mtime > _ABANDONED_AFTER_S
    except (ValueError, OSError):
        return False


_SUFFIXES = frozenset({".h5", ".hdf5", ".he5", ".nc", SHARD_SUFFIX, ".tmp"})


def hdf5_files(folder: Path) -> list[Path]:
    """Return everything below a folder that is named like an HDF5 file or a shard, in a fixed order."""
    return sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and not path.is_dir())


_NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES})


def keep_old_file(run: RunDirectory, why: str) -> Path:
    """Keep the standing OUT.h5 in ``OUT.h5.run/replaced/``, with a note; where it is."""
    stem = f"{run.output.stem}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    target = run.noted_place(run.replaced, stem, run.output, why)
    link_or_copy(run.output.resolve(), target)
    return target


def link_or_copy(source: Path, target: Path) -> None:
    """Link a file under a second name, or copy it if that is not possible; durable on return."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        temporary = target.with_name(f".{target.name}.{Identity.current().token}.tmp")
        try:
            shutil.copyfile(source, temporary)
            force_file(temporary)
            if Files().digest(temporary) != Files().digest(source):
                raise OSError(errno.EIO, "the copy is not what was copied", str(target)) from None
            temporary.rename(target)
        finally:
            temporary.unlink(missing_ok=True)
    force_file(target)


@dataclass(frozen=True)
class Invalid:
    """A record that cannot be taken for a result, and why."""

    key: str
    checksum: str
    why: str
    fingerprint: str = ""


@dataclass(frozen=True)
class Verdicts:
    """The invalid records that are known, by checksum."""

    invalid: Mapping[str, Invalid] = field(default_factory=dict)
    database: str = ""
    """The digest of the database's seal, where every record of it was checked."""

    @classmethod
    def of(cls, invalid: Iterable[Invalid], database: str = "") -> Verdicts:
        """Return the verdicts of a list of invalid records."""
        return cls({one.checksum: one for one in invalid}, database)

    def covers(self, digest: str) -> bool:
        """Return whether every record of the database with this seal was checked."""
        return digest != "" and digest == self.database

    @property
    def by_key(self) -> dict[str, str]:
        """The reasons of invalid records, by key."""
        return {one.key: one.why for one in self.invalid.values()}


def read_verdicts(run: RunDirectory, campaign_text: str | None) -> Verdicts:
    """Return the stored verdicts for this campaign text; none if they are of another text or version."""
    try:
        data = parse_json(read_bounded(run.verdicts_file))
        if campaign_text is None or any(
            data[name] != value for name, value in _binding(campaign_text).items()
        ):
            return Verdicts()
        names = ("key", "checksum", "why", "fingerprint")
        found = [Invalid(*(str(one[name]) for name in names)) for one in data["invalid"]]
        return Verdicts.of(found, str(data["database"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Verdicts()


def write_verdicts(run: RunDirectory, campaign_text: str, verdicts: Verdicts) -> None:
    """Keep them, where there is a run directory; a disk that refuses costs only time later."""
    if not run.path.is_dir() or read_verdicts(run, campaign_text) == verdicts:
        return
    data = {
        **_binding(campaign_text),
        "database": verdicts.database,
        "invalid": [vars(one) for one in verdicts.invalid.values()],
    }
    with contextlib.suppress(StorageError):
        replace_text(run.verdicts_file, json.dumps(data, indent=1) + "\n", run.path.parent)


def _binding(text: str) -> dict[str, Any]:
    return {"campaign": hashlib.sha256(text.encode()).hexdigest(), "version": __version__}


@dataclass(frozen=True)
class RecomputeRequest:
    """A request to compute results again: their keys, and the checksums of results that may be replaced."""

    keys: tuple[str, ...] = ()
    replaced: frozenset[str] = frozenset()


def read_recompute_request(run: RunDirectory) -> RecomputeRequest:
    """Return the request that is not complete yet; an empty request if there is none."""
    try:
        data = parse_json(read_bounded(run.recompute_file))
        keys, replaced = (tuple(str(one) for one in data[name]) for name in ("keys", "replaced"))
        return RecomputeRequest(keys, frozenset(replaced))
    except FileNotFoundError:
        return RecomputeRequest()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{run.recompute_file}: cannot be read: {error}; move it away") from None


def write_recompute_request(run: RunDirectory, request: RecomputeRequest) -> None:
    """Keep a request, durably."""
    data = {"keys": request.keys, "replaced": sorted(request.replaced)}
    replace_text(run.recompute_file, json.dumps(data, indent=1) + "\n", run.path.parent)
