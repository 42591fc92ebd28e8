"""Turbines of vindeby as FLORIS describes them: tables of power in kW and thrust, linear in between.

FLORIS is 0 outside its tables, limits thrust coefficients to [0.0001, 0.9999], and knows no curves but tables. So
tables go from 0 to ``HIGHEST`` m/s, a jump is two points a rounding apart, and a cubic curve is sampled.
"""

from __future__ import annotations

from typing import Any

from vindeby.interop.turbine_curves import curve_points
from vindeby.units import AIR_DENSITY_KG_M3, w_to_kw
from vindeby.wake import Turbine

HIGHEST = 100.0
"""m/s; no wind is faster."""
CALM = 1e-6
"""m/s; below it there is no power, even where the first value of a curve holds."""


def floris_turbine(turbine: Turbine, name: str) -> dict[str, Any]:
    """The definition that ``turbine_type`` of FLORIS takes, without losses by tilt and yaw.

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
            "power": [w_to_kw(value) for value in power],
            "thrust_coefficient": thrust,
        },
    }
