"""The points of a lattice at which turbines may stand, and the widest lattice that has enough of them.

The points of a lattice are ``anchor + i along + j across`` for all whole i and j. ``along`` is ``pitch`` long and
points to ``angle`` (anticlockwise from east); ``across`` leads to the next row, ``aspect`` pitches away and shifted
by ``skew`` pitches along the row. Many sets of numbers describe the same lattice: ``reduced`` gives its two shortest
vectors, after Lagrange and Gauss.

Points on an edge are inside but for rounding: a point counts that is outside by half the tolerance or less. Where
zones overlap, a point goes to the one that has least of what it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, cos, floor, hypot, inf, pi, radians, sin, sqrt, tan
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.area.boundary import Areas, Boundary, areas_of, signed_distance
from vindeby.layout.problem import LayoutProblem
from vindeby.units import TOLERANCE_M
from vindeby.wake.compiling.compiled import inlined, kernel, scalar

TRIANGULAR_ASPECT = sqrt(0.75)
"""The aspect that gives equilateral triangles with skew 0.5, the densest lattice for a spacing."""


class Vectors(NamedTuple):
    """The vectors from a point to the next of its row, and to the next row (m)."""

    along_x: float
    along_y: float
    across_x: float
    across_y: float


@dataclass(frozen=True)
class PlaneLattice:
    """A regular arrangement of points. ``angle`` in radians; ``east`` and ``north`` (m) are one of its points."""

    angle: float
    aspect: float
    skew: float
    pitch: float
    east: float
    north: float

    @property
    def vectors(self) -> Vectors:
        ux, uy = self.pitch * cos(self.angle), self.pitch * sin(self.angle)
        return Vectors(ux, uy, self.skew * ux - self.aspect * uy, self.skew * uy + self.aspect * ux)


def reduced(vectors: Vectors) -> Vectors:
    """Return the shortest vector of the same lattice, and the shortest one that leads out of its row."""
    ux, uy, vx, vy = vectors
    while True:
        if ux * ux + uy * uy > vx * vx + vy * vy:
            ux, uy, vx, vy = vx, vy, ux, uy
        steps = round((ux * vx + uy * vy) / (ux * ux + uy * uy))
        nearer_x, nearer_y = vx - steps * ux, vy - steps * uy
        # Equal lengths must not go round for ever.
        if steps == 0 or nearer_x * nearer_x + nearer_y * nearer_y >= vx * vx + vy * vy:
            return Vectors(ux, uy, vx, vy)
        vx, vy = nearer_x, nearer_y


ON_EDGE_M = 0.5 * TOLERANCE_M


class Room(NamedTuple):
    """The allowed area of turbines, relative to one origin.

    ``box`` is (west, south, east, north); ``needed`` the turbines of each zone; ``beside`` (2, m) what stands already,
    and ``clear`` how far (m) from each of these a turbine must be.
    """

    areas: Areas
    needed: IntArray
    box: FloatArray
    beside: FloatArray
    clear: FloatArray


@scalar
def _columns(box, ux, uy, x, y):
    """Return the first and the last point that may be in the box, of a row through (x, y)."""
    first, last = -inf, inf
    for axis in range(2):
        start, step = (x, ux) if axis == 0 else (y, uy)
        low, high = box[axis], box[axis + 2]
        if abs(step) > 1e-9 * (high - low):
            a, b = (low - start) / step, (high - start) / step
            first, last = max(first, min(a, b)), min(last, max(a, b))
        elif start < low - 1.0 or start > high + 1.0:
            return 0, -1
    # A point on the edge of the box must not be lost by rounding.
    return (floor(first), ceil(last)) if last - first > -1.0 else (0, -1)


@inlined
def _is_inside(areas, z, x, y):
    edges = areas.edges[areas.first_edge[z] : areas.first_edge[z + 1]]
    discs = areas.discs[areas.first_disc[z] : areas.first_disc[z + 1]]
    return signed_distance(edges, discs, areas.inverted[z], x, y) >= -ON_EDGE_M


@inlined
def _zone_for(room, counts, x, y):
    for n in range(room.clear.size):
        if hypot(x - room.beside[0, n], y - room.beside[1, n]) < room.clear[n]:
            return -1
    zone, served = -1, inf
    for z in range(counts.size):
        share = counts[z] / room.needed[z]
        if share < served and _is_inside(room.areas, z, x, y):
            zone, served = z, share
    return zone


STEP = 1.15
"""The factor between pitches that are tried until one has enough points and the next has not."""
HALVINGS = 10
"""The number of bisections between two pitches, which leave less than a thousandth of the pitch."""


@scalar
def _rows(box, vectors, east, north):
    """Return the first and the last row that meet the box."""
    ux, uy, vx, vy = vectors
    least, most = inf, -inf
    for corner in range(4):
        px, py = box[0 if corner % 2 else 2] - east, box[1 if corner // 2 else 3] - north
        row = (ux * py - uy * px) / (ux * vy - uy * vx)
        least, most = min(least, row), max(most, row)
    return floor(least), ceil(most)


@kernel()
def list_points(room, vectors, east, north, counts, x, y, whole):
    """Count the points of each zone; store as many as the arrays hold, with zone, row and column.

    A point that is inside several zones goes to the one that has least of what it needs.
    """
    ux, uy, vx, vy = vectors
    counts[:] = 0
    total = 0
    first_row, last_row = _rows(room.box, vectors, east, north)
    for j in range(first_row, last_row + 1):
        start_x, start_y = east + j * vx, north + j * vy
        first, last = _columns(room.box, ux, uy, start_x, start_y)
        for i in range(first, last + 1):
            px, py = start_x + i * ux, start_y + i * uy
            zone = _zone_for(room, counts, px, py)
            if zone < 0:
                continue
            if total < x.size:
                x[total], y[total] = px, py
                whole[total, 0], whole[total, 1], whole[total, 2] = zone, j, i
            counts[zone] += 1
            total += 1


@scalar
def _has_enough(room, vectors, east, north, counts, wanted, pitch):
    none, whole = np.empty(0), np.empty((0, 3), np.int64)
    ux, uy, vx, vy = vectors
    scaled = Vectors(pitch * ux, pitch * uy, pitch * vx, pitch * vy)
    list_points(room, scaled, east, north, counts, none, none, whole)
    for z in range(wanted.size):  # noqa: SIM110  compiled code has no all()
        if counts[z] < wanted[z]:
            return False
    return True


@kernel()
def widest(room, vectors, east, north, counts, wanted, least, guess, most):
    """Return the pitch from ``least`` to ``most``, searched from ``guess``; 0 if none. ``vectors`` have pitch 1."""
    low = max(least, min(guess, most))
    if _has_enough(room, vectors, east, north, counts, wanted, low):
        high = low * STEP
        while high < most and _has_enough(room, vectors, east, north, counts, wanted, high):
            low, high = high, high * STEP
    else:
        while True:
            if low <= least:
                return 0.0
            high, low = low, max(least, low / STEP)
            if _has_enough(room, vectors, east, north, counts, wanted, low):
                break
    for _ in range(HALVINGS):
        pitch = (low * high) ** 0.5
        if _has_enough(room, vectors, east, north, counts, wanted, pitch):
            low = pitch
        else:
            high = pitch
    return low


TIGHTEST = 4.0
"""Without a spacing, no pitch is tried below this part of what the area has for each turbine."""
WIDEST = 4.0
"""And none above so many times of it."""
SAMPLES = 64
"""Points in each direction by which areas are estimated."""


class LatticePoints(NamedTuple):
    """Points by zone, in each row by row; row and column are whole numbers of the reduced ``vectors``."""

    x: FloatArray
    y: FloatArray
    zone: IntArray
    row: IntArray
    column: IntArray
    vectors: Vectors

    def at(self, chosen: IntArray) -> LatticePoints:
        return LatticePoints._make([*(values[chosen] for values in self[:-1]), self.vectors])


class Ground:
    """The allowed area of a problem's turbines for any lattice; positions are relative to ``origin``.

    Rows follow one or two ``bearings`` (degrees clockwise from north), if given, and are at least ``lane_m`` apart.
    """

    def __init__(self, problem: LayoutProblem, bearings: tuple[float, ...] = (), lane_m: float = 0.0) -> None:
        self._angles, self._lane = [radians(90.0 - bearing) for bearing in bearings], lane_m
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
        """Return the least pitch at which a lattice of this shape satisfies the spacing."""
        unit = hypot(*reduced(lattice.vectors)[:2]) / lattice.pitch
        spaced = max(self.spacing / unit, self.side / TIGHTEST / lattice.aspect**0.5)
        return max(spaced, float(self.lane_pitch(lattice.aspect)))

    def lane_pitch(self, aspect: float | FloatArray) -> FloatArray:
        """Return the least pitch at which rows, along both bearings if there are two, satisfy the lane width."""
        second = self._lane / abs(sin(self._angles[1] - self._angles[0])) if len(self._angles) == 2 else 0.0
        return np.maximum(self._lane / aspect, second)

    def along_bearings(self, shapes: FloatArray) -> FloatArray:
        """Return shapes (angle, log of aspect, skew), drawn at random, with rows along the bearings.

        Then the angle that was drawn says no more than which bearing the rows follow whose turbines are nearer to each
        other; with one bearing, whether they are nearer along it than across it.
        """
        if not self._angles:
            return shapes
        angle, log_aspect, skew = shapes
        first, last = self._angles[0], self._angles[-1]
        is_first = angle % pi < 0.5 * pi
        if len(self._angles) == 1:
            return np.stack([first + 0.0 * angle, np.where(is_first, log_aspect, -log_aspect), skew])
        skew = np.exp(log_aspect) / tan(last - first) * np.where(is_first, 1.0, -1.0)
        return np.stack([np.where(is_first, first, last), log_aspect, skew - np.rint(skew)])

    def counts(self, lattice: PlaneLattice) -> IntArray:
        """Return the number of points in each zone."""
        found = np.zeros_like(self.needed)
        none, whole = np.empty(0), np.empty((0, 3), np.int64)
        self._list(lattice, found, none, none, whole)
        return found

    def points(self, lattice: PlaneLattice) -> LatticePoints:
        """Return all points at which a turbine may stand."""
        many = int(self.counts(lattice).sum())
        x, y, whole = np.empty(many), np.empty(many), np.empty((many, 3), np.int64)
        self._list(lattice, np.zeros_like(self.needed), x, y, whole)
        order = np.argsort(whole[:, 0], kind="stable")
        zone, row, column = whole.T
        return LatticePoints(x, y, zone, row, column, reduced(lattice.vectors)).at(order)

    def widest_pitch(self, lattice: PlaneLattice, wanted: IntArray, share: float = 1.0) -> float:
        """Return about the largest pitch at which each zone has the points wanted; 0 if there is none.

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
    """Return the approximate size of an area (m2)."""
    west, south, east, north = boundary.bounds
    share = (np.arange(SAMPLES) + 0.5) / SAMPLES
    x, y = np.meshgrid(west + share * (east - west), south + share * (north - south))
    inside = np.count_nonzero(boundary.inside(x.ravel(), y.ravel()))
    return float((east - west) * (north - south)) * max(int(inside), 1) / SAMPLES**2
