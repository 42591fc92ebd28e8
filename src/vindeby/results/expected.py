"""The results that a campaign expects: its farms, types, seeds and combinations, with their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, KeyParts, parse_key, task_key
from vindeby.results.query import Labels
from vindeby.store.format.record import Attribute
from vindeby.store.states import TaskState

_LARGEST_BLOCK = 20_000_000
CellPlace = tuple[int, int, int]
"""The numbers of farm, type and combination of axes in the campaign."""


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
    """The number of results that there should be; None if it is unknown."""
    known: bool = False
    """True if it is known for every cell and seed whether a result is expected."""

    @classmethod
    def of(cls, campaign: Campaign) -> Expected:
        """Return the results that a campaign expects."""
        names, axes = (campaign.farm_names, campaign.type_names, campaign.seeds), campaign.axes
        combinations = tuple(tuple(one.values[axis] for axis in axes) for one in campaign.combinations)
        return cls(*names, campaign.cells(), axes, combinations, campaign.total_configs, known=True)

    @classmethod
    def guessed(cls, rows: NDArray[Any], attributes: Mapping[str, Attribute]) -> Expected:
        """Return the results that were probably expected, guessed from stored ones, e.g. in an older script's file."""
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
        """Return the state of every task, (cells, seeds), and the number of results that belong to no task."""
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
        """Return the states, changed to those of keys in ``notes``; earlier entries have priority, results most."""
        block = states.copy()
        for state, keys in notes.items():
            for key in keys:
                place = self.place(key)
                if place is not None and block[place] == TaskState.OPEN:
                    block[place] = state
        return block

    def place(self, key: str) -> tuple[int, int] | None:
        """Return the cell and the seed of a task, by their numbers in the block; None if it is of another campaign."""
        parts = parse_key(key)
        combination = None if parts is None else self._tags.get(parts.tag)
        if parts is None or combination is None:
            return None
        return self.place_of(parts.farm_idx, parts.type_idx, combination, parts.seed)

    def place_of(self, farm: int, type_idx: int, combination: int, seed: int) -> tuple[int, int] | None:
        """Return the numbers in the block of the cell and the seed of a task; None if they are unknown."""
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
        """Return the key of a task by its farm, type, combination and seed."""
        farm, type_idx, combination, seed = place
        cell = self.by_place.get((farm, type_idx, combination))
        return task_key(farm, type_idx, seed) if cell is None else cell.key(seed)

    def names(self, places: Iterable[CellPlace]) -> dict[str, list[str]]:
        """Return the names of the farm and the type of each place, and of its value of each axis."""
        farms, types, combinations = [*zip(*places, strict=True)] or [(), (), ()]
        values = {number: self.values_of(number) for number in {*combinations}}
        return {
            "farm": [*map(self.farm_name, farms)],
            "type": [*map(self.cell_name, farms, types, combinations)],
            **{axis: [values[one][n] for one in combinations] for n, axis in enumerate(self.axes)},
        }

    def columns_of(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the columns that a query of tasks can name, for these keys of the campaign."""
        parts = {key: KeyParts.of(key) for key in keys}
        places = [(one.farm_idx, one.type_idx, self._tags[one.tag]) for one in parts.values()]
        seeds = [one.seed for one in parts.values()]
        return query_columns([*parts], places, self.names(places), seeds)

    def values_of(self, combination: int) -> tuple[str, ...]:
        """Return the name of the value of each axis; empty names for a combination that is not known."""
        known = 0 <= combination < len(self.combinations)
        return self.combinations[combination] if known else ("",) * len(self.axes)

    def farm_name(self, farm: int) -> str:
        """Return the campaign's name of a farm."""
        return self.farms[farm] if 0 <= farm < len(self.farms) else f"farm{farm}"

    def type_name(self, type_idx: int) -> str:
        """Return the campaign's name of a type; the name of a mix if all cells of the type have this mix."""
        return self.type_labels[type_idx] if 0 <= type_idx < len(self.types) else f"t{type_idx}"

    def cell_name(self, farm: int, type_idx: int, combination: int = 0) -> str:
        """Return the name of the type or mix of a farm's cell."""
        cell = self.by_place.get((farm, type_idx, combination))
        if cell is not None:
            return cell.label(self.types)
        return self.types[type_idx] if 0 <= type_idx < len(self.types) else f"t{type_idx}"

    def kind_in_words(self, farm: int, type_idx: int, combination: int = 0) -> str:
        """Return the type or mix and the value of each axis: ``iea15, jensen``."""
        name = self.cell_name(farm, type_idx, combination)
        return ", ".join(filter(None, [name, *self.values_of(combination)]))

    def cell_in_words(self, farm: int, type_idx: int, combination: int = 0) -> str:
        """Return the farm's name, the type or mix and the value of each axis."""
        return f"{self.farm_name(farm)}, {self.kind_in_words(farm, type_idx, combination)}"

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


def query_columns(
    keys: list[str], places: Iterable[CellPlace], names: Mapping[str, list[str]], seeds: Any
) -> dict[str, Any]:
    """Return the columns that every query can name: keys, names in both forms, values of axes and seeds."""
    farms, types, _ = [*zip(*places, strict=True)] or [(), (), ()]
    return {
        "key": np.array(keys, np.str_),
        **{axis: np.array(values, np.str_) for axis, values in names.items()},
        "farm": Labels.of("farm", farms, names["farm"]),
        "type": Labels.of("t", types, names["type"]),
        "seed": np.asarray(seeds, np.int64),
    }
