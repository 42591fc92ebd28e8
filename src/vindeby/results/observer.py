"""Looking at a campaign again and again, at little cost: files that have not changed are not read again."""

from __future__ import annotations

import os
import shutil
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign.outline import Outline
from vindeby.errors import CampaignError, InputError
from vindeby.results.campaign_lookup import GivenCampaign, campaign_of, outline_for
from vindeby.results.columns import ResultColumns
from vindeby.results.expected import Expected, State, guessed
from vindeby.results.history import History, current_workers
from vindeby.results.judging import Judging
from vindeby.results.snapshot import BadFile, Disk, Failure, Snapshot
from vindeby.results.sources import Folder, NothingYet, open_source
from vindeby.store.read.database import ReplacedError

if TYPE_CHECKING:  # loads pydantic and shapely
    from vindeby.campaign import Campaign

_ATTEMPTS = 5
_PAUSE_S = 0.1
_SIZES_EVERY_S = 10.0
_SEEN_FOR_S = 120.0


class Observer:
    """Watches one database or folder; ``look`` gives what is there now."""

    def __init__(
        self,
        path: Path | str,
        *,
        campaign: GivenCampaign = None,
        seed: int | None = None,
        results: ResultColumns | None = None,
    ) -> None:
        """``results`` are those that were read already."""
        self._results = results
        self._given = campaign
        self._seed = seed
        self._open(Path(path))

    def _open(self, path: Path) -> None:
        """Begin anew; patiently, where somebody is putting another file in its place."""
        for attempt in range(_ATTEMPTS):
            try:
                self._open_once(path)
                return
            except (ReplacedError, FileNotFoundError):
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_PAUSE_S)

    def _open_once(self, path: Path) -> None:
        shared, self._results = self._results, None
        self.results = ResultColumns(open_source(path)) if shared is None else shared
        self.source = self.results.source
        self.path, self.run = self.source.path, self.source.run
        self.history = History(self.run)
        self._judging = Judging(self.run)
        self.outline: Outline | None = None
        self._campaign: tuple[Outline | None, Campaign | None] = (None, None)
        self._stamp_of_expected: tuple[object, ...] | None = None
        self._expected = Expected((), (), (), None, known=False)
        self._files: set[str] = set()
        self._counted: tuple[object, tuple[NDArray[np.int8], int]] | None = None
        self._disk: tuple[float, Disk] | None = None
        self._seen: deque[tuple[float, int]] = deque()

    def look(self) -> Snapshot:
        """What is there now; InputError when nothing is there any more."""
        self._refresh()
        self.history.refresh()
        expected = self.expectation()
        self._judging.apply(self.results, self._text(), lambda: self.campaign)
        return self._snapshot(expected, time.time())

    def _text(self) -> str | None:
        """The campaign that the results are judged by, as it is frozen."""
        if self._given is not None:
            campaign = self.campaign
            return None if campaign is None else campaign.dumps()
        return self.run.campaign_text() or self.source.campaign_text

    def _refresh(self) -> None:
        if not self.path.exists() and not self.run.path.exists():
            self._files = {str(self.run.path)}  # so that everything is read again when it comes back
            raise InputError(f"{self.path}: it is gone, and so is its run directory {self.run.path}")
        files = {*self.run.shard_names(), *([str(self.path)] if self.path.exists() else [])}
        # A shard that is gone was merged, or somebody deleted it: only a new look can tell.
        if isinstance(self.source, NothingYet) or not self._files <= files:
            self._open(self.path)
        self._files = files
        try:
            self.source.refresh()
            self.results.take_new()
        except (ReplacedError, FileNotFoundError):
            self._open(self.path)

    def expectation(self) -> Expected:
        """What the results are counted against; made again only when the campaign changes."""
        stamp = self._stamp()
        if stamp != self._stamp_of_expected:
            self._stamp_of_expected = stamp
            try:
                self.outline = outline_for(self.run, self._given, self.source.campaign_text)
            except CampaignError:
                if self._given is not None:
                    raise
                self.outline = None
            self._expected = Expected.of(self.outline) if self.outline else guessed(self.results)
            self._stamp_of_expected = self._stamp()
        return self._expected

    @property
    def campaign(self) -> Campaign | None:
        """The campaign of the last look in full, for those who draw; the same object until it changes."""
        if self._campaign[0] is not self.outline:
            whole = campaign_of(self.run, self._given, self.source.campaign_text) if self.outline else None
            self._campaign = self.outline, whole
        return self._campaign[1]

    def _stamp(self) -> tuple[object, ...]:
        try:
            frozen = self.run.campaign_file.stat().st_mtime_ns
        except OSError:
            frozen = 0
        kept = None if frozen else self.source.campaign_text
        return frozen, kept, None if self.outline else self.results.version

    def _snapshot(self, expected: Expected, now: float) -> Snapshot:
        coordinators, workers = current_workers(self.run, now, self.history.odd)
        if self._seed is not None:
            expected = expected.only_seed(self._seed)
        wrong: dict[Path, Sequence[object]] = {**self.source.findings, **self.history.odd}
        damaged = (finding.key for findings in self.source.findings.values() for finding in findings)
        found, outside = self._states_of_results(expected)
        notes = {
            State.RUNNING: [worker.task for worker in workers if worker.task],
            State.FAILED: self.history.failed_tasks,
            State.INVALID: damaged,
        }
        states = expected.noted(found, notes)
        count = {state: int((states == state).sum()) for state in State}
        total, done = expected.total, count[State.DONE]
        if self._seed is None and not expected.farms:
            done, outside = len(self.results), 0  # keys of another kind than ours: they can only be counted
        rate = self.history.rate(now) or self._own_rate(now, done)
        left = None if total is None else total - done - count[State.FAILED]
        estimates = [one.eta_s for one in coordinators if one.alive]
        return Snapshot(
            path=str(self.path),
            name=self.outline.name if self.outline else self.path.name,
            kind=self._kind(),
            time=now,
            expected=total,
            done=done,
            failed=count[State.FAILED],
            running=sum(
                worker.task is not None and expected.place(worker.task) is not None for worker in workers
            ),
            invalid=count[State.INVALID],
            stale=count[State.STALE],
            missing=None if total is None else max(0, total - done),
            extra=outside if self._seed is None else 0,
            rate=rate,
            eta_s=max(filter(None, estimates), default=left / rate if rate and left and estimates else None),
            axes=expected,
            states=states,
            workers=workers,
            coordinators=coordinators,
            failures=self._failures(expected, states),
            retried=self.history.retried,
            bad_files=tuple(
                BadFile(str(path), tuple(map(str, findings))) for path, findings in sorted(wrong.items())
            ),
            origins=self.results.origins(),
            disk=self._space(now),
            history=tuple(self.history.published),
        )

    def _states_of_results(self, expected: Expected) -> tuple[NDArray[np.int8], int]:
        """Counted again only when results came or the campaign changed."""
        stamp = (self.results.version, self._stamp_of_expected)
        if self._counted is None or self._counted[0] != stamp:
            self._counted = stamp, expected.states(self.results)
        return self._counted[1]

    def _kind(self) -> str:
        if isinstance(self.source, Folder):
            return "folder"
        return "campaign" if self.run.path.exists() else "database"

    def _failures(self, expected: Expected, states: NDArray[np.int8]) -> tuple[Failure, ...]:
        found = [
            failure
            for key, failure in self.history.failed_tasks.items()
            if (place := expected.place(key)) is not None and states[place] == State.FAILED
        ]
        return tuple(sorted(found, key=lambda failure: failure.time, reverse=True))

    def _own_rate(self, now: float, done: int) -> float | None:
        """The rate as seen from here, where no events tell it."""
        self._seen.append((now, done))
        while now - self._seen[0][0] > _SEEN_FOR_S:
            self._seen.popleft()
        then, before = self._seen[0]
        return (done - before) / (now - then) if done > before and now - then > 1.0 else None

    def _space(self, now: float) -> Disk | None:
        if self._disk is None or now - self._disk[0] > _SIZES_EVERY_S:
            try:
                where = self.path if self.path.exists() else self.run.path
                self._disk = now, Disk(_size(self.path), _size(self.run.path), shutil.disk_usage(where).free)
            except OSError:
                return None
        return self._disk[1]


def _size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; what cannot be looked at counts as nothing."""
    try:
        if not path.is_dir():
            return path.stat().st_size
        total = 0
        for folder, _, names in os.walk(path):
            total += sum((Path(folder) / name).lstat().st_size for name in names)
        return total
    except OSError:
        return 0
