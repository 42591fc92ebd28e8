"""The quantities of a wind resource as arrays over named axes, whichever way the file writes them.

A coordinate is a bare list or number; data are ``{data, dims}``; a netCDF file has both as variables. Axes go by their
names, never by their order. Where ``dims`` has lengths instead of names, or is left out, axes are found by their
lengths, if that is unambiguous, and it is noted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.interop.windio.nodes import COORDINATES, DATA, Node, Notes
from vindeby.units import count_sectors, first_uneven


@dataclass(frozen=True)
class Quantity:
    """Numbers over named axes, and where they stand."""

    name: str
    axes: tuple[str, ...]
    values: FloatArray
    node: Node

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names the quantity."""
        self.node.refuse(message, remedy, value)

    def over(self, *axes: str) -> FloatArray:
        """The numbers with these axes in this order; it must have exactly these."""
        if set(axes) != set(self.axes):
            found = ", ".join(self.axes) or "no axis"
            self.refuse(f"depends on {found}, not on {', '.join(axes) or 'nothing'}", "correct dims")
        return self.values.transpose([self.axes.index(axis) for axis in axes])

    def spread(self, *axes: str) -> FloatArray:
        """The numbers with these axes in this order; those that it does not depend on have the length 1."""
        own = [axis for axis in axes if axis in self.axes]
        return self.over(*own)[tuple(slice(None) if axis in own else None for axis in axes)]

    def taken(self, axis: str, where: int | IntArray) -> Quantity:
        """The same at one point of an axis, which is then gone, or at several in this order, if it has the axis."""
        if axis not in self.axes:
            return self
        axes = tuple(one for one in self.axes if one != axis or not isinstance(where, int))
        return replace(self, axes=axes, values=np.take(self.values, where, axis=self.axes.index(axis)))


@dataclass
class Quantities:
    """Everything of a resource that is known here."""

    by_name: dict[str, Quantity]
    times: list[str] | None
    """The times of steps, where they are times and not numbers."""
    node: Node
    heights: list[float] = field(default_factory=list)
    """The heights that the file says the wind is of; none where it does not say."""

    def taken(self, axis: str, order: IntArray) -> Quantities:
        """All of it at some points of an axis, in this order."""
        return replace(self, by_name={name: one.taken(axis, order) for name, one in self.by_name.items()})

    def axis(self, name: str) -> FloatArray:
        """The coordinates of an axis; an error where it has none."""
        found = self.by_name.get(name)
        if found is None:
            self.node.refuse(f"{name} is missing", "add its list: other quantities depend on it")
        if found.values.ndim > 1:
            found.refuse("must be a plain list of numbers", "remove the inner brackets")
        return np.atleast_1d(found.values)

    def depends_on(self, axis: str, *names: str) -> bool:
        """Whether one of these quantities has this axis."""
        return any(axis in one.axes for name in names if (one := self.by_name.get(name)) is not None)


def read_quantities(node: Node, notes: Notes) -> Quantities:
    """All quantities of a ``wind_resource``."""
    times, found = _times(node), dict[str, Quantity]()
    waiting: list[tuple[str, Node, FloatArray, list[object] | None]] = []
    lengths = {} if times is None else {"time": len(times)}
    for name in (*COORDINATES, *DATA):
        inner = None if name == "time" and times is not None else node.get(name)
        if inner is None:
            continue
        given, dims = _data_and_dims(inner)
        array = given.array()
        if name in COORDINATES and (dims == [name] or not isinstance(inner.value, dict)):
            lengths[name] = array.size
        waiting.append((name, inner, array, dims))
    if "time" in lengths:  # then these are data of the steps, written without dims
        lengths = {name: n for name, n in lengths.items() if name not in ("wind_speed", "wind_direction")}
    for name, inner, array, dims in waiting:
        axes = _axes(name, inner, array, dims, lengths, notes)
        found[name] = Quantity(name, axes, array, inner)
    return Quantities(found, times, node)


