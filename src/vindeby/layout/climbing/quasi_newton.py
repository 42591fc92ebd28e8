"""A direction uphill that knows how the slope turned on the last steps.

The limited-memory quasi-Newton method of Nocedal (1980): the last steps and the changes of the slope along them
stand for the curvature, and two loops over them turn the slope into a direction (Nocedal and Wright 2006,
algorithm 7.4). It is written for a climb: along a step that is kept, the slope falls.
"""

from __future__ import annotations

from typing import final

import numpy as np

from vindeby.layout.arrays import FloatArray

LEAST_BEND = 1e-8
"""Steps along which the slope falls by less than this share of what it could are not kept."""


@final
class Curvature:
    """What the last steps of a climb, up to ``memory``, tell of the curvature."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.pairs: list[tuple[FloatArray, FloatArray, float]] = []

    def learn(self, moved: FloatArray, turned: FloatArray) -> None:
        """Take in a step and the change of the slope along it, unless the slope rose."""
        bend = -float((moved * turned).sum())
        size = float(np.linalg.norm(moved)) * float(np.linalg.norm(turned))
        if bend > LEAST_BEND * size and bend > 0.0:
            self.pairs.append((moved, -turned, bend))
            del self.pairs[: -self.memory]

    def forget(self) -> None:
        """Begin anew."""
        self.pairs.clear()

    def direction(self, slope: FloatArray) -> FloatArray | None:
        """Where to go, and how far; None as long as nothing is known."""
        if not self.pairs:
            return None
        wanted = np.array(slope)
        shares = []
        for moved, fell, bend in reversed(self.pairs):
            share = float((moved * wanted).sum()) / bend
            shares.append(share)
            wanted -= share * fell
        _, fell, bend = self.pairs[-1]
        wanted *= bend / float((fell * fell).sum())
        for (moved, fell, bend), share in zip(self.pairs, reversed(shares), strict=True):
            wanted += (share - float((fell * wanted).sum()) / bend) * moved
        return wanted
