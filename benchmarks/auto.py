"""``auto`` beside plain pipelines that are run with one seed after the other, on open cases, at equal CPU time.

``python benchmarks/auto.py --seconds 30 --seeds 0 1``; with ``PYTHONPATH=OTHER/src`` for another version. One line per
run: case, method, seed, AEP in GWh, CPU seconds, and the start that the best layout began with.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from vindeby.assembly.search import problem_of
from vindeby.campaign import Campaign
from vindeby.layout import (
    Annealing,
    Auto,
    Gradient,
    Lattice,
    LayoutProblem,
    Method,
    Pipeline,
    RandomStart,
)

CASES = (
    "iea37-cs1-64",
    "open-long-200-even",
    "open-even-300-two-way",
    "open-notched-80-broad",
    "horns-rev-1",
    "dense-square",
    "gecco-2014-2",
    "mosetti-3",
)
PLAIN: dict[str, Method] = {
    "lattice, gradient": Pipeline([Lattice(), Gradient(100, 1.0)]),
    "random-start, annealing": Pipeline([RandomStart(), Annealing()]),
}


def problem_named(case: str) -> LayoutProblem:
    """The layout problem of an open case."""
    campaign = Campaign.load(case if case.startswith("iea37-cs1") else f"case:{case}")
    return problem_of(campaign, next(iter(campaign.cells())))


def best_of_seeds(method: Method, problem: LayoutProblem, seed: int, seconds: float) -> float:
    """The AEP (GWh) of the best layout of as many seeds as the time allows; one seed at least."""
    search, best, began = method.prepare(problem), 0.0, time.process_time()
    while time.process_time() - began < seconds:
        found = search(seed, None).aep_gwh
        if best == 0.0 or time.process_time() - began < 1.05 * seconds:
            best = max(best, found)
        seed += 1000
    return best


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--methods", nargs="+", default=["auto"], choices=["auto", *PLAIN])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--keep", type=Path, help="a file to which each run is added as a line of JSON")
    options = parser.parse_args()
    for case in options.cases:
        problem = problem_named(case)
        for name in options.methods:
            Auto().brief().run(problem, 0)
            for seed in options.seeds:
                began, notes = time.process_time(), ""
                if name == "auto":
                    found = Auto(seconds=options.seconds).run(problem, seed)
                    aep, notes = found.aep_gwh, str(found.notes.get("best_start", ""))
                else:
                    aep = best_of_seeds(PLAIN[name], problem, seed, options.seconds)
                row = [case, name, seed, aep, round(time.process_time() - began, 1), notes]
                print(*row, flush=True)
                if options.keep:
                    with options.keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
