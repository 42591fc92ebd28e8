"""A farm of the energy island with and without its nine neighbours: which layout is good in both worlds.

    python benchmarks/scenarios.py

It prints the table of docs/objectives.md.

The area in the middle of the preset energy-island is laid out; the other nine have smart-start layouts. For each seed
the same method searches for the most AEP alone, the most AEP among the neighbours, and the largest mean. Of each, the
best of all seeds is kept, and valued in both worlds.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.campaign import Campaign

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


def two_worlds(iterations: int) -> Campaign:
    """The area alone, and among nine others with smart-start layouts."""
    data = base(iterations)
    whole = Campaign.from_data(data | {"method": data["method"][:1]})
    pipeline, positions = pipeline_of(whole), []
    for cell in whole.cells():
        if whole.farms[cell.farm_idx].name != FARM:
            found = pipeline.run(problem_of(whole, cell), 0)
            positions += np.stack([found.x, found.y], axis=1).tolist()
    data["farms"] = [one for one in data["farms"] if one["name"] == FARM]
    beside = {"neighbours": {"type": TYPE, "positions": positions}}
    return Campaign.from_data(data | {"scenarios": {"alone": {}, "nine neighbours": beside}})


def best_of(asked: Campaign, seeds: range) -> np.ndarray:
    """The best layout of all seeds, by what the campaign searches for."""
    (cell,) = asked.cells()
    problem, method, found = problem_of(asked, cell), method_of(asked, cell, pipeline_of(asked)), []
    for seed in seeds:
        began = time.process_time()
        found.append(method.run(problem, seed))
        print(f"seed {seed}: {time.process_time() - began:.0f} s", file=sys.stderr, flush=True)
    best = max(found, key=lambda one: one.aep_gwh)
    return np.stack([best.x, best.y])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=60)
    given = parser.parse_args()
    asked, seeds = two_worlds(given.iterations), range(given.seeds)
    alone, beside = (world.campaign for world in asked.worlds)
    searched = {"most AEP alone": alone, "most AEP among neighbours": beside, "largest mean": asked}
    farms = alone.wind_farm(), beside.wind_farm()
    print(
        "| layout for the | AEP alone, GWh | among nine neighbours, GWh | mean |\n| --- | --- | --- | --- |"
    )
    for name, one in searched.items():
        layout = best_of(one, seeds)
        gwh = np.array([farm.aep(*layout) for farm in farms])
        print(f"| {name} | {gwh[0]:.2f} | {gwh[1]:.2f} | {gwh.mean():.2f} |")


if __name__ == "__main__":
    main()
