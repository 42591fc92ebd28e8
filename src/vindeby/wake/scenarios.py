"""A farm in several scenarios: in other wind, with other wakes, with other neighbours.

A ``ScenarioFarm`` is a ``WindFarm`` to every search. Its energy is one number made of those of its scenarios, in GWh:

- ``mean``: their weighted mean;
- ``worst``: the least of them.

The least has kinks where scenarios change places, at which a climb along the gradient of one of them gets stuck. So
``aep_and_gradient`` takes a smooth least: -T log(sum(exp(-E / T))), which is below the least by no more than
T log(number of scenarios). Everything else, and so every comparison of layouts in the end, is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError
from vindeby.text import plural
from vindeby.wake.farm import Neighbours, WindFarm

Over = Literal["mean", "worst"]
SMOOTHNESS = 1e-4
"""T of the smooth least, as a share of the mean energy."""


class ScenarioFarm(WindFarm):
    """A wind farm whose layouts are valued over several scenarios.

    ``parts`` is the farm in each of them, with the same turbine types; ``weights`` says how much each counts in the
    mean, by default the same. Wind states, powers and flow maps are those of the first scenario.
    """

    def __init__(
        self,
        parts: Sequence[WindFarm],
        weights: npt.ArrayLike | None = None,
        over: Over = "mean",
    ) -> None:
        first = parts[0]
        if any(part.turbines != first.turbines for part in parts):
            raise ArgumentError("the farms of all scenarios must have the same turbine types, in one order")
        given = np.ones(len(parts)) if weights is None else np.array(weights, np.float64)
        if given.shape != (len(parts),) or not (np.isfinite(given) & (given > 0.0)).all():
            raise ArgumentError(f"weights must be a number above 0 for each scenario, not {weights!r}")
        vars(self).update(vars(first))
        for name in ("_layout", "_of_chunk", "_speeds_at"):
            setattr(self, name, getattr(first, name))
        self._parts, self.weights, self.over = tuple(parts), given / given.sum(), over
        self.neighbours = _every_neighbour(parts)
        self.locality = next((part.locality for part in parts if part.locality != "uniform"), "uniform")

    def __repr__(self) -> str:
        return f"<ScenarioFarm: {plural(len(self.parts), 'scenario')}, {self.over}; first {self.parts[0]!r}>"

    @property
    def parts(self) -> tuple[WindFarm, ...]:
        return self._parts

    def with_parts(self, parts: Sequence[WindFarm]) -> ScenarioFarm:
        """Return a farm with the same weights and comparison and other parts, e.g. with fewer wind states."""
        return ScenarioFarm(parts, self.weights, self.over)

    def scenario_aep(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Return the annual energy production of the layout in each scenario, in GWh."""
        return np.array([part.turbine_aep(x, y, types).sum() for part in self.parts])

    def value(self, gwh: FloatArray) -> float:
        """Return one value for the energies (GWh) by scenario."""
        return float(self.weights @ gwh if self.over == "mean" else gwh.min())

    def turbine_aep(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Return each turbine's share of the farm's energy (GWh)."""
        each = np.stack([part.turbine_aep(x, y, types) for part in self.parts])
        if self.over == "mean":
            return np.asarray(self.weights @ each)
        worst = int(np.argmin(each.sum(axis=1)))
        return np.asarray(each[worst])

    def aep_and_gradient(
        self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the farm's energy in GWh (a smooth minimum for ``worst``) and its derivatives in GWh per metre."""
        return self.combined([part.aep_and_gradient(x, y, types) for part in self.parts])

    def combined(
        self, of_parts: Sequence[tuple[float, FloatArray, FloatArray]]
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the combined energy and derivatives of all parts, as ``aep_and_gradient`` does."""
        energies, *slopes = zip(*of_parts, strict=True)
        gwh, shares = np.array(energies), self.weights
        energy = self.value(gwh)
        if self.over != "mean":
            width = max(SMOOTHNESS * float(self.weights @ gwh), 1e-300)
            above = (gwh - energy) / width
            near = np.exp(-above)
            entropy = float(np.log(near.sum()) + near @ above / near.sum())
            energy -= width * float(np.log(near.sum()))
            # The width has a slope, too.
            shares = near / near.sum() - SMOOTHNESS * entropy * self.weights
        east, north = (np.asarray(shares @ np.stack(each)) for each in slopes)
        return energy, east, north

    def wake_free_aep(self, count: int, types: npt.ArrayLike = 0) -> float:
        """Return the energy in GWh of ``count`` turbines if none stood in a wake."""
        return self.value(np.array([part.wake_free_aep(count, types) for part in self.parts]))

    def free_aep_at(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> float:
        """Return the energy in GWh of turbines at these positions if none stood in a wake."""
        return self.value(np.array([part.free_aep_at(x, y, types) for part in self.parts]))


def _every_neighbour(parts: Sequence[WindFarm]) -> Neighbours | None:
    """Return the neighbours of all scenarios, each once, since a layout keeps clear of them all."""
    given = [part.neighbours for part in parts if part.neighbours is not None]
    columns = [np.broadcast_arrays(*np.atleast_1d(one.x, one.y, one.types)) for one in given]
    places = {(x, y, kind) for column in columns for x, y, kind in zip(*column, strict=True)}
    return Neighbours(*map(np.array, zip(*sorted(places), strict=True))) if places else None
