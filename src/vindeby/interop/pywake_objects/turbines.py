"""Turbines of vindeby as PyWake's ``WindTurbines``, with the same curves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from py_wake.wind_turbines import WindTurbine, WindTurbines
from py_wake.wind_turbines.power_ct_functions import (
    CubePowerSimpleCt,
    DensityCompensation,
    DensityScale,
    PowerCtFunction,
    PowerCtFunctionList,
    PowerCtTabular,
    SimpleYawModel,
)

from vindeby.errors import ArgumentError
from vindeby.units import MW
from vindeby.wake import Turbine

_WITHOUT_EFFECT = (SimpleYawModel, DensityScale, DensityCompensation)
"""They change a curve only where a call gives a yaw angle, a tilt or an air density, which a campaign does not."""


def turbine_sections(wind_turbines: Any) -> list[dict[str, Any]]:
    """Return a section for each type; raise ArgumentError if a type cannot be converted."""
    if not isinstance(wind_turbines, WindTurbines):
        raise ArgumentError(
            f"a {type(wind_turbines).__name__} is not a WindTurbine or WindTurbines of PyWake; several types are "
            "WindTurbines.from_WindTurbine_lst([...])"
        )
    function = wind_turbines.powerCtFunction
    types = wind_turbines.types()
    functions = [function]
    if isinstance(function, PowerCtFunctionList):
        if function.key != "type":
            raise ArgumentError(
                f"the power curve depends on {function.key!r}; a campaign has one curve for each turbine type: "
                "make a WindTurbine of each"
            )
        functions = function.windTurbineFunction_lst
    return [
        _section(
            str(wind_turbines.name(kind)), wind_turbines.diameter(kind), wind_turbines.hub_height(kind), one
        )
        for kind, one in zip(types, functions, strict=True)
    ]


def _section(name: str, diameter: Any, hub_height: Any, function: Any) -> dict[str, Any]:
    size = {"rotor_diameter_m": float(diameter), "hub_height_m": float(hub_height)}
    for model in getattr(function, "model_lst", ()):
        if not isinstance(model, _WITHOUT_EFFECT):
            raise _refused(name, f"its curve has the additional model {type(model).__name__}")
    if isinstance(function, PowerCtTabular):
        if function.method != "linear":
            raise _refused(name, f"its curve is interpolated by {function.method}, and a campaign's linearly")
        power, ct = function.power_ct_tab
        return {"name": name, "table": _table(size, function.ws_tab, power * function.power_scale, ct)}
    if isinstance(function, CubePowerSimpleCt) and function.ct_idle is None:
        rated_w = function.power_rated * function.power_scale
        speeds = (function.ws_cutin, function.ws_rated, function.ws_cutout)
        return {"name": name, "cubic": _cubic(size, rated_w, speeds, function.ct)}
    raise _refused(name, f"its curve is a {type(function).__name__}, a function and not a table")


def _refused(name: str, why: str) -> ArgumentError:
    return ArgumentError(
        f"turbine {name}: {why}; make a table of it: "
        'WindTurbine(name, diameter, hub_height, PowerCtTabular(ws, wt.power(ws), "W", wt.ct(ws)))'
    )


def _table(size: dict[str, float], speed: Any, watts: Any, ct: Any) -> dict[str, Any]:
    return {
        **size,
        "wind_speed": [float(value) for value in speed],
        "power_kw": [float(value) / 1000.0 for value in watts],
        "ct": [float(value) for value in ct],
    }


def _cubic(size: dict[str, float], rated_w: float, speeds: tuple[float, ...], ct: float) -> dict[str, Any]:
    names = ("cut_in", "rated_speed", "cut_out")
    wind = {name: float(speed) for name, speed in zip(names, speeds, strict=True)}
    return {"rated_power_mw": float(rated_w) / MW, **size, **wind, "ct": float(ct)}


def wind_turbines_of(turbines: Sequence[Turbine]) -> WindTurbines:
    """Return a ``WindTurbine``, or ``WindTurbines`` whose type numbers are the positions in the list."""
    names = ("name", "rotor_diameter_m", "hub_height_m")
    columns = [[getattr(turbine, name) for turbine in turbines] for name in names]
    columns.append([PieceCurves(turbine) for turbine in turbines])
    return WindTurbines(*columns) if len(turbines) > 1 else WindTurbine(*(one for (one,) in columns))


class PieceCurves(PowerCtFunction):  # type: ignore[misc]  # PyWake has no types
    """Power and thrust of a vindeby turbine, piece by piece, for PyWake and its automatic differentiation."""

    def __init__(self, turbine: Turbine) -> None:
        self.turbine = turbine
        PowerCtFunction.__init__(self, ["ws"], self._at, "W")

    def _at(self, ws: Any, run_only: int) -> Any:
        turbine = self.turbine
        piece = np.searchsorted(turbine.start, np.real(_number(ws)), side="right") - 1
        piece = np.maximum(piece, 0)
        along = ws - turbine.start[piece]
        lines = (turbine.power, turbine.thrust)[run_only][piece]
        value: Any = lines[..., -1]
        for power in range(lines.shape[-1] - 2, -1, -1):
            value = value * along + lines[..., power]
        return value


def _number(value: Any) -> Any:
    while hasattr(value, "_value"):
        value = value._value  # noqa: SLF001  the way of autograd
    return value
