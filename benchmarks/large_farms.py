"""What one iteration of gradient costs as a farm grows: wakes, spacing, memory.

    python benchmarks/large_farms.py [--turbines 100 200 300 500 1000] [--directions 24 360]

``dense_cases`` has the farms, 60 % full. "gradient" is one energy with its gradient, "allowed step" the nearest step
that keeps to the rules, "mended" a layout checked and mended after it; best of several, CPU time. Memory is the largest
of the process so far, above what it had before the first farm.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from dense_cases import problem

from vindeby.layout import RandomStart
from vindeby.layout.area.limits import Limits


def fastest(call: Callable[[], object], times: int) -> float:
    """Milliseconds of CPU."""
    call()
    taken = []
    for _ in range(times):
        begin = time.process_time()
        call()
        taken.append(time.process_time() - begin)
    return 1e3 * min(taken)


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turbines", type=int, nargs="+", default=[100, 200, 300, 500, 1000])
    parser.add_argument("--directions", type=int, nargs="+", default=[24, 360])
    chosen = parser.parse_args()
    warm = problem(20, 0.6)
    warm.farm.aep_and_gradient(*(np.arange(20.0) * 1000.0 for _ in range(2)))
    before = memory_mb()
    print("| directions | turbines | gradient, ms | allowed step, ms | mended, ms | memory, MB |")
    print("| ---: |" + " ---: |" * 5)
    for directions in chosen.directions:
        for turbines in chosen.turbines:
            case = problem(turbines, 0.6, directions)
            start = RandomStart().run(case, 0).layout
            limits = Limits(case, start.types)
            place = np.stack([start.x, start.y]) - limits.origin[:, None]
            _, east, north = case.farm.aep_and_gradient(start.x, start.y)
            slope = np.stack([east, north])
            far = 2.0 * float(limits.need.max())
            wanted = slope * far / np.abs(slope).max()
            times = 3 if directions < 100 else 1

            def climb(x: np.ndarray = start.x, y: np.ndarray = start.y, farm=case.farm) -> object:  # type: ignore[no-untyped-def,type-arg]
                return farm.aep_and_gradient(x, y)

            wakes = fastest(climb, times)
            step = fastest(lambda: limits.nearest_step(place, wanted, far), 3)  # noqa: B023
            mended = fastest(lambda: limits.restore(place), 3)  # noqa: B023
            print(
                f"| {directions} | {turbines} | {wakes:.1f} | {step:.2f} | {mended:.2f} | {memory_mb() - before:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