def _times(node: Node) -> list[str] | None:
    """The times of the steps, where they are written as text."""
    inner = node.get("time")
    if inner is None:
        return None
    if isinstance(inner.value, dict):
        inner = inner.need("data")
    entries = inner.value if isinstance(inner.value, list) else [inner.value]
    if not entries or not all(isinstance(entry, str) for entry in entries):
        return None
    inner.use()
    return list(entries)


def _data_and_dims(node: Node) -> tuple[Node, list[object] | None]:
    if not isinstance(node.value, dict):
        return node, None
    dims = node.get("dims")
    if dims is not None:
        dims.use()
    if dims is not None and not isinstance(dims.value, list):
        return node.need("data"), [dims.value]
    return node.need("data", "give {data, dims}"), None if dims is None else list(dims.value)


def _axes(
    name: str,
    node: Node,
    array: FloatArray,
    dims: list[object] | None,
    lengths: dict[str, int],
    notes: Notes,
) -> tuple[str, ...]:
    if dims is None and (name in lengths or array.ndim == 0):
        return (name,) if array.ndim else ()
    if dims is None and "time" in lengths and array.ndim == 1:
        axes: tuple[str, ...] = ("time",)
    elif dims is not None and all(isinstance(dim, str) for dim in dims):
        axes = tuple(str(dim).lower() for dim in dims)
        if len(axes) != array.ndim or len(set(axes)) < len(axes):
            node.refuse(
                f"has {array.ndim} levels of lists, but dims {', '.join(axes) or 'is empty'}",
                "give one name of dims per level",
            )
    else:
        message = "has no dims" if dims is None else f"has dims {dims}, which are not names"
        fitting = [[axis for axis, length in lengths.items() if length == size] for size in array.shape]
        axes = tuple(names[0] for names in fitting if len(names) == 1)
        if len(set(axes)) < array.ndim:
            shape = list(array.shape)
            node.refuse(f"{message}, and the lengths {shape} fit several axes, or none", "name them in dims")
        notes.chosen.append(f"{node.where} {message}: read as {', '.join(axes)}, by the lengths")
    for axis, length in zip(axes, array.shape, strict=True):
        if axis not in COORDINATES:
            node.refuse(f"depends on {axis}, which is not an axis of windIO", f"use {', '.join(COORDINATES)}")
        if axis in lengths and lengths[axis] != length:
            node.refuse(
                f"has {length} values along {axis}, but {axis} has {lengths[axis]}", "give one for each"
            )
    return axes


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
    if count_sectors(directions[order].tolist()) < len(order):
        for one in found.by_name.values():
            first, last = (one.taken(_AXIS, int(index)).values for index in order[[0, -1]])
            if one is not given and not np.allclose(first, last, rtol=_SAME, atol=0.0):
                one.refuse("differs between the directions 0 and 360, which are the same", "leave 360 out")
        frequency = found.by_name.get("sector_probability")
        sums = ""
        if frequency is not None and frequency.axes == (_AXIS,):
            both = float(frequency.values.sum())
            sums = f": frequencies sum to {both:.8f} with both and {both - frequency.values[order[-1]]:.8f} with one"
        notes.chosen.append(f"wind_direction has 0 and 360, which are one sector and counted once{sums}")
        order = order[:-1]
    return found.taken(_AXIS, order)


def refuse_uneven(found: Quantities, total: float) -> None:
    """Refuse sectors that leave a part of the directions out."""
    directions = found.axis(_AXIS)
    if first_uneven(directions.tolist()) is not None:
        shown = ", ".join(f"{direction:g}" for direction in directions[:4])
        dots = ", ..." if len(directions) > 4 else ""
        found.by_name[_AXIS].refuse(
            f"has {len(directions)} sectors at {shown}{dots}, which are not even sectors from north all around; their "
            f"frequencies sum to {total:.4g}",
            "give all sectors, at even distances from 0",
        )
