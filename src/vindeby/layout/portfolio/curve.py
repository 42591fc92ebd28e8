"""The energy of the best layout so far, by what was spent to find it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from vindeby.layout.arrays import FloatArray

POINTS = 64
"""Points of a curve in a result, of whatever length the search was: records of one shape share a table."""


@final
class Curve:
    """Points are added as the search goes on; the energy never falls."""

    def __init__(self) -> None:
        self._points: list[tuple[float, float, float]] = []

    def add(self, seconds: float, evaluations: float, aep_gwh: float) -> None:
        """The best layout is now worth this much; what was worth more before still counts."""
        most = self._points[-1][2] if self._points else -np.inf
        self._points.append((seconds, evaluations, max(aep_gwh, most)))
        if len(self._points) > 16 * POINTS:  # of a long search, half of the points are enough
            self._points = [*self._points[:-1:2], self._points[-1]]

    def arrays(self) -> Mapping[str, FloatArray]:
        """``curve_seconds``, ``curve_evaluations`` and ``curve_aep_gwh``, ``POINTS`` each.

        Of more points some are left out, never the first and the last; with fewer the last is repeated.
        """
        count = len(self._points)
        chosen = np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.int64)
        chosen = np.append(chosen, np.full(POINTS - len(chosen), count - 1))
        seconds, evaluations, aep = np.array(self._points)[chosen].T.copy()
        return {"curve_seconds": seconds, "curve_evaluations": evaluations, "curve_aep_gwh": aep}
