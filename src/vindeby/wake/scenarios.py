"""One farm in several scenarios: in other wind, with other wakes, among other neighbours.

A ``ScenarioFarm`` is a ``WindFarm`` to every search. Its energy is one number made of those of its scenarios, in GWh:

- ``mean``: their weighted mean;
- ``worst``: the least of them;
- ``regret``: the mean of the best energies that each scenario alone allows, less the largest regret. The regret of a
  scenario is what the layout falls short of its best there (Savage 1951).

The last two have kinks where scenarios change places, at which a climb along the gradient of one of them gets stuck. So
``aep_and_gradient`` takes a smooth least: -T log(sum(exp(-E / T))), which is below the least by no more than
T log(number of scenarios). Everything else, and so every comparison of layouts in the end, is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError
from vindeby.wake.farm import Neighbours, WindFarm
from vindeby.wake.models import WakeModel, niayifar_2016
from vindeby.wake.sites.site import Site, TimeSeriesSite, WindStates

Over = Literal["mean", "worst", "regret"]
SMOOTHNESS = 1e-4
"""T of the smooth least, as a share of the mean energy."""


def stand_in_model() -> WakeModel:
    """A model for farms that compute otherwise: searches see that its wakes are not a sum of pairs, nor widened."""
    model = niayifar_2016()
    return replace(model, name="engine", growth_constants=(), needs_turbulence=False, tabulate=False)


class ScenarioFarm(WindFarm):
    """What layouts are worth over several scenarios.

    ``parts`` is the farm in each of them, with the same turbine types; ``weights`` says how much each counts in the
    mean, by default the same. ``best`` (GWh), for ``regret``, is what the best layout for each scenario alone gives
    there. The wind states, powers and flow maps are those of the first scenario.
    """

    def __init__(
        self,
        parts: Sequence[WindFarm],
        weights: npt.ArrayLike | None = None,
        over: Over = "mean",
        best: npt.ArrayLike | None = None,
    ) -> None:
        first = parts[0]
        beside = _every_neighbour(parts)
        super().__init__(first.site, first.turbines, stand_in_model(), neighbours=beside, tabulate=False)
        del self._loops  # whatever would compute with the equations of the stand-in fails at once
        if any(part.turbines != first.turbines for part in parts):
            raise ArgumentError("the farms of all scenarios must have the same turbine types, in one order")
        given = np.ones(len(parts)) if weights is None else np.array(weights, np.float64)
        if given.shape != (len(parts),) or not (np.isfinite(given) & (given > 0.0)).all():
            raise ArgumentError(f"weights must be a number above 0 for each scenario, not {weights!r}")
        self._parts, self.weights, self.over = tuple(parts), given / given.sum(), over
        self.locality = next((part.locality for part in parts if part.locality != "uniform"), "uniform")
        self._best = np.zeros(len(parts)) if best is None else np.array(best, np.float64)
        self._level = self._best - self.weights @ self._best

    def __repr__(self) -> str:
        return f"<ScenarioFarm: {len(self.parts)} scenarios, {self.over}; first {self.parts[0]!r}>"

    @property
    def parts(self) -> tuple[WindFarm, ...]:
        """The farm in each scenario."""
        return self._parts

    def with_parts(self, parts: Sequence[WindFarm]) -> ScenarioFarm:
        """The same weights and comparison for other farms, e.g. the same in fewer wind states."""
        return ScenarioFarm(parts, self.weights, self.over, self._best)

    def with_best(self, best: npt.ArrayLike) -> ScenarioFarm:
        """The same farm, with regrets against these energies (GWh)."""
        return ScenarioFarm(self.parts, self.weights, "regret", best)

    @property
    def tabulated(self) -> bool:
        """Whether pairs of turbines are read from tables, in every scenario."""
        return all(part.tabulated for part in self.parts)

    @property
    def by_width(self) -> bool:
        """Whether wakes are computed by their width, in every scenario."""
        return all(part.by_width for part in self.parts)

    def scenario_aep(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """Annual energy production of the layout in each scenario, in GWh."""
        return np.array([part.turbine_aep(x, y, types).sum() for part in self.parts])

    def value(self, gwh: FloatArray) -> float:
        """What energies by scenario make together."""
        return float(self.weights @ gwh if self.over == "mean" else (gwh - self._level).min())

    def turbine_aep(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> FloatArray:
        """What every turbine adds to the farm's energy, in GWh; for a regret, each has the same share of its level."""
        each = np.stack([part.turbine_aep(x, y, types) for part in self.parts])
        if self.over == "mean":
            return np.asarray(self.weights @ each)
        worst = int(np.argmin(each.sum(axis=1) - self._level))
        return np.asarray(each[worst] - self._level[worst] / max(1, each.shape[1]))

    def aep_and_gradient(
        self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0
    ) -> tuple[float, FloatArray, FloatArray]:
        """The farm's energy in GWh (a smooth least, but for a mean) and its derivatives in GWh per metre."""
        found = [part.aep_and_gradient(x, y, types) for part in self.parts]
        gwh, shares = np.array([energy for energy, _, _ in found]), self.weights
        energy = self.value(gwh)
        if self.over != "mean":
            width = max(SMOOTHNESS * float(self.weights @ gwh), 1e-300)
            near = np.exp((energy - (gwh - self._level)) / width)
            energy, shares = energy - width * float(np.log(near.sum())), near / near.sum()
        east, north = (np.asarray(shares @ np.stack([one[axis] for one in found])) for axis in (1, 2))
        return energy, east, north

    def wake_free_aep(self, count: int, types: npt.ArrayLike = 0) -> float:
        """The energy in GWh of so many turbines if none stood in a wake."""
        return self.value(np.array([part.wake_free_aep(count, types) for part in self.parts]))

    def free_aep_at(self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike = 0) -> float:
        """The energy in GWh of turbines at these places if none stood in a wake."""
        return self.value(np.array([part.free_aep_at(x, y, types) for part in self.parts]))

    def _layout(
        self, x: npt.ArrayLike, y: npt.ArrayLike, types: npt.ArrayLike
    ) -> tuple[tuple[FloatArray, FloatArray, IntArray], int]:
        return self.parts[0]._layout(x, y, types)  # noqa: SLF001  pictures are of the first scenario

    def _of_chunk(
        self,
        layout: tuple[FloatArray, FloatArray, IntArray],
        counted: int,
        states: WindStates,
        *,
        speed: bool = False,
    ) -> FloatArray:
        return self.parts[0]._of_chunk(layout, counted, states, speed=speed)  # noqa: SLF001  as above

    def _speeds_at(
        self,
        layout: tuple[FloatArray, FloatArray, IntArray],
        states: WindStates,
        point_x: FloatArray,
        point_y: FloatArray,
        at: float,
    ) -> FloatArray:
        return self.parts[0]._speeds_at(layout, states, point_x, point_y, at)  # noqa: SLF001  as above


