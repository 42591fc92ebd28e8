"""The curve of a result in words: what the best layout was worth, by what was spent on it (``layout.Auto``)."""

from __future__ import annotations

from vindeby.store.format.record import Record

__all__ = ["curve_lines"]

_LINES = 8
"""At most so many points are told."""
_ARRAYS = ("curve_seconds", "curve_evaluations", "curve_aep_gwh")


def curve_lines(record: Record) -> list[str]:
    """Lines of a table, with a heading; none for a record without a curve. A point that gains nothing is left out."""
    arrays = [record.arrays.get(name) for name in _ARRAYS]
    if any(array is None or array.ndim != 1 or not array.size for array in arrays):
        return []
    points = list(zip(*(array.tolist() for array in arrays if array is not None), strict=False))
    last = points[-1]
    gained = [point for before, point in zip([None, *points], points, strict=False) if _gains(before, point)]
    step = max(1, -(-len(gained) // (_LINES - 1)))
    told = [*gained[::step], last]
    lines = [
        f"{seconds:>13,.2f} {evaluations:>12,.0f} {aep:>13,.3f}"
        for seconds, evaluations, aep in dict.fromkeys(told)
    ]
    return [f"{'CPU seconds':>13} {'evaluations':>12} {'AEP, GWh':>13}", *lines]


def _gains(before: tuple[float, ...] | None, point: tuple[float, ...]) -> bool:
    return before is None or point[2] > before[2]
