"""Make ``floris_figures.json``: what FLORIS computes for a few small farms, for ``test_floris.py``.

FLORIS is not needed to run the tests. To make the figures again: ``pip install floris==4.7``, then
``python -m tests.physics.make_floris_figures``. One grid point per rotor, no shear, no veer, no yaw, and none of the
effects of yaw; the turbine and the layouts are those of ``floris_cases.py``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.physics import floris_cases as cases


def _input(velocity_model: str, turbulence_model: str) -> dict[str, Any]:
    turbine = {
        "turbine_type": "test",
        "hub_height": cases.HUB_HEIGHT,
        "rotor_diameter": cases.DIAMETER,
        "TSR": 8.0,
        "operation_model": "simple",
        "power_thrust_table": {
            "ref_air_density": 1.225,
            "ref_tilt": 0.0,
            "cosine_loss_exponent_yaw": 1.88,
            "cosine_loss_exponent_tilt": 1.88,
            "wind_speed": list(cases.WIND_SPEED),
            "power": list(cases.POWER_KW),
            "thrust_coefficient": list(cases.THRUST_COEFFICIENT),
        },
    }
    quiet = {"enable": False, "level": "WARNING"}
    return {
        "name": "figures",
        "description": "",
        "floris_version": "v4",
        "logging": {"console": quiet, "file": quiet},
        "solver": {"type": "turbine_grid", "turbine_grid_points": 1},
        "farm": {"layout_x": [0.0], "layout_y": [0.0], "turbine_type": [turbine]},
        "flow_field": {
            "air_density": 1.225,
            "reference_wind_height": cases.HUB_HEIGHT,
            "turbulence_intensities": [cases.TURBULENCE],
            "wind_directions": [270.0],
            "wind_shear": 0.0,
            "wind_speeds": [8.0],
            "wind_veer": 0.0,
        },
        "wake": {
            "model_strings": {
                "combination_model": "sosfs",
                "deflection_model": "gauss",
                "turbulence_model": turbulence_model,
                "velocity_model": velocity_model,
            },
            "enable_secondary_steering": False,
            "enable_yaw_added_recovery": False,
            "enable_transverse_velocities": False,
            "enable_active_wake_mixing": False,
            "wake_deflection_parameters": {"gauss": {"ad": 0.0, "bd": 0.0}},
            "wake_velocity_parameters": {"cc": {}, "gauss": {}},
            "wake_turbulence_parameters": {
                "crespo_hernandez": {"initial": 0.1, "constant": 0.5, "ai": 0.8, "downstream": -0.32}
            },
        },
    }


def _powers(velocity_model: str, turbulence_model: str, x: list[float], y: list[float]) -> list[list[float]]:
    from floris import FlorisModel  # type: ignore[import-not-found, unused-ignore]  # only this script needs it

    model = FlorisModel(_input(velocity_model, turbulence_model))
    model.set(
        layout_x=x,
        layout_y=y,
        wind_directions=cases.DIRECTIONS,
        wind_speeds=cases.SPEEDS,
        turbulence_intensities=[cases.TURBULENCE] * len(cases.SPEEDS),
    )
    model.run()
    powers: list[list[float]] = model.get_turbine_powers().T.tolist()
    return powers


def main() -> None:
    """Write the figures: power in W by model, layout, turbine and wind state."""
    figures = {
        name: {layout: _powers(*models, *places) for layout, places in cases.LAYOUTS.items()}
        for name, models in cases.FLORIS_MODELS.items()
    }
    made = {"floris": version("floris"), "numpy": version("numpy"), "power_w": figures}
    Path(__file__).with_name("floris_figures.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
