"""Every combination of neighbours that a study asks for: its name, and the rows of farms that stand in it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations as subsets_of

from vindeby.campaign.reading.yaml_text import Path
from vindeby.evaluation.rows import Neighbours, Row

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
