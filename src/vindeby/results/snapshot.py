"""A campaign at one moment, as plain values: what ``monitor`` prints and ``board`` sends.

What a campaign expects is a block of states, cells x seeds, that can be counted along farms, turbine types and seeds.
"""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, KeyParts, parse_key, task_key
from vindeby.errors import ArgumentError
from vindeby.results.history import Coordinator, last_states
from vindeby.results.query import Labels
from vindeby.store.disk.events import FailedTask, WorkerState
from vindeby.store.format.record import Attribute
from vindeby.store.states import TaskState
from vindeby.text import listed, plural

if TYPE_CHECKING:
    from vindeby.results.result_set import ResultSet

_LARGEST_BLOCK = 20_000_000
CellPlace = tuple[int, int, int]
"""Farm, type and combination of axes, by their numbers in the campaign."""


@dataclass(frozen=True)
class Expected:
    """The farms, types and seeds that results are counted against, and the cells that have tasks."""

    farms: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = ()
    axes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the values of each axis of the campaign."""
    combinations: tuple[tuple[str, ...], ...] = ((),)
    """The names of the values that each combination has, one for each axis."""
    total: int | None = None
    """How many results there should be; None when nothing says so."""
    known: bool = False
    """Whether a campaign says so for every cell and seed."""

    @classmethod
    def of(cls, campaign: Campaign) -> Expected:
        """What a campaign asks for."""
        names, axes = (campaign.farm_names, campaign.type_names, campaign.seeds), campaign.axes
        combinations = tuple(tuple(one.values[axis] for axis in axes) for one in campaign.combinations)
        return cls(*names, campaign.cells(), axes, combinations, campaign.total_configs, known=True)

    @classmethod
    def guessed(cls, rows: NDArray[Any], attributes: Mapping[str, Attribute]) -> Expected:
        """What was probably asked for, from the results alone, as in the file of an older script."""
        farms, types = (int(rows[name].max(initial=-1)) + 1 for name in ("farm_idx", "type_idx"))
        seeds = tuple(int(seed) for seed in np.unique(rows["ss_seed"]) if seed >= 0)
        said = attributes.get("total_configs")
        total = said if isinstance(said, int) and not isinstance(said, bool) and said >= len(rows) else None
        if farms * types * len(seeds) > _LARGEST_BLOCK:
            farms, types, seeds = 0, 0, ()
        return cls(
            tuple(f"farm{index}" for index in range(farms)),
            tuple(f"t{index}" for index in range(types)),
            seeds,
            tuple(Cell(farm, kind, 0, 0.0, "") for farm, kind in np.ndindex(farms, types)),
            total=total,
            known=total is not None and total == farms * types * len(seeds),
        )

    def states(self, rows: NDArray[Any], stale_rows: NDArray[Any]) -> tuple[NDArray[np.int8], int]:
        """What results say of every task, by cell and seed; and how many results are of no task."""
        block, outside = np.full((len(self.cells), len(self.seeds)), TaskState.OPEN, np.int8), 0
        done, invalid, stale = (int(state) for state in (TaskState.DONE, TaskState.INVALID, TaskState.STALE))
        columns = ("farm_idx", "type_idx", "combination", "ss_seed", "aep")
        for is_stale, given in ((True, stale_rows), (False, rows)):
            for *numbers, aep in zip(*(given[name].tolist() for name in columns), strict=True):
                place = self.place_of(*numbers)
                if place is None:
                    outside += 1
                else:
                    block[place] = stale if is_stale else done if aep == aep else invalid
        return block, outside

    def noted(self, states: NDArray[np.int8], notes: Mapping[TaskState, Iterable[str]]) -> NDArray[np.int8]:
        """The same with keys in other states; the earlier ones count more, and a result counts most."""
        block = states.copy()
        for state, keys in notes.items():
            for key in keys:
                place = self.place(key)
                if place is not None and block[place] == TaskState.OPEN:
                    block[place] = state
        return block

    def place(self, key: str) -> tuple[int, int] | None:
        """The cell and the seed of a task, by their numbers in the block; None when it is of another campaign."""
        parts = parse_key(key)
        combination = None if parts is None else self._tags.get(parts.tag)
        if parts is None or combination is None:
            return None
        return self.place_of(parts.farm_idx, parts.type_idx, combination, parts.seed)

    def place_of(self, farm: int, type_idx: int, combination: int, seed: int) -> tuple[int, int] | None:
        """The same of a farm, a type, a combination and a seed."""
        cell, index = self._cell_places.get((farm, type_idx, combination)), self._seed_places.get(seed)
        return None if cell is None or index is None else (cell, index)

    @cached_property
    def _cell_places(self) -> dict[CellPlace, int]:
        return {place: index for index, place in enumerate(self.by_place)}

    @cached_property
    def _tags(self) -> dict[str, int]:
        return {cell.tag: cell.combination for cell in self.cells}

    @cached_property
    def _seed_places(self) -> dict[int, int]:
        return {seed: index for index, seed in enumerate(self.seeds)}

    @cached_property
    def by_place(self) -> dict[CellPlace, Cell]:
        """The cells by farm, type and combination."""
        return {(cell.farm_idx, cell.type_idx, cell.combination): cell for cell in self.cells}

    def key_of(self, place: tuple[int, int, int, int]) -> str:
        """The key of a task by its farm, type, combination and seed."""
        farm, type_idx, combination, seed = place
        cell = self.by_place.get((farm, type_idx, combination))
        return task_key(farm, type_idx, seed) if cell is None else cell.key(seed)

    def names_of(self, keys: Iterable[str]) -> dict[str, Any]:
        """The columns that a query of tasks can name, for these keys of the campaign."""
        keys = list(keys)
        parts = list(map(KeyParts.of, keys))
        farms, types = [one.farm_idx for one in parts], [one.type_idx for one in parts]
        values = [self.values_of(self._tags[one.tag]) for one in parts]
        return {
            "key": np.array(keys, np.str_),
            "farm": Labels.of("farm", farms, [self.farms[farm] if self.farms else "" for farm in farms]),
            "type": Labels.of("t", types, [self.type_labels[kind] if self.types else "" for kind in types]),
            "seed": np.array([one.seed for one in parts], np.int64),
            **{
                axis: np.array([one[number] for one in values], np.str_)
                for number, axis in enumerate(self.axes)
            },
        }

    def values_of(self, combination: int) -> tuple[str, ...]:
        """The name of the value of each axis; empty names for a combination that is not known."""
        known = 0 <= combination < len(self.combinations)
        return self.combinations[combination] if known else ("",) * len(self.axes)

    def cell_label(self, farm: int, type_idx: int, combination: int = 0) -> str:
        """The name of a type in a farm: of its mix, where it has one."""
        cell = self.by_place.get((farm, type_idx, combination))
        return self.types[type_idx] if cell is None else cell.label(self.types)

    @cached_property
    def type_labels(self) -> tuple[str, ...]:
        """The name of each type; that of a mix, where all cells of the type are of this mix."""
        labels: list[set[str]] = [set() for _ in self.types]
        for cell in self.cells:
            labels[cell.type_idx].add(cell.label(self.types))
        return tuple(
            next(iter(found)) if len(found) == 1 else name
            for name, found in zip(self.types, labels, strict=True)
        )

    def only_seed(self, seed: int) -> Expected:
        """The same with one seed."""
        if seed not in self._seed_places:
            known = listed(self.seeds)
            raise ArgumentError(
                f"--seed: {seed} is not one of the {plural(len(self.seeds), 'seed')} here: {known}"
            )
        return replace(self, seeds=(seed,), total=len(self.cells) if self.known else None)


DIMENSIONS = ("farm", "turbine", "seed")
"""What tasks are counted by, beside the axes of their campaign."""


@dataclass(frozen=True)
class BadFile:
    """A file in which something is wrong, and what."""

    path: str
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Disk:
    """Bytes used by the database and its run directory, and left where they stand."""

    database: int
    run_directory: int
    free: int

    @classmethod
    def of(cls, path: Path, run_directory: Path) -> Disk | None:
        """Measure them; None where the disk does not say."""
        try:
            free = shutil.disk_usage(path if path.exists() else run_directory).free
        except OSError:
            return None
        return cls(_size(path), _size(run_directory), free)


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder; 0 if they cannot be read."""
    try:
        if not path.is_dir():
            return path.stat().st_size
        return sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
    except OSError:
        return 0


