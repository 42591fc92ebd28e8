"""How good layouts get: the cases of IEA Wind Task 37, searched by vindeby alone, within a time.

    python benchmarks/iea37.py [CASE ...] [--minutes M] [--processes 2] [--seed 0] [--share 0.5] [--save FOLDER]

Each process takes one seed after the other: random-start, annealing, gradient with the true wakes. It begins
with no seed that it could not end within the time. The best layout of all is evaluated and checked once more
here. A seed's layout depends on nothing but the seed; the clock decides how many seeds there are.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from iea37_data import CASES, problem

from vindeby.layout import Annealing, Gradient, Layout, Pipeline, RandomStart

REFINING = 1000
"""Iterations of gradient at the end."""


@dataclass(frozen=True)
class Found:
    """What one seed led to."""

    seed: int
    x: list[float]
    y: list[float]
    aep_gwh: float
    cpu_s: float


def work(name: str, minutes: float, first: int, step: int, share: float) -> list[Found]:
    """Search with every ``step``-th seed from the first on, for so long."""
    begin = time.monotonic()
    case = problem(name)
    last = Gradient(REFINING, widening=1.0, wind="all", memory=0)
    search = Pipeline(
        [RandomStart(), Annealing(max(1, round(share * CASES[name].evaluations)), 0.03), last]
    ).prepare(case)
    # The loops are compiled, or loaded, with a farm that is done at once.
    Pipeline([RandomStart(), Annealing(10), last]).run(replace(case, n_turbines=3), 0)
    found: list[Found] = []
    longest = 0.0
    while not found or time.monotonic() - begin + longest < minutes * 60.0:
        seed, start, cpu = first + step * len(found), time.monotonic(), time.process_time()
        result = search(seed, None)
        cpu = time.process_time() - cpu
        longest = max(longest, time.monotonic() - start)
        found.append(Found(seed, result.x.tolist(), result.y.tolist(), result.aep_gwh, cpu))
    return found


def search(name: str, minutes: float, processes: int, seed: int, share: float, save: Path | None) -> str:
    """Search in all processes, and the row of the table."""
    case, begin = CASES[name], time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        jobs = [pool.submit(work, name, minutes, seed + p, processes, share) for p in range(processes)]
        found = [one for job in jobs for one in job.result()]
    seconds = time.monotonic() - begin
    best = max(found, key=lambda one: one.aep_gwh)
    layout = Layout.of(best.x, best.y)
    given = problem(name)
    reached = 1e3 * given.aep(layout)
    assert given.is_feasible(layout), given.shortfalls(layout)
    if save:
        save.mkdir(parents=True, exist_ok=True)
        (save / f"{name}-{reached:.2f}.json").write_text(json.dumps({"x": best.x, "y": best.y}))
    against = reached - case.best_known_mwh
    above = sum(1e3 * one.aep_gwh > case.best_known_mwh for one in found)
    return (
        f"| {name} | {case.turbines} | {case.example_mwh:.2f} | {case.best_known_mwh:.2f} | {reached:.2f} | "
        f"{against:+.2f} ({100.0 * against / case.best_known_mwh:+.3f} %) | {best.seed} | "
        f"{above} of {len(found)} | {seconds:.0f} | {sum(one.cpu_s for one in found) / len(found):.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--minutes", type=float, help="for each case; default 10, cs4 30")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of the evaluations that a seed has")
    parser.add_argument("--save", type=Path, help="a folder for the layouts found")
    chosen = parser.parse_args()
    unknown = set(chosen.cases) - set(CASES)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    print(
        "| case | turbines | example | best known | vindeby | against best known | its seed | seeds above best known "
        "| wall s | CPU s a seed |\n" + "| --- |" + " ---: |" * 9
    )
    for name in chosen.cases or CASES:
        minutes = chosen.minutes or CASES[name].minutes
        print(search(name, minutes, chosen.processes, chosen.seed, chosen.share, chosen.save), flush=True)


if __name__ == "__main__":
    main()
