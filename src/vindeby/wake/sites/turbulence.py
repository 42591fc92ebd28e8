"""Turbulence intensity that depends on the wind: by direction, by wind speed, or by both.

Between its points turbulence is always linear and periodic in direction, whatever the interpolation of a site's
sectors: PyWake's ``XRSite`` does the same. Outside the wind speeds of its points PyWake raises an error, and so
does this: turbulence rises steeply at low wind speeds, so that a held end value would be a guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vindeby.errors import ArgumentError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TurbulenceTable:
    """Turbulence intensity (a fraction) at points of direction (degrees), of wind speed (m/s), or of both.

    ``values`` has one entry per direction, one per wind speed, or one row per direction and one column per wind
    speed. Both axes must increase; directions are from 0 up to 360.
    """

    values: npt.ArrayLike
    wind_directions: npt.ArrayLike | None = None
    wind_speeds: npt.ArrayLike | None = None

    def __repr__(self) -> str:
        axes = {"direction": self.wind_directions, "wind speed": self.wind_speeds}
        by = " and ".join(name for name, axis in axes.items() if axis is not None)
        return f"<TurbulenceTable: by {by or 'nothing'}>"

    def at(self, directions: FloatArray, speeds: FloatArray) -> FloatArray:
        """Turbulence intensity by direction and wind speed; an axis that it does not depend on has length 1."""
        values, direction_points, speed_points = self._checked()
        if speed_points is None:
            assert direction_points is not None, "one of both is there"
            return _around(values, direction_points, directions)[:, None]
        table = values[None, :] if direction_points is None else _around(values, direction_points, directions)
        return _along(table, speed_points, speeds)

    def _checked(self) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
        try:
            values = np.array(self.values, np.float64)
        except (TypeError, ValueError) as problem:
            raise ArgumentError(f"turbulence values must be numbers: {problem}") from None
        directions = _axis("wind_directions", self.wind_directions, 360.0)
        speeds = _axis("wind_speeds", self.wind_speeds, 200.0)
        shape = tuple(len(axis) for axis in (directions, speeds) if axis is not None)
        if not shape:
            raise ArgumentError("a turbulence table needs wind_directions, wind_speeds or both")
        if values.shape != shape:
            raise ArgumentError(f"turbulence values must have the shape {shape}, not {values.shape}")
        if not np.all((values >= 0) & (values <= 5)):
            raise ArgumentError("turbulence values must be fractions from 0 to 5")
        return values, directions, speeds


def _axis(name: str, points: npt.ArrayLike | None, end: float) -> FloatArray | None:
    if points is None:
        return None
    try:
        axis = np.atleast_1d(np.array(points, np.float64))
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"{name} of a turbulence table must be numbers: {problem}") from None
    inside = np.all((axis >= 0) & (axis < end))
    if axis.ndim != 1 or not len(axis) or not inside or np.any(np.diff(axis) <= 0):
        raise ArgumentError(f"{name} of a turbulence table must increase, from 0 to below {end:g}")
    return axis


def _around(values: FloatArray, points: FloatArray, directions: FloatArray) -> FloatArray:
    """Linear in direction along the first axis, with the last point joined to the first."""
    angle = np.mod(directions, 360.0)
    right = np.searchsorted(points, angle, side="right")
    left = right - 1  # -1 is the last point, before north
    start, end = points[left], points[right % len(points)]
    width = np.where(end > start, end - start, end - start + 360.0)
    share = np.mod(angle - start, 360.0) / width
    share = share.reshape((-1,) + (1,) * (values.ndim - 1))
    return np.asarray(values[left] * (1 - share) + values[right % len(points)] * share)


def _along(values: FloatArray, points: FloatArray, speeds: FloatArray) -> FloatArray:
    """Linear in wind speed along the second axis; a wind speed outside the points is refused."""
    outside = (speeds < points[0]) | (speeds > points[-1])
    if outside.any():
        raise ArgumentError(
            f"the turbulence intensity is known from {points[0]:g} to {points[-1]:g} m/s, not at "
            f"{speeds[np.argmax(outside)]:g} m/s; add points, or leave these wind speeds out"
        )
    if len(points) == 1:
        return np.repeat(values, len(speeds), axis=1)
    left = np.clip(np.searchsorted(points, speeds, side="right") - 1, 0, len(points) - 2)
    share = (speeds - points[left]) / (points[left + 1] - points[left])
    return np.asarray(values[:, left] * (1 - share) + values[:, left + 1] * share)
