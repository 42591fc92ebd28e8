"""What wide wakes are worth to the gradient, what cooling slowly is worth, what a move costs; IEA Task 37's cases.

python benchmarks/refining.py [--seeds 10]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from iea37_data import problem

from vindeby.layout import Annealing, Gradient, LayoutProblem, Method, RandomSearch, RandomStart
from vindeby.layout.moves.walk import mover_of


def widening(name: str, seeds: int) -> None:
    """The same random starts, climbed with wakes that grow faster at first."""
    case = problem(name)
    starts = [RandomStart().run(case, seed).layout for seed in range(seeds)]
    for factor in (1.0, 4.0, 16.0):
        search = Gradient(500, factor, "all", 0).prepare(case)
        search(0, starts[0])
        begin = time.process_time()
        found = [1e3 * search(0, start).aep_gwh for start in starts]
        seconds = (time.process_time() - begin) / seeds
        print(
            f"| {name} | {factor:.0f} | {np.mean(found):.0f} | {max(found):.0f} | {seconds:.2f} |", flush=True
        )


def walks(name: str, seeds: int) -> None:
    """The same random starts, walked from with and without heat, by budget."""
    case = problem(name)
    starts = [RandomStart().run(case, seed).layout for seed in range(seeds)]
    for budget in (10_000, 100_000, 1_000_000):
        methods: tuple[Method, ...] = (RandomSearch(budget), Annealing(budget))
        means, seconds = [], []
        for method in methods:
            search = method.prepare(case)
            type(method)(100).run(case, 0, starts[0])  # compile
            begin = time.process_time()
            means.append(np.mean([1e3 * search(s, start).aep_gwh for s, start in enumerate(starts)]))
            seconds.append((time.process_time() - begin) / seeds)
        print(
            f"| {name} | {budget:,} | {means[0]:.0f} | {means[1]:.0f} | {seconds[0]:.1f} | {seconds[1]:.1f} |",
            flush=True,
        )


def best_of(call: Callable[[], object], times: int) -> float:
    """The least CPU time of a call, in microseconds."""
    least = np.inf
    for _ in range(times):
        begin = time.process_time()
        for _ in range(20):
            call()
        least = min(least, (time.process_time() - begin) / 20)
    return 1e6 * least


def one_move(case: LayoutProblem) -> None:
    """A whole evaluation beside that of one move, and beside a trial of the compiled search."""
    farm, start = case.farm, RandomStart().run(case, 0)
    moves, (settle, gained, _), _ = mover_of(farm, start.x, start.y, start.types, case.n_turbines)
    settle(farm.data, farm.turbine_arrays, farm.wind, moves)
    rng = np.random.default_rng(0)
    east, north = case.boundary.sample(rng, 10)
    whole = best_of(lambda: farm.aep(start.x, start.y), 20)
    moved = np.mean(
        [
            best_of(
                lambda i=i: gained(
                    farm.data, farm.turbine_arrays, farm.wind, moves, i, east[i], north[i], -np.inf
                ),
                5,
            )
            for i in range(10)
        ]
    )
    search = RandomSearch(5000).prepare(case)
    search(0, start.layout)
    begin = time.process_time()
    found = search(0, start.layout)
    trial = 1e6 * (time.process_time() - begin) / found.evaluations
    print(
        f"| {case.name} | {whole:.0f} | {moved:.0f} | {whole / moved:.1f} | {trial:.0f} | {whole / trial:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    print("| case | whole, us | one move, us | ratio | a trial of random-search, us | ratio |")
    print("| --- |" + " ---: |" * 5)
    for name in ("cs1-16", "cs1-64", "cs3"):
        one_move(problem(name))
    print("\n| case | evaluations | random-search, MWh | annealing, MWh | CPU s | CPU s |")
    print("| --- |" + " ---: |" * 5)
    for name in ("cs1-16", "cs1-64", "cs3"):
        walks(name, max(1, seeds // 3))
    print("\n| case | widening | mean AEP, MWh | best | CPU s a start |")
    print("| --- |" + " ---: |" * 4)
    for name in ("cs1-16", "cs1-64", "cs3"):
        widening(name, seeds)


if __name__ == "__main__":
    main()
