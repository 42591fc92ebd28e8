"""AEP with its gradient, and the same with the costs of foundations and cables and their gradient, side by side.

python benchmarks/costs.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from iea37_data import problem

from vindeby.economy import CableTree, Costs, DepthGrid, Foundation
from vindeby.layout import LayoutProblem, RandomStart, Valuation
from vindeby.layout.climbing.climb import Climb


def with_costs(plain: LayoutProblem) -> LayoutProblem:
    """The problem with depths at 100 x 100 points, a table of foundations, and cables from turbine to turbine."""
    west, south, east, north = plain.boundary.bounds
    rng = np.random.default_rng(0)
    x, y = np.linspace(west, east, 100), np.linspace(south, north, 100)
    grid = DepthGrid(x, y, rng.uniform(10.0, 60.0, (100, 100)))
    foundation = Foundation(grid, table=(np.linspace(5.0, 65.0, 13), np.linspace(1.0, 3.0, 13) ** 2 * 1e6))

    def chain(x: np.ndarray, _: np.ndarray) -> CableTree:
        ends = np.stack([np.arange(len(x)), np.arange(len(x)) - 1], axis=1)
        middle = np.array([[(west + east) / 2, (south + north) / 2]])
        return CableTree(ends, np.full(len(x), 400.0), middle, np.zeros(len(x)))

    return replace(
        plain, valuation=Valuation("lcoe", Costs(9e7, 3e6, 0.0661, 25, foundation, 1e9), router=chain)
    )


def best_of(rounds: int, evaluate: Callable[[], object], calls: int) -> float:
    """The least seconds of a call."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            evaluate()
        times.append((time.perf_counter() - begin) / calls)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print("| case | turbines | AEP and gradient, ms | with costs, ms | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in ("cs1-16", "cs1-64", "cs3", "cs4"):
        plain = problem(name)
        costly = with_costs(plain)
        start = RandomStart().run(plain, 0).layout
        alone = partial(Climb(plain, start).evaluate, Climb(plain, start).place)
        both = partial(Climb(costly, start, valuation=costly.valued_at(start)).evaluate, alone.args[0])
        calls = max(3, int(0.2 / best_of(2, alone, 3)))
        # In turn, so that a busy machine slows both.
        pairs = [(best_of(1, alone, calls), best_of(1, both, calls)) for _ in range(rounds)]
        first, second = (min(one) for one in zip(*pairs, strict=True))
        print(
            f"| {name} | {plain.n_turbines} | {1e3 * first:.3f} | {1e3 * second:.3f} | {second / first:.2f} |"
        )


if __name__ == "__main__":
    main()
