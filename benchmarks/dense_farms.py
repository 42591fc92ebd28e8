"""Dense farms: a climb that keeps to the rules, and one that may break them on its way, from the same random starts.

    python benchmarks/dense_farms.py [--turbines 300] [--seeds 1] [--full 0.5 0.85] [--iterations 250] [--steps 1000]

``dense_cases`` has the farms. ``gradient`` has its default widening; CPU seconds of one core, without the start.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from dense_cases import problem

from vindeby.layout import Gradient, Method, RandomStart, StochasticGradient


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turbines", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--full", type=float, nargs="+", default=[0.5, 0.85])
    parser.add_argument("--iterations", type=int, default=250, help="of gradient")
    parser.add_argument("--steps", type=int, default=1000, help="of stochastic-gradient")
    chosen = parser.parse_args()
    print("| turbines | full | random start, GWh | gradient | CPU s | stochastic-gradient | CPU s | gain |")
    print("| ---: |" + " ---: |" * 7)
    for full in chosen.full:
        case = problem(chosen.turbines, full)
        starts = [RandomStart().run(case, seed) for seed in range(chosen.seeds)]
        methods: tuple[Method, ...] = (Gradient(chosen.iterations), StochasticGradient(chosen.steps))
        means, seconds = [], []
        for method in methods:
            type(method)(10).run(case, 0, starts[0].layout)  # type: ignore[call-arg]  # compile
            begin = time.process_time()
            search = method.prepare(case)
            found = [search(seed, start.layout) for seed, start in enumerate(starts)]
            seconds.append((time.process_time() - begin) / chosen.seeds)
            means.append(np.mean([result.aep_gwh for result in found]))
        first = np.mean([start.aep_gwh for start in starts])
        print(
            f"| {chosen.turbines} | {full:.0%} | {first:.0f} | {means[0]:.0f} | {seconds[0]:.1f} | "
            f"{means[1]:.0f} | {seconds[1]:.1f} | {means[1] / means[0] - 1.0:+.2%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
