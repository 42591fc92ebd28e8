"""A study beside its database: which layouts it means, and whether they are there.

What the study file says wrongly is refused with its place there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations as subsets_of
from typing import NoReturn

import numpy as np

from vindeby.campaign.reading.problems import show
from vindeby.campaign.reading.yaml_text import Document, Path, field_name
from vindeby.campaign.refusals import SAME_PLACE_M
from vindeby.campaign.sections.time_series import TimeSeries
from vindeby.campaign.tasks import Cell
from vindeby.errors import CampaignError, DataError, Problem
from vindeby.evaluation.stored_layouts import Case, Neighbour, Pinned, StoredLayouts, first_step_of, times_of
from vindeby.evaluation.study import Neighbours, Row, Study

NOBODY = "none"
"""The name of the combination in which no neighbour stands."""


@dataclass(frozen=True)
class Standing:
    """A row, and where the study file has it, for messages."""

    row: Row
    at: Path


@dataclass(frozen=True)
class Combination:
    """Neighbours that stand together, each from its date on if it has one."""

    name: str
    standing: tuple[Standing, ...] = ()


def combinations_of(neighbours: Neighbours | None) -> list[Combination]:
    """The combinations in their order; one without neighbours where none are named."""
    if neighbours is None:
        return [Combination(NOBODY)]
    form, given = neighbours.chosen
    if form == "table":
        return _of_table(neighbours)
    rows = tuple(Standing(row, ("neighbours", form, index)) for index, row in enumerate(given))
    if form == "together":
        return [Combination("together", rows)]
    if form == "one_by_one":
        return [_named(rows[:count]) for count in range(len(rows) + 1)]
    sizes = range(len(rows) + 1)
    return [_named(chosen) for size in sizes for chosen in subsets_of(rows, size)]


def _named(rows: tuple[Standing, ...]) -> Combination:
    return Combination("+".join(one.row.farm for one in rows) or NOBODY, rows)


def _of_table(neighbours: Neighbours) -> list[Combination]:
    found: dict[str, list[Standing]] = {}
    for index, line in enumerate(neighbours.table or ()):
        rows, row = found.setdefault(line.combination, []), line.row()
        if row is not None:
            rows.append(Standing(row, ("neighbours", "table", index)))
    return [Combination(name, tuple(rows)) for name, rows in found.items()]


@dataclass(frozen=True)
class Selection:
    """What a study means: farms and types by their numbers in the database, their layouts, and the cases."""

    farms: tuple[int, ...]
    types: tuple[int, ...]
    layouts: dict[tuple[int, int], tuple[Pinned, ...]]
    cases: tuple[Case, ...]


class Selector:
    """Finds what a study means in a database."""

    def __init__(self, study: Study, document: Document, stored: StoredLayouts) -> None:
        self.study, self.document, self.stored = study, document, stored
        self.farms = [farm.name for farm in stored.campaign.farms]
        self.types = [turbine.name for turbine in stored.campaign.turbines]
        self._times: list[datetime] | None = None

    def select(self) -> Selection:
        """The selection; CampaignError or DataError says what is wrong or missing."""
        if self.study.output == "power" and self._series() is None:
            self.refuse(
                ("output",), "needs a time series", "power", "give site: time_series, or write output: aep"
            )
        farms = self._numbers("farms", self.study.layouts.farms, self.farms)
        types = self._types(farms)
        cells = [
            cell for farm in farms for cell in self.stored.cells[farm] if cell.mix or cell.type_idx in types
        ]
        seeds = self._seeds()
        layouts = {
            (cell.farm_idx, cell.type_idx): tuple(self.stored.pinned(cell, seed) for seed in seeds)
            for cell in cells
        }
        cases = self._cases(combinations_of(self.study.neighbours), len(seeds))
        self._refuse_doubled(layouts, cases)
        return Selection(tuple(farms), tuple(types), layouts, tuple(cases))

    def refuse(self, at: Path, message: str, value: object, remedy: str) -> NoReturn:
        """Raise with the place in the study file."""
        origin = self.document.origin(at)
        problem = Problem(origin.source, field_name(at), message, show(value), remedy, origin.line)
        raise CampaignError([problem])

    def _numbers(self, key: str, given: Sequence[str] | None, known: Sequence[str]) -> list[int]:
        for index, name in enumerate(given or ()):
            if name not in known:
                remedy = f"{self.stored.path.name} has: {', '.join(known)}"
                self.refuse(("layouts", key, index), "is not in the database", name, remedy)
            if name in (given or ())[:index]:
                self.refuse(("layouts", key, index), "is listed twice", name, "list it once")
        return list(range(len(known))) if given is None else sorted(known.index(name) for name in given)

    def _types(self, farms: Sequence[int]) -> list[int]:
        types = self._numbers("types", self.study.layouts.types, self.types)
        mixed = [farm for farm in farms if self.stored.cells[farm][0].mix]
        if not mixed:
            return types
        needed = {kind for farm in mixed for kind, _ in self.stored.cells[farm][0].mix}
        if len(mixed) < len(farms) and not needed <= set(types):
            self.refuse(
                ("layouts",),
                f"farm {self.farms[mixed[0]]!r} has a mix of types that are not all listed",
                None,
                "evaluate farms with a mix in a study of their own",
            )
        return sorted(needed | set(types)) if len(mixed) < len(farms) else sorted(needed)

    def _seeds(self) -> list[int | str]:
        given = self.study.layouts.seeds
        if isinstance(given, str):
            return ["best"] if given == "best" else list(self.stored.campaign.seeds)
        for index, seed in enumerate(given):
            if seed not in self.stored.campaign.seeds:
                remedy = f"its seeds are {_some(self.stored.campaign.seeds)}"
                self.refuse(("layouts", "seeds", index), "is not a seed of the database", seed, remedy)
        return list(given)

    def _cases(self, combinations: Sequence[Combination], layouts: int) -> list[Case]:
        cases = []
        for combination in combinations:
            around = tuple(self._neighbour(one) for one in combination.standing)
            # A list of combinations that grows keeps the numbers of those that were there.
            cases += [Case(layout, combination.name, around) for layout in range(layouts)]
        return cases

    def _neighbour(self, standing: Standing) -> Neighbour:
        row, at = standing.row, standing.at
        if row.farm not in self.farms:
            remedy = f"{self.stored.path.name} has: {', '.join(self.farms)}"
            self.refuse((*at, "farm"), "is not a farm of the database", row.farm, remedy)
        cell = self._cell(self.stored.cells[self.farms.index(row.farm)], row.type, at)
        first_step = 0 if row.since is None else self._first_step(row.since, (*at, "from"))
        try:
            return Neighbour(self.stored.pinned(cell, row.seed), row.since, first_step)
        except DataError as error:
            self.refuse(
                (*at, "seed"), str(error), row.seed, "name a result that is there, or run the campaign first"
            )

    def _cell(self, cells: Sequence[Cell], name: str | None, at: Path) -> Cell:
        labels = [cell.label(self.types) for cell in cells]
        if name is None and len(cells) == 1:
            return cells[0]
        if name not in labels:
            message = "is missing" if name is None else "is not a type of this farm"
            self.refuse((*at, "type"), message, name, f"the farm has: {', '.join(labels)}")
        return cells[labels.index(name)]

    def _first_step(self, since: str, at: Path) -> int:
        """Of the series, the first step at this date or later."""
        series = self._series()
        times = None if series is None else series.times
        if series is None or times is None:
            self.refuse(
                at,
                "needs a time series with times",
                since,
                "give site: time_series with times, or leave it out",
            )
        aware = [datetime.fromisoformat(text).tzinfo is not None for text in (since, times[0])]
        if aware[0] != aware[1]:
            what = "has a time zone, but the times of the series have none"
            other = "has no time zone, but the times of the series have one"
            self.refuse(at, what if aware[0] else other, since, f"write it like {times[0]}")
        if self._times is None:
            self._times = times_of(series)
        return first_step_of(since, self._times)

    def _series(self) -> TimeSeries | None:
        return (self.study.site or self.stored.campaign.site).time_series

    def _refuse_doubled(
        self, layouts: dict[tuple[int, int], tuple[Pinned, ...]], cases: Sequence[Case]
    ) -> None:
        """Refuse layouts of two farms that overlap: a turbine cannot stand where another does."""
        seen: set[tuple[Pinned, Pinned]] = set()
        own = [one for several in layouts.values() for one in several]
        for case in cases:
            around = [one.pinned for one in case.neighbours]
            for index, one in enumerate(around):
                for other in (*around[:index], *own):
                    if other.farm_idx != one.farm_idx and (one, other) not in seen:
                        seen.add((one, other))
                        self._refuse_pair(one, other, case.combination)

    def _refuse_pair(self, one: Pinned, other: Pinned, combination: str) -> None:
        a, b = self.stored.layout(one), self.stored.layout(other)
        nearest = float(np.hypot(a.x[:, None] - b.x, a.y[:, None] - b.y).min())
        if nearest < SAME_PLACE_M:
            message = (
                f"combination {combination!r}: {one.key} and {other.key} have turbines at the same place"
            )
            self.refuse(("neighbours",), message, None, "let only one of these farms stand")


def _some(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds[:10])) + (", ..." if len(seeds) > 10 else "")
