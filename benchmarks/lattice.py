"""Lattices beside the other starts, each followed by the same refinements: AEP and CPU seconds.

``python benchmarks/lattice.py [--turbines 50 80] [--seeds 3] [--directions 24]``. A hexagon, turbines of 10 MW, 4 D of
spacing, Gaussian wakes with k = 0.04 and squared sums, a rose of so many directions with one wind speed each, drawn at
random. Loops are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from vindeby.layout import (
    Boundary,
    Gradient,
    Lattice,
    LayoutProblem,
    Method,
    Pipeline,
    RandomSearch,
    RandomStart,
    SmartStart,
)
from vindeby.wake import TimeSeriesSite, Turbine, WindFarm
from vindeby.wake.models import iea37

DIAMETER_M = 200.0
AREA = ((0, 0), (9000, -1500), (13000, 4000), (11000, 10500), (4000, 12000), (-1500, 6000))


def problem_of(turbines: int, directions: int, spacing_d: float = 4.0) -> LayoutProblem:
    rng = np.random.default_rng(1)
    site = TimeSeriesSite(
        rng.uniform(8.0, 11.0, directions),
        np.arange(directions) * 360.0 / directions,
        0.06,
        rng.dirichlet(np.full(directions, 2.0)),
    )
    turbine = Turbine.generic("10 MW", 10.0, DIAMETER_M, 119.0)
    area = Boundary([AREA])
    return LayoutProblem(
        WindFarm(site, turbine, iea37(0.04)), area, turbines, spacing_d * DIAMETER_M, "hexagon"
    )


def ways() -> dict[str, list[Method]]:
    smart = SmartStart(40, 20.0)
    return {
        "smart-start": [smart],
        "smart-start, gradient": [smart, Gradient(200)],
        "random-start, gradient": [RandomStart(), Gradient(200)],
        "lattice": [Lattice()],
        "lattice, rows": [Lattice(rows=True)],
        "lattice, gradient": [Lattice(), Gradient(200, 1.0)],
        "smart-start, gradient, random-search": [smart, Gradient(200), RandomSearch(10_000)],
        "lattice, random-search": [Lattice(), RandomSearch(10_000)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turbines", type=int, nargs="+", default=[50, 80])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--directions", type=int, default=24)
    given = parser.parse_args()
    for method in ways().values():
        Pipeline(method).run(problem_of(8, given.directions), 0)
    print(
        "| turbines | method | mean AEP, GWh | best | wake loss, % | CPU s |\n"
        "| ---: | --- | ---: | ---: | ---: | ---: |"
    )
    for turbines in given.turbines:
        problem = problem_of(turbines, given.directions)
        for name, steps in ways().items():
            began = time.process_time()
            found = [Pipeline(steps).run(problem, seed) for seed in range(given.seeds)]
            seconds = (time.process_time() - began) / given.seeds
            aep = [one.aep_gwh for one in found]
            loss = 1.0 - np.mean(aep) / problem.farm.wake_free_aep(turbines)
            print(
                f"| {turbines} | {name} | {np.mean(aep):.1f} | {max(aep):.1f} | {100 * loss:.2f} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
