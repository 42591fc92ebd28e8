"""least-regret: a search over scenarios that compares a layout with the best one for each scenario alone.

The method searches each scenario alone, with the same budget and always with seed 0; what it finds there is the best
that the regret of that scenario is measured by, for every seed. Then it searches with the regrets as objective
(``wake.scenarios``). The layouts that were found for single scenarios are candidates, too: where one of them has the
least regret, it is the result.

The cost of a layout is the same in every scenario. So a regret of net present values is one of energies less the cost
at the price. A layout has a regret of LCOEs below ``R`` if ``price * AEP > cost`` in each scenario at its own price:
the best LCOE there plus ``R`` (Dinkelbach's method, as in ``layout.valuation``, for the largest of several ratios).
``R`` is the least that a layout for a single scenario has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from vindeby.layout.method import Method, Result, Search, checked
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.units import MWH_PER_GWH
from vindeby.wake import ScenarioFarm

Alone = Sequence[tuple[LayoutProblem, Layout]]
"""The problem of each scenario alone, and the best layout that was found for it."""


@dataclass(frozen=True)
class LeastRegret(Method):
    """Search with ``method`` for the least regret; ``alone`` are the problems of the single scenarios, in order.

    The result has the arrays ``scenario_best_layout``, (scenarios, 2, turbines), ``scenario_best_types``, and the
    energies of these layouts as they are stated, ``scenario_best_gwh``; with costs also ``scenario_best_objective``,
    for which cables are routed as during a search.
    """

    method: Method
    alone: Sequence[LayoutProblem]

    def brief(self) -> Method:
        return replace(self, method=self.method.brief())

    def prepare(self, problem: LayoutProblem) -> Search:
        farm = problem.farm
        assert isinstance(farm, ScenarioFarm), "a regret is over scenarios"
        searches = [checked(one, self.method) for one in self.alone]
        best_from = cache(lambda start: [search(0, start) for search in searches])

        def run(seed: int, start: Layout | None = None) -> Result:
            best = best_from(start)
            pairs = [(one, found.layout) for one, found in zip(self.alone, best, strict=True)]
            together = _compared(problem, farm, pairs)
            result = checked(together, self.method)(seed, start)
            fitting = [found.layout for found in best if problem.is_feasible(found.layout)]
            layout = max([result.layout, *fitting], key=together.worth)
            stated = [one.stated_aep(layout) for one, layout in pairs]
            each = [one.objective(found, gwh) for (one, found), gwh in zip(pairs, stated, strict=True)]
            return replace(
                result,
                layout=layout,
                aep_gwh=together.aep(layout),
                evaluations=result.evaluations + sum(found.evaluations for found in best),
                arrays={
                    **result.arrays,
                    "scenario_best_gwh": np.array(stated),
                    **({} if problem.valuation is None else {"scenario_best_objective": np.array(each)}),
                    "scenario_best_layout": np.stack([[found.x, found.y] for found in best]),
                    "scenario_best_types": np.stack([found.types for found in best]),
                },
            )

        return run


def _compared(problem: LayoutProblem, farm: ScenarioFarm, best: Alone) -> LayoutProblem:
    value = problem.valuation
    if value is None or value.objective != "lcoe":
        return replace(problem, farm=farm.with_best([one.worth(layout) for one, layout in best]))
    least, regret = np.array([one.objective(layout, one.aep(layout)) for one, layout in best]), np.inf
    found = [layout for _, layout in best]
    for layout in [one for one in found if problem.is_feasible(one)] or found:
        whole = problem.whole(layout)
        yearly = value.costs.yearly_eur(value.parts(whole.x, whole.y, whole.types))
        each = farm.scenario_aep(whole.x, whole.y, whole.types)
        regret = min(regret, float((yearly / (MWH_PER_GWH * each) - least).max()))
    prices = least + max(regret, 0.0)
    price = float(prices.mean())
    priced = replace(value, objective="npv", price=price)
    return replace(problem, farm=farm.with_best(0.0, prices / price), valuation=priced)
