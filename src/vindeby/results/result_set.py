"""The read model of results: expected results, stored results, and columns of them, as of one moment.

Every view and export asks a ``ResultSet``. Which results are invalid follows the one definition of done
(``assembly.done``). A look must be quick, and checking every layout and energy again takes long. So what ``run``,
``merge``, ``salvage`` and ``validate`` found is read from the run directory, and a result with the expected fingerprint
was checked by the worker that published it. Only results that nobody has checked yet, of a database that came from
elsewhere, are checked here.
"""

from __future__ import annotations

import difflib
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.assembly.stored_turbines import layout_of, own_types
from vindeby.campaign import Campaign
from vindeby.campaign.sections.costs import AGAINST, Against
from vindeby.campaign.task_index import TaskIndex
from vindeby.campaign.tasks import Cell, parse_key
from vindeby.errors import ArgumentError, CampaignError, DataError, InputError
from vindeby.results.columns import by_task, columns_of, row_type, worths_of
from vindeby.results.expected import CellPlace, Expected, query_columns
from vindeby.results.history import RunHistory
from vindeby.results.query import Query, refuse_unknown
from vindeby.results.snapshot import BadFile, Disk, Snapshot
from vindeby.results.sources import (
    GivenCampaign,
    campaign_of,
    has_neighbours,
    named_output,
    open_source,
    turbine_of,
)
from vindeby.store.disk.files import file_state
from vindeby.store.disk.run_directory import RunDirectory, Verdicts, read_verdicts
from vindeby.store.format.record import Record
from vindeby.store.format.rows import Segment, gathered
from vindeby.store.read import columns as stored
from vindeby.store.read.database import ReplacedError
from vindeby.store.states import TaskState
from vindeby.text import plural
from vindeby.units import MW, mean_power_to_aep_gwh

if TYPE_CHECKING:
    from vindeby.assembly.done import Judge
    from vindeby.wake import WindFarm

_ATTEMPTS = 20
_PAUSE_S = 0.1
_SIZES_EVERY_S = 10.0
CELL = ["farm_idx", "type_idx", "combination"]
"""The columns that say which cell of the campaign a result is of."""


class ResultPlace(NamedTuple):
    """The task of the campaign that a result belongs to."""

    farm_idx: int
    type_idx: int
    combination: int
    seed: int

    @property
    def cell(self) -> CellPlace:
        """The farm, type and combination of the result."""
        return self[:3]


