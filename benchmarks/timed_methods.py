"""The searches that benchmarks compare, and the best layout that each finds by CPU time.

A method is run with one seed after the other until the time is over; the layouts of a run that ends later do not count,
unless there would be none. ``auto`` has the time as its budget, and its own curve.
"""

from __future__ import annotations

import time

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import (
    Annealing,
    Auto,
    Gradient,
    Hopping,
    Method,
    Problem,
    RandomSearch,
    Result,
)
from vindeby.layout.portfolio.starts import starts_for

Points = list[tuple[float, float]]
"""CPU seconds and the AEP (GWh) of the best layout by then."""


def start_of(problem: Problem, name: str) -> Method:
    """A start as ``auto`` uses it, which suits the problem."""
    return next(start.method for start in starts_for(problem) if start.name == name)


METHODS: dict[str, tuple[str, ...]] = {
    "random-start, gradient": ("random-start", "gradient"),
    "lattice, gradient": ("lattice", "gradient"),
    "lattice, random-search": ("lattice", "random-search"),
    "smart-start, gradient": ("smart-start", "gradient"),
    "smart-start, random-search": ("smart-start", "random-search"),
    "smart-start, annealing": ("smart-start", "annealing"),
    "smart-start, gradient, hopping": ("smart-start", "gradient", "hopping"),
    "auto": ("auto",),
}
"""The steps of each, by name. Walks have as many trials as the time allows."""


def best_within(steps: tuple[str, ...], problem: Problem, seconds: float) -> Points:
    """The best AEP over time; ``[(seconds, 0)]`` where there is no layout."""
    try:
        if steps == ("auto",):
            Auto().brief().run(problem, 0)
            found = Auto(seconds=seconds).run(problem, 0)
            pairs = zip(found.arrays["curve_seconds"], found.arrays["curve_aep_gwh"], strict=True)
            return _rising([(float(at), float(aep)) for at, aep in pairs])
        _searched(steps, problem, 0, 0.02, brief=True)  # compile
        points: Points = []
        began, seed = time.process_time(), 0
        while not points or time.process_time() - began < seconds:
            left = seconds - (time.process_time() - began)
            for result in _searched(steps, problem, seed, left):
                now = time.process_time() - began
                if not points or now <= 1.02 * seconds:
                    points.append((now, result.aep_gwh))
            seed += 1
        return _rising(points)
    except (ArgumentError, TaskError):
        return [(seconds, 0.0)]


def _searched(
    steps: tuple[str, ...], problem: Problem, seed: int, seconds: float, *, brief: bool = False
) -> list[Result]:
    """The results of all steps in turn; what a walk may take is told from a short one."""
    results: list[Result] = []
    for name in steps:
        layout = results[-1].layout if results else None
        if name == "gradient":
            results.append(Gradient(8 if brief else 500).run(problem, seed, layout))
        elif name == "hopping":
            results.append(Hopping(1 if brief else 20).run(problem, seed, layout))
        elif name in ("random-search", "annealing"):
            began = time.process_time()
            results.append(_walk(name, 100, problem, seed, results[-1]))
            each = (time.process_time() - began) / 100
            trials = 100 if brief else max(100, int(0.95 * seconds / each))
            results.append(_walk(name, trials, problem, seed, results[-1]))
        else:
            results.append(start_of(problem, name).run(problem, seed))
    return results


def _walk(name: str, trials: int, problem: Problem, seed: int, start: Result) -> Result:
    method: Method = RandomSearch(trials) if name == "random-search" else Annealing(trials)
    return method.run(problem, seed, start.layout)


def _rising(points: Points) -> Points:
    """The best so far at every point."""
    best, rising = 0.0, []
    for at, aep in points:
        best = max(best, aep)
        rising.append((at, best))
    return rising
