"""A study beside its database: which layouts it means, and whether they are there.

What the study file says wrongly is refused with its place there.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from functools import cache, cached_property
from itertools import combinations as subsets_of

import numpy as np

from vindeby.campaign.reading.yaml_text import Document, Path
from vindeby.campaign.refusals import SAME_PLACE_M
from vindeby.campaign.sections.time_series import TimeSeries
from vindeby.campaign.tasks import Cell
from vindeby.errors import DataError
from vindeby.evaluation.stored_layouts import Case, Neighbour, Pinned, StoredLayouts
from vindeby.evaluation.study import Neighbours, Row, Study
from vindeby.text import listed

NOBODY = "none"
"""The name of the combination in which no neighbour stands."""


def combinations_of(neighbours: Neighbours | None) -> list[tuple[str, list[tuple[Row, Path]]]]:
    """Each combination in its order: its name, and what stands in it, with where the study file says so."""
    if neighbours is None:
        return [(NOBODY, [])]
    form, given = neighbours.chosen
    rows: list[tuple[Row, Path]] = [(row, ("neighbours", form, index)) for index, row in enumerate(given)]
    if form == "together":
        return [("together", rows)]
    if form == "table":
        found: dict[str, list[tuple[Row, Path]]] = {}
        for line, row in zip(given, rows, strict=True):
            found.setdefault(line.combination, []).extend([row] if line.farm is not None else [])
        return list(found.items())
    sizes = range(len(rows) + 1)
    if form == "one_by_one":
        chosen = [rows[:size] for size in sizes]
    else:
        chosen = [list(some) for size in sizes for some in subsets_of(rows, size)]
    return [("+".join(row.farm for row, _ in some) or NOBODY, some) for some in chosen]


class StudySelection:
    """What a study means: farms and types by their numbers in the database, their layouts, and the cases.

    CampaignError or DataError says what is wrong or missing.
    """

    def __init__(self, study: Study, document: Document, stored: StoredLayouts) -> None:
        self.study, self.stored, self._refuse = study, stored, document.refuse
        self._farm_names = [farm.name for farm in stored.campaign.farms]
        self._type_names = [turbine.name for turbine in stored.campaign.turbines]
        self._label = cache(lambda cell: cell.label(self._type_names))
        if self.study.output == "power" and self._series() is None:
            remedy = "give site: time_series, or write output: aep"
            self._refuse(("output",), "needs a time series", remedy, "power")
        self.farms = self._numbers("farms", self.study.layouts.farms, self._farm_names)
        self.types = self._types(self.farms)
        seeds = self._seeds()
        self.layouts = {
            (cell.farm_idx, cell.type_idx): tuple(self.stored.pinned(cell, seed) for seed in seeds)
            for farm in self.farms
            for cell in self.stored.cells[farm]
            if cell.mix or cell.type_idx in self.types
        }
        self.cases = self._cases(len(seeds))
        self._refuse_doubled()

    def _numbers(self, key: str, given: Sequence[str] | None, known: Sequence[str]) -> list[int]:
        for index, name in enumerate(given or ()):
            if name not in known:
                remedy = f"{self.stored.path.name} has: {', '.join(known)}"
                self._refuse(("layouts", key, index), "is not in the database", remedy, name)
            if name in (given or ())[:index]:
                self._refuse(("layouts", key, index), "is listed twice", "list it once", name)
        return list(range(len(known))) if given is None else sorted(known.index(name) for name in given)

    def _types(self, farms: Sequence[int]) -> list[int]:
        types = self._numbers("types", self.study.layouts.types, self._type_names)
        mixed = [farm for farm in farms if self.stored.cells[farm][0].mix]
        if not mixed:
            return types
        needed = {kind for farm in mixed for kind, _ in self.stored.cells[farm][0].mix}
        if len(mixed) < len(farms) and not needed <= set(types):
            message = f"farm {self._farm_names[mixed[0]]!r} has a mix of types that are not all listed"
            self._refuse(("layouts",), message, "evaluate farms with a mix in a study of their own")
        return sorted(needed | set(types)) if len(mixed) < len(farms) else sorted(needed)

    def _seeds(self) -> list[int | str]:
        given = self.study.layouts.seeds
        if isinstance(given, str):
            return ["best"] if given == "best" else list(self.stored.campaign.seeds)
        for index, seed in enumerate(given):
            if seed not in self.stored.campaign.seeds:
                remedy = f"its seeds are {listed(self.stored.campaign.seeds)}"
                self._refuse(("layouts", "seeds", index), "is not a seed of the database", remedy, seed)
        return list(given)

    def _cases(self, layouts: int) -> list[Case]:
        cases = []
        for name, standing in combinations_of(self.study.neighbours):
            around = tuple(self._neighbour(row, at) for row, at in standing)
            # A list of combinations that grows keeps the numbers of those that were there.
            cases += [Case(layout, name, around) for layout in range(layouts)]
        return cases

    def _neighbour(self, row: Row, at: Path) -> Neighbour:
        if row.farm not in self._farm_names:
            remedy = f"{self.stored.path.name} has: {', '.join(self._farm_names)}"
            self._refuse((*at, "farm"), "is not a farm of the database", remedy, row.farm)
        cell = self._cell(self.stored.cells[self._farm_names.index(row.farm)], row.type, at)
        first_step = 0 if row.since is None else self._first_step(row.since, (*at, "from"))
        try:
            return Neighbour(self.stored.pinned(cell, row.seed), row.since, first_step)
        except DataError as error:
            remedy = "name a result that is there, or run the campaign first"
            self._refuse((*at, "seed"), str(error), remedy, row.seed)

    def _cell(self, cells: Sequence[Cell], name: str | None, at: Path) -> Cell:
        labels = [*map(self._label, cells)]
        if name is None and len(cells) == 1:
            return cells[0]
        if name not in labels:
            message = "is missing" if name is None else "is not a type of this farm"
            self._refuse((*at, "type"), message, f"the farm has: {', '.join(labels)}", name)
        return cells[labels.index(name)]

    def _first_step(self, since: str, at: Path) -> int:
        """Of the series, the first step at this date or later."""
        series = self._series()
        times = None if series is None else series.times
        if series is None or times is None:
            remedy = "give site: time_series with times, or leave it out"
            self._refuse(at, "needs a time series with times", remedy, since)
        moment = datetime.fromisoformat(since)
        aware = [time.tzinfo is not None for time in (moment, self._times[0])]
        if aware[0] != aware[1]:
            what = "has a time zone, but the times of the series have none"
            other = "has no time zone, but the times of the series have one"
            self._refuse(at, what if aware[0] else other, f"write it like {times[0]}", since)
        return bisect_left(self._times, moment)

    @cached_property
    def _times(self) -> list[datetime]:
        series = self._series()
        return [datetime.fromisoformat(text) for text in (series.times if series else None) or ()]

    def _series(self) -> TimeSeries | None:
        return (self.study.site or self.stored.campaign.site).time_series

    def _refuse_doubled(self) -> None:
        """Refuse layouts of two farms that overlap: a turbine cannot stand where another does."""
        seen: set[tuple[Pinned, Pinned]] = set()
        own = [one for several in self.layouts.values() for one in several]
        for case in self.cases:
            around = [one.pinned for one in case.neighbours]
            for index, one in enumerate(around):
                for other in (*around[:index], *own):
                    if (one, other) not in seen and other.farm_idx != one.farm_idx:
                        seen.add((one, other))
                        self._refuse_pair(one, other, case.combination)

    def _refuse_pair(self, one: Pinned, other: Pinned, combination: str) -> None:
        a, b = self.stored.layout(one), self.stored.layout(other)
        nearest = float(np.hypot(a.x[:, None] - b.x, a.y[:, None] - b.y).min())
        if nearest < SAME_PLACE_M:
            message = (
                f"combination {combination!r}: {one.key} and {other.key} have turbines at the same place"
            )
            self._refuse(("neighbours",), message, "let only one of these farms stand")
