"""Curves over wind speed as pieces, each a polynomial in the distance from where it begins.

A table of power and one of thrust may have wind speeds of their own; a turbine's pieces are the common ones of both.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.errors import ArgumentError

FloatArray = npt.NDArray[np.float64]
Outside = Literal["hold", "zero"]


class Curve(NamedTuple):
    """Where pieces begin (m/s, the first at 0), and one row of coefficients per piece, constant first."""

    start: FloatArray
    coefficients: FloatArray


def joined_points(speed: FloatArray, values: FloatArray, outside: Outside, degree: int) -> Curve:
    """Two points or more joined by straight lines. Outside them the end values hold, or the curve is zero.

    At the last point itself the curve still has its value.
    """
    if len(speed) < 2:
        raise ArgumentError(f"a curve needs two wind speeds or more, not {speed.tolist()}")
    slope = np.append(np.diff(values) / np.diff(speed), 0.0)
    coefficients = np.zeros((len(speed), degree + 1))
    coefficients[:, 0], coefficients[:, 1] = values, slope
    if speed[0] > 0:
        below = np.zeros((1, degree + 1))
        below[0, 0] = values[0] if outside == "hold" else 0.0
        speed, coefficients = np.append(0.0, speed), np.concatenate([below, coefficients])
    if outside == "zero":  # the piece before reaches the last point: one of its own would have no width
        speed = np.append(speed[:-1], np.nextafter(speed[-1], np.inf))
        coefficients[-1] = 0.0
    return Curve(speed, coefficients)


def common_pieces(power: Curve, thrust: Curve) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The starts of both, and the coefficients of each from there."""
    start = np.union1d(power.start, thrust.start)
    return start, _restarted(power, start), _restarted(thrust, start)


def _restarted(curve: Curve, start: FloatArray) -> FloatArray:
    """The same curve with its polynomials written in the distance from ``start``."""
    piece = np.searchsorted(curve.start, start, side="right") - 1
    shift = (start - curve.start[piece])[:, None]
    coefficients = curve.coefficients[piece]
    for first in range(coefficients.shape[1] - 1):  # Horner's scheme, once per derivative
        for power in range(coefficients.shape[1] - 2, first - 1, -1):
            coefficients[:, power : power + 1] += shift * coefficients[:, power + 1 : power + 2]
    return coefficients