def _every_neighbour(parts: Sequence[WindFarm]) -> Neighbours | None:
    """The neighbours of all scenarios, each once: a layout keeps clear of them all."""
    given = [part.neighbours for part in parts if part.neighbours is not None]
    columns = [zip(*np.broadcast_arrays(one.x, one.y, one.types), strict=True) for one in given]
    places = dict.fromkeys((float(x), float(y), int(kind)) for column in columns for x, y, kind in column)
    return Neighbours(*(np.array(column) for column in zip(*places, strict=True))) if places else None


@dataclass(frozen=True, eq=False)
class MeanSite:
    """The mean over sites that have the same directions, wind speeds and turbulence: one rose for all."""

    sites: Sequence[Site]
    weights: FloatArray

    @classmethod
    def of(cls, sites: Sequence[Site], weights: FloatArray) -> MeanSite | None:
        """The mean of these sites; None where they have no rose in common."""
        if any(isinstance(site, TimeSeriesSite) or not hasattr(site, "states") for site in sites):
            return None
        first, *others = (site.states() for site in sites)
        names = ("direction", "speed", "turbulence")
        alike = all(
            np.array_equal(getattr(first, name), getattr(other, name)) for other in others for name in names
        )
        return cls(sites, weights) if alike else None

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """The wind states of the first site, with the mean of all probabilities."""
        every = [site.states(directions, speeds) for site in self.sites]
        return replace(every[0], probability=self.weights @ np.stack([one.probability for one in every]))
