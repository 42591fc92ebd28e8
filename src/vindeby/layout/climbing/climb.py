"""A climb: all turbines moved simultaneously along the gradient of the yearly energy, to a local optimum.

A spectral projected gradient method (Birgin, Martinez and Raydan 2000). Every iterate keeps to the rules: the
step along the gradient, with the length of Barzilai and Borwein (1988), is replaced by the nearest one that
the rules allow (``limits``), so turbines slide along edges and around each other, and a layout from which no
allowed step leads up is an optimum in the sense of Karush, Kuhn and Tucker. The energy may fall for a few
steps (Grippo, Lampariello and Lucidi 1986); the best layout seen is what counts, and a start that keeps to the
rules is never made worse. A start that breaks them is mended first.

With a valuation, the energy is that less what foundations and cables cost, here and in all that follows.
"""

from __future__ import annotations

from math import frexp

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.layout.area.limits import Limits
from vindeby.layout.method import Status
from vindeby.layout.moves.place_costs import cost_and_gradient, place_costs
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.layout.valuation import Valuation

RECENT = 8
"""So many last energies may be fallen below for a while."""
SUFFICIENT = 1e-4
"""A step must gain this share of what the gradient promises."""
GAIN = 1e-10
"""Converged: the whole allowed step promises less than this fraction of the energy ..."""
PATIENCE = 5
"""... so often in a row."""
BITS = 22
"""Of slopes. What they are rounded to is far above the rounding errors of machines and below what matters for a climb:
without this, every climb would come to another layout on another machine, or a card."""


class Climb:
    """The state of a climb: its layout, and the last few energies.

    ``before`` is a climb of nearly the same energy that ended here: the first step is as long as its last.
    ``valuation`` is that of ``problem.valued_at`` for this climb, if there is one.
    """

    def __init__(
        self,
        problem: LayoutProblem,
        start: Layout,
        before: Climb | None = None,
        valuation: Valuation | None = None,
    ) -> None:
        limits = Limits(problem, start.types)
        self.problem, self.limits, self.types, self.valuation = problem, limits, start.types, valuation
        self.costs = place_costs(valuation, problem.counted, np.zeros(2), 1.0)
        self.status: Status = "budget"
        self.evaluations = 0
        place = np.stack([start.x, start.y]) - limits.origin[:, None]
        self.untouched: Layout | None = start
        if not problem.is_feasible(start):
            place, _ = limits.restore(place, rounds=2000)
            self.untouched = None
        self.place = place
        self.energy, self.slope = self.evaluate(place)
        self.best, self.best_energy = place, self.energy
        self.recent = [self.energy]
        self.most = 2.0 * max(float(limits.need.max()), float(problem.farm.turbine_arrays.diameter.max()))
        self.length = self.most / max(float(np.abs(self.slope).max()), 1e-300)
        self.calm = 0
        if before is not None:
            self.length = before.length

    def run(self, iterations: int) -> int:
        """Take up to so many steps, or until no step leads up; return the number taken."""
        for done in range(iterations):
            if self.step():
                self.status = "converged"
                return done
            aep_gwh = self.best_energy if self.valuation is None else None
            self.problem.report.advance(1, self.problem.farm, aep_gwh)
        return iterations

    def step(self) -> bool:
        """Take one step; return whether no further step leads up."""
        step = self.limits.nearest_step(self.place, self.length * self.slope, self.most)
        promise = float((self.slope * step).sum())
        if promise <= GAIN * abs(self.energy):
            # A short step may promise little by its length alone.
            self.calm += 1
            if self.calm >= PATIENCE or not step.any():
                return True
            self.length *= 10.0
        else:
            self.calm = 0
        share = 1.0
        floor = min(self.recent[-RECENT:])
        for _ in range(25):
            place, kept = self.limits.restore(self.place + share * step)
            if kept:
                energy, slope = self.evaluate(place)
                if energy >= floor + SUFFICIENT * share * promise:
                    self._accept(place, energy, slope)
                    return False
            share *= 0.3
        self.length *= 0.01
        self.calm += 1
        return self.calm >= PATIENCE

    def _accept(self, place: FloatArray, energy: float, slope: FloatArray) -> None:
        moved, turned = place - self.place, slope - self.slope
        bend = -float((moved * turned).sum())
        square = float((moved * moved).sum())
        longest = self.most / max(float(np.abs(slope).max()), 1e-300)
        self.length = min(square / bend, 10.0 * longest) if bend > 0.0 else 10.0 * longest
        self.place, self.energy, self.slope = place, energy, slope
        self.recent.append(energy)
        if energy > self.best_energy:
            self.best, self.best_energy, self.untouched = place, energy, None

    def evaluate(self, place: FloatArray) -> tuple[float, FloatArray]:
        """Return the energy at these positions, less costs if they count, and its gradient."""
        self.evaluations += 1
        x, y = place + self.limits.origin[:, None]
        whole = self.problem.whole(Layout(x, y, self.types))
        energy, east, north = self.problem.aep_and_gradient(Layout(x, y, self.types))
        if self.valuation is not None:
            rise = np.zeros((2, len(whole.x)))
            energy -= cost_and_gradient(self.costs, whole.x, whole.y, rise)  # type: ignore[no-untyped-call]
            east, north = east - rise[0], north - rise[1]
        slope = np.stack([east[: len(x)], north[: len(x)]])
        grain = 2.0 ** (frexp(np.abs(slope).max())[1] - BITS)
        return energy, np.rint(slope / grain) * grain

    def best_layout(self) -> Layout:
        """Return the best layout seen; the unchanged start if there was none better."""
        if self.untouched is not None:
            return self.untouched
        x, y = self.best + self.limits.origin[:, None]
        return Layout(x, y, self.types)
