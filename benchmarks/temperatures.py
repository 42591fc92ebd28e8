"""Annealing by its temperature, at equal evaluations from equal starts: 0.03, 0.003, and that of the start's losses.

python benchmarks/temperatures.py [--evaluations 40000] [--seeds 2]
"""

from __future__ import annotations

import argparse
import time
from math import sqrt

import numpy as np
from iea37_data import problem

from vindeby.layout import Annealing, Boundary, LayoutProblem, RandomStart
from vindeby.wake import Turbine, UniformSite, WindFarm

ROSES = ((0.3, 40.0), (1.5, 40.0), (0.3, 200.0), (1.5, 200.0))
"""How far one direction dominates, and the area per turbine in squares of the diameter."""
KINDS = {"0.03": 0.03, "0.003": 0.003, "of losses": None}


def coarse_rose(turbines: int, dominant: float, area_per_turbine: float) -> LayoutProblem:
    """24 directions of one speed each, Gaussian wakes, thrust that depends on the wind; one direction may dominate."""
    turbine = Turbine.generic("10 MW", 10.0, 198.0, 119.0)
    angle = np.arange(24) * np.pi / 12
    rose = np.exp(dominant * np.cos(angle - 4.0))
    farm = WindFarm(UniformSite(rose / rose.sum(), wind_speed=9.5), turbine, "bastankhah-2014")
    side = 198.0 * sqrt(area_per_turbine * turbines)
    corners = ((0.0, 0.0), (side, 0.1 * side), (0.9 * side, side), (0.1 * side, 0.9 * side))
    name = f"{turbines} turbines, {dominant:g}, {area_per_turbine:g} D^2 each"
    return LayoutProblem(farm, Boundary([corners]), turbines, 4.0 * 198.0, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=40_000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sparse", action="store_true", help="only two small farms that lose little")
    given = parser.parse_args()
    cases = [
        *(problem(name) for name in ("cs1-16", "cs1-64", "cs3")),
        *(coarse_rose(turbines, dominant, area) for turbines in (15, 30) for dominant, area in ROSES),
    ]
    if given.sparse:
        cases = [coarse_rose(15, dominant, 200.0) for dominant in (0.3, 1.5)]
    print(f"{given.evaluations:,} evaluations, {given.seeds} seeds; mean AEP, GWh")
    print("| case | wake loss of the starts | " + " | ".join(KINDS) + " | CPU s |")
    print("| --- |" + " ---: |" * (2 + len(KINDS)))
    for case in cases:
        starts = [RandomStart().run(case, seed).layout for seed in range(given.seeds)]
        loss = np.mean([case.farm.wake_loss(s.x, s.y, s.types) for s in starts])
        Annealing(10).run(case, 0, starts[0])
        begin, means = time.process_time(), []
        for kind in KINDS.values():
            search = Annealing(given.evaluations, kind).prepare(case)
            means.append(np.mean([search(seed, start).aep_gwh for seed, start in enumerate(starts)]))
        seconds = time.process_time() - begin
        row = " | ".join(f"{mean:.2f}" for mean in means)
        print(f"| {case.name} | {100 * loss:.1f} % | {row} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
