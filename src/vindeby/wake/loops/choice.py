"""The choice of the compiled loops that evaluate a farm, and the arguments of each.

The loops of ``direct`` hold for every wake model and every wind. Many times faster where they hold: those of
``steady`` for wakes that do not change with the wind, those of ``tabulated`` for one turbulence intensity and few
turbine types, those of ``by_width`` for turbulence that varies, any types, and time series. All have the same
arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from vindeby.wake.loops.by_width import FEW_STATES, by_width_kernels, can_use_width_loops
from vindeby.wake.loops.direct import direct_kernels
from vindeby.wake.loops.pair_tables import can_tabulate, pair_tables
from vindeby.wake.loops.steady import is_steady, steady_kernels, steady_wakes
from vindeby.wake.loops.tabulated import tabulated_kernels
from vindeby.wake.loops.wind import DirectionPairs, direction_pairs_of
from vindeby.wake.loops.wind_access import Locality
from vindeby.wake.models import WakeModel
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.turbine import Turbine

BLOCK = 12
"""Directions summed up together, always the same ones, so that the number of threads changes nothing."""
_MOST_BLOCKS = 512
"""In long time series blocks are larger, so that the sums of all blocks stay small."""

LoopKind = Literal["direct", "steady", "tabulated", "by width"]


class LoopCall(NamedTuple):
    """A compiled loop, with the data of the model and the directions that it takes."""

    loop: Callable[..., None]
    data: Any
    pairs: DirectionPairs
    per_block: int

    @property
    def blocks(self) -> int:
        return -(-len(self.pairs.ahead) // self.per_block)


class Loops:
    """The fastest loops that hold for a farm; with ``tabulate=False`` those of the model itself."""

    def __init__(
        self,
        model: WakeModel,
        turbines: Sequence[Turbine],
        states: WindStates,
        locality: Locality,
        *,
        tabulate: bool,
    ) -> None:
        self.kind: LoopKind = "direct"
        self.direct = direct_kernels(model, locality)
        self._model, self._data = model, model.data
        if tabulate and locality == "uniform":
            if is_steady(model, turbines):
                self.kind = "steady"
                self._tables: Any = steady_wakes(model, turbines, states)
                self._pairs = direction_pairs_of(states, opposites=len(turbines) == 1)
                self._own = steady_kernels(model, len(turbines) == 1)
            elif can_use_width_loops(model, len(turbines), states):
                self.kind = "by width"
            elif can_tabulate(model, turbines, states.turbulence):
                self.kind = "tabulated"
                self._tables = pair_tables(model, turbines, float(states.turbulence[0]))
                self._pairs = direction_pairs_of(states, opposites=len(turbines) == 1)
                self._own = tabulated_kernels(model)

    def energy(self, states: WindStates) -> LoopCall:
        """Return the loop for the mean power of every turbine; tables are those of the farm's own states."""
        if self.kind in ("tabulated", "steady"):
            return LoopCall(self._own.power, self._tables, self._pairs, BLOCK)
        return self.by_state(states)

    def by_state(self, states: WindStates) -> LoopCall:
        """Return a loop for mean powers that can also keep the power of every turbine in every wind state."""
        if self.kind != "by width":
            return self.one_state(states)
        few = len(states.speed) < FEW_STATES * len(states.direction)
        loops = by_width_kernels(self._model)
        return self._by_width(loops.steps if few else loops.states, states)

    def one_state(self, states: WindStates) -> LoopCall:
        """Return the loop of the model itself, for wind states that need not be the farm's."""
        return self._call(self.direct.power, states, BLOCK)

    def gradient(self, states: WindStates) -> LoopCall:
        """Return the loop for the mean power of every turbine and its slopes with all positions."""
        if self.kind in ("tabulated", "steady"):
            return LoopCall(self._own.gradient, self._tables, self._pairs, BLOCK)
        if self.kind == "by width":
            return self._by_width(by_width_kernels(self._model).gradient, states)
        return self._call(self.direct.gradient, states, BLOCK)

    def _by_width(self, loop: Callable[..., None], states: WindStates) -> LoopCall:
        return self._call(loop, states, max(BLOCK, -(-len(states.direction) // _MOST_BLOCKS)))

    def _call(self, loop: Callable[..., None], states: WindStates, per_block: int) -> LoopCall:
        return LoopCall(loop, self._data, direction_pairs_of(states, opposites=False), per_block)
