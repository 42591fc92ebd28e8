"""Turbines of vindeby as PyWake's ``WindTurbines``, with the same curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from py_wake.wind_turbines import WindTurbine, WindTurbines
from py_wake.wind_turbines.power_ct_functions import PowerCtFunction, PowerCtTabular

from vindeby.wake import Turbine

FloatArray = npt.NDArray[np.float64]


def wind_turbines_of(turbines: Sequence[Turbine]) -> WindTurbines:
    """One ``WindTurbine``, or ``WindTurbines`` whose type numbers are the places in the list."""
    curves = [_curves(turbine) for turbine in turbines]
    if len(turbines) == 1:
        one = turbines[0]
        return WindTurbine(one.name, one.rotor_diameter_m, one.hub_height_m, curves[0])
    return WindTurbines(
        [turbine.name for turbine in turbines],
        [turbine.rotor_diameter_m for turbine in turbines],
        [turbine.hub_height_m for turbine in turbines],
        curves,
    )


def _curves(turbine: Turbine) -> PowerCtFunction:
    """A table where straight lines joined at their ends are the whole curve; else the pieces themselves."""
    if _is_a_table(turbine):
        return PowerCtTabular(turbine.start, turbine.power[:, 0], "W", turbine.thrust[:, 0])
    return PieceCurves(turbine)


def _is_a_table(turbine: Turbine) -> bool:
    if turbine.power[:, 2:].any() or len(turbine.start) < 2:
        return False
    width = np.diff(turbine.start)
    for line in (turbine.power, turbine.thrust):
        end = line[:-1, 0] + line[:-1, 1] * width
        if not np.allclose(end, line[1:, 0], rtol=1e-12, atol=1e-12 * np.abs(line).max()):
            return False
    return True


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
    """The number behind a traced one."""
    while hasattr(value, "_value"):
        value = value._value  # noqa: SLF001  the way of autograd
    return value
