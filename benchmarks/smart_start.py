"""Smart start beside TopFarm's, on the energy island: the same points, and how much faster.

    python benchmarks/smart_start.py [--seeds 5] [--topfarm 0,5,0 ...] [--turbines 16]

``--topfarm FARM,TYPE,SEED`` runs TopFarm + PyWake on that configuration too (several minutes each; needs
``topfarm``, see tests/layout/make_golden.py) and compares point for point. ``--turbines`` places only the first
so many: a greedy construction begins in the same way however many follow. Times are CPU seconds of one core, so
that other work on the machine does not count; the two are measured in one run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from dataclasses import replace
from typing import Any

import energy_island
import numpy as np
import topfarm_side

from vindeby.layout import Problem, SmartStart

METHOD = SmartStart(energy_island.GRID_SIZE, energy_island.RANDOM_PCT)


def topfarm(question: Problem, farm_index: int, type_index: int, seed: int) -> tuple[Any, Any]:
    """What the script did that this replaces: TopFarm's smart start on PyWake's Nygaard_2022."""
    problem, component = topfarm_side.problem(farm_index, type_index, question.n_turbines, grad_method=None)
    west, south, east, north = question.boundary.bounds
    size = energy_island.GRID_SIZE
    grid = np.meshgrid(np.linspace(west, east, size), np.linspace(south, north, size))
    x, y = problem.smart_start(
        *grid,
        component.get_aep4smart_start(),
        random_pct=energy_island.RANDOM_PCT,
        seed=seed,
        show_progress=False,
    )
    return np.array(x), np.array(y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--topfarm", nargs="*", default=[])
    parser.add_argument("--turbines", type=int)
    options = parser.parse_args()
    METHOD.run(energy_island.problem(0, 5), 0)  # compile

    print("configuration    turbines  points   set-up s   a seed s (of which AEP)")
    for farm_index, type_index in ((0, 5), (0, 0), (3, 2), (8, 5)):
        question = energy_island.problem(farm_index, type_index)
        began = time.process_time()
        search = METHOD.prepare(question)
        ready = time.process_time()
        seconds, valuing = [], []
        for seed in range(options.seeds):
            start = time.process_time()
            result = search(seed, None)
            middle = time.process_time()
            question.aep(result.layout)
            seconds.append(middle - start)
            valuing.append(time.process_time() - middle)
        grid = int(question.boundary.inside(*_grid(question)).sum())
        print(
            f"farm {farm_index}, type {type_index}   {question.n_turbines:8d}  {grid:6d}   {ready - began:8.3f}   "
            f"{min(seconds):8.4f} ({min(valuing):.4f})",
            flush=True,
        )
    for text in options.topfarm:
        compare(options.turbines, *map(int, text.split(",")))


def _grid(question: Any) -> tuple[Any, Any]:
    west, south, east, north = question.boundary.bounds
    x, y = np.meshgrid(
        np.linspace(west, east, energy_island.GRID_SIZE), np.linspace(south, north, energy_island.GRID_SIZE)
    )
    return x.ravel(), y.ravel()


def compare(turbines: int | None, farm_index: int, type_index: int, seed: int) -> None:
    question = energy_island.problem(farm_index, type_index)
    if turbines:
        question = replace(question, n_turbines=turbines)
    search = METHOD.prepare(question)
    ours, result = [], None
    for _ in range(5):
        start = time.process_time()
        result = search(seed, None)
        ours.append(time.process_time() - start)
    start = time.process_time()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        x, y = topfarm(question, farm_index, type_index, seed)
    theirs = time.process_time() - start
    assert result is not None
    same = int(((x == result.x) & (y == result.y)).sum())
    print(
        f"farm {farm_index}, type {type_index}, seed {seed}: {same} of {len(x)} points equal to TopFarm's; TopFarm + "
        f"PyWake {theirs:.1f} s, vindeby {min(ours):.3f} s with AEP: {theirs / min(ours):.0f} times",
        flush=True,
    )


if __name__ == "__main__":
    main()
