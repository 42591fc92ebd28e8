"""How many turbines of each type a farm has, where it has several.

A mix is one row of counts, one for each turbine type, for the whole farm; or such a row for each zone. What is
still to be placed is kept in the same form, so that a search that chooses types asks one object what is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from vindeby.errors import ArgumentError
from vindeby.layout.arrays import IntArray

Mix = Sequence[int] | Sequence[Sequence[int]]


def check_mix(mix: Mix, zones: Sequence[int], types: int) -> None:
    """Refuse a mix that is not of as many turbines and types as there are."""
    rows = np.atleast_2d(np.asarray(mix))
    totals = [sum(zones)] if np.ndim(mix) == 1 else list(zones)
    if (
        np.ndim(mix) not in (1, 2)
        or rows.dtype.kind not in "iu"
        or rows.shape != (len(totals), types)
        or rows.min() < 0
        or rows.sum(axis=1).tolist() != totals
    ):
        raise ArgumentError(
            f"mix must hold the number of turbines of each of {types} types, {sum(zones)} in all, for the farm or for "
            f"each zone; not {mix!r}"
        )


def same_mix(mix: Mix, zone_of: IntArray, types: IntArray) -> bool:
    """Whether turbines of these types, by the zone of each, are the mix."""
    rows = np.atleast_2d(np.asarray(mix, np.int64))
    found = np.zeros_like(rows)
    np.add.at(found, (zone_of if len(rows) > 1 else np.zeros_like(zone_of), types), 1)
    return bool((found == rows).all())


@final
class Remaining:
    """What is still to be placed: in each zone, and of each type."""

    def __init__(self, zones: Sequence[int], mix: Mix | None, types: int) -> None:
        self.zone = np.array(zones, np.int64)
        many = int(self.zone.sum())
        self.kind = np.atleast_2d(np.array([many] * types if mix is None else mix, np.int64))

    def open(self) -> npt.NDArray[np.bool_]:
        """Whether another turbine of a type may come to a zone; (zones, types)."""
        return np.asarray((self.zone[:, None] > 0) & (self.kind > 0))

    def kinds(self) -> IntArray:
        """The types of which any turbine is left to be placed."""
        return np.flatnonzero(self.kind.any(axis=0))

    def take(self, zone: int, kind: int) -> None:
        """One turbine of a type comes to a zone."""
        self.zone[zone] -= 1
        self.kind[zone if len(self.kind) > 1 else 0, kind] -= 1

    def types_in_order(self) -> IntArray:
        """A type for each turbine, zone by zone; a farm's mix is spread evenly over its turbines."""
        parts = []
        for row in self.kind:
            types = np.repeat(np.arange(len(row)), row)
            if len(self.kind) == 1 and len(self.zone) > 1:
                # Where in its type's own sequence each turbine stands decides, so that every zone gets its share.
                share = np.concatenate([(np.arange(many) + 0.5) / max(many, 1) for many in row])
                types = types[np.argsort(share, kind="stable")]
            parts.append(types)
        return np.concatenate(parts)
