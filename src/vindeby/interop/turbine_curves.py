"""Power and thrust of a turbine type as points to be joined by straight lines, which is what other tools read."""

from typing import Any, NamedTuple

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.units import AIR_DENSITY_KG_M3, KW
from vindeby.wake import Turbine

STEP = 0.01
"""m/s between points where power is a cubic: within 3e-6 of the rated power."""


class CurvePoints(NamedTuple):
    """Wind speed (m/s), power (W) and thrust coefficient; outside of them the first and the last values hold."""

    speed: FloatArray
    power_w: FloatArray
    thrust: FloatArray


def curve_points(turbine: Turbine) -> CurvePoints:
    """Return the points of both curves; a jump is two points at neighbouring floating-point numbers.

    The point at 0 m/s is left out where the first values hold down to there anyway.
    """
    start = turbine.start
    ends = np.stack([np.nextafter(start[1:], -np.inf), start[1:]])
    power, thrust = turbine.power_at(ends), turbine.thrust_coefficient_at(ends)
    scale = np.maximum(power.max(axis=0), 1.0)
    jumps = (np.abs(power[1] - power[0]) > 1e-9 * scale) | (np.abs(thrust[1] - thrust[0]) > 1e-9)
    speeds = [start, ends[0][jumps]]
    for piece in np.flatnonzero(turbine.power[:-1, 2:].any(axis=1)):
        width = start[piece + 1] - start[piece]
        count = max(2, round(width / STEP) + 1)
        speeds.append(np.linspace(start[piece], start[piece + 1], count)[:-1])
    speed = np.unique(np.concatenate(speeds))
    points = CurvePoints(speed, turbine.power_at(speed), turbine.thrust_coefficient_at(speed))
    first_holds = len(speed) > 1 and all(column[0] == column[1] for column in points[1:])
    return CurvePoints(*(column[1:] for column in points)) if first_holds else points


HIGHEST = 100.0
"""m/s; no wind is faster."""
CALM = 1e-6
"""The wind speed in m/s below which there is no power, even if the first value of a curve holds."""


def floris_turbine(turbine: Turbine, name: str) -> dict[str, Any]:
    """Return the definition that ``turbine_type`` of FLORIS takes, without losses by tilt and yaw.

    FLORIS goes by the name, so it must tell apart the types of a farm.
    """
    speed, power, thrust = (column.tolist() for column in curve_points(turbine))
    if speed[0] > CALM:
        speed, power, thrust = [0.0, CALM, *speed], [0.0, power[0], *power], [thrust[0], thrust[0], *thrust]
    if speed[-1] < HIGHEST:
        speed, power, thrust = [*speed, HIGHEST], [*power, power[-1]], [*thrust, thrust[-1]]
    return {
        "turbine_type": name,
        "hub_height": turbine.hub_height_m,
        "rotor_diameter": turbine.rotor_diameter_m,
        "TSR": 8.0,
        "operation_model": "cosine-loss",
        "power_thrust_table": {
            "ref_air_density": AIR_DENSITY_KG_M3,
            "ref_tilt": 0.0,
            "cosine_loss_exponent_yaw": 1.88,
            "cosine_loss_exponent_tilt": 1.88,
            "wind_speed": speed,
            "power": [value / KW for value in power],
            "thrust_coefficient": thrust,
        },
    }
