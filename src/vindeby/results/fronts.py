"""The fronts of a campaign with two objectives: the results that no other beats, and the loss of the others.

AEP is to be large, the other objective (``AGAINST``) small. A result is dominated if another one of the same farm and
type has at least as much AEP and no more of the other, and is better in one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vindeby.campaign.sections.costs import Against
from vindeby.errors import DataError
from vindeby.results.expected import CellPlace
from vindeby.results.result_set import CELL, ResultSet


class Point(NamedTuple):
    """A result by both objectives, ``other`` the second."""

    key: str
    weight: Any
    """The weight of the second objective in the search, 0 to 1; None if it is not stored."""
    aep_gwh: float
    other: float
    is_dominated: bool = False
    lost_gwh: float = 0.0
    """The AEP that another result has more with no more of the second objective."""


@dataclass(frozen=True)
class ParetoFront:
    """The results of a farm and type, those with the least of the second objective first.

    ``hypervolume`` is the area, in GWh times the unit of the second objective, between the front and the ``reference``:
    the least AEP and the most of the second objective of all results.
    """

    farm: str
    type: str
    against: Against
    points: tuple[Point, ...]
    reference: tuple[float, float]
    hypervolume: float

    @staticmethod
    def of(farm: str, type_: str, against: Against, points: Sequence[Point]) -> ParetoFront:
        """Compare results."""
        in_order = sorted(points, key=lambda one: (one.other, -one.aep_gwh, one.key))
        reference = min(one.aep_gwh for one in points), max(one.other for one in points)
        found, area, best = [], 0.0, in_order[0]._replace(aep_gwh=reference[0])
        for one in in_order:
            area += max(0.0, one.aep_gwh - best.aep_gwh) * (reference[1] - one.other)
            if one.aep_gwh > best.aep_gwh:
                best = one
            worse = (one.aep_gwh, -one.other) < (best.aep_gwh, -best.other)
            found.append(one._replace(is_dominated=worse, lost_gwh=best.aep_gwh - one.aep_gwh))
        return ParetoFront(farm, type_, against, tuple(found), reference, area)

    def as_data(self) -> dict[str, Any]:
        """Return the front as plain data, for JSON."""
        names = [self.against.attribute if name == "other" else name for name in Point._fields]
        return {
            "farm": self.farm,
            "type": self.type,
            "reference": {"aep_gwh": self.reference[0], self.against.attribute: self.reference[1]},
            "hypervolume": self.hypervolume,
            "points": [dict(zip(names, point, strict=True)) for point in self.points],
        }


def fronts_of(result_set: ResultSet) -> list[ParetoFront]:
    """Return the front of each farm and type that has results; raise DataError if there is none."""
    against, points = result_set.second, dict[CellPlace, list[Point]]()
    if against is None:
        raise DataError(
            f"{result_set.path}: its campaign does not have two objectives, such as objective: [aep, cable_length]"
        )
    for number in np.flatnonzero(~np.isnan(result_set.rows["aep"])).tolist():
        row, key = result_set.rows[number], result_set.key_of(number)
        said = result_set.record(key).attributes
        if (other := said.get(against.attribute)) is not None:
            point = Point(key, said.get("weight"), float(row["aep"]), float(other))
            points.setdefault(row[CELL].tolist(), []).append(point)
    if not points:
        raise DataError(f"{result_set.path}: no result says its {against.attribute}; run the campaign first")
    return [
        ParetoFront.of(
            result_set.axes.farm_name(place[0]), result_set.axes.kind_in_words(*place), against, mine
        )
        for place, mine in sorted(points.items())
    ]
