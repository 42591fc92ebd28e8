"""A campaign at one moment, as plain values: what ``monitor`` prints and ``board`` sends.

What a campaign expects is a block of states, cells x seeds, that can be counted along farms, turbine types and seeds.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import ArgumentError
from vindeby.results.expected import Expected
from vindeby.results.history import Coordinator
from vindeby.store.disk.events import FailedTask, WorkerState
from vindeby.store.states import TaskState

DIMENSIONS = ("farm", "turbine", "seed")
"""The dimensions that tasks are counted by, beside the axes of their campaign."""


@dataclass(frozen=True)
class BadFile:
    """A file in which something is wrong, and what."""

    path: str
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Disk:
    """The bytes used by the database and its run directory, and the bytes left on their disk."""

    database: int
    run_directory: int
    free: int

    @classmethod
    def of(cls, path: Path, run_directory: Path) -> Disk | None:
        """Measure the disk space; None if the disk does not report it."""
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
    """How many results are of each unverified origin: foreign or salvaged."""
    disk: Disk | None = None

    @property
    def fraction(self) -> float | None:
        """The fraction of the expected results that are done."""
        return self.done / self.expected if self.expected else None

    @property
    def active(self) -> bool:
        """Return whether a coordinator is alive."""
        return any(coordinator.alive for coordinator in self.coordinators)

    def counts_by(self, dimensions: tuple[str, ...], *, every: bool = False) -> list[dict[str, Any]]:
        """Return the counts for every combination of these dimensions, in their order.

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
                row["turbine"] = self.axes.cell_name(here["farm"], here["turbine"])
            row |= {state: int(count[number]) for state, count in counts.items()}
            row["expected"] = int(asked[number]) if self.axes.known else None
            table.append(row)
        return table

    def to_json(self, by: tuple[str, ...] = ("farm", "turbine")) -> dict[str, Any]:
        """Return everything but the single tasks, for scripts and the board."""
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
