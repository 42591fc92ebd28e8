"""What is searched for: so many turbines, in this area, this far from each other, worth as much as can be.

A ``Problem`` holds no search state. Everything a method may return is checked against it, so that no layout
that breaks its rules ever leaves this part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.boundary import Boundary
from vindeby.layout.spacing import worst_pair
from vindeby.text import plural
from vindeby.units import TOLERANCE_M
from vindeby.wake import GriddedSite, WindFarm, WindGrid

__all__ = ["Layout", "Problem"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where turbines stand (metres) and of which type each is."""

    x: FloatArray
    y: FloatArray
    types: IntArray

    def __repr__(self) -> str:
        kinds = len(set(np.asarray(self.types).tolist()))
        several = f" of {kinds} types" if kinds > 1 else ""
        return f"<Layout: {plural(len(self.x), 'turbine')}{several}{_extent(self.x, self.y)}>"

    def _repr_html_(self) -> str:
        from vindeby.notebook import layout_picture  # only a notebook asks for it

        return layout_picture(self.x.tolist(), self.y.tolist())

    @staticmethod
    def of(x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> Layout:
        """Make a layout of lists; one type may stand for all."""
        px, py = np.array(x, np.float64), np.array(y, np.float64)
        kind = np.array(np.broadcast_to(np.asarray(types, np.int64), px.shape))
        if px.ndim != 1 or px.shape != py.shape:
            raise ArgumentError(f"x and y must be lists of one length, not of shapes {px.shape}, {py.shape}")
        return Layout(px, py, kind)


def _extent(x: FloatArray, y: FloatArray) -> str:
    """How large an area positions cover, for a ``repr``."""
    return f", {np.ptp(x) / 1000:.3g} km x {np.ptp(y) / 1000:.3g} km" if len(x) else ""


@dataclass(frozen=True, eq=False)
class Problem:
    """A farm to be laid out.

    ``farm`` says what a layout is worth, and holds the neighbours, if any. ``spacing_m`` is the least
    distance between two turbines, or one such distance a turbine type, of which a pair keeps the mean;
    neighbours are kept clear of in the same way. ``types`` tells the type of each turbine, in the order in
    which they are placed; without it all are of type 0, or, for smart start with several types, of any.
    """

    farm: WindFarm
    boundary: Boundary
    n_turbines: int
    spacing_m: float | Sequence[float] = 0.0
    name: str = "farm"
    types: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if self.n_turbines < 1:
            raise ArgumentError(f"n_turbines must be a whole number >= 1, not {self.n_turbines!r}")
        given = np.asarray(self.spacing_m, np.float64)
        if (
            given.shape not in ((), (len(self.farm.turbines),))
            or not (np.isfinite(given) & (given >= 0)).all()
        ):
            raise ArgumentError(
                f"spacing_m must be one distance >= 0, or one for each of {len(self.farm.turbines)} turbine types, "
                f"not {self.spacing_m!r}"
            )
        if self.types is not None:
            kinds = np.asarray(self.types)
            if kinds.shape != (self.n_turbines,) or kinds.min() < 0 or kinds.max() >= len(self.farm.turbines):
                raise ArgumentError(
                    f"types must hold one type index for each of {self.n_turbines} turbines, not {self.types!r}"
                )

        if isinstance(self.farm.site, GriddedSite):
            self._refuse_area_outside(self.farm.site.grid)

    def _refuse_area_outside(self, grid: WindGrid) -> None:
        """Raise ArgumentError if the area is not within the grid of the local wind, so that no search leaves it."""
        area = self.boundary
        if area.circle is None:
            what, x, y = "corner", *(area.edges[:, :2] + area.origin).T
        else:
            west, south, east, north = area.bounds
            what, (mid_x, mid_y) = "end (west, south, east, north)", area.circle[0]
            x, y = np.array([west, mid_x, east, mid_x]), np.array([mid_y, south, mid_y, north])
        grid.refuse_outside(x, y, f"farm {self.name}: boundary {what}")

    def __repr__(self) -> str:
        low, high = self.spacing_by_type.min(), self.spacing_by_type.max()
        spacing = f"{low:g} m" if low == high else f"{low:g} to {high:g} m"
        return f"<Problem {self.name!r}: {plural(self.n_turbines, 'turbine')}, spacing {spacing}, in {self.boundary!r}>"

    @cached_property
    def spacing_by_type(self) -> FloatArray:
        """The spacing of each turbine type in metres; a pair keeps the mean of its two."""
        return np.array(np.broadcast_to(np.asarray(self.spacing_m, np.float64), (len(self.farm.turbines),)))

    @cached_property
    def neighbours(self) -> Layout:
        """Turbines that stand already."""
        beside = self.farm.neighbours
        return Layout.of([], []) if beside is None else Layout.of(beside.x, beside.y, beside.types)

    def types_in_order(self) -> IntArray:
        """The type of each turbine, where it is not free."""
        return np.array(np.zeros(self.n_turbines) if self.types is None else self.types, np.int64)

    def aep(self, layout: Layout) -> float:
        """What a layout is worth, in GWh a year."""
        return self.farm.aep(layout.x, layout.y, layout.types)

    def shortfalls(self, layout: Layout) -> tuple[float, float]:
        """How far (m) the outermost turbine is outside, and the nearest pair too near; 0 where all is well."""
        outside = float(max(0.0, -self.boundary.distances(layout.x, layout.y).min()))
        beside = self.neighbours
        x, y = np.append(layout.x, beside.x), np.append(layout.y, beside.y)
        need = self.spacing_by_type[np.append(layout.types, beside.types)]
        return outside, float(max(0.0, worst_pair(x, y, need, len(layout.x))))

    def is_feasible(self, layout: Layout) -> bool:
        """Whether a layout keeps to the rules, but for rounding."""
        return len(layout.x) == self.n_turbines and max(self.shortfalls(layout)) <= TOLERANCE_M

    def refuse_infeasible(self, layout: Layout, method: str) -> None:
        """Raise TaskError unless the layout keeps to the rules."""
        if len(layout.x) != self.n_turbines:
            raise TaskError(
                f"farm {self.name}: {method} returned {len(layout.x)} turbines, not {self.n_turbines}; "
                "this is a mistake in the method"
            )
        outside, too_near = self.shortfalls(layout)
        if not max(outside, too_near) <= TOLERANCE_M:
            raise TaskError(
                f"farm {self.name}: {method} found no layout that keeps to the rules (a turbine {outside:.3g} m "
                f"outside, a pair {too_near:.3g} m too near); begin with smart-start, or use fewer turbines or a "
                "smaller spacing"
            )
