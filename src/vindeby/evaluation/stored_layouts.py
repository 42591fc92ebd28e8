"""The layouts of a database that an evaluation uses, and the cases made of them.

The database is opened read-only, and only results that are done are used. A layout is known by its key and the start of
its record's checksum, so that an evaluation that is resumed notices when the database under it has changed.

A case is one of the evaluated layouts among one combination of neighbours, as a line of text. The campaign of a study
lists its cases, one for each seed. The text is part of a result's fingerprint, so it holds what decides: the
neighbours with the checksums of their layouts, their dates, and the steps of the series at these dates. A neighbour
stands in every step whose time is its date or later; periods are the parts of the series between such dates.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.assembly.done import Judge
from vindeby.assembly.stored_layout import keys_by_worth
from vindeby.assembly.stored_turbines import layout_of
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, parse_key, task_key
from vindeby.errors import DataError, InputError, TaskError
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database

_DIGITS = 16


class Pinned(NamedTuple):
    """A stored layout by its key, and the first digits of the checksum that its record had when it was chosen."""

    key: str
    checksum: str

    def __str__(self) -> str:
        return f"{self.key} {self.checksum}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """From ``str``."""
        key, _, checksum = text.partition(" ")
        return cls(key, checksum)

    @property
    def farm_idx(self) -> int:
        """The number of its farm in the campaign of the database."""
        numbers = parse_key(self.key)
        assert numbers is not None, "only results of tasks are chosen"
        return numbers[0]


@dataclass(frozen=True)
class TypedLayout:
    """Where turbines stand (m), and for each the number of its type in the campaign of the database."""

    x: FloatArray
    y: FloatArray
    types: IntArray

    def __len__(self) -> int:
        return len(self.x)


def layout_in(record: Record) -> TypedLayout:
    """The layout of a record; TaskError where it holds none."""
    places, numbers = layout_of(record), parse_key(record.key)
    if places is None or not places.size or numbers is None:
        raise TaskError(f"record {record.key} holds no layout")
    (x, y), types = places, record.arrays.get("types")
    if types is None or types.shape != x.shape:
        types = np.full(len(x), numbers[1])
    return TypedLayout(x, y, types.astype(np.int64))


class PinnedLayouts:
    """Layouts that were chosen, each read once; what a worker uses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[Pinned, TypedLayout] = {}
        self._reading = Lock()

    @cached_property
    def database(self) -> Database:
        """The database, opened when it is first needed."""
        return Database(self.path)

    def layout(self, pinned: Pinned) -> TypedLayout:
        """The layout; TaskError when the database no longer holds it as it was."""
        with self._reading:
            if pinned not in self._known:
                if self.database.checksum(pinned.key)[:_DIGITS] != pinned.checksum:
                    raise TaskError(
                        f"{self.path}: {pinned.key} is not what it was when this evaluation began; "
                        "run `vindeby evaluate` again, which says what has changed"
                    )
                self._known[pinned] = layout_in(self.database[pinned.key])
            return self._known[pinned]


class StoredLayouts(PinnedLayouts):
    """The results of a database that can be evaluated."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.digest, text = self.database.digest, self.database.campaign_text
        if text is None:
            raise InputError(
                f"{path}: keeps no campaign that says what its results are; `vindeby adopt` gives it one"
            )
        self.campaign = Campaign.loads(text, f"{path} (campaign)")
        if not self.campaign.is_about_wind:
            raise InputError(
                f"{path}: holds results of a function without wind; only layouts can be evaluated"
            )
        self.cells: dict[int, list[Cell]] = {}
        for cell in self.campaign.cells():
            self.cells.setdefault(cell.farm_idx, []).append(cell)
        self._judge = Judge(self.campaign)
        self._look_up = cache(self._verified)

    def pinned(self, cell: Cell, seed: int | str) -> Pinned:
        """The layout of a farm and type with this seed, or the best; DataError when it has no valid result."""
        types = [turbine.name for turbine in self.campaign.turbines]
        farm, type_ = self.campaign.farms[cell.farm_idx].name, cell.label(types)
        if seed == "best":
            by_worth = self._by_worth.get((cell.farm_idx, cell.type_idx), ())
            for best in map(self._look_up, by_worth):
                if isinstance(best, Pinned):
                    return best
            raise DataError(f"{self.path}: holds no valid result of farm {farm!r} with type {type_!r}")
        key = task_key(cell.farm_idx, cell.type_idx, seed)
        found = self._look_up(key)
        if isinstance(found, Pinned):
            return found
        raise DataError(f"{self.path}: farm {farm!r} with type {type_!r} and seed {seed}: {key}: {found}")

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    @cached_property
    def _by_worth(self) -> dict[tuple[int, int], list[str]]:
        return keys_by_worth(self.database, self.campaign)

    def _verified(self, key: str) -> Pinned | str:
        """A result that is done, or why there is none."""
        wrong = self._judge.why_not_done(self.database, key)
        return wrong or Pinned(key, self.database.checksum(key)[:_DIGITS])


@dataclass(frozen=True)
class Neighbour:
    """A stored layout that stands, from a date on or always."""

    pinned: Pinned
    since: str | None = None
    first_step: int = 0
    """Of the time series, the first at the date or later; as many as it has where all are before."""

    def __str__(self) -> str:
        return self.pinned.key if self.since is None else f"{self.pinned.key} from {self.since}"


@dataclass(frozen=True)
class Case:
    """Which of the layouts of its farm and type is evaluated (from 0), and what stands around it."""

    layout: int
    combination: str
    neighbours: tuple[Neighbour, ...]

    def dumps(self) -> str:
        """As text, the same for equal cases."""
        rows = [
            [str(one.pinned), one.since, one.first_step] if one.since else [str(one.pinned)]
            for one in self.neighbours
        ]
        return json.dumps([self.layout, self.combination, rows], separators=(",", ":"))

    @classmethod
    def loads(cls, text: str) -> Case:
        """From text."""
        layout, combination, rows = json.loads(text)
        neighbours = [Neighbour(Pinned.parse(text), *date) for text, *date in rows]
        return cls(layout, combination, tuple(neighbours))


@dataclass(frozen=True)
class Period:
    """Steps ``first`` up to ``last`` of the series, and who stands then, in the order of their keys."""

    first: int
    last: int
    standing: tuple[Pinned, ...]


def periods_of(neighbours: Sequence[Neighbour], steps: int) -> list[Period]:
    """The periods in order; one where no neighbour has a date. Without steps, the whole site is one."""
    first_step = {one.pinned: one.first_step for one in neighbours}
    keys = sorted(one.pinned for one in neighbours)  # equal sets give equal bits
    edges = sorted({0, steps, *(step for step in first_step.values() if step < steps)})
    if not steps:
        return [Period(0, 0, tuple(keys))]
    return [
        Period(first, last, tuple(key for key in keys if first_step[key] <= first))
        for first, last in pairwise(edges)
    ]
