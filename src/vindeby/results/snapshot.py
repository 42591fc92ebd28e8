"""A campaign at one moment, as plain values: what ``monitor`` prints and ``board`` sends.

What a campaign expects is a block of states, farms x types x seeds, that can be counted along any of the three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, parse_key
from vindeby.errors import ArgumentError
from vindeby.results.columns import ResultColumns
from vindeby.store.disk.events import FailedTask, WorkerState
from vindeby.text import listed

_LARGEST_BLOCK = 20_000_000
NOT_ASKED = -1
"""In a block of states: a farm with a mix of types has one cell, and none for the other types."""


class TaskState(IntEnum):
    """The state of a task; one that was never started is OPEN."""

    OPEN = 0
    DONE = 1
    FAILED = 2
    RUNNING = 3
    INVALID = 4
    STALE = 5


@dataclass(frozen=True)
class Expected:
    """The three axes, and the fingerprints where a campaign is known."""

    farms: tuple[str, ...]
    types: tuple[str, ...]
    seeds: tuple[int, ...]
    total: int | None
    """How many results there should be; None when nothing says so."""
    known: bool
    """Whether a campaign says so for every farm, type and seed."""
    cells: tuple[Cell, ...] = ()
    """By farm and type; they know the fingerprints, where a campaign is known."""

    @classmethod
    def of(cls, campaign: Campaign) -> Expected:
        """What a campaign asks for."""
        return cls(
            campaign.farm_names,
            campaign.type_names,
            campaign.seeds,
            campaign.total_configs,
            known=True,
            cells=campaign.cells(),
        )

    def states(self, results: ResultColumns) -> tuple[NDArray[np.int8], int]:
        """What the results say of every task, by farm, type and seed; and how many results are of no task."""
        block = np.full((len(self.farms), len(self.types), len(self.seeds)), NOT_ASKED, np.int8)
        for cell in self._asked:
            block[cell] = TaskState.OPEN
        outside, is_known = 0, bool(self.cells)
        done, invalid, stale = (int(state) for state in (TaskState.DONE, TaskState.INVALID, TaskState.STALE))
        columns = ("farm_idx", "type_idx", "ss_seed", "fingerprint", "aep")
        for farm, type_idx, seed, mark, aep in zip(
            *(results.rows[name].tolist() for name in columns), strict=True
        ):
            place = self._place(farm, type_idx, seed)
            if place is None:
                outside += 1
            elif is_known and mark and mark != self._mark(farm, type_idx, seed):
                block[place] = stale
            else:
                block[place] = done if aep == aep else invalid
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

    def place(self, key: str) -> tuple[int, int, int] | None:
        """Where a task stands in the block; None when it is of another campaign."""
        numbers = parse_key(key)
        return None if numbers is None else self._place(*numbers)

    def _place(self, farm: int, type_idx: int, seed: int) -> tuple[int, int, int] | None:
        index = self._seed_places.get(seed)
        return (farm, type_idx, index) if index is not None and (farm, type_idx) in self._asked else None

    @cached_property
    def by_place(self) -> dict[tuple[int, int], Cell]:
        """The cells by farm and type; none where no campaign is known."""
        return {(cell.farm_idx, cell.type_idx): cell for cell in self.cells}

    @cached_property
    def _asked(self) -> frozenset[tuple[int, int]]:
        """Farms and types that results are asked of: all but the other types of a mixed farm."""
        every = np.ndindex(len(self.farms), len(self.types))
        return frozenset(self.by_place if self.cells else every)

    def cell_label(self, farm: int, type_idx: int) -> str:
        """The name of a type in a farm: of its mix, where it has one."""
        cell = self.by_place.get((farm, type_idx))
        return self.types[type_idx] if cell is None else cell.label(self.types)

    @cached_property
    def type_labels(self) -> tuple[str, ...]:
        """The name of each type; that of a mix, where all cells of the type are of this mix."""
        labels: list[set[str]] = [set() for _ in self.types]
        for farm, type_idx in self.by_place:
            labels[type_idx].add(self.cell_label(farm, type_idx))
        return tuple(
            next(iter(found)) if len(found) == 1 else name
            for name, found in zip(self.types, labels, strict=True)
        )

    @cached_property
    def _seed_places(self) -> dict[int, int]:
        return {seed: index for index, seed in enumerate(self.seeds)}

    def only_seed(self, seed: int) -> Expected:
        """The same with one seed."""
        if seed not in self._seed_places:
            known = listed(self.seeds)
            raise ArgumentError(f"--seed: {seed} is not one of the {len(self.seeds)} seeds here: {known}")
        total = len(self._asked) if self.known else None
        return replace(self, seeds=(seed,), total=total)

    @cached_property
    def _marks(self) -> dict[tuple[int, ...], bytes]:
        """Fingerprints computed before, so that a look per second does not compute them again for every result."""
        return {}

    def _mark(self, *task: int) -> bytes:
        mark = self._marks.get(task)
        if mark is None:
            mark = self._marks[task] = self.by_place[task[0], task[1]].fingerprint(task[2]).encode()
        return mark


def guessed(results: ResultColumns) -> Expected:
    """What was probably asked for, from the results alone, as in the file of an older script."""
    rows = results.rows
    farms, types = (int(rows[name].max(initial=-1)) + 1 for name in ("farm_idx", "type_idx"))
    seeds = tuple(int(seed) for seed in np.unique(rows["ss_seed"]) if seed >= 0)
    said = results.source.attributes.get("total_configs")
    total = said if isinstance(said, int) and not isinstance(said, bool) and said >= len(rows) else None
    if farms * types * len(seeds) > _LARGEST_BLOCK:
        farms, types, seeds = 0, 0, ()
    return Expected(
        tuple(f"farm{index}" for index in range(farms)),
        tuple(f"t{index}" for index in range(types)),
        seeds,
        total,
        known=total is not None and total == farms * types * len(seeds),
    )


DIMENSIONS = ("farm", "turbine", "seed")


@dataclass(frozen=True)
class Coordinator:
    """A ``vindeby run``, as it last reported; ``age_s`` is how long ago that was."""

    name: str
    age_s: float
    alive: bool
    ending: bool = False
    trouble: str = ""
    eta_s: float | None = None


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
        axes = [DIMENSIONS.index(name) for name in dimensions]
        block = np.moveaxis(self.states, axes, range(len(axes)))
        block = block.reshape(*block.shape[: len(axes)], -1)
        counts = {state.name.lower(): (block == state).sum(axis=-1) for state in TaskState}
        asked = (block != NOT_ASKED).sum(axis=-1)
        names = {"farm": self.axes.farms, "turbine": self.axes.type_labels, "seed": self.axes.seeds}
        table = []
        for place in np.ndindex(*asked.shape):
            if not (every or asked[place]):
                continue
            where = dict(zip(dimensions, place, strict=True))
            row: dict[str, Any] = {name: names[name][index] for name, index in where.items()}
            if "farm" in where and "turbine" in where:
                row["turbine"] = self.axes.cell_label(where["farm"], where["turbine"])
            row |= {state: int(count[place]) for state, count in counts.items()}
            row["expected"] = int(asked[place]) if self.axes.known else None
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
            "by": list(by),
            "counts": self.counts_by(by),
        }


def _plain(value: Any) -> Any:
    """A value, or values, of a snapshot as JSON has them."""
    if isinstance(value, tuple):
        return [asdict(one) for one in value]
    return asdict(value) if isinstance(value, Disk) else value
