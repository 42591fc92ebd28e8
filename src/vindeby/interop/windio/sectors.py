"""Wind directions of a resource: sorted, with north once, and evenly around."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vindeby.interop.windio.notes import Notes
from vindeby.interop.windio.quantities import Quantities

FloatArray = npt.NDArray[np.float64]
_AXIS = "wind_direction"
_SAME = 1e-9


def with_north_once(found: Quantities, notes: Notes) -> Quantities:
    """The same with directions sorted and without a last one of 360 that repeats 0."""
    if not found.depends_on(_AXIS, *found.by_name):
        return found
    directions = found.axis(_AXIS)
    given = found.by_name[_AXIS]
    if directions.min() < 0.0 or directions.max() > 360.0:
        worst = directions.min() if directions.min() < 0.0 else directions.max()
        given.refuse("is not between 0 and 360", "give degrees, clockwise from north", float(worst))
    order = np.argsort(directions, kind="stable")
    if len(np.unique(directions)) < len(directions):
        given.refuse("has a direction twice", "list each direction once")
    drop_last = len(order) > 1 and directions[order[-1]] == 360.0 and directions[order[0]] == 0.0
    if drop_last:
        _refuse_two_norths(found, int(order[0]), int(order[-1]))
        frequency = found.get("sector_probability")
        sums = ""
        if frequency is not None and frequency.axes == (_AXIS,):
            both = float(frequency.values.sum())
            sums = f": frequencies sum to {both:.8f} with both and {both - frequency.values[order[-1]]:.8f} with one"
        notes.chosen.append(f"wind_direction has 0 and 360, which are one sector and counted once{sums}")
        order = order[:-1]
    changed = {name: one.taken(_AXIS, order) for name, one in found.by_name.items()}
    return replace(found, by_name=changed)


def _refuse_two_norths(found: Quantities, first: int, last: int) -> None:
    for one in found.by_name.values():
        if _AXIS not in one.axes or one.name == _AXIS:
            continue
        if not np.allclose(one.at(_AXIS, first).values, one.at(_AXIS, last).values, rtol=_SAME, atol=0.0):
            one.refuse("differs between the directions 0 and 360, which are the same", "leave 360 out")


def are_even(directions: FloatArray) -> bool:
    """Whether these are the centres of even sectors, the first of them north."""
    width = 360.0 / len(directions)
    return bool(np.allclose(directions, np.arange(len(directions)) * width, rtol=0.0, atol=1e-6))


def refuse_uneven(found: Quantities, total: float) -> None:
    """Refuse sectors that leave a part of the directions out."""
    directions = found.axis(_AXIS)
    if not are_even(directions):
        shown = ", ".join(f"{direction:g}" for direction in directions[:4])
        dots = ", ..." if len(directions) > 4 else ""
        found.by_name[_AXIS].refuse(
            f"has {len(directions)} sectors at {shown}{dots}, which are not even sectors from north all around; their "
            f"frequencies sum to {total:.4g}",
            "give all sectors, at even distances from 0",
        )
