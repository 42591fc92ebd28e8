"""A wind farm whose wakes an external engine computes, and the interface of such an engine.

Searches, checks and pictures know ``WindFarm``. A ``ForeignFarm`` is one, with the campaign's site, turbines and
neighbours; an engine (``vindeby.interop.engines``) says two things of a layout in given wind states, and everything
else follows from them:

- ``state_powers``: the power of every turbine in every state, and the wind speed at it;
- ``state_speeds_at``: the wind speed at points in the wakes of a layout, for the smart start;

and, where it can, ``aep_and_gradient``. Without an engine (``engine=None``) only what needs no wakes can be asked:
that is enough to validate and to draw, and executes no code that a campaign names.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError
from vindeby.text import plural
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import Neighbours, Site, Turbine, WakeModel, WindFarm, WindStates, models
from vindeby.wake.layout_checks import Places
from vindeby.wake.loops.wind_access import free_wind_at, wind_and_locality


class Engine(Protocol):
    """An external wake engine. States are in the order of ``WindStates``, turbines in the order of the layout."""

    title: str

    def state_powers(self, layout: Places, states: WindStates) -> tuple[FloatArray, FloatArray]:
        """Return power in W and wind speed in m/s, both (turbines, states)."""

    def state_speeds_at(
        self, layout: Places, states: WindStates, x: FloatArray, y: FloatArray, height_m: float
    ) -> FloatArray:
        """Return the wind speed in m/s at points in the wakes of the layout, (points, states)."""

    def mean_power_and_slopes(
        self, layout: Places, counted: int, states: WindStates
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the mean power in W of the first ``counted`` turbines, and its slopes with every turbine's x and y."""


def _stand_in() -> WakeModel:
    """Return a stand-in for the engine's model: its wakes are not a sum of pairs and cannot be widened."""
    model = models.niayifar_2016()
    return replace(model, name="engine", growth_constants=(), needs_turbulence=False, tabulate=False)


class ForeignFarm(WindFarm):
    """The energy of layouts on a site, with wakes computed by an external engine."""

    def __init__(
        self,
        site: Site,
        turbines: Sequence[Turbine],
        engine: Engine | None,
        title: str,
        *,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(site, turbines, _stand_in(), neighbours=neighbours, tabulate=False)
        del self._loops  # whatever would compute with the equations of the stand-in fails at once
        self._given, self.title = engine, title

    def __repr__(self) -> str:
        return f"<ForeignFarm: {plural(len(self.turbines), 'type')}; {self.site!r}; engine {self.title!r}>"

    @property
    def tabulated(self) -> bool:
        """Return False: no tables are used."""
        return False

    @property
    def by_width(self) -> bool:
        """Return False: vindeby does not compute the wakes."""
        return False

    @property
    def engine(self) -> Engine:
        """The engine; ArgumentError if there is none."""
        if self._given is None:
            raise ArgumentError(
                f"wakes of {self.title} are not computed here; vindeby run and validate --deep do"
            )
        return self._given

    def turbine_aep(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Return the annual energy production of every turbine in GWh."""
        layout, counted = self._layout(x, y, types)
        if not counted:
            return np.zeros(0)
        watts, _ = self.engine.state_powers(layout, self.states)
        return np.asarray(
            (watts[:counted] * self._weights(layout, counted)).sum(axis=1)
        ) * mean_power_to_aep_gwh(1.0)

    def aep_and_gradient(
        self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the AEP in GWh, and its derivatives with every x and every y in GWh per metre."""
        layout, counted = self._layout(x, y, types)
        watts, east, north = self.engine.mean_power_and_slopes(layout, counted, self.states)
        unit = mean_power_to_aep_gwh(1.0)
        return watts * unit, east[:counted] * unit, north[:counted] * unit

    def _of_chunk(
        self, layout: Places, counted: int, states: WindStates, *, speed: bool = False
    ) -> FloatArray:
        watts, speeds = self.engine.state_powers(layout, states)
        given = (speeds if speed else watts)[:counted]
        in_order = np.empty_like(given)
        in_order[:, slice(None) if states.step is None else states.step] = given
        return in_order.reshape((counted, *states.shape))

    def _speeds_at(
        self, layout: Places, states: WindStates, point_x: FloatArray, point_y: FloatArray, at: float
    ) -> FloatArray:
        return self.engine.state_speeds_at(layout, states, point_x, point_y, at)[:, 0]

    def point_energies(
        self,
        x: FloatArray,
        y: FloatArray,
        standing: Places,
        directions: npt.ArrayLike | None,
        speeds: npt.ArrayLike | None,
    ) -> FloatArray:
        """Return the mean power (W) that one more turbine would have at each point, by type, without its own wake.

        ``directions`` and ``speeds`` are those in which points are judged; a time series is taken as it is.
        """
        states = self.states if self.states.step is not None else self.site.states(directions, speeds)
        wind, _ = wind_and_locality(self.site, states, self.turbines)
        energies = np.empty((len(x), len(self.turbines)))
        for kind, turbine in enumerate(self.turbines):
            free = free_wind_at(wind, states.direction, x, y, np.full(len(x), kind, np.int64))
            blows = free.speed
            if len(standing[0]):
                blows = self.engine.state_speeds_at(standing, states, x, y, turbine.hub_height_m)
            energies[:, kind] = (turbine.power_at(blows) * free.probability).sum(axis=1)
        return energies

    def _weights(self, layout: Places, counted: int) -> FloatArray:
        """Return the probability of every state at every turbine; a single row if the wind is the same everywhere."""
        if self.locality == "uniform":
            return np.asarray(self.states.probability[None, :])
        x, y, types = layout
        return free_wind_at(
            self.wind, self.states.direction, x[:counted], y[:counted], types[:counted]
        ).probability
