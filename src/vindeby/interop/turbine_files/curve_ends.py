"""Curves that jump: to other values outside their table, or where they are cut off at a limit.

A table of a campaign is linear between its points and holds its ends. A jump is two points with the smallest
difference in wind speed that a number can have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Points = list[tuple[float, float]]
"""Wind speed and value."""


def with_value_outside(points: Points, outside: float) -> Points:
    """The points, with a jump to another value before the first and after the last of them."""
    (first, low), (last, high) = points[0], points[-1]
    before = [(math.nextafter(first, -math.inf), outside)] if first > 0.0 and low != outside else []
    after = [(math.nextafter(last, math.inf), outside)] if high != outside else []
    return [*before, *points, *after]


def limited(speeds: Sequence[float], values: Sequence[float], low: float, high: float) -> Points:
    """The line through the points, cut off at both limits, with a point wherever it crosses one of them."""
    points: Points = []
    for index, (speed, value) in enumerate(zip(speeds, values, strict=True)):
        if index:
            points += _crossings((speeds[index - 1], values[index - 1]), (speed, value), (low, high))
        points.append((speed, min(max(value, low), high)))
    return points


def _crossings(start: tuple[float, float], end: tuple[float, float], limits: tuple[float, float]) -> Points:
    """Where a piece crosses the limits, strictly inside it, in the order of wind speed."""
    found = []
    for limit in limits:
        if min(start[1], end[1]) < limit < max(start[1], end[1]):
            share = (limit - start[1]) / (end[1] - start[1])
            speed = start[0] + share * (end[0] - start[0])
            if start[0] < speed < end[0]:
                found.append((speed, limit))
    return sorted(found)
