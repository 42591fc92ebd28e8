"""gradient: all turbines moved together along the gradient of the yearly energy, to a local optimum.

A spectral projected gradient method (Birgin, Martinez and Raydan 2000). Every iterate keeps to the rules: the
step along the gradient, with the length of Barzilai and Borwein (1988), is replaced by the nearest one that
the rules allow (``limits``), so turbines slide along edges and around each other, and a layout from which no
allowed step leads up is an optimum in the sense of Karush, Kuhn and Tucker. The energy may fall for a few
steps (Grippo, Lampariello and Lucidi 1986); the best layout seen is what is returned, and a start that keeps
to the rules is never made worse. A start that breaks them is mended first.

Before that, the same climb may be made with wider wakes, narrower from stage to stage (``widening``), which
leads to far better optima than a start has nearby.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.area.limits import Limits
from vindeby.layout.climbing.widening import stages, widened
from vindeby.layout.method import Method, Result, Search, Status
from vindeby.layout.problem import FloatArray, Layout, Problem

__all__ = ["Gradient"]

MEMORY = 8
"""So many last energies may be fallen below for a while."""
SUFFICIENT = 1e-4
"""A step must gain this share of what the gradient promises."""
GAIN = 1e-10
"""Converged: the whole allowed step promises less than this fraction of the energy ..."""
PATIENCE = 5
"""... so often in a row."""


@final
@dataclass(frozen=True)
class Gradient(Method):
    """Continuous refinement of a start.

    ``max_iterations`` is the budget of all stages together; the energy and its gradient are computed at least
    once in each iteration. ``widening`` is how many times as fast wakes grow in the first stage; the next has
    half of it, and so on, down to the true wakes. 1: the true wakes alone.
    """

    max_iterations: int = 500
    widening: float = 16.0

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise ArgumentError(f"max_iterations must be a whole number >= 1, not {self.max_iterations!r}")
        if not 1.0 <= self.widening <= 100.0:
            raise ArgumentError(f"widening must be from 1 to 100, not {self.widening!r}")

    def prepare(self, problem: Problem) -> Search:
        """Make the stages. A seed changes nothing."""
        wider = [stage for factor in stages(self.widening) if (stage := widened(problem, factor))]

        def run(seed: int, start: Layout | None = None) -> Result:  # noqa: ARG001  it needs no chance
            if start is None:
                raise TaskError(
                    f"farm {problem.name}: gradient needs a start; put smart-start or random-start before it"
                )
            return _refine(problem, wider, start, self.max_iterations)

        return run


def _refine(problem: Problem, wider: list[Problem], start: Layout, iterations: int) -> Result:
    """Climb through all stages; if that leads below the start, climb from the start itself."""
    layout, evaluations, left = start, 0, iterations
    for stage in wider:
        climb = _Climb(stage, layout)
        # Half of the budget is for the true wakes.
        left -= climb.run(iterations // (2 * len(wider)))
        layout, evaluations = climb.best_layout(), evaluations + climb.evaluations
    climb = _Climb(problem, layout)
    climb.run(left)
    evaluations += climb.evaluations
    if wider and problem.is_feasible(start) and climb.best_energy < problem.aep(start):
        climb = _Climb(problem, start)
        climb.run(iterations)
        evaluations += climb.evaluations
    layout = climb.best_layout()
    return Result(layout, problem.aep(layout), climb.status, evaluations)


class _Climb:
    """Where the climb is, and the last few energies."""

    def __init__(self, problem: Problem, start: Layout) -> None:
        limits = Limits(problem, start.types)
        self.problem, self.limits, self.types = problem, limits, start.types
        self.status: Status = "budget"
        self.evaluations = 0
        place = np.stack([start.x, start.y]) - limits.origin[:, None]
        self.untouched: Layout | None = start
        if not problem.is_feasible(start):
            place, _ = limits.restore(place, rounds=2000)
            self.untouched = None
        self.place = place
        self.energy, self.slope = self._evaluate(place)
        self.best, self.best_energy = place, self.energy
        self.recent = [self.energy]
        self.most = 2.0 * max(float(limits.need.max()), float(problem.farm.machines.diameter.max()))
        self.length = self.most / max(float(np.abs(self.slope).max()), 1e-300)
        self.calm = 0

    def run(self, iterations: int) -> int:
        """Move so often, or until there is nowhere to go; returns how often."""
        for done in range(iterations):
            if self.step():
                self.status = "converged"
                return done
        return iterations

    def step(self) -> bool:
        """Move once; whether there is nowhere left to go."""
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
        floor = min(self.recent[-MEMORY:])
        for _ in range(25):
            place, kept = self.limits.restore(self.place + share * step)
            if kept:
                energy, slope = self._evaluate(place)
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

    def _evaluate(self, place: FloatArray) -> tuple[float, FloatArray]:
        self.evaluations += 1
        x, y = place + self.limits.origin[:, None]
        whole = self.problem.whole(Layout(x, y, self.types))
        energy, east, north = self.problem.farm.aep_and_gradient(whole.x, whole.y, whole.types)
        return energy, np.stack([east[: len(x)], north[: len(x)]])

    def best_layout(self) -> Layout:
        if self.untouched is not None:
            return self.untouched
        x, y = self.best + self.limits.origin[:, None]
        return Layout(x, y, self.types)
