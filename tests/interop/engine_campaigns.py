"""Small campaigns for tests of engines: few directions, few turbines."""

from __future__ import annotations

import importlib
from typing import Any

from py_wake.literature import Bastankhah_PorteAgel_2014

from vindeby.campaign import Campaign

SPEED = [3.0, 5.0, 8.0, 11.0, 13.0, 25.0]
POWER_KW = [0.0, 400.0, 2100.0, 4600.0, 5000.0, 5000.0]
CT = [0.0, 0.82, 0.8, 0.7, 0.5, 0.06]
BASTANKHAH = {"pywake": "py_wake.literature:Bastankhah_PorteAgel_2014", "options": {"k": 0.0324555}}
X, Y = [0.0, 700.0, 1400.0, 300.0, 1100.0], [0.0, 100.0, -50.0, 900.0, 800.0]


def turbine(name: str = "five", size: float = 1.0) -> dict[str, Any]:
    table = {"wind_speed": SPEED, "power_kw": POWER_KW, "ct": CT}
    return {"name": name, "table": {"rotor_diameter_m": 126.0 * size, "hub_height_m": 90.0, **table}}


def weibull(**more: Any) -> dict[str, Any]:
    rows = [(9.0, 2.0, 0.2), (8.0, 2.1, 0.25), (10.0, 2.2, 0.25), (11.0, 1.9, 0.3)]
    sectors = [
        {"direction": 90.0 * i, "a": a, "k": k, "frequency": share} for i, (a, k, share) in enumerate(rows)
    ]
    few = {"direction_step": 30.0, "wind_speeds": [5.0, 8.0, 11.0, 14.0]}
    return {"weibull": {"turbulence_intensity": 0.07, "sectors": sectors, **few, **more}}


def data(wake: Any, **more: Any) -> dict[str, Any]:
    square = {"polygon": [[0, 0], [2000, 0], [2000, 2000], [0, 2000]]}
    return {
        "name": "engines",
        "farms": [{"name": "a", "boundary": square}],
        "turbines": [turbine()],
        "n_turbines": 4,
        "min_spacing": {"diameters": 3},
        "site": weibull(),
        "wake": wake,
        "method": [{"smart-start": {"grid_size": 5, "random_pct": 0, "wind_directions": [0, 90, 180, 270]}}],
        "seeds": 1,
        **more,
    }


def campaign(wake: Any, **more: Any) -> Campaign:
    return Campaign.from_data(data(wake, **more))


def deflected(site: Any, wind_turbines: Any, deflection: str) -> Any:
    """``BASTANKHAH`` with a deflection model of PyWake's."""
    module, _, name = deflection.partition(":")
    model = getattr(importlib.import_module(f"py_wake.deflection_models.{module}"), name)()
    return Bastankhah_PorteAgel_2014(site, wind_turbines, k=0.0324555, deflectionModel=model)


def no_model(site: object, wind_turbines: object) -> None:
    """Not what an engine is made of."""
