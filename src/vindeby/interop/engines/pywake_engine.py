"""PyWake as an engine: powers, wind at points and gradients from a PyWake wind-farm model.

PyWake computes the wind speed at turbines and their power in each wind state. How often a state occurs is taken from
the campaign's site, whose probabilities are PyWake's (the tests compare them); so is turbulence, which is handed to
PyWake state by state. Where the wind differs from place to place, PyWake has it on the same grid.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.sections.wake_model import PyWakeEngine
from vindeby.interop.engines import made_model, need_engine, refuse_nan
from vindeby.wake import ChangedSite, GriddedSite, Site, Turbine, WindStates
from vindeby.wake.layout_checks import Places

_STEPS = 2048
"""Steps of a time series that PyWake computes at a time: its arrays grow with the number of steps."""
_POINTS_GB = 0.25
"""Memory that PyWake may take for the wind at points, in its own estimate."""


class PyWake:
    """A wind-farm model of PyWake with the campaign's site and turbines."""

    def __init__(self, given: PyWakeEngine, site: Site, turbines: Sequence[Turbine]) -> None:
        need_engine("pywake")
        from vindeby.interop.pywake_objects.sites import pywake_site
        from vindeby.interop.pywake_objects.turbines import wind_turbines_of

        self.title = given.title
        self._local = site if isinstance(site, GriddedSite) else None
        self._rose = site.rose if isinstance(site, ChangedSite) else site
        self._model = made_model(given, pywake_site(self._rose), wind_turbines_of(turbines))
        self._model.verbose = False
        needed = getattr(self._model, "args4all", ())  # by models of deflection: all turbines face the wind
        self._angles: dict[str, Any] = {name: 0.0 for name in ("yaw", "tilt") if f"{name}_ilk" in needed}

    def state_powers(self, layout: Places, states: WindStates) -> tuple[FloatArray, FloatArray]:
        """Return power in W and wind speed in m/s, both (turbines, states)."""
        x, y, types = layout
        shape = (len(x), len(states.speed))
        watts, speed = np.empty(shape), np.empty(shape)
        for part, arguments in self._calls(states):
            found = self._model(x, y, type=types, return_simulationResult=False, **arguments)
            for array, values in ((watts, found[2]), (speed, found[0])):
                array[:, part] = _flat(values, len(x), arguments)
        refuse_nan(self.title, watts)
        return watts, speed

    def state_speeds_at(
        self, layout: Places, states: WindStates, x: FloatArray, y: FloatArray, height_m: float
    ) -> FloatArray:
        """Return the wind speed in m/s at points in the wakes of the layout by PyWake's flow map, (points, states)."""
        from py_wake.flow_map import Points

        east, north, types = layout
        out = np.empty((len(x), len(states.speed)))
        for part, arguments in self._calls(states):
            result = self._model(east, north, type=types, **arguments)
            chosen = {} if "time" in arguments else {"wd": arguments["wd"], "ws": arguments["ws"]}
            points = Points(x, y, np.full(len(x), height_m))
            found = result.flow_map(points, memory_GB=_POINTS_GB, **chosen)
            out[:, part] = _flat(found.WS_eff.ilk(), len(x), arguments)
        refuse_nan(self.title, out)
        return out

    def mean_power_and_slopes(
        self, layout: Places, counted: int, states: WindStates
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the mean power in W of the first ``counted`` turbines, and its slopes by automatic differentiation."""
        from autograd import value_and_grad
        from py_wake.utils.gradients import AutogradNumpy

        x, y, types = layout
        many, total, slopes = len(x), 0.0, np.zeros(2 * len(x))
        # Where probabilities differ from place to place, they have slopes, too.
        own_probabilities = self._local is not None and self._local.grid.has_weibull
        for part, arguments in self._calls(states):
            weights = states.probability[part].reshape(_shape(1, arguments))

            def mean_power(places: Any, arguments: dict[str, Any] = arguments, weights: Any = weights) -> Any:
                found = self._model(
                    places[:many], places[many:], type=types, return_simulationResult=False, **arguments
                )
                own = found[4].P_ilk[:counted] if own_probabilities else weights
                return (found[2][:counted] * own).sum()

            with AutogradNumpy():
                value, slope = value_and_grad(mean_power)(np.concatenate([x, y]))
            total, slopes = total + float(value), slopes + np.asarray(slope)
        refuse_nan(self.title, slopes)
        return total, slopes[:many], slopes[many:]

    def _calls(self, states: WindStates) -> Iterator[tuple[slice, dict[str, Any]]]:
        from vindeby.interop.pywake_objects.sites import wind_arguments

        count = len(states.speed)
        length = count if states.step is None else _STEPS
        for begin in range(0, count, length):
            part = slice(begin, min(begin + length, count))
            yield part, self._angles | wind_arguments(self._rose, states, part)


def _shape(rows: int, arguments: dict[str, Any]) -> tuple[int, int, int]:
    """Return the shape of PyWake's arrays: rows, directions (or steps), speeds."""
    return rows, len(arguments["wd"]), 1 if "time" in arguments else len(arguments["ws"])


def _flat(values: Any, rows: int, arguments: dict[str, Any]) -> FloatArray:
    """Reshape (rows, directions, speeds) to (rows, states)."""
    return np.asarray(np.broadcast_to(np.asarray(values), _shape(rows, arguments))).reshape(rows, -1)