class ResultSet:
    """The results of a database that answer its campaign; everything is computed when it is first needed.

    ``refresh`` takes what is new since, at little cost. With ``lenient``, a kept campaign that cannot be read is taken
    as unknown.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        campaign: GivenCampaign = None,
        where: str | None = None,
        lenient: bool = False,
    ) -> None:
        self.where = where
        self._query = None if where is None else Query(where)
        self._given, self._lenient = campaign, lenient
        self.version = 0
        """A number raised by everything that changes the results or their campaign."""
        self._open(Path(path))

    def _open(self, path: Path) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._open_once(named_output(path))
                return
            except (ReplacedError, FileNotFoundError):
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_PAUSE_S)

    def _open_once(self, path: Path) -> None:
        self.path, self.run = path, RunDirectory.of(path)
        self._read_at, self._shards = self._stamp(), set[str]()
        self.source, self.history = open_source(path), RunHistory(self.run)
        self.campaign = self._read_campaign()
        self.tasks: TaskIndex | None = None
        """The tasks of the campaign, if one is known."""
        self._known = Verdicts()
        if self.campaign is not None:
            former = partial(stored.former_campaigns, self.run, self.run.campaign_text())
            self.tasks = TaskIndex(self.campaign, former)
            self._known = read_verdicts(self.run, self.campaign.dumps())
        self._judge: Judge | None = None
        self._farms: dict[tuple[tuple[int, ...], int | None, int], WindFarm] = {}
        self._disk: tuple[float, Disk | None] = -_SIZES_EVERY_S, None
        self._parts: list[NDArray[Any]] = []
        self._changed()
        self._take_new()
        self._choose()

    def _stamp(self) -> tuple[object, ...]:
        """Return a value that changes with the campaign, the verdicts and the database, but not with added shards."""
        files = [self.run.campaign_file, self.run.verdicts_file, *([] if self.path.is_dir() else [self.path])]
        return tuple(map(file_state, files))

    def _read_campaign(self) -> Campaign | None:
        try:
            return campaign_of(self.run, self._given, self.source.campaign_text)
        except CampaignError:
            if self._given is not None or not self._lenient:
                raise
            return None

    def refresh(self) -> None:
        """Take the new results since the last time; raise InputError if the results no longer exist."""
        if not self.path.exists() and not self.run.path.exists():
            self._read_at = ()  # so that everything is read again when it comes back
            raise InputError(f"{self.path}: it is gone, and so is its run directory {self.run.path}")
        shards = set(self.run.shard_names())
        try:
            # A shard that is gone was merged or deleted: everything has to be read again.
            if self._read_at != self._stamp() or not self._shards <= shards:
                self._open(self.path)
            self._shards = shards
            self.source.refresh()
            if self._take_new():
                self._choose()
        except (ReplacedError, FileNotFoundError):
            self._open(self.path)

    def look(self) -> Snapshot:
        """Refresh, and return the present counts."""
        self.refresh()
        self.history.refresh()
        history, now, expected = self.history, time.time(), self.expected
        by_result, outside = self._states
        workers = tuple(worker for one, mine in history.coordinators for worker in mine if one.alive)
        on = [worker.task for worker in workers if worker.task and expected.place(worker.task)]
        damaged = (finding.key for findings in self.source.findings.values() for finding in findings)
        notes = {TaskState.RUNNING: on, TaskState.FAILED: history.failed_tasks, TaskState.INVALID: damaged}
        states = expected.noted(by_result, notes)
        count = {state: int((states == state).sum()) for state in TaskState}
        total, done = expected.total, count[TaskState.DONE]
        if not expected.farms:  # keys of another kind than ours: they can only be counted
            done, outside = len(self.answers), 0
        failures = [
            failure
            for key, failure in history.failed_tasks.items()
            if (place := expected.place(key)) is not None and states[place] == TaskState.FAILED
        ]
        rate, left = history.rate(now), None if total is None else total - done - count[TaskState.FAILED]
        estimates = [one.eta_s for one, _ in history.coordinators if one.alive]
        wrong = self.source.findings
        if time.monotonic() - self._disk[0] > _SIZES_EVERY_S:
            self._disk = time.monotonic(), Disk.of(self.path, self.run.path)
        kind = "campaign" if self.run.path.exists() else "database"
        return Snapshot(
            path=str(self.path),
            name=self.campaign.name if self.campaign else self.path.name,
            kind="folder" if self.path.is_dir() else kind,
            time=now,
            expected=total,
            done=done,
            failed=count[TaskState.FAILED],
            running=len(on),
            invalid=count[TaskState.INVALID],
            stale=count[TaskState.STALE],
            missing=None if total is None else max(0, total - done),
            extra=outside,
            rate=rate,
            eta_s=max(filter(None, estimates), default=left / rate if rate and left and estimates else None),
            axes=expected,
            states=states,
            workers=workers,
            coordinators=tuple(one for one, _ in history.coordinators),
            failures=tuple(sorted(failures, key=lambda failure: failure.time, reverse=True)),
            retried=history.retried,
            bad_files=tuple(BadFile(str(path), tuple(map(str, wrong[path]))) for path in sorted(wrong)),
            origins=self.origins(),
            disk=self._disk[1],
        )

    @cached_property
    def _states(self) -> tuple[NDArray[np.int8], int]:
        return self.expected.states(self.answers, self.stale_rows)

    def _take_new(self) -> bool:
        """Take new results; those that are not possible have no energy to count or to draw."""
        known, source = self._known, self.source
        if known.invalid:
            source.pass_over(known.invalid, known.by_key.keys() & set(source.repeated_keys()))
        new = [columns_of([segment]) for segment in gathered(source.new_segments())]
        if not new:
            return False
        self._parts += new
        invalid = {checksum.encode() for checksum in (*known.invalid, *self._impossible())}
        for rows in self._parts if invalid else ():
            rows["aep"][[checksum in invalid for checksum in rows["checksum"].tolist()]] = np.nan
        self._changed()
        return True

    def _impossible(self) -> list[str]:
        """Return the checksums of foreign results that are not possible: nobody has checked these yet."""
        is_foreign = any((rows["fingerprint"] == b"").any() for rows in self._parts)
        if self.campaign is None or not is_foreign or self._known.covers(self.source.digest):
            return []
        if self._judge is None:
            from vindeby.assembly.done import Judge  # may load Numba: only here

            self._judge = Judge(self.campaign)
        foreign = (segment.take(segment.rows["fingerprint"] == b"") for segment in self.source.segments())
        return [one.checksum for one in self._judge.look_at(foreign)]

    def _changed(self) -> None:
        self._rows: tuple[NDArray[Any], NDArray[Any]] | None = None
        self.version += 1
        for name in ("keys", "axes", "expected", "_states"):
            vars(self).pop(name, None)

    def __repr__(self) -> str:
        known = "no campaign" if self.campaign is None else f"campaign {self.campaign.name!r}"
        return f"<ResultSet {str(self.path)!r}: {plural(len(self.rows), 'result')}, {known}>"

    @property
    def answers(self) -> NDArray[Any]:
        """Return the results of the campaign as a structured array (``columns.row_type``), one row for each key."""
        return self._split()[0]

    @property
    def stale_rows(self) -> NDArray[Any]:
        """The results that answer no task of the campaign, one row each, with their numbers in an older campaign."""
        return self._split()[1]

    def _split(self) -> tuple[NDArray[Any], NDArray[Any]]:
        if self._rows is None:
            every = np.concatenate([np.empty(0, row_type()), *self._parts])
            _, last = np.unique(every["key"][::-1], return_index=True)
            every = every[np.sort(len(every) - 1 - last)]  # of several copies, the one that was read last
            here = [key.decode(errors="replace") in self.source for key in every["key"].tolist()]
            every = every if all(here) else every[np.array(here, bool)]
            self._parts = [every]
            self._rows = (every, every[:0]) if self.tasks is None else by_task(every, self.tasks)
        return self._rows

    @property
    def rows(self) -> NDArray[Any]:
        """The results, one row each; with ``where``, only those that match it."""
        return self.answers if self._kept is None else self.answers[self._kept]

    def origins(self) -> dict[str, int]:
        """Return the number of results by unverified origin."""
        marked = self.answers["origin"][self.answers["origin"] != b""]
        return {name.decode(): count for name, count in Counter(marked.tolist()).items()}

    def _choose(self) -> None:
        """Find the valid results that the condition ``where`` is true for."""
        self._kept: BoolArray | None = None
        if self._query is None:
            return
        rows = self.rows
        found = self._query.matches(self.columns(self._query.names), len(rows))
        self._kept = found & ~np.isnan(rows["aep"])
        vars(self).pop("keys", None)

    def columns(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the columns of these names, attributes among them; ArgumentError for an unknown name."""
        rows, places = self.rows, self.rows[CELL].tolist()
        keys = [key.decode(errors="replace") for key in rows["key"].tolist()]
        origins = [text.decode() or stored.COMPUTED for text in rows["origin"].tolist()]
        known: dict[str, Any] = {
            **query_columns(keys, places, self.axes.names(places), rows["ss_seed"]),
            "turbines": rows["n_turbines"],
            **{name: rows[name] for name in ("aep", "objective", "seconds")},
            "origin": np.array(origins, np.str_),
        }
        computed = {"wake_loss": self.wake_losses, "capacity_factor": self.capacity_factors}
        known |= {name: computed[name]() for name in computed.keys() & {*names}}
        attributes = {*names} - known.keys()
        if attributes:
            segments = list(self.source.segments())
            refuse_unknown(attributes, [*known, *computed, *stored.attribute_names(segments)])
            known |= {name: self._attribute(name, segments) for name in attributes}
        return {name: known[name] for name in names}

    def attribute(self, name: str) -> NDArray[Any]:
        """Return an attribute of each result; NaN, or an empty text, for a result that does not have it."""
        return self._attribute(name, list(self.source.segments()))

    def _attribute(self, name: str, segments: Sequence[Segment]) -> NDArray[Any]:
        column, keys = stored.attribute_column(segments, name), stored.texts(segments, "key")
        return stored.aligned(
            column, keys, [key.decode(errors="replace") for key in self.rows["key"].tolist()]
        )

    def derived(self) -> dict[str, FloatArray]:
        """Return ``wake_loss`` and ``capacity_factor`` of each row; empty if the campaign has no wind."""
        if self.campaign is None or not self.campaign.is_about_wind:
            return {}
        return {"wake_loss": self.wake_losses(), "capacity_factor": self.capacity_factors()}

    @cached_property
    def keys(self) -> list[str]:
        """The keys, in the order of farm, type and seed."""
        return [key.decode(errors="replace") for key in self.rows["key"][self.in_order()].tolist()]

    def in_order(self) -> NDArray[np.intp]:
        """Return the rows in the order of farm, type, combination and seed."""
        return np.lexsort([self.rows[name] for name in ("ss_seed", *reversed(CELL))])

    def key_of(self, row: int) -> str:
        """Return the key of a row."""
        return str(self.rows["key"][row].decode(errors="replace"))

    def record(self, key: str) -> Record:
        """Return a result; raise ArgumentError, naming similar keys, if there is none of this key."""
        if key.encode() in self.stale_rows["key"]:
            raise DataError(
                f"{self.path}: {key} answers an older version of the campaign{self.changes_since(key)}; `vindeby run` "
                f"with --replace-stale computes it again, --campaign with a file of {self.run.campaigns} shows it"
            )
        try:
            return self.source[key]
        except KeyError:
            like = difflib.get_close_matches(key, self.keys, 3)
            near = f"; do you mean {', '.join(like)}?" if like else ""
            raise ArgumentError(
                f"{self.path}: has no result {key!r} among its {len(self.keys):,}{near}"
            ) from None

    def changes_since(self, key: str) -> str:
        """Return what has changed since a stale result was computed, in brackets; empty if that is not known."""
        tasks = self.tasks
        what = "" if tasks is None else tasks.changes_since(key, self.source[key].fingerprint)
        return f" (changed: {what})" if what else ""

    def layout(self, key: str) -> FloatArray:
        """Return the positions of a result, x and y in metres."""
        layout = layout_of(self.record(key))
        if layout is None:
            raise DataError(f"{self.path}: result {key} has no layout that could be drawn")
        return layout

    def cell(self, key: str) -> Cell | None:
        """Return the cell of a result; None if the campaign has no such cell."""
        return self.axes.by_place.get(self.place(key).cell)

    def wind_farm(self, cell: Cell | None, variant: Campaign | None = None) -> WindFarm | None:
        """Return the wind farm of a cell; None without a cell, or without wind in the campaign.

        ``variant`` is the campaign of the combination, if it is another one than that of the results.
        """
        if self.campaign is None or cell is None or turbine_of(self.campaign, cell.type_idx) is None:
            return None
        variant = variant or self.campaign.of(cell)
        # Farms without neighbours are all alike.
        farm_idx = cell.farm_idx if has_neighbours(variant, cell.farm_idx) else None
        place = cell.type_indices, farm_idx, id(variant)
        if place not in self._farms:
            from vindeby.assembly.wind import wind_farm  # loads numba, which only some pictures need

            self._farms[place] = wind_farm(variant, cell.type_indices, farm_idx, with_engine=False)
        return self._farms[place]

    def own_types(self, key: str) -> IntArray | None:
        """Return the type of each turbine among those of its cell; None if that is not known."""
        record, cell = self.record(key), self.cell(key)
        layout = layout_of(record)
        return None if cell is None or layout is None else own_types(record.arrays, cell, layout.shape[1])

    def wake_losses(self) -> FloatArray:
        """Return the share of its wake-free energy that each result loses; NaN if that is not known."""
        losses: FloatArray = 1.0 - self.rows["aep"] / self.rows["aep_free"]  # as stored with the result
        unknown = np.isnan(losses) & ~np.isnan(self.rows["aep"])
        for place in set(self.rows[CELL][unknown].tolist()):
            cell = self.axes.by_place.get(place)
            farm = self.wind_farm(cell)
            if cell is None or farm is None:
                continue
            mine = unknown & (self.rows[CELL] == np.array(place, self.rows[CELL].dtype))
            if farm.locality == "uniform":  # wherever they stand
                counts = [count for _, count in cell.mix] or [1]
                types = np.repeat(np.arange(len(counts)), counts)
                mean = farm.wake_free_aep(len(types), types) / len(types)
                free = mean * self.rows["n_turbines"][mine]
            else:
                keys = map(self.key_of, np.flatnonzero(mine).tolist())
                free = np.array([self._free_gwh(farm, key) for key in keys])
            losses[mine] = 1.0 - self.rows["aep"][mine] / np.where(free > 0.0, free, np.nan)
        return losses

    def _free_gwh(self, farm: WindFarm, key: str) -> float:
        """Return the wake-free energy of a stored layout; NaN without a layout, or for one outside the grid."""
        try:
            types, (x, y) = self.own_types(key), self.layout(key)
            return np.nan if types is None else farm.free_aep_at(x, y, types)
        except (DataError, ArgumentError):
            return np.nan

    def capacity_factors(self, rows: NDArray[Any] | None = None) -> FloatArray:
        """Return the AEP over that of all turbines at rated power; NaN if the rated power is not known."""
        rows = self.rows if rows is None else rows
        full = mean_power_to_aep_gwh(MW) * self.mean_rated_mw(rows) * rows["n_turbines"]
        return np.asarray(rows["aep"] / np.where(full > 0.0, full, np.nan))

    def worths(self, shown: str = "") -> FloatArray:
        """Return the value by which each result is compared with others of its farm and type (``columns.worths_of``).

        Of two objectives AEP decides, but the second one where its attribute is what is ``shown``.
        """
        if self.second is not None and shown == self.second.attribute:
            values = self.attribute(shown)
            found = -values.astype(np.float64) if values.dtype.kind in "iuf" else np.nan
            return np.where(np.isnan(self.rows["aep"]), np.nan, found)
        return worths_of(self.rows, self.campaign)

    @property
    def second(self) -> Against | None:
        """The second of two objectives; None if there is one."""
        objective = None if self.campaign is None else self.campaign.objective
        return None if objective is None or objective.against is None else AGAINST[objective.against]

    @property
    def objectives(self) -> list[str]:
        """The names that ``best`` takes: empty for the first objective, and the attribute of the second, if any."""
        return ["", *([] if self.second is None else [self.second.attribute])]

    def best_in_words(self, shown: str = "") -> str:
        """Describe what makes a layout the best of all: ``has the most AEP``."""
        objective = None if self.campaign is None else self.campaign.objective
        if self.second is not None and shown == self.second.attribute:
            return f"has the least {self.second.label.partition(',')[0]}"
        if self.campaign is not None and self.is_by_loss and len(self.best()) > 1:
            return "loses least to wakes"
        if objective is None or self.second is not None or self.is_by_loss:
            return "has the most AEP"
        return f"is best by the objective, {objective.title}"

    def _types(self, row: Any) -> list[int]:
        """Return the type of each turbine, or a single type for all; none if they are not known."""
        cell, type_idx = self.axes.by_place.get(row[CELL].tolist()), int(row["type_idx"])
        if cell is not None and cell.mix:
            return [kind for kind, count in cell.mix for _ in range(count)]
        return [type_idx] if turbine_of(self.campaign, type_idx) is not None else []

    def mean_rated_mw(self, rows: NDArray[Any]) -> FloatArray:
        """Return the mean rated power (MW) of the turbines of each of these results; NaN if it is not known."""
        rated = [] if self.campaign is None else [one.rated_power_mw for one in self.campaign.turbines]
        found: dict[object, float] = {}
        each = []
        for row, place in zip(rows, rows[CELL].tolist(), strict=True):
            if place not in found:
                powers = [rated[type_idx] for type_idx in self._types(row)]
                found[place] = float(np.mean(powers)) if powers else np.nan
            each.append(found[place])
        return np.array(each, np.float64)

    @cached_property
    def axes(self) -> Expected:
        """The farms, types and seeds of the campaign; none if it is not known."""
        if self.campaign is None:
            return Expected()
        return Expected.of(self.campaign)

    @cached_property
    def expected(self) -> Expected:
        """The expected results: those of the campaign, or a guess from the results if it is not known."""
        return self.axes if self.campaign else Expected.guessed(self.answers, self.source.attributes)

    def best(self, shown: str = "") -> dict[CellPlace, int]:
        """Return the row with the largest value (``worths``) for each farm, type and combination, in their order."""
        found: dict[CellPlace, int] = {}
        worths = self.worths(shown)
        for row in np.argsort(-worths, kind="stable")[: np.count_nonzero(~np.isnan(worths))].tolist():
            found.setdefault(self.rows[CELL][row].tolist(), row)
        return dict(sorted(found.items()))

    @property
    def is_by_loss(self) -> bool:
        """Return whether farms and types are compared by wake loss, as their AEP depends on their capacities."""
        objective = None if self.campaign is None else self.campaign.objective
        return objective is None or objective.is_of_energy

    def best_of_farm(self, shown: str = "") -> dict[int, int]:
        """Return, by farm, the row of the best of its ``best`` results; the farm with the best of all first."""
        worths, aep = self.worths(shown), np.nan_to_num(self.rows["aep"])
        if self.is_by_loss and shown != getattr(self.second, "attribute", None):
            worths = -np.nan_to_num(self.wake_losses(), nan=1.0)
        found, best = dict[int, int](), self.best(shown)
        for cell in sorted(best, key=lambda cell: (-worths[best[cell]], -aep[best[cell]])):
            found.setdefault(cell[0], best[cell])
        return found

    def best_key(self, shown: str = "") -> str:
        """Return the key of the best result of all, the first of ``best_of_farm``; raise DataError if there is none."""
        for row in self.best_of_farm(shown).values():
            return self.key_of(row)
        raise DataError(f"{self.path}: holds no results that could be compared")

    def place(self, key: str) -> ResultPlace:
        """Return farm, type, combination and seed of a key, from the columns or the name."""
        here = np.flatnonzero(self.rows["key"] == key.encode())
        if not len(here):
            parts = parse_key(key)
            unknown = (stored.UNKNOWN,) * 3 if parts is None else parts[:3]
            return ResultPlace(*unknown[:2], 0, unknown[2])
        return ResultPlace(*self.rows[[*CELL, "ss_seed"]][here[0]].tolist())
