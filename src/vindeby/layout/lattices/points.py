"""The points of a lattice at which turbines may stand, and the widest lattice that has enough of them.

A row is cut to the bounding box, and each of its points is kept if it is inside a zone and clear of what stands
already. Where zones overlap, a point goes to the one that has least of what it needs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, final

import numpy as np

from vindeby.layout.area.boundary import Boundary
from vindeby.layout.area.zones import areas_of
from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.lattices.plane_lattice import PlaneLattice, Vectors, reduced
from vindeby.layout.lattices.point_loops import list_points, widest
from vindeby.layout.lattices.row_points import Room
from vindeby.layout.problem import Problem

TIGHTEST = 4.0
"""Without a spacing, no pitch is tried below this part of what the area has for each turbine."""
WIDEST = 4.0
"""And none above so many times of it."""
SAMPLES = 64
"""Points in each direction by which areas are estimated."""


class Points(NamedTuple):
    """Points by zone, in each row by row; row and column are whole numbers of the reduced ``vectors``."""

    x: FloatArray
    y: FloatArray
    zone: IntArray
    row: IntArray
    column: IntArray
    vectors: Vectors

    def at(self, chosen: IntArray) -> Points:
        """Some of them."""
        return Points(
            self.x[chosen],
            self.y[chosen],
            self.zone[chosen],
            self.row[chosen],
            self.column[chosen],
            self.vectors,
        )

    def without(self, point: int) -> Points:
        """All but one."""
        return self.at(np.delete(np.arange(len(self.x)), point))


@final
class Ground:
    """Where a problem's turbines may stand, whatever their lattice. Positions are relative to ``origin``."""

    def __init__(self, problem: Problem) -> None:
        self.origin = problem.boundary.origin
        areas = areas_of([zone.boundary for zone in problem.zones], self.origin)
        self.needed = np.array([zone.n_turbines for zone in problem.zones])
        west, south, east, north = problem.boundary.bounds
        box = np.array([west, south, east, north]) - np.tile(self.origin, 2)
        beside, spacing = problem.neighbours, problem.spacing_by_type
        # Any turbine may come to any point, so the largest spacing counts.
        self.spacing = float(spacing[np.unique(problem.types_in_order())].max())
        near = np.stack([beside.x, beside.y]) - self.origin[:, None]
        clear = 0.5 * (self.spacing + spacing[beside.types])
        self.room = Room(areas, self.needed, box, near, clear)
        each = min(_area(zone.boundary) / zone.n_turbines for zone in problem.zones)
        self.side = each**0.5
        """The side (m) of the square that the fullest zone has for each turbine."""

    def narrowest(self, lattice: PlaneLattice) -> float:
        """The least pitch at which a lattice of this shape keeps the spacing."""
        unit = reduced(lattice.vectors).shortest / lattice.pitch
        return max(self.spacing / unit, self.side / TIGHTEST / lattice.aspect**0.5)

    def counts(self, lattice: PlaneLattice) -> IntArray:
        """How many points there are in each zone."""
        found = np.zeros_like(self.needed)
        none, whole = np.empty(0), np.empty((0, 3), np.int64)
        self._list(lattice, found, none, none, whole)
        return found

    def points(self, lattice: PlaneLattice) -> Points:
        """All points at which a turbine may stand."""
        many = int(self.counts(lattice).sum())
        x, y, whole = np.empty(many), np.empty(many), np.empty((many, 3), np.int64)
        self._list(lattice, np.zeros_like(self.needed), x, y, whole)
        order = np.argsort(whole[:, 0], kind="stable")
        zone, row, column = whole.T
        return Points(x, y, zone, row, column, reduced(lattice.vectors)).at(order)

    def widest_pitch(self, lattice: PlaneLattice, wanted: IntArray, share: float = 1.0) -> float:
        """A pitch at which each zone has the points wanted, and at hardly any larger one; 0 if there is none.

        The least that counts is that at which a lattice of this shape keeps ``share`` of the spacing.
        """
        least = share * self.narrowest(lattice)
        # The pitch at which cells would be as large as what the fullest zone has for each turbine.
        even = self.side / lattice.aspect**0.5
        most = max(least, WIDEST * even)
        unit = replace(lattice, pitch=1.0)
        vectors, counts = reduced(unit.vectors), np.zeros_like(wanted)
        return float(widest(self.room, vectors, unit.east, unit.north, counts, wanted, least, even, most))

    def _list(
        self, lattice: PlaneLattice, counts: IntArray, x: FloatArray, y: FloatArray, whole: IntArray
    ) -> None:
        vectors = reduced(lattice.vectors)
        list_points(self.room, vectors, lattice.east, lattice.north, counts, x, y, whole)


def _area(boundary: Boundary) -> float:
    """About how large an area is (m2)."""
    west, south, east, north = boundary.bounds
    share = (np.arange(SAMPLES) + 0.5) / SAMPLES
    x, y = np.meshgrid(west + share * (east - west), south + share * (north - south))
    inside = np.count_nonzero(boundary.inside(x.ravel(), y.ravel()))
    return float((east - west) * (north - south)) * max(int(inside), 1) / SAMPLES**2
