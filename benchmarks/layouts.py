"""What gradient adds to smart start on the energy island, and the same beside TopFarm's gradient driver.

    python benchmarks/layouts.py [--configurations 10] [--iterations 200] [--topfarm] [--turbines 20]
    python benchmarks/layouts.py --wind [--configurations 10]

Ten farms with a type each: AEP of the smart start, and of the layout that gradient makes of it, with all 360
directions and 23 speeds. ``--wind`` compares ways of climbing from the same smart starts: spectral steps in all
wind states, as the first version did, and from coarse to fine. ``--topfarm`` also gives a smaller case (the first
so many turbines of farm 0, every tenth direction) to TopFarm's SLSQP driver with PyWake's gradient, from the same
start, since the whole one would take it hours; it needs ``topfarm`` (see topfarm_side.py). Times are CPU seconds
of one core.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from dataclasses import replace

import energy_island
import numpy as np
import topfarm_side

from vindeby.layout import Gradient, Layout, LayoutProblem, SmartStart

START = SmartStart(energy_island.GRID_SIZE, energy_island.RANDOM_PCT)


def gains(configurations: int, iterations: int) -> None:
    print("| farm | type | turbines | smart start, GWh | gradient, GWh | gain | CPU s | ended |")
    print("| ---: |" + " ---: |" * 7)
    found = []
    for index in range(configurations):
        farm_index, type_index = index % 10, (5 + index) % 6
        question = energy_island.problem(farm_index, type_index)
        start = START.run(question, seed=0)
        search = Gradient(iterations, 16.0, "all", 0).prepare(question)
        begin = time.process_time()
        result = search(0, start.layout)
        seconds = time.process_time() - begin
        assert question.is_feasible(result.layout)
        found.append((result.aep_gwh / start.aep_gwh - 1.0, seconds))
        print(
            f"| {farm_index} | {type_index} | {question.n_turbines} | {start.aep_gwh:.2f} | {result.aep_gwh:.2f} | "
            f"{100 * found[-1][0]:+.2f} % | {seconds:.0f} | {result.status} |",
            flush=True,
        )
    gain, seconds = np.mean(found, axis=0)
    print(f"mean gain {100 * gain:.2f} %, mean CPU time {seconds:.0f} s\n")


WAYS = {
    "all, 200": Gradient(200, 16.0, "all", 0),
    "coarse, default": Gradient(widening=16.0),
    "half of it": Gradient(Gradient().max_iterations // 2, 16.0),
    "a quarter": Gradient(Gradient().max_iterations // 4, 16.0),
}
"""In one table: what there was, the default, and parts of its iterations."""


def by_wind(configurations: int) -> None:
    print("| farm | type | turbines |" + "".join(f" {name} | CPU s |" for name in WAYS))
    print("| ---: | ---: | ---: |" + " ---: | ---: |" * len(WAYS))
    found = []
    for index in range(configurations):
        farm_index, type_index = index % 10, (5 + index) % 6
        question = energy_island.problem(farm_index, type_index)
        start = START.run(question, seed=0)
        if index == 0:
            for way in WAYS.values():
                replace(way, max_iterations=2).run(question, 0, start.layout)  # compile
        row = []
        for way in WAYS.values():
            begin = time.process_time()
            result = way.run(question, 0, start.layout)
            row += [100.0 * (result.aep_gwh / start.aep_gwh - 1.0), time.process_time() - begin]
        found.append(row)
        print(_line([farm_index, type_index, question.n_turbines], row), flush=True)
    means = np.mean(found, axis=0)
    print(_line(["mean", "", ""], means.tolist()))
    ratios = ", ".join(
        f"{name}: 1/{means[1] / seconds:.1f}" for name, seconds in zip(WAYS, means[1::2], strict=True)
    )
    print(f"CPU time beside the first: {ratios}\n")


def _line(names: list[object], row: list[float]) -> str:
    pairs = "".join(
        f" {gain:+.3f} % | {seconds:.1f} |" for gain, seconds in zip(row[::2], row[1::2], strict=True)
    )
    return "| " + " | ".join(map(str, names)) + " |" + pairs


def beside_topfarm(turbines: int, iterations: int) -> None:
    directions = np.arange(0.0, 360.0, 10.0)
    question = replace(energy_island.problem(0, 5, directions), n_turbines=turbines)
    start = START.run(question, seed=0)
    Gradient(2, 16.0).run(question, 0, start.layout)  # compile
    print(
        f"farm 0, type 5, {turbines} turbines, {len(directions)} directions: smart start {start.aep_gwh:.3f} GWh"
    )
    for widening in (1.0, 16.0):
        search = Gradient(iterations, widening, "all", 0).prepare(question)
        begin = time.process_time()
        result = search(0, start.layout)
        report(f"vindeby, widening {widening:g}", question, result.layout, start.aep_gwh, begin)
    begin = time.process_time()
    layout = topfarm(turbines, iterations, directions, start.layout)
    report("TopFarm, SLSQP", question, layout, start.aep_gwh, begin)


def report(who: str, question: LayoutProblem, layout: Layout, before: float, begin: float) -> None:
    seconds = time.process_time() - begin
    aep = question.aep(layout)
    outside, near = question.shortfalls(layout)
    print(
        f"{who}: {aep:.3f} GWh ({100 * (aep / before - 1):+.3f} %) in {seconds:.2f} CPU s; "
        f"{outside:.2g} m outside, {near:.2g} m too near",
        flush=True,
    )


def topfarm(turbines: int, iterations: int, directions: np.ndarray, start: Layout) -> Layout:
    from py_wake.utils.gradients import autograd
    from topfarm.easy_drivers import EasyScipyOptimizeDriver

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        problem, _ = topfarm_side.problem(
            0, 5, turbines, start=(start.x, start.y), wd=directions, grad_method=autograd,
            driver=EasyScipyOptimizeDriver("SLSQP", maxiter=iterations, disp=False),
        )  # fmt: skip
        _, state, _ = problem.optimize(disp=False)
    return Layout.of(state["x"], state["y"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configurations", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--wind", action="store_true")
    parser.add_argument("--topfarm", action="store_true")
    parser.add_argument("--turbines", type=int, default=20)
    chosen = parser.parse_args()
    if chosen.topfarm:
        beside_topfarm(chosen.turbines, chosen.iterations)
    if chosen.wind:
        by_wind(chosen.configurations)
    elif chosen.configurations:
        gains(chosen.configurations, chosen.iterations)


if __name__ == "__main__":
    main()
