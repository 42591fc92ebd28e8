"""The fronts of a campaign with two objectives: which results no other beats, and by how much the others are beaten.

AEP is to be large, the other objective (``AGAINST``) small. A result is dominated if another one of the same farm and
type has at least as much AEP and no more of the other, and is better in one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vindeby.arrays import BoolArray, FloatArray
from vindeby.campaign.sections.costs import AGAINST, Against
from vindeby.errors import DataError

if TYPE_CHECKING:
    from vindeby.results.result_set import ResultSet


@dataclass(frozen=True)
class Front:
    """The results of a farm and type, those with the least of the second objective (``other``) first."""

    farm: str
    type: str
    against: Against
    keys: list[str]
    weights: list[Any]
    """Of the second objective in the search, 0 to 1; None where it is not stored."""
    aep_gwh: FloatArray
    other: FloatArray

    @property
    def is_dominated(self) -> BoolArray:
        """Which of them are dominated."""
        return dominated(self.other, -self.aep_gwh)

    @property
    def lost_gwh(self) -> FloatArray:
        """The AEP that another result has more with no more of the second objective; 0 for the best."""
        return np.asarray(np.maximum.accumulate(self.aep_gwh) - self.aep_gwh)

    @property
    def reference(self) -> tuple[float, float]:
        """The least AEP and the most of the second objective of all results: the corner of the hypervolume."""
        return float(self.aep_gwh.min()), float(self.other.max())

    @property
    def hypervolume(self) -> float:
        """The area, in GWh times the unit of the second objective, between the front and the reference."""
        worst_aep, worst_other = self.reference
        return hypervolume(self.other, -self.aep_gwh, (worst_other, -worst_aep))

    def as_data(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        names = ("key", "weight", "aep_gwh", self.against.attribute, "is_dominated", "lost_gwh")
        numbers = (self.aep_gwh, self.other, self.is_dominated, self.lost_gwh)
        points = zip(self.keys, self.weights, *(column.tolist() for column in numbers), strict=True)
        return {
            "farm": self.farm,
            "type": self.type,
            "reference": {"aep_gwh": self.reference[0], self.against.attribute: self.reference[1]},
            "hypervolume": self.hypervolume,
            "points": [dict(zip(names, point, strict=True)) for point in points],
        }


def dominated(first: FloatArray, second: FloatArray) -> BoolArray:
    """Which points are dominated, where both coordinates are to be small; equal points do not dominate each other."""
    points, number = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)
    before = np.append(np.inf, np.minimum.accumulate(points[:, 1])[:-1])
    return np.asarray((before <= points[:, 1])[number.ravel()])


def hypervolume(first: FloatArray, second: FloatArray, reference: tuple[float, float]) -> float:
    """The area that points dominate up to a reference point, where both coordinates are to be small."""
    points = np.unique(np.stack([first, second], axis=1), axis=0)
    points = points[(points < reference).all(axis=1)]
    lowest = np.minimum.accumulate(np.append(reference[1], points[:, 1]))
    return float((-np.diff(lowest) * (reference[0] - points[:, 0])).sum())


def fronts_of(result_set: ResultSet) -> list[Front]:
    """The front of each farm and type that has results; DataError where there is none."""
    objective = None if result_set.campaign is None else result_set.campaign.objective
    if objective is None or objective.against is None:
        raise DataError(
            f"{result_set.path}: its campaign does not have two objectives, such as objective: [aep, cable_length]"
        )
    against, rows, found = AGAINST[objective.against], result_set.rows, []
    for farm_idx, type_idx in sorted(set(rows[["farm_idx", "type_idx"]].tolist())):
        mine = (rows["farm_idx"] == farm_idx) & (rows["type_idx"] == type_idx) & ~np.isnan(rows["aep"])
        keys = [result_set.key_of(row) for row in np.flatnonzero(mine).tolist()]
        said = [result_set.record(key).attributes for key in keys]
        other = np.array([one.get(against.attribute, np.nan) for one in said], np.float64)
        aep = np.array(rows["aep"][mine])
        order = [row for row in np.lexsort((-aep, other)) if not np.isnan(other[row])]
        if order:
            names = result_set.farm_name(farm_idx), result_set.cell_name(farm_idx, type_idx)
            known = [keys[row] for row in order], [said[row].get("weight") for row in order]
            found.append(Front(*names, against, *known, aep[order], other[order]))
    if not found:
        raise DataError(f"{result_set.path}: no result says its {against.attribute}; run the campaign first")
    return found
