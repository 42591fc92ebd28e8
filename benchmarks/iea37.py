"""How good layouts get: the cases of IEA Wind Task 37, searched by vindeby alone, within a time.

    python benchmarks/iea37.py [CASE ...] [--minutes M] [--processes 2] [--seed 0] [--save FOLDER]

Each process works for itself. A quarter of its time it makes starts: random-start, then gradient with wide
wakes first. The rest of it goes to hopping from the best few of them, ten hops at a time, a better layout
taking the place of the one it came from; the best is refined to the end. The best of all processes is
evaluated and checked once more here. Seeds decide every layout; the clock decides how many there are.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from iea37_data import CASES, problem

from vindeby.layout import Gradient, Hopping, Layout, Pipeline, RandomStart, Result
from vindeby.units import gwh_to_mwh

STARTING, POOL, HOPS = 0.25, 6, 10


@dataclass(frozen=True)
class Outcome:
    """What one process found."""

    x: list[float]
    y: list[float]
    aep_gwh: float
    best_start_gwh: float
    starts: int
    hops: int
    cpu_s: float


def work(name: str, minutes: float, seed: int) -> Outcome:
    """Search for so long, with seeds from this one on."""
    case = problem(name)
    first, hopping = Pipeline([RandomStart(), Gradient(400, widening=16.0)]), Hopping(HOPS)
    # The loops are compiled before the clock starts, with a farm that is done at once.
    few = replace(case, n_turbines=3)
    hopping.run(few, seed, first.run(few, seed).layout)
    start, hop = first.prepare(case), hopping.prepare(case)
    begin, cpu = time.monotonic(), time.process_time()
    found: list[Result] = []
    while not found or time.monotonic() - begin < STARTING * minutes * 60.0:
        found.append(start(seed + len(found), None))
    found.sort(key=lambda result: -result.aep_gwh)
    starts, best_start, pool, hops = len(found), found[0].aep_gwh, found[:POOL], 0
    rng = np.random.default_rng(seed)
    while time.monotonic() - begin < minutes * 60.0:
        # The better ones more often.
        which = int(len(pool) * rng.random() ** 2)
        better = hop(seed + hops, pool[which].layout)
        hops += HOPS
        if better.aep_gwh > pool[which].aep_gwh:
            pool[which] = better
            pool.sort(key=lambda result: -result.aep_gwh)
    best = Gradient(2000, widening=1.0).run(case, seed, pool[0].layout)
    cpu = time.process_time() - cpu
    return Outcome(best.x.tolist(), best.y.tolist(), best.aep_gwh, best_start, starts, hops, cpu)


def search(name: str, minutes: float, processes: int, seed: int, save: Path | None) -> str:
    """Search in all processes, and the row of the table."""
    case, begin = CASES[name], time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        jobs = [pool.submit(work, name, minutes, seed + 1_000_000 * p) for p in range(processes)]
        outcomes = [job.result() for job in jobs]
    seconds = time.monotonic() - begin
    best = max(outcomes, key=lambda outcome: outcome.aep_gwh)
    layout = Layout.of(best.x, best.y)
    given = problem(name)
    reached = gwh_to_mwh(given.aep(layout))
    assert given.is_feasible(layout), given.shortfalls(layout)
    if save:
        save.mkdir(parents=True, exist_ok=True)
        (save / f"{name}-{reached:.2f}.json").write_text(json.dumps({"x": best.x, "y": best.y}))
    against = reached - case.best_known_mwh
    return (
        f"| {name} | {case.turbines} | {case.example_mwh:.2f} | {case.best_known_mwh:.2f} | {reached:.2f} | "
        f"{against:+.2f} ({100.0 * against / case.best_known_mwh:+.3f} %) | "
        f"{gwh_to_mwh(max(o.best_start_gwh for o in outcomes)):.2f} | {sum(o.starts for o in outcomes)} | "
        f"{sum(o.hops for o in outcomes)} | {seconds:.0f} | {sum(o.cpu_s for o in outcomes):.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--minutes", type=float, help="for each case; default 10, cs4 30")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, help="a folder for the layouts found")
    chosen = parser.parse_args()
    unknown = set(chosen.cases) - set(CASES)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    print(
        "| case | turbines | example | best known | vindeby | against best known | best start | starts | hops "
        "| wall s | CPU s |\n" + "| --- |" + " ---: |" * 10
    )
    for name in chosen.cases or CASES:
        minutes = chosen.minutes or CASES[name].minutes
        print(search(name, minutes, chosen.processes, chosen.seed, chosen.save), flush=True)


if __name__ == "__main__":
    main()
