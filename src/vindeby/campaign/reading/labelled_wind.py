"""Wind over named axes, as files of many tools hold it, and what it becomes in the section ``site``.

A format is two tables of names, of its axes and of its quantities. Axes go by their names, in any order; a coordinate
is a quantity over itself.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from vindeby.arrays import FloatArray, IntArray, Labelled
from vindeby.campaign.sections.local_wind import AXES
from vindeby.units import count_sectors, first_uneven

_ROSE = ("wind_directions", "wind_speeds")


class LabelledWind(ABC):
    """Quantities of the wind by name, with the names of one format."""

    axis_names: ClassVar[Mapping[str, str]]
    """What the section calls each axis."""
    names: ClassVar[Mapping[str, str]]
    """What the section calls each quantity."""
    by_name: dict[str, Labelled]

    @abstractmethod
    def refuse_part(self, name: str, message: str, remedy: str) -> NoReturn:
        """Raise for a quantity, or for the whole where the name is empty."""

    def axis(self, name: str) -> FloatArray:
        """Return the coordinates of an axis; refuses none, and more than a list."""
        if name not in self.by_name:
            self.refuse_part("", f"{name} is missing", "add its list: other quantities depend on it")
        if self.by_name[name].values.ndim > 1:
            self.refuse_part(name, "must be a plain list of numbers", "remove the inner brackets")
        return np.atleast_1d(self.by_name[name].values)

    def over(self, name: str, *axes: str, exact: bool = False) -> FloatArray:
        """Return a quantity over these axes, which must be all that it has; with ``exact``, it has them all, too."""
        own = self.by_name[name].axes
        if not set(own) <= set(axes) or (exact and len(own) < len(axes)):
            message = f"depends on {', '.join(own) or 'no axis'}, not on {', '.join(axes)}"
            self.refuse_part(name, message, "correct its axes")
        return self.by_name[name].over(*axes)

    def depends_on(self, axis: str, *names: str) -> bool:
        """Return whether one of these quantities has this axis."""
        return any(axis in self.by_name[name].axes for name in names if name in self.by_name)

    def take(self, axis: str, where: int | IntArray) -> Self:
        """Return all quantities at one point of an axis, or at several in this order."""
        found = copy.copy(self)
        found.by_name = {name: one.take(axis, where) for name, one in self.by_name.items()}
        return found

    def in_order(self, *axes: str) -> Self:
        """Return all quantities with these axes increasing."""
        found = self
        for axis in axes:
            if axis in self.by_name and self.by_name[axis].axes == (axis,):
                found = found.take(axis, np.argsort(self.axis(axis), kind="stable"))
        return found

    def with_north_once(self, tolerance: float = 0.0) -> Self:
        """Return all quantities with directions increasing, and without a last one of 360 that repeats 0."""
        name = self._direction
        if not self.depends_on(name, *self.by_name):
            return self
        directions = self.axis(name)
        low, high = float(directions.min()), float(directions.max())
        if low < 0.0 or high > 360.0:
            message = f"is not between 0 and 360 (got {low if low < 0.0 else high})"
            self.refuse_part(name, message, "give degrees, clockwise from north")
        if len(np.unique(directions)) < len(directions):
            self.refuse_part(name, "has a direction twice", "list each direction once")
        order = np.argsort(directions, kind="stable")
        if count_sectors(directions[order].tolist()) < len(order):
            for other, one in self.by_name.items():
                first, last = (one.take(name, int(index)).values for index in order[[0, -1]])
                if other != name and not np.allclose(first, last, rtol=tolerance, atol=0.0):
                    message = "differs between the directions 0 and 360, which are the same"
                    self.refuse_part(other, message, "leave 360 out")
            order = order[:-1]
        return self.take(name, order)

    def refuse_uneven(self) -> None:
        """Refuse directions that are not the middles of even sectors from north all around."""
        directions = self.axis(self._direction).tolist()
        if (index := first_uneven(directions)) is not None:
            shown = ", ".join(
                [f"{direction:g}" for direction in directions[:4]] + ["..."] * (len(directions) > 4)
            )
            even = index * 360.0 / len(directions)
            self.refuse_part(
                self._direction,
                f"has {len(directions)} sectors at {shown}, which are not even: number {index + 1} at "
                f"{directions[index]:g}, not at {even:g} degrees",
                "give all sectors, at even distances from 0 clockwise",
            )

    @property
    def _direction(self) -> str:
        return next(name for name, called in self.axis_names.items() if called == "wind_directions")

    def local(self, names: Iterable[str]) -> dict[str, Any]:
        """Return these quantities and their axes as the section ``local`` has them."""
        used = {axis for name in names for axis in self.by_name[name].axes}
        in_order = [
            axis
            for name in AXES
            for axis, called in self.axis_names.items()
            if called == name and axis in used
        ]
        grid: dict[str, Any] = {self.axis_names[axis]: self.axis(axis).tolist() for axis in in_order}
        for name in names:
            own = [axis for axis in in_order if axis in self.by_name[name].axes]
            values = self.over(name, *in_order).ravel().tolist()
            grid[self.names[name]] = {"axes": [self.axis_names[axis] for axis in own], "values": values}
        return grid

    def number_or_table(self, name: str) -> Any:
        """Return a quantity as one number, or as a table over wind direction and speed."""
        given = self.by_name[name]
        own = [axis for axis, name in self.axis_names.items() if name in _ROSE and axis in given.axes]
        table = {self.axis_names[axis]: self.axis(axis).tolist() for axis in own}
        return {**table, "values": self.over(name, *own).tolist()} if given.axes else float(given.values)

    def sectors(self, frequency: str, a: str, k: str) -> list[dict[str, float]]:
        """Return the sectors of a Weibull site; a single one where there are no directions."""
        columns = [self.over(name, self._direction) for name in (frequency, a, k)]
        directions = self.axis(self._direction) if self._direction in self.by_name else np.zeros(1)
        return weibull_sectors(directions, *columns)


def weibull_sectors(*columns: Any) -> list[dict[str, float]]:
    """Return the sectors of a Weibull site from directions, frequencies, scales and shapes."""
    names = ("direction", "frequency", "a", "k")
    rows = np.stack(np.broadcast_arrays(*columns), axis=1).tolist()
    return [dict(zip(names, row, strict=True)) for row in rows]
