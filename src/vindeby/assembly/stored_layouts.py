"""Layouts out of a database, read-only: neighbours and starts of another campaign, and layouts to evaluate.

Only results that are done are used: those that answer the database's own campaign and are possible. The best of a farm
and type is the one with the most energy, or the best by the campaign's objective. A layout is known by its key and the
start of its record's checksum, so that whoever comes back to it notices when the database has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.assembly.done import Judge
from vindeby.assembly.stored_turbines import layout_of, worth_of
from vindeby.campaign import Campaign
from vindeby.campaign.stored import Pinned
from vindeby.campaign.tasks import Cell, KeyParts, parse_key, task_key
from vindeby.errors import DataError, InputError, TaskError
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database

_DIGITS = 16


@dataclass(frozen=True)
class TypedLayout:
    """The positions (m) of turbines, and each turbine's type number in the campaign of the database."""

    x: FloatArray
    y: FloatArray
    types: IntArray

    def __len__(self) -> int:
        return len(self.x)


def layout_in(record: Record) -> TypedLayout:
    """Return the layout of a record; raise TaskError if it holds none."""
    places, numbers = layout_of(record), parse_key(record.key)
    if places is None or not places.size or numbers is None:
        raise TaskError(f"record {record.key} holds no layout")
    (x, y), types = places, record.arrays.get("types")
    if types is None or types.shape != x.shape:
        types = np.full(len(x), numbers[1])
    return TypedLayout(x, y, types.astype(np.int64))


class NotStoredError(InputError):
    """A layout that is asked for is not in the database; ``key`` is the word that does not fit: farm, type or seed."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class PinnedLayouts:
    """The chosen layouts for a worker, each read once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[Pinned, TypedLayout] = {}
        self._reading = Lock()

    @cached_property
    def database(self) -> Database:
        """The database, opened when it is first needed."""
        return Database(self.path)

    def layout(self, pinned: Pinned) -> TypedLayout:
        """Return the pinned layout; raise TaskError if the database no longer holds the same one."""
        with self._reading:
            if pinned not in self._known:
                if self.database.checksum(pinned.key)[:_DIGITS] != pinned.checksum:
                    raise TaskError(
                        f"{self.path}: {pinned.key} is not what it was when this evaluation began; "
                        "start the evaluation again, which chooses layouts anew"
                    )
                self._known[pinned] = layout_in(self.database[pinned.key])
            return self._known[pinned]

    def close(self) -> None:
        """Close the database."""
        if "database" in vars(self):
            self.database.close()


