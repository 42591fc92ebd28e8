"""hopping: from local optimum to local optimum, one turbine relocated at a time.

What the gradient cannot do is carry a turbine over the wakes of others. A hop takes one turbine out, those that
make least more often, puts it where many random places are worth most, and refines all turbines from there
(basin hopping, Wales and Doye 1997, with relocation as its move). Now and then a hop refines with wider wakes
instead, which shakes all turbines a little. A hop is kept if the layout is better than the current one, or
worse by little; the best of all is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from vindeby import parameters
from vindeby.layout.method import Method, Result, Search, start_for
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.moves.moving import best_place
from vindeby.layout.problem import Layout, Problem

SHAKES = 0.15
"""The share of hops that shake all turbines instead of relocating one."""
SLACK = 5e-5
"""A layout may be worse by this fraction of the energy and still be gone on from."""
REFINING = 120
"""Iterations of each refinement; what it leaves undone the next hop does."""


@final
@dataclass(frozen=True)
class Hopping(parameters.Hopping, Method):
    """Basin hopping by relocation.

    ``max_hops`` is its budget; ``places`` how many random places are tried for the relocated turbine.
    """

    def prepare(self, problem: Problem) -> Search:
        """Prepare the refinements."""
        refine = Gradient(REFINING, widening=1.0, wind="all", memory=0).prepare(problem)
        shake = Gradient(3 * REFINING, widening=4.0, wind="all", memory=0).prepare(problem)

        def run(seed: int, start: Layout | None = None) -> Result:
            start = start_for(problem, start, "hopping")
            rng = np.random.default_rng(seed)
            here = best = refine(seed, start)
            evaluations = here.evaluations
            for _ in range(self.max_hops):
                if rng.random() < SHAKES:
                    found = shake(seed, _stirred(problem, here.layout, rng))
                else:
                    found = refine(seed, _relocated(problem, here.layout, rng, self.places))
                    evaluations += self.places
                evaluations += found.evaluations
                if not problem.is_feasible(found.layout):
                    continue
                if found.aep_gwh > here.aep_gwh - SLACK * rng.random() * best.aep_gwh:
                    here = found
                if found.aep_gwh > best.aep_gwh:
                    best = found
            return Result(best.layout, best.aep_gwh, "budget", evaluations)

        return run


def _stirred(problem: Problem, layout: Layout, rng: np.random.Generator) -> Layout:
    """Every turbine moved a little, at random."""
    far = 0.5 * float(problem.farm.machines.diameter.max())
    x, y = layout.x + rng.normal(0.0, far, layout.x.shape), layout.y + rng.normal(0.0, far, layout.y.shape)
    return Layout(x, y, layout.types)


def _relocated(problem: Problem, layout: Layout, rng: np.random.Generator, places: int) -> Layout:
    """One turbine, rather a poor one, at the best of some random places."""
    farm, many = problem.farm, problem.n_turbines
    whole = problem.whole(layout)
    order = np.argsort(farm.turbine_aep(whole.x, whole.y, whole.types)[:many], kind="stable")
    which = int(order[int(many * rng.random() ** 2)])
    east, north = problem.zones[problem.zone_of[which]].boundary.sample(rng, places)
    x, y = np.array(layout.x), np.array(layout.y)
    x[which], y[which] = best_place(problem, layout, which, east, north)
    return Layout(x, y, layout.types)
