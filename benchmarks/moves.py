"""What a trial of annealing costs where thrust depends on the wind, by size of the farm.

python benchmarks/moves.py [--sizes 30 50 80 200] [--evaluations 2000] [--fine]

Gaussian wakes (``bastankhah-2014``), 40 D^2 per turbine, 4 D spacing; 24 directions of one speed each, or with
``--fine`` 360 directions of 23 speeds each, all of them in every trial. To compare two versions, run it with each:
``PYTHONPATH=OTHER/src``.
"""

from __future__ import annotations

import argparse
import time
from math import sqrt

import numpy as np

from vindeby.layout import Annealing, Boundary, Problem, RandomStart
from vindeby.wake import TableSite, Turbine, UniformSite, WindFarm

DIAMETER_M = 198.0


def case(turbines: int, *, fine: bool) -> Problem:
    """A square farm."""
    directions = 360 if fine else 24
    rose = 1.5 + np.cos(np.arange(directions) * 2.0 * np.pi / directions - 4.0)
    rose /= rose.sum()
    if fine:
        speeds = np.arange(3.0, 26.0)
        chance = speeds * np.exp(-((speeds / 11.0) ** 2))
        site = TableSite(np.outer(rose, chance / chance.sum()), speeds)
    farm = WindFarm(
        site if fine else UniformSite(rose, wind_speed=9.5),
        Turbine.generic("10 MW", 10.0, DIAMETER_M, 119.0),
        "bastankhah-2014",
    )
    side = DIAMETER_M * sqrt(40.0 * turbines)
    square = ((0.0, 0.0), (side, 0.0), (side, side), (0.0, side))
    return Problem(farm, Boundary([square]), turbines, 4.0 * DIAMETER_M, f"{turbines}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[30, 50, 80, 200])
    parser.add_argument("--evaluations", type=int, default=2000)
    parser.add_argument("--fine", action="store_true")
    given = parser.parse_args()
    print("| turbines | states | whole, us | trial, us | AEP, GWh |\n| ---: |" + " ---: |" * 4)
    for turbines in given.sizes:
        problem = case(turbines, fine=given.fine)
        start = RandomStart().run(problem, 0).layout
        search = Annealing(given.evaluations, 0.003, "all").prepare(problem)
        Annealing(5000, 0.003, "all").run(problem, 0, start)  # compile
        begin = time.process_time()
        result = search(0, start)
        middle = time.process_time()
        problem.aep(start)
        whole = time.process_time() - middle
        trial = (middle - begin) / result.evaluations
        states = len(problem.farm.states.speed)
        print(
            f"| {turbines} | {states} | {1e6 * whole:.0f} | {1e6 * trial:.1f} | {result.aep_gwh:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
