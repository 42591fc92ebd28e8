"""Smart start beside TopFarm's, on the energy island: the same points, and how much faster.

    python benchmarks/smart_start.py [--seeds 5] [--topfarm 0,5,0 ...] [--turbines 16] [--before OTHER/src]

``--topfarm FARM,TYPE,SEED`` runs TopFarm + PyWake on that configuration too (several minutes each; needs
``topfarm``, see tests/layout/make_golden.py) and compares point for point. ``--turbines`` places only the first
so many: a greedy construction begins in the same way however many follow. Times are CPU seconds of one core, so
that other work on the machine does not count; the two are measured in one run.

``--before`` compares with the code and this benchmark of another checkout instead: both in turn, each in processes of
its own, five times; the layouts and AEPs must be equal to the bit.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import energy_island
import numpy as np
import topfarm_side

from vindeby.layout import LayoutProblem, SmartStart

METHOD = SmartStart(energy_island.GRID_SIZE, energy_island.RANDOM_PCT)
CONFIGURATIONS = ((0, 5), (0, 0), (3, 2), (8, 5))


def topfarm(question: LayoutProblem, farm_index: int, type_index: int, seed: int) -> tuple[Any, Any]:
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
    parser.add_argument("--before")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps([measure(*one, options.seeds) for one in CONFIGURATIONS]))
        return
    if options.before:
        compare_with(options.before, options.seeds)
        return
    METHOD.run(energy_island.problem(0, 5), 0)  # compile

    print("configuration    turbines  points   set-up s   a seed s (of which AEP)")
    for farm_index, type_index in CONFIGURATIONS:
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


def measure(farm_index: int, type_index: int, seeds: int) -> tuple[float, list[str]]:
    """CPU seconds of seed 0 with its AEP, the best of several; and the results of all seeds, exactly."""
    search = METHOD.prepare(energy_island.problem(farm_index, type_index))
    results = [search(seed, None) for seed in range(seeds)]
    seconds = []
    for _ in range(6):
        start = time.process_time()
        search(0, None)
        seconds.append(time.process_time() - start)
    exact = [v.hex() for r in results for v in [*r.x.tolist(), *r.y.tolist(), r.aep_gwh]]
    return min(seconds), exact


def compare_with(before: str, seeds: int) -> None:
    """Measure another checkout and this one in turn."""
    runs: dict[str, list[Any]] = {before: [], "": []}
    for _ in range(5):
        for source, found in runs.items():
            path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH", "")]))
            script = Path(source).parent / "benchmarks" / "smart_start.py" if source else Path(__file__)
            command = [sys.executable, str(script), "--measure", "--seeds", str(seeds)]
            out = subprocess.run(
                command, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True
            )
            found.append(json.loads(out.stdout))
    print("configuration    before s   after s   times as fast   results equal to the bit")
    for n, (farm_index, type_index) in enumerate(CONFIGURATIONS):
        old, new = (min(run[n][0] for run in found) for found in runs.values())
        same = runs[before][0][n][1] == runs[""][0][n][1]
        print(f"farm {farm_index}, type {type_index}   {old:8.4f}  {new:8.4f}   {old / new:13.2f}   {same}")


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
