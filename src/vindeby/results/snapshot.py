"""A campaign at one moment, as plain values: what ``monitor`` prints and ``board`` sends."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.results.expected import NOT_ASKED, Expected, State

DIMENSIONS = ("farm", "turbine", "seed")


@dataclass(frozen=True)
class Failure:
    """A task that failed, for good or to be tried again."""

    key: str
    kind: str
    reason: str
    traceback: str
    log: str
    attempts: int
    time: float


@dataclass(frozen=True)
class Worker:
    """A worker process, as its coordinator last saw it."""

    coordinator: str
    slot: int
    pid: int
    task: str | None
    seconds: float
    silent_s: float
    memory: int
    node: str = ""
    """The machine that it runs on."""
    job: str = ""
    """The batch job that it belongs to; empty where there is none."""
    progress: dict[str, Any] = field(default_factory=dict)
    doing: str = ""
    """How far its task is; ``progress`` has the numbers."""


@dataclass(frozen=True)
class Coordinator:
    """A ``vindeby run``, as it last spoke; ``age_s`` is how long ago that was."""

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
    """ResultColumns that the campaign does not ask for."""
    rate: float | None
    """ResultColumns a second, lately."""
    eta_s: float | None
    axes: Expected
    states: NDArray[np.int8]
    workers: tuple[Worker, ...] = ()
    coordinators: tuple[Coordinator, ...] = ()
    failures: tuple[Failure, ...] = ()
    """Failed for good and still without a result, the newest first."""
    retried: int = 0
    """Attempts that failed and were tried again."""
    bad_files: tuple[BadFile, ...] = ()
    origins: dict[str, int] = field(default_factory=dict)
    """How many results are of each unverified origin: foreign, repacked, salvaged."""
    disk: Disk | None = None
    history: tuple[tuple[float, int], ...] = field(default=(), repr=False)
    """When how many results had been published, as the events tell it."""

    @property
    def fraction(self) -> float | None:
        """Done of expected."""
        return self.done / self.expected if self.expected else None

    @property
    def active(self) -> bool:
        """Is anybody working on it?"""
        return any(coordinator.alive for coordinator in self.coordinators)

    def counts_by(self, dimensions: tuple[str, ...], *, every: bool = False) -> list[dict[str, Any]]:
        """Counts for every combination of these dimensions, in their order.

        Combinations that the campaign does not ask for, types of which a mixed farm has no cell, only with ``every``.
        """
        kept = [DIMENSIONS.index(name) for name in dimensions]
        summed = tuple(axis for axis in range(3) if axis not in kept)
        counts = {state: np.sum(self.states == state, axis=summed) for state in State}
        ordered = sorted(kept)
        names = {"farm": self.axes.farms, "turbine": self.axes.type_labels, "seed": self.axes.seeds}
        asked = np.any(self.states != NOT_ASKED, axis=summed)
        table = []
        for place in np.ndindex(*(self.states.shape[axis] for axis in ordered)):
            where = dict(zip(ordered, place, strict=True))
            if not (every or asked[place]):
                continue
            row: dict[str, Any] = {
                DIMENSIONS[axis]: names[DIMENSIONS[axis]][where[axis]] for axis in kept
            } | {state.name.lower(): int(count[place]) for state, count in counts.items()}
            if 0 in where and 1 in where:
                row["turbine"] = self.axes.cell_label(where[0], where[1])
            row["expected"] = sum(int(count[place]) for count in counts.values()) if self.axes.known else None
            table.append((tuple(where[axis] for axis in kept), row))
        return [row for _, row in sorted(table, key=lambda entry: entry[0])]

    def to_json(self, by: tuple[str, ...] = ("farm", "turbine")) -> dict[str, Any]:
        """Everything but the single tasks, for scripts and the board."""
        plain = {
            name: value
            for name, value in vars(self).items()
            if name
            not in {"axes", "states", "workers", "coordinators", "failures", "bad_files", "disk", "history"}
        }
        return {
            **plain,
            "fraction": self.fraction,
            "active": self.active,
            "farms": list(self.axes.farms),
            "types": list(self.axes.type_labels),
            "seeds": len(self.axes.seeds),
            "by": list(by),
            "counts": self.counts_by(by),
            "workers": [asdict(worker) for worker in self.workers],
            "coordinators": [asdict(coordinator) for coordinator in self.coordinators],
            "failures": [asdict(failure) for failure in self.failures],
            "bad_files": [asdict(bad) for bad in self.bad_files],
            "disk": asdict(self.disk) if self.disk else None,
        }
