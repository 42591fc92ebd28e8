"""least-regret: a search over scenarios that compares a layout with the best one for each scenario alone.

The method searches each scenario alone, with the same budget and always with seed 0; what it finds there is the best
that the regret of that scenario is measured by, for every seed. Then it searches with the regrets as objective
(``wake.scenarios``). The layouts that were found for single scenarios are candidates, too: where one of them has the
least regret, it is the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from vindeby.layout.method import Method, Result, Search, checked
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.wake import ScenarioFarm


@dataclass(frozen=True)
class LeastRegret(Method):
    """Search with ``method`` for the least regret; ``alone`` are the problems of the single scenarios, in order.

    The result has the arrays ``scenario_best_layout``, (scenarios, 2, turbines), ``scenario_best_types``, and the
    energies of these layouts as they are stated, ``scenario_best_gwh``.
    """

    method: Method
    alone: Sequence[LayoutProblem]

    def brief(self) -> Method:
        """The same with a brief method."""
        return replace(self, method=self.method.brief())

    def prepare(self, problem: LayoutProblem) -> Search:
        """Prepare the searches of the single scenarios."""
        farm = problem.farm
        assert isinstance(farm, ScenarioFarm), "a regret is over scenarios"
        searches = [checked(one, self.method) for one in self.alone]
        best_from = cache(lambda start: [search(0, start) for search in searches])

        def run(seed: int, start: Layout | None = None) -> Result:
            best = best_from(start)
            pairs = [(one, found.layout) for one, found in zip(self.alone, best, strict=True)]
            together = replace(problem, farm=farm.with_best([one.aep(layout) for one, layout in pairs]))
            result = checked(together, self.method)(seed, start)
            fitting = [found.layout for found in best if problem.is_feasible(found.layout)]
            layout = max([result.layout, *fitting], key=together.aep)
            return replace(
                result,
                layout=layout,
                aep_gwh=together.aep(layout),
                evaluations=result.evaluations + sum(found.evaluations for found in best),
                arrays={
                    **result.arrays,
                    "scenario_best_gwh": np.array([one.stated_aep(layout) for one, layout in pairs]),
                    "scenario_best_layout": np.stack([[found.x, found.y] for found in best]),
                    "scenario_best_types": np.stack([found.types for found in best]),
                },
            )

        return run
