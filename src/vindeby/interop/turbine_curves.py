"""Power and thrust of a turbine type as points to be joined by straight lines, which is what other tools read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vindeby.wake import Turbine

FloatArray = NDArray[np.float64]
STEP = 0.01
"""m/s between points where power is a cubic: within 3e-6 of the rated power."""


class Points(NamedTuple):
    """Wind speed (m/s), power (W) and thrust coefficient; outside of them the first and the last values hold."""

    speed: FloatArray
    power_w: FloatArray
    thrust: FloatArray


def curve_points(turbine: Turbine) -> Points:
    """The points of both curves; a jump is two points at neighbouring floating-point numbers."""
    speeds: list[FloatArray] = []
    starts = turbine.start
    for number, start in enumerate(starts):
        if number + 1 == len(starts):
            speeds.append(np.array([start]))
            continue
        end = float(starts[number + 1])
        inside = np.array([start])
        if np.any(turbine.power[number, 2:] != 0.0):
            count = max(2, round((end - start) / STEP) + 1)
            inside = np.linspace(start, end, count)[:-1]
        last = np.nextafter(end, -np.inf)
        speeds.append(np.append(inside, last) if _jumps(turbine, last, end) and last > inside[-1] else inside)
    speed = np.concatenate(speeds)
    points = Points(speed, turbine.power_at(speed), turbine.thrust_coefficient_at(speed))
    return _without_first_constant(points)


def _jumps(turbine: Turbine, below: float, at: float) -> bool:
    power, thrust = turbine.power_at([below, at]), turbine.thrust_coefficient_at([below, at])
    scale = max(float(power.max()), 1.0)
    return bool(abs(power[1] - power[0]) > 1e-9 * scale or abs(thrust[1] - thrust[0]) > 1e-9)


def _without_first_constant(points: Points) -> Points:
    """Without the point at 0 m/s where the first values hold down to there anyway."""
    same = (
        len(points.speed) > 1
        and points.power_w[0] == points.power_w[1]
        and points.thrust[0] == points.thrust[1]
    )
    return Points(*(column[1:] for column in points)) if same else points