class StoredLayouts(PinnedLayouts):
    """The results of a database that can be evaluated."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        if (writer := self.database.run.lock("run").holder()) is not None and not writer.is_dead:
            raise InputError(
                f"{path}: is being written by {writer}, so its best layouts still change; wait for it"
            )
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
        for cell in self.campaign.variants[0].cells():
            self.cells.setdefault(cell.farm_idx, []).append(cell)
        self._judge = Judge(self.campaign)
        self._look_up = cache(self._verified)

    def pinned(self, cell: Cell, seed: int | str) -> Pinned:
        """Return the layout of a farm and type with this seed, or the best; raise DataError without a valid result."""
        types = [turbine.name for turbine in self.campaign.turbines]
        farm, type_ = self.campaign.farms[cell.farm_idx].name, cell.label(types)
        if seed == "best":
            by_worth = self._by_worth.get((cell.farm_idx, cell.type_idx), ())
            for best in map(self._look_up, by_worth):
                if isinstance(best, Pinned):
                    return best
            raise DataError(f"{self.path}: holds no valid result of farm {farm!r} with type {type_!r}")
        if self.campaign.vary:
            raise DataError(
                f"{self.path}: has several combinations, of which only best says which one is meant"
            )
        key = task_key(cell.farm_idx, cell.type_idx, seed)
        found = self._look_up(key)
        if isinstance(found, Pinned):
            return found
        raise DataError(f"{self.path}: farm {farm!r} with type {type_!r} and seed {seed}: {key}: {found}")

    def named(self, farm: str | None, type_: str | None, seed: int | str) -> Pinned:
        """Return the layout of a farm and type by names, either of which may be left out if there is only one.

        NotStoredError where the database has no such farm, type or result.
        """
        cells = self.cells_of(farm)
        types = [turbine.name for turbine in self.campaign.turbines]
        cell = cells[self._index("type", [cell.label(types) for cell in cells], type_)]
        try:
            return self.pinned(cell, seed)
        except DataError as error:
            raise NotStoredError("seed", str(error)) from None

    def cells_of(self, farm: str | None) -> list[Cell]:
        """Return the cells of a farm by its name, as ``named`` does."""
        return self.cells[self._index("farm", [one.name for one in self.campaign.farms], farm)]

    def _index(self, key: str, names: Sequence[str], name: str | None) -> int:
        if name is None and len(names) == 1:
            return 0
        if name is None or name not in names:
            wrong = f"there is no {key} {name!r}" if name is not None else f"the {key} is missing"
            raise NotStoredError(key, f"{self.path}: {wrong}; it has: {', '.join(names)}")
        return names.index(name)

    @cached_property
    def _by_worth(self) -> dict[tuple[int, int], list[str]]:
        return keys_by_worth(self.database, self.campaign)

    def _verified(self, key: str) -> Pinned | str:
        """Return a finished result, or why there is none."""
        wrong = self._judge.why_not_done(self.database, key)
        return wrong or Pinned(key, self.database.checksum(key)[:_DIGITS])


def keys_by_worth(database: Database, campaign: Campaign) -> dict[tuple[int, int], list[str]]:
    """Return the keys of all results by farm and type, the best first, by their objective or their energy.

    With axes, worths of different combinations are compared as they are.
    """
    found: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for segment in database.segments():
        for record in segment.records():
            numbers, worth = parse_key(record.key), worth_of(record, campaign.objective)
            if numbers is not None and worth is not None:
                found.setdefault(numbers[:2], []).append((-worth, record.key))
    return {place: [key for _, key in sorted(entries)] for place, entries in found.items()}


def read_neighbours(path: Path, farm: str | None, type_: str | None, seed: int | str) -> dict[str, Any]:
    """Return as neighbours the layout of a farm and type with a seed, or the best of them (``best``)."""
    stored = StoredLayouts(path)
    with stored.database:
        pinned = stored.named(farm, type_, seed)
        layout, parts = stored.layout(pinned), KeyParts.of(pinned.key)
    kinds = sorted({*layout.types.tolist()})
    turbines = {kind: stored.campaign.turbines[kind] for kind in kinds}
    names = "+".join(turbine.name for turbine in turbines.values())
    what = f"{stored.campaign.farms[parts.farm_idx].name}, {names}, seed {parts.seed}"
    return {
        "positions": np.stack([layout.x, layout.y], axis=1).tolist(),
        "source": f"{path.name} {pinned.key} ({what})",
        "turbines": [
            turbine.model_dump(mode="json", by_alias=True, exclude_none=True) for turbine in turbines.values()
        ],
        "type": names if len(kinds) == 1 else [turbines[kind].name for kind in layout.types.tolist()],
    }


def read_starts(
    path: Path, farms: Mapping[str, str], types: Mapping[str, str], seeds: Mapping[int | None, int | str]
) -> Iterator[dict[str, Any]]:
    """Yield a layout for each farm, type and seed of another campaign, whose names and seeds map to those stored.

    InputError where a farm has no results of any of the types, DataError where a result is missing or not valid.
    """
    stored = StoredLayouts(path)
    with stored.database:
        names = [one.name for one in stored.campaign.turbines]
        ours = {theirs: own for own, theirs in types.items()}
        for farm, theirs in farms.items():
            every = stored.cells_of(theirs)
            cells = {cell.label(names): cell for cell in every}
            wanted = [
                (cell, own)
                for label, cell in cells.items()
                for own in ([None] if cell.mix else [one for one in types if types[one] == label])
            ]
            if not wanted:
                asked = " or ".join(types.values())
                raise InputError(f"{path}: there is no type {asked} in it; it has: {', '.join(cells)}")
            for (cell, own), (seed, stored_seed) in product(wanted, seeds.items()):
                layout = stored.layout(stored.pinned(cell, stored_seed))
                each = [ours.get(names[kind], names[kind]) for kind in layout.types] if cell.mix else None
                given = {"farm": farm, "turbine": own, "seed": seed, "type": each}
                place = {"x": layout.x.tolist(), "y": layout.y.tolist()}
                yield {**{key: value for key, value in given.items() if value is not None}, **place}
