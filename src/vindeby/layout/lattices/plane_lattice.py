"""A lattice in the plane: six numbers, and two vectors that they stand for.

The points are ``anchor + i along + j across`` for all whole i and j. ``along`` is ``pitch`` long and points to
``angle`` (anticlockwise from east); ``across`` leads to the next row, ``aspect`` pitches away and shifted by
``skew`` pitches along the row. Many sets of numbers mean the same lattice: ``reduced`` gives the two shortest
vectors of it, after Lagrange and Gauss.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin, sqrt
from typing import NamedTuple

TRIANGULAR_ASPECT = sqrt(0.75)
"""With skew 0.5: equilateral triangles, the densest lattice for a spacing."""


class Vectors(NamedTuple):
    """From a point to the next of its row, and to the next row (m)."""

    along_x: float
    along_y: float
    across_x: float
    across_y: float

    @property
    def shortest(self) -> float:
        """The length (m) of the first, which in a reduced pair is the least distance of two points."""
        return hypot(self.along_x, self.along_y)


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
        """The vectors that the numbers say."""
        ux, uy = self.pitch * cos(self.angle), self.pitch * sin(self.angle)
        return Vectors(ux, uy, self.skew * ux - self.aspect * uy, self.skew * uy + self.aspect * ux)


def reduced(vectors: Vectors) -> Vectors:
    """The shortest vector of the same lattice, and the shortest of those that lead out of its row."""
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
