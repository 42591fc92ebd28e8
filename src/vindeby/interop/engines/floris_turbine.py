"""Turbines of vindeby as FLORIS describes them: tables of power in kW and thrust, linear in between.

FLORIS is 0 outside its tables, limits thrust coefficients to [0.0001, 0.9999], and knows no curves but tables. So
tables go from 0 to ``HIGHEST`` m/s, a jump is two points a rounding apart, and a cubic curve is sampled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.campaign.sections.turbines import AIR_DENSITY_KG_M3
from vindeby.wake import Turbine

FloatArray = npt.NDArray[np.float64]

HIGHEST = 100.0
"""m/s; no wind is faster."""
_SAMPLES_PER_PIECE = 200
"""Of a cubic piece; linear in between, that is exact to 1e-5 of the rated power."""


def floris_turbine(turbine: Turbine, number: int) -> dict[str, Any]:
    """The definition that ``turbine_type`` of FLORIS takes; the number tells types of one name apart."""
    speeds = _points(turbine)
    return {
        "turbine_type": f"{turbine.name} {number}",
        "hub_height": turbine.hub_height_m,
        "rotor_diameter": turbine.rotor_diameter_m,
        "TSR": 8.0,
        "operation_model": "cosine-loss",
        "power_thrust_table": {
            "ref_air_density": AIR_DENSITY_KG_M3,
            "ref_tilt": 0.0,
            "cosine_loss_exponent_yaw": 1.88,
            "cosine_loss_exponent_tilt": 1.88,
            "wind_speed": speeds.tolist(),
            "power": (turbine.power_at(speeds) / 1000.0).tolist(),
            "thrust_coefficient": turbine.thrust_coefficient_at(speeds).tolist(),
        },
    }


def _points(turbine: Turbine) -> FloatArray:
    """Wind speeds between which the curves are straight lines, as nearly as a table can have them."""
    ends = [*turbine.start[1:].tolist(), HIGHEST]
    points: list[float] = []
    for begin, end, power in zip(turbine.start.tolist(), ends, turbine.power, strict=True):
        count = _SAMPLES_PER_PIECE if power[2:].any() else 1
        points.extend(np.linspace(begin, end, count, endpoint=False).tolist())
        points.append(float(np.nextafter(end, 0.0)))
    return np.unique([*points, HIGHEST])
