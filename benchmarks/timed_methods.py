"""The searches that benchmarks compare, and the best layout that each finds by CPU time.

A method is run with one seed after the other until the time is over; the layouts of a run that ends later do not count,
unless there would be none. ``auto`` has the time as its budget.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from vindeby.errors import ArgumentError, TaskError
from vindeby.layout import (
    Annealing,
    Auto,
    Gradient,
    LayoutProblem,
    Method,
    RandomSearch,
    Result,
    SmartStart,
)
from vindeby.layout.methods.auto import STARTS

Points = list[tuple[float, float]]
"""CPU seconds and the AEP (GWh) of the best layout by then."""


def start_of(name: str) -> Method:
    """A start, as ``auto`` uses it if it does."""
    return SmartStart() if name == "smart-start" else STARTS[name][0]


METHODS: dict[str, tuple[str, ...]] = {
    "random-start, gradient": ("random-start", "gradient"),
    "lattice, gradient": ("lattice", "gradient"),
    "lattice, random-search": ("lattice", "random-search"),
    "smart-start, gradient": ("smart-start", "gradient"),
    "smart-start, random-search": ("smart-start", "random-search"),
    "smart-start, annealing": ("smart-start", "annealing"),
    "auto": ("auto",),
}
"""The steps of each, by name. Refinements are as long as the time allows."""


def best_within(steps: tuple[str, ...], problem: LayoutProblem, seconds: float) -> Points:
    """The best AEP over time; ``[(seconds, 0)]`` where there is no layout."""
    try:
        if steps == ("auto",):
            Auto().brief().run(problem, 0)
            found = Auto(seconds=seconds).run(problem, 0)
            return [(seconds, found.aep_gwh)]
        list(_searched(steps, problem, 0, time.process_time()))  # compile: no time is left but for probes
        points: Points = []
        began, seed = time.process_time(), 0
        while not points or time.process_time() - began < seconds:
            for result in _searched(steps, problem, seed, began + seconds):
                now = time.process_time() - began
                if not points or now <= 1.02 * seconds:
                    points.append((now, result.aep_gwh))
            seed += 1
        return _rising(points)
    except (ArgumentError, TaskError):
        return [(seconds, 0.0)]


def _searched(steps: tuple[str, ...], problem: LayoutProblem, seed: int, end: float) -> Iterator[Result]:
    """What each step finds, as soon as it has. A short refinement before each long one shows how long that may be.

    Before another refinement, half of the time that is left is used; before the end, nearly all of it.
    """
    result: Result | None = None
    for place, name in enumerate(steps):
        if name not in PROBES:
            yield (result := start_of(name).run(problem, seed))
            continue
        assert result is not None, "the first step is a start"
        probe, most = PROBES[name]
        began = time.process_time()
        yield (result := _refined(steps, name, probe, problem, seed, result))
        now = time.process_time()
        share = 0.9 if place == len(steps) - 1 else 0.5
        fitting = int(share * (end - now) / max((now - began) / probe, 1e-6))
        if fitting >= 1:
            yield (result := _refined(steps, name, min(fitting, most), problem, seed, result))


PROBES = {
    "gradient": (16, 500),
    "random-search": (100, 10**9),
    "annealing": (100, 10**9),
}
"""Of each refinement: iterations or trials of the short one, and the most of the long one."""


def _refined(
    steps: tuple[str, ...], name: str, count: int, problem: LayoutProblem, seed: int, start: Result
) -> Result:
    methods: dict[str, Method] = {
        "gradient": Gradient(count, 1.0 if steps[0] == "lattice" else 16.0),
        "random-search": RandomSearch(count),
        "annealing": Annealing(count),
    }
    return methods[name].run(problem, seed, start.layout)


def _rising(points: Points) -> Points:
    """The best so far at every point."""
    best, rising = 0.0, []
    for at, aep in points:
        best = max(best, aep)
        rising.append((at, best))
    return rising
