"""A farm of the energy island with and without its nine neighbours: which layout is good in both worlds.

    python benchmarks/scenarios.py --picture docs/pictures/scenarios.png
    python benchmarks/scenarios.py --smoothness 1e-7 1e-5 1e-4 1e-3 --seeds 3 --iterations 80

The first prints the table of docs/objectives.md and draws its picture, the second compares widths of the smooth least.

The area in the middle of the preset energy-island is laid out; the other nine have smart-start layouts. For each seed
the same method searches for the most AEP alone, the most AEP among the neighbours, the largest mean and the least
regret. Of each, the best of all seeds is kept, and valued in both worlds.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from vindeby import wake
from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.campaign import Campaign
from vindeby.campaign.worlds import worlds
from vindeby.layout import LayoutProblem

FARM = "dk0v_tender_1"
TYPE = "generic-15mw"
CAPACITY_MW = 300.0
"""Of each area: 20 turbines."""


def base(iterations: int) -> dict[str, Any]:
    """The preset with a single type and a smaller capacity."""
    data = Campaign.load("energy-island").to_data()
    data["turbines"] = [one for one in data["turbines"] if one["name"] == TYPE]
    data["capacity_mw"] = CAPACITY_MW
    data["method"] = [
        {"smart-start": {"grid_size": 18, "random_pct": 30}},
        {"gradient": {"max_iterations": iterations}},
    ]
    return data


def two_worlds(iterations: int, over: str) -> Campaign:
    """The area alone, and among nine others with smart-start layouts."""
    data = base(iterations)
    whole = Campaign.from_data(data | {"method": data["method"][:1]})
    pipeline, positions = pipeline_of(whole), []
    for cell in whole.cells():
        if whole.farms[cell.farm_idx].name != FARM:
            found = pipeline.run(problem_of(whole, cell), 0)
            positions += np.stack([found.x, found.y], axis=1).tolist()
    data["farms"] = [one for one in data["farms"] if one["name"] == FARM]
    data["scenarios"] = [
        {"name": "alone"},
        {"name": "nine neighbours", "neighbours": {"type": TYPE, "positions": positions}},
    ]
    return Campaign.from_data(data | {"objective": {"of": "aep", "over": over}})


def searched(asked: Campaign, seeds: range) -> tuple[LayoutProblem, list[Any]]:
    """What the campaign finds for each seed."""
    (cell,) = asked.cells()
    problem, method = problem_of(asked, cell), method_of(asked, cell, pipeline_of(asked))
    found = []
    for seed in seeds:
        began = time.process_time()
        found.append(method.run(problem, seed))
        print(f"{asked.over} seed {seed}: {time.process_time() - began:.0f} s", file=sys.stderr, flush=True)
    return problem, found


def compared(seeds: range, iterations: int) -> tuple[Campaign, dict[str, Any], np.ndarray]:
    """By name, the best layouts of all seeds; and the best energies in each world."""
    asked = two_worlds(iterations, "regret")
    problem, by_regret = searched(asked, seeds)
    _, by_mean = searched(two_worlds(iterations, "mean"), seeds)
    farm = problem.farm
    assert isinstance(farm, wake.ScenarioFarm)
    alone, beside = (
        [result.arrays["scenario_best_layout"][number] for result in by_regret] for number in range(2)
    )
    means, regrets = ([np.stack([one.x, one.y]) for one in group] for group in (by_mean, by_regret))
    every = [*alone, *beside, *means, *regrets]
    best = np.max([farm.scenario_aep(*layout) for layout in every], axis=0)
    chosen = {
        "most AEP alone": max(alone, key=lambda one: farm.parts[0].aep(*one)),
        "most AEP among neighbours": max(beside, key=lambda one: farm.parts[1].aep(*one)),
        "largest mean": max(means, key=lambda one: farm.scenario_aep(*one).sum()),
        "least regret": min(regrets, key=lambda one: float((best - farm.scenario_aep(*one)).max())),
    }
    return asked, {name: (layout, farm.scenario_aep(*layout)) for name, layout in chosen.items()}, best


def table(chosen: dict[str, Any], best: np.ndarray) -> str:
    """The layouts in both worlds, as on the page."""
    rows = [
        "| layout for the | AEP alone, GWh | among nine neighbours, GWh | mean | largest regret |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, (_, gwh) in chosen.items():
        lost = float((best - gwh).max())
        rows.append(f"| {name} | {gwh[0]:.2f} | {gwh[1]:.2f} | {gwh.mean():.2f} | {lost:.2f} |")
    return "\n".join(rows)


def picture(asked: Campaign, chosen: dict[str, Any], best: np.ndarray, path: str) -> None:
    """The layouts, and what each loses in both worlds against the best known there."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(11, 3.4), width_ratios=[1, 1, 1, 1.2], layout="constrained")
    ring = np.array([*asked.farms[0].boundary.polygon, asked.farms[0].boundary.polygon[0]]) / 1000.0
    names = [name for name in chosen if name != "most AEP among neighbours"]
    for axis, name in zip(axes, names, strict=False):
        x, y = chosen[name][0] / 1000.0
        axis.plot(*ring.T, color="0.5", linewidth=1)
        axis.plot(x, y, "o", markersize=4, color="tab:blue")
        axis.set(title=name, aspect="equal", xticks=[], yticks=[])
    bars = axes[-1]
    for number, (label, color) in enumerate((("alone", "tab:orange"), ("nine neighbours", "tab:green"))):
        lost = [best[number] - gwh[number] for _, gwh in chosen.values()]
        bars.barh(np.arange(len(chosen)) + 0.2 - 0.4 * number, lost, 0.38, label=label, color=color)
    bars.set_yticks(range(len(chosen)), list(chosen), fontsize=7)
    bars.invert_yaxis()
    bars.set(title="regret", xlabel="GWh below the best known")
    bars.legend(fontsize=7)
    figure.savefig(path, dpi=90)


def smoothness(widths: list[float], seeds: range, iterations: int) -> None:
    """The largest regret that a climb reaches with each width of the smooth least."""
    (cell,) = (asked := two_worlds(iterations, "regret")).cells()
    problem, pipeline = problem_of(asked, cell), pipeline_of(asked)
    alone = [problem_of(world.campaign, cell) for world in worlds(asked)]
    farm = problem.farm
    assert isinstance(farm, wake.ScenarioFarm)
    for seed in seeds:
        best = [one.aep(pipeline.run(one, seed).layout) for one in alone]
        together = replace(problem, farm=farm.with_best(best))
        for width in widths:
            wake.scenarios.SMOOTHNESS = width  # type: ignore[attr-defined]
            found = pipeline.run(together, seed)
            lost = np.array(best) - farm.scenario_aep(found.x, found.y)
            print(f"| {seed} | {width:g} | {lost.max():.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--picture")
    parser.add_argument("--smoothness", type=float, nargs="*")
    given = parser.parse_args()
    if given.smoothness:
        smoothness(given.smoothness, range(given.seeds), given.iterations)
        return
    asked, chosen, best = compared(range(given.seeds), given.iterations)
    print(table(chosen, best))
    if given.picture:
        picture(asked, chosen, best, given.picture)


if __name__ == "__main__":
    main()
