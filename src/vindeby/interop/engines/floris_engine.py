"""FLORIS as an engine: a FLORIS 4 configuration with the campaign's layout, turbines and wind put in.

FLORIS computes each wind state by itself (a "findex"); what a state counts is the campaign's. Shear, veer, air density,
the points on a rotor and everything about wakes are those of the configuration.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.campaign.sections.wake_model import FlorisEngine
from vindeby.errors import ArgumentError, InputError
from vindeby.interop.engines import need_engine, refuse_nan
from vindeby.interop.turbine_curves import floris_turbine
from vindeby.wake import Turbine, WindStates
from vindeby.wake.layout_checks import Places

_NUMBERS = 2_000_000
"""Wind speeds on rotors, or at points, that FLORIS computes at a time: its arrays grow with them."""


class Floris:
    """A FLORIS model with the campaign's turbines."""

    def __init__(self, given: FlorisEngine, turbines: Sequence[Turbine]) -> None:
        need_engine("floris")
        self.title, self._turbines = given.title, turbines
        self._types = [floris_turbine(one, f"{one.name} {number}") for number, one in enumerate(turbines)]
        self._model = _made(given, self._types)
        grid = given.configuration.get("solver")
        side = grid.get("turbine_grid_points", 3) if isinstance(grid, dict) else 3
        self._per_rotor = int(side) ** 2 if isinstance(side, int) else 9

    def state_powers(self, layout: Places, states: WindStates) -> tuple[FloatArray, FloatArray]:
        """Return power in W and wind speed in m/s, both (turbines, states); the speed is the mean over the rotor."""
        x, _, types = layout
        watts, speed = (np.zeros((len(x), len(states.speed))) for _ in range(2))
        calm = states.speed <= 0.0  # FLORIS divides by the wind speed
        if calm.any():
            still = [self._turbines[kind].power_at(np.zeros(1)) for kind in types]
            watts[:, calm] = np.array(still).reshape(-1, 1)
        for part in self._parts(states, len(x) * self._per_rotor):
            model = self._set(layout, states, part)
            model.run()
            watts[:, part] = model.get_turbine_powers().T
            speed[:, part] = model.turbine_average_velocities.T
        refuse_nan(self.title, watts)
        return watts, speed

    def state_speeds_at(
        self, layout: Places, states: WindStates, x: FloatArray, y: FloatArray, height_m: float
    ) -> FloatArray:
        """Return the wind speed in m/s at points in the wakes of the layout, (points, states)."""
        out = np.zeros((len(x), len(states.speed)))
        for part in self._parts(states, len(x)):
            model = self._set(layout, states, part)
            out[:, part] = model.sample_flow_at_points(x, y, np.full(len(x), height_m)).T
        refuse_nan(self.title, out)
        return out

    def mean_power_and_slopes(self, *_: object) -> tuple[float, FloatArray, FloatArray]:
        """Raise ArgumentError: FLORIS has no gradient of the energy."""
        raise ArgumentError(
            f"{self.title}: FLORIS has no gradient; use random-search or annealing, or a PyWake model"
        )

    def _parts(self, states: WindStates, numbers_per_state: int) -> Iterator[npt.NDArray[np.intp]]:
        blowing = np.flatnonzero(states.speed > 0.0)
        share = max(1, _NUMBERS // max(1, numbers_per_state))
        for begin in range(0, len(blowing), share):
            yield blowing[begin : begin + share]

    def _set(self, layout: Places, states: WindStates, part: npt.NDArray[np.intp]) -> Any:
        x, y, types = layout
        direction = np.repeat(states.direction, np.diff(states.first))
        several = len(self._types) > 1  # the first stands in the model already
        self._model.set(
            layout_x=x,
            layout_y=y,
            turbine_type=[self._types[kind] for kind in types] if several else None,
            reference_wind_height=self._model.core.flow_field.reference_wind_height if several else None,
            wind_directions=direction[part] % 360.0,
            wind_speeds=states.speed[part],
            turbulence_intensities=states.turbulence[part],
        )
        return self._model


def _made(given: FlorisEngine, types: list[dict[str, Any]]) -> Any:
    """Return a ``FlorisModel`` of the configuration, with one turbine in one wind until a layout is set."""
    from floris import FlorisModel

    configuration: dict[str, Any] = copy.deepcopy(given.configuration)
    flow = configuration["flow_field"]
    flow["reference_wind_height"] = _reference_height(flow, types)
    flow |= {"wind_directions": [270.0], "wind_speeds": [8.0], "turbulence_intensities": [0.06]}
    quiet = {"enable": False, "level": "ERROR"}
    whole = {
        "name": "campaign",
        "description": "",
        "logging": {"console": quiet, "file": quiet},
        "farm": {"layout_x": [0.0], "layout_y": [0.0], "turbine_type": types[:1]},
        **configuration,
        "floris_version": "v4",
    }
    try:
        return FlorisModel(whole)
    except Exception as error:
        raise InputError(
            f"wake.floris: FLORIS does not take the configuration: {type(error).__name__}: {error}"
        ) from error


def _reference_height(flow: dict[str, Any], types: list[dict[str, Any]]) -> float:
    """Return the height of the campaign's wind, from the configuration, where -1 means the hub height."""
    given, heights = flow.get("reference_wind_height", -1), {kind["hub_height"] for kind in types}
    if isinstance(given, int | float) and given > 0:
        return float(given)
    if len(heights) > 1:
        shown = ", ".join(f"{height:g}" for height in sorted(heights))
        raise InputError(
            f"wake.floris: reference_wind_height is {given}, the height of the hubs, but these are {shown} m high; "
            "give it in metres: options: {flow_field: {reference_wind_height: 100}}"
        )
    return float(heights.pop())