@dataclass(frozen=True)
class Snapshot:
    """Counts are of tasks; ``missing`` are all without a valid result, whatever the reason."""

    path: str
    name: str
    kind: str
    time: float
    expected: int | None
    done: int
    failed: int
    running: int
    invalid: int
    stale: int
    missing: int | None
    extra: int
    """Results that the campaign does not ask for."""
    rate: float | None
    """Results per second, over the last minutes."""
    eta_s: float | None
    axes: Expected
    states: NDArray[np.int8]
    workers: tuple[WorkerState, ...] = ()
    coordinators: tuple[Coordinator, ...] = ()
    failures: tuple[FailedTask, ...] = ()
    """Failed for good and still without a result, the newest first."""
    retried: int = 0
    """Attempts that failed and were tried again."""
    bad_files: tuple[BadFile, ...] = ()
    origins: dict[str, int] = field(default_factory=dict)
    """How many results are of each unverified origin: foreign, repacked, salvaged."""
    disk: Disk | None = None

    @classmethod
    def of(
        cls, results: ResultSet, counted: tuple[NDArray[np.int8], int], disk: Disk | None, seed: int | None
    ) -> Snapshot:
        """Put together what results, with their states as ``counted``, and the events of their run say now."""
        run, history, now, expected = results.run, results.history, time.time(), results.expected
        found = last_states(run, now, history.odd)
        coordinators = tuple(one for one, _ in found)
        workers = tuple(worker for one, mine in found for worker in mine if one.alive)
        by_result, outside = counted
        if seed is not None:
            expected, outside = expected.only_seed(seed), 0
            by_result = by_result[:, [results.expected.seeds.index(seed)]]
        wrong: dict[Path, Sequence[object]] = {**results.source.findings, **history.odd}
        damaged = (finding.key for findings in results.source.findings.values() for finding in findings)
        on = [worker.task for worker in workers if worker.task and expected.place(worker.task)]
        notes = {TaskState.RUNNING: on, TaskState.FAILED: history.failed_tasks, TaskState.INVALID: damaged}
        states = expected.noted(by_result, notes)
        count = {state: int((states == state).sum()) for state in TaskState}
        total, done = expected.total, count[TaskState.DONE]
        if seed is None and not expected.farms:
            done, outside = (
                len(results.answers),
                0,
            )  # keys of another kind than ours: they can only be counted
        rate = history.rate(now)
        left = None if total is None else total - done - count[TaskState.FAILED]
        estimates = [one.eta_s for one in coordinators if one.alive]
        failures = [
            failure
            for key, failure in history.failed_tasks.items()
            if (place := expected.place(key)) is not None and states[place] == TaskState.FAILED
        ]
        kind = "folder" if results.path.is_dir() else "campaign" if run.path.exists() else "database"
        return cls(
            path=str(results.path),
            name=results.campaign.name if results.campaign else results.path.name,
            kind=kind,
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
            coordinators=coordinators,
            failures=tuple(sorted(failures, key=lambda failure: failure.time, reverse=True)),
            retried=history.retried,
            bad_files=tuple(BadFile(str(path), tuple(map(str, wrong[path]))) for path in sorted(wrong)),
            origins=results.origins(),
            disk=disk,
        )

    @property
    def fraction(self) -> float | None:
        """Done of expected."""
        return self.done / self.expected if self.expected else None

    @property
    def active(self) -> bool:
        """Whether a coordinator is alive."""
        return any(coordinator.alive for coordinator in self.coordinators)

    def counts_by(self, dimensions: tuple[str, ...], *, every: bool = False) -> list[dict[str, Any]]:
        """Counts for every combination of these dimensions, in their order.

        Combinations that the campaign does not ask for, types of which a mixed farm has no cell, only with ``every``.
        """
        cells, axes = self.axes.cells, self.axes.axes
        unknown = [name for name in dimensions if name not in (*DIMENSIONS, *axes)]
        if unknown or len(set(dimensions)) < len(dimensions):
            known = ", ".join((*DIMENSIONS, *axes))
            raise ArgumentError(
                f"--by: {','.join(dimensions)!r} is not understood; give one or more of {known}, each once"
            )
        names: dict[str, Sequence[object]] = {
            "farm": self.axes.farms,
            "turbine": self.axes.type_labels,
            "seed": self.axes.seeds,
            **axes,
        }
        numbers = {
            "farm": [cell.farm_idx for cell in cells],
            "turbine": [cell.type_idx for cell in cells],
            "seed": range(len(self.axes.seeds)),
            **{
                axis: [values.index(self.axes.values_of(cell.combination)[number]) for cell in cells]
                for number, (axis, values) in enumerate(axes.items())
            },
        }
        shape = tuple(len(names[name]) for name in dimensions)
        along = (
            np.array(numbers[name], np.int64).reshape((1, -1) if name == "seed" else (-1, 1))
            for name in dimensions
        )
        place = np.zeros(self.states.shape, np.int64)
        for many, which in zip(shape, along, strict=True):
            place = place * many + which
        asked = np.bincount(place.ravel(), minlength=np.prod(shape, dtype=int))
        counts = {
            state.word: np.bincount(place[self.states == state], minlength=len(asked)) for state in TaskState
        }
        table = []
        for number, where in enumerate(itertools.product(*map(range, shape))):
            if not (every or asked[number]):
                continue
            row: dict[str, Any] = {
                name: names[name][index] for name, index in zip(dimensions, where, strict=True)
            }
            if {"farm", "turbine"} <= row.keys():
                here = dict(zip(dimensions, where, strict=True))
                row["turbine"] = self.axes.cell_label(here["farm"], here["turbine"])
            row |= {state: int(count[number]) for state, count in counts.items()}
            row["expected"] = int(asked[number]) if self.axes.known else None
            table.append(row)
        return table

    def to_json(self, by: tuple[str, ...] = ("farm", "turbine")) -> dict[str, Any]:
        """Everything but the single tasks, for scripts and the board."""
        parts = {name: value for name, value in vars(self).items() if name not in {"axes", "states"}}
        return {
            **{name: _plain(value) for name, value in parts.items()},
            "fraction": self.fraction,
            "active": self.active,
            "farms": list(self.axes.farms),
            "types": list(self.axes.type_labels),
            "seeds": len(self.axes.seeds),
            "axes": {axis: list(values) for axis, values in self.axes.axes.items()},
            "by": list(by),
            "counts": self.counts_by(by),
        }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [asdict(one) for one in value]
    return asdict(value) if isinstance(value, Disk) else value
