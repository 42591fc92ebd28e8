"""Dense farms: how far a climb comes from different starts.

    python benchmarks/dense_farms.py [--turbines 300] [--seeds 1] [--full 0.7 0.85] [--starts random-start lattice]
                                     [--iterations 250]

``dense_cases`` has the farms. ``gradient`` has its default widening, but from lattices it climbs with the true wakes:
wide ones would take a good layout apart. CPU seconds of one core.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from dense_cases import problem

from vindeby.layout import Gradient, Lattice, Layout, LayoutProblem, Method, RandomStart, Result

STARTS: dict[str, Method] = {"random-start": RandomStart(), "lattice": Lattice()}


def measured(
    method: Method, case: LayoutProblem, starts: list[Layout | None], brief: Method
) -> tuple[list[Result], float]:
    """A result from each start, one seed after the other, and the mean CPU seconds; compiling left out."""
    brief.run(case, 0, starts[0])
    begin = time.process_time()
    search = method.prepare(case)
    found = [search(seed, start) for seed, start in enumerate(starts)]
    return found, (time.process_time() - begin) / len(starts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turbines", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--full", type=float, nargs="+", default=[0.7, 0.85])
    parser.add_argument("--starts", nargs="+", default=list(STARTS), choices=list(STARTS))
    parser.add_argument("--iterations", type=int, default=250, help="of gradient")
    chosen = parser.parse_args()
    print("| turbines | full | start | GWh | CPU s | gradient | CPU s |")
    print("| ---: | ---: | --- |" + " ---: |" * 4)
    for full in chosen.full:
        case = problem(chosen.turbines, full)
        for name in chosen.starts:
            brief = Lattice(trials=2) if name == "lattice" else STARTS[name]
            starts, start_s = measured(STARTS[name], case, [None] * chosen.seeds, brief)
            climb = Gradient(chosen.iterations, widening=1.0 if name == "lattice" else 16.0)
            found, climb_s = measured(climb, case, [one.layout for one in starts], Gradient(10))
            means = [np.mean([one.aep_gwh for one in results]) for results in (starts, found)]
            figures = f"{means[0]:.0f} | {start_s:.1f} | {means[1]:.0f} | {climb_s:.1f}"
            print(f"| {chosen.turbines} | {full:.0%} | {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
