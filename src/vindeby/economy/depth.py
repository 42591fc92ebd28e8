"""The depth of the sea over a grid: between its points bilinear, with the exact gradient."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError
from vindeby.units import TOLERANCE_M


@dataclass(frozen=True, eq=False)
class DepthGrid:
    """Water depths (m, positive below the surface) at the points of a grid.

    ``x`` and ``y`` (metres, in the frame of the layouts) increase, in steps of any size. ``depth`` is over (x, y), in
    this order.
    """

    x: FloatArray
    y: FloatArray
    depth: FloatArray

    def __post_init__(self) -> None:
        """Check what was given, and replace it by arrays."""
        for name in ("x", "y", "depth"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), np.float64))
        for name, axis in (("x", self.x), ("y", self.y)):
            if (
                axis.ndim != 1
                or len(axis) < 2
                or not (np.diff(axis) > 0.0).all()
                or not np.isfinite(axis).all()
            ):
                raise ArgumentError(
                    f"{name} of a depth grid must be two or more finite numbers that increase"
                )
        if self.depth.shape != (len(self.x), len(self.y)):
            raise ArgumentError(
                f"the depths must be over (x, y), of shape {(len(self.x), len(self.y))}, not {self.depth.shape}"
            )
        if not np.isfinite(self.depth).all():
            i, j = np.argwhere(~np.isfinite(self.depth))[0]
            raise ArgumentError(f"the depth at ({self.x[i]:.10g}, {self.y[j]:.10g}) is not finite")

    def __repr__(self) -> str:
        west, south, east, north = self.bounds
        return (
            f"<DepthGrid: {self.depth.min():g} to {self.depth.max():g} m, {len(self.x)} x {len(self.y)} points, "
            f"{(east - west) / 1000:.3g} km x {(north - south) / 1000:.3g} km>"
        )

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north ends."""
        return float(self.x[0]), float(self.y[0]), float(self.x[-1]), float(self.y[-1])

    def at(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The depth at each place, and how it changes to the east and to the north (m per m).

        On a line of the grid the change is that of the cell to the east or north. Beyond the ends of the grid the
        nearest cell goes on; ``refuse_outside`` is for places that may be there.
        """
        px, py = np.asarray(x, np.float64), np.asarray(y, np.float64)
        i, right, width = _cell(self.x, px)
        j, up, height = _cell(self.y, py)
        d = self.depth
        south_west, north_west = d[i, j], d[i, j + 1]
        on_south, on_north = d[i + 1, j] - south_west, d[i + 1, j + 1] - north_west
        below, above = south_west + right * on_south, north_west + right * on_north
        return (
            below + up * (above - below),
            (on_south + up * (on_north - on_south)) / width,
            (above - below) / height,
        )

    def refuse_outside(self, x: npt.ArrayLike, y: npt.ArrayLike, what: str) -> None:
        """Raise ArgumentError for a place outside, but for rounding; ``what`` names the places, e.g. ``turbine``."""
        px, py = np.asarray(x, np.float64), np.asarray(y, np.float64)
        west, south, east, north = self.bounds
        slack = 10 * TOLERANCE_M
        outside = ~(
            (px >= west - slack) & (px <= east + slack) & (py >= south - slack) & (py <= north + slack)
        )
        if outside.any():
            k = int(np.argmax(outside))
            raise ArgumentError(
                f"{what} {k} at ({px[k]:.10g}, {py[k]:.10g}) is outside the grid of depths, which goes from "
                f"x {west:.10g} to {east:.10g} and y {south:.10g} to {north:.10g}; "
                "give a larger grid, or move it inside"
            )


def _cell(axis: FloatArray, value: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """The step of an axis that a value is in, how far through it (0 to 1), and its length."""
    step = np.clip(np.searchsorted(axis, value, side="right") - 1, 0, len(axis) - 2)
    length = axis[step + 1] - axis[step]
    return step, (value - axis[step]) / length, length
