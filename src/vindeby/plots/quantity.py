"""Which quantity compares farms and types fairly: energy only where all have the same capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby import units
from vindeby.results.result_set import ResultSet

FloatArray = NDArray[np.float64]

SAME_CAPACITY = 1e-3
"""Capacities that differ by no more than this share are taken as equal."""


@dataclass(frozen=True)
class Quantity:
    """What results are compared by; more is better."""

    name: str
    unit: str
    values: FloatArray
    """One for each row."""
    form: str
    """How a value is written."""

    @property
    def label(self) -> str:
        """For an axis."""
        return f"{self.name}, {self.unit}"


def comparable(result_set: ResultSet, rows: NDArray[Any]) -> Quantity:
    """The energy of rows where all have the same installed capacity, else their capacity factor.

    A capacity is a whole number of turbines, so farms of "1,000 MW" have 990 to 1,008 MW; their energies differ
    more by that rounding than by their layouts. Without a campaign the capacities are not known: then the energy.
    """
    capacity = _capacities_mw(result_set, rows)
    energy = np.asarray(rows["aep"], np.float64)
    known = len(rows) > 0 and bool(np.all(capacity > 0))
    if not known or capacity.max() - capacity.min() <= SAME_CAPACITY * capacity.max():
        return Quantity("AEP", "GWh", energy, "{:,.0f}")
    full = units.mean_power_to_aep_gwh(1.0) * units.mw_to_w(1.0) * capacity
    return Quantity("capacity factor", "%", 100 * energy / full, "{:.2f}")


def _capacities_mw(result_set: ResultSet, rows: NDArray[Any]) -> FloatArray:
    return np.asarray(result_set.mean_rated_mw(rows) * rows["n_turbines"], np.float64)
