"""Which compiled loops evaluate a farm, and what each is called with.

``DirectLoops`` hold for every wake model and every wind. Many times faster where they hold: ``TabulatedLoops`` for one
turbulence intensity and few turbine types, ``WidthLoops`` for turbulence that varies, any types, and time series.
``loops_of`` chooses; a farm calls whatever it was given in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.loops.by_width import (
    FEW_STATES,
    by_width_kernels,
    can_use_width_loops,
    directions_per_block,
)
from vindeby.wake.loops.direct import direct_kernels
from vindeby.wake.loops.pair_tables import can_tabulate, pair_tables
from vindeby.wake.loops.tabulated import tabulated_kernels
from vindeby.wake.loops.wind import BLOCK, direction_pairs_of
from vindeby.wake.loops.wind_access import Locality
from vindeby.wake.models import ModelData, WakeModel
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.turbine import Turbine

FloatArray = npt.NDArray[np.float64]

_NOTHING: FloatArray = np.empty((0, 0))
"""For what is not to be kept."""


class Call(NamedTuple):
    """A compiled loop over ``blocks``, with what it takes before and after the arguments that all loops have."""

    loop: Callable[..., None]
    before: tuple[Any, ...]
    blocks: int
    after: tuple[Any, ...] = ()


class DirectLoops:
    """The model itself, for every pair and wind state."""

    def __init__(self, model: WakeModel, locality: Locality, data: ModelData) -> None:
        self.data = data
        self.kernels = direct_kernels(model, locality)

    def energy(self, states: WindStates) -> Call:
        """The mean power of every turbine, one row per block."""
        return Call(self.kernels.power, (self.data,), _blocks(states, BLOCK), (_NOTHING,) * 4)

    def gradient(self, states: WindStates) -> Call:
        """The same, and its slopes with the places of all turbines."""
        return Call(self.kernels.gradient, (self.data,), _blocks(states, BLOCK))

    def by_state(
        self, states: WindStates, counted: int, *, wants_power: bool
    ) -> tuple[Call, Callable[[], FloatArray]]:
        """Power or wind speed of every turbine in every state; after the call, the function gives them."""
        kept = tuple(np.zeros((counted, len(states.speed))) for _ in range(4))

        def found() -> FloatArray:
            array = kept[0 if wants_power else 1]
            if states.step is None:
                return array
            in_time = np.empty_like(array)
            in_time[:, states.step] = array
            return in_time

        return Call(self.kernels.power, (self.data,), _blocks(states, BLOCK), kept), found


class TabulatedLoops(DirectLoops):
    """Pairs read from tables, for all wind speeds together."""

    def __init__(
        self, model: WakeModel, data: ModelData, turbines: Sequence[Turbine], states: WindStates
    ) -> None:
        super().__init__(model, "uniform", data)
        self._tables = pair_tables(model, turbines, float(states.turbulence[0]))
        self._tabulated = tabulated_kernels(model)
        self._direction_pairs = direction_pairs_of(states, opposites=len(turbines) == 1)

    def energy(self, states: WindStates) -> Call:  # noqa: ARG002  the direction_pairs are those of the farm's states
        """As in ``DirectLoops``."""
        return self._call(self._tabulated.power)

    def gradient(self, states: WindStates) -> Call:  # noqa: ARG002
        """As in ``DirectLoops``."""
        return self._call(self._tabulated.gradient)

    def _call(self, loop: Callable[..., None]) -> Call:
        return Call(
            loop,
            (self.data, self._tables, self._direction_pairs),
            -(-len(self._direction_pairs.ahead) // BLOCK),
        )


class WidthLoops(DirectLoops):
    """Gaussian wakes by their width."""

    def __init__(self, model: WakeModel, data: ModelData) -> None:
        super().__init__(model, "uniform", data)
        self._by_width = by_width_kernels(model)

    def energy(self, states: WindStates) -> Call:
        """As in ``DirectLoops``."""
        return self._call(self._power(states), states, np.empty(0, np.int64), _NOTHING, _NOTHING)

    def gradient(self, states: WindStates) -> Call:
        """As in ``DirectLoops``."""
        return self._call(self._by_width.gradient, states)

    def by_state(
        self, states: WindStates, counted: int, *, wants_power: bool
    ) -> tuple[Call, Callable[[], FloatArray]]:
        """As in ``DirectLoops``."""
        found = np.zeros((counted, len(states.speed)))
        column = np.arange(len(states.speed)) if states.step is None else states.step.astype(np.int64)
        kept = (found, _NOTHING) if wants_power else (_NOTHING, found)
        return self._call(self._power(states), states, column, *kept), lambda: found

    def _power(self, states: WindStates) -> Callable[..., None]:
        few = len(states.speed) < FEW_STATES * len(states.direction)
        return self._by_width.steps if few else self._by_width.states

    def _call(self, loop: Callable[..., None], states: WindStates, *after: Any) -> Call:
        per_block = directions_per_block(states)
        return Call(loop, (self.data, per_block), _blocks(states, per_block), after)


def loops_of(
    model: WakeModel,
    turbines: Sequence[Turbine],
    states: WindStates,
    locality: Locality,
    data: ModelData,
    *,
    tabulate: bool,
) -> DirectLoops:
    """The fastest loops that hold here; with ``tabulate=False`` the model itself."""
    if tabulate and locality == "uniform":
        if can_use_width_loops(model, len(turbines), states):
            return WidthLoops(model, data)
        if can_tabulate(model, turbines, states.turbulence):
            return TabulatedLoops(model, data, turbines, states)
    return DirectLoops(model, locality, data)


def _blocks(states: WindStates, per_block: int) -> int:
    return -(-len(states.direction) // per_block)
