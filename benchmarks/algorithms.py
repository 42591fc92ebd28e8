"""Ways to climb from the same random starts, with the same energies, gradients and constraints.

    python benchmarks/algorithms.py [CASE ...] [--seeds 5]

On IEA Task 37's cases: the projected gradient of ``vindeby.layout.Gradient`` with the true wakes alone and with wide
ones first; SciPy's SLSQP; an augmented Lagrangian whose inner problems SciPy's L-BFGS-B solves; and stochastic
gradients over sampled wind directions with a growing penalty, after Quick et al. (2023). What another way leaves
infeasible is mended by the smallest move, as everywhere here, before its energy is taken. CPU seconds of one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from iea37_data import problem
from scipy.optimize import NonlinearConstraint, minimize

from vindeby.layout import Gradient, Layout, LayoutProblem, RandomStart
from vindeby.layout.area.limits import Limits
from vindeby.wake import WindFarm

FloatArray = npt.NDArray[np.float64]
Way = Callable[[LayoutProblem, Layout, int], Layout]
STEP_M = 1e-3
"""Of the differences that stand for slopes of the distance to the boundary."""


class Scaled:
    """A problem with lengths in rotor diameters, energies as shares of the start's, constraints as g >= 0."""

    def __init__(self, case: LayoutProblem, start: Layout) -> None:
        self.case, self.types = case, start.types
        self.length = float(case.farm.turbine_arrays.diameter.max())
        self.whole = case.aep(start)
        self.left, self.right = np.triu_indices(len(start.x), 1)
        self.need = float(case.spacing_by_type[0]) / self.length
        self.first = np.concatenate([start.x, start.y]) / self.length

    def places(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        half = len(z) // 2
        return z[:half] * self.length, z[half:] * self.length

    def loss(self, z: FloatArray, farm: WindFarm | None = None) -> tuple[float, FloatArray]:
        """What is to be minimised, and its gradient."""
        aep, east, north = (farm or self.case.farm).aep_and_gradient(*self.places(z), self.types)
        return -aep / self.whole, -self.length * np.concatenate([east, north]) / self.whole

    def constraints(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Spacing of all pairs and distance to the boundary, in diameters; and their Jacobian."""
        n = len(z) // 2
        (x, y), distances = self.places(z), self.case.boundary.distances
        inside = distances(x, y)
        east = (distances(x + STEP_M, y) - distances(x - STEP_M, y)) / (2.0 * STEP_M)
        north = (distances(x, y + STEP_M) - distances(x, y - STEP_M)) / (2.0 * STEP_M)
        dx, dy = z[self.left] - z[self.right], z[n + self.left] - z[n + self.right]
        apart = np.maximum(np.hypot(dx, dy), 1e-9)
        pairs, rows = len(apart), np.arange(len(apart))
        slope = np.zeros((pairs + n, 2 * n))
        slope[rows, self.left], slope[rows, self.right] = dx / apart, -dx / apart
        slope[rows, n + self.left], slope[rows, n + self.right] = dy / apart, -dy / apart
        slope[pairs + np.arange(n), np.arange(n)] = east
        slope[pairs + np.arange(n), n + np.arange(n)] = north
        return np.concatenate([apart - self.need, inside / self.length]), slope

    def layout(self, z: FloatArray) -> Layout:
        return Layout(*self.places(z), self.types)


def slsqp(case: LayoutProblem, start: Layout, _: int) -> Layout:
    it = Scaled(case, start)
    rules = NonlinearConstraint(
        lambda z: it.constraints(z)[0], 0.0, np.inf, jac=lambda z: it.constraints(z)[1]
    )
    found = minimize(
        it.loss,
        it.first,
        jac=True,
        method="SLSQP",
        constraints=[rules],
        options={"maxiter": 500, "ftol": 1e-10},
    )
    return it.layout(found.x)


def augmented_lagrangian(case: LayoutProblem, start: Layout, _: int) -> Layout:
    it = Scaled(case, start)
    z, weight = it.first, 1.0
    shadow = np.zeros(len(it.constraints(z)[0]))

    def loss(z: FloatArray, shadow: FloatArray, weight: float) -> tuple[float, FloatArray]:
        value, slope = it.loss(z)
        room, turn = it.constraints(z)
        short = np.maximum(0.0, shadow - weight * room)
        return value + float((short**2).sum()) / (2.0 * weight), slope - short @ turn

    for _round in range(10):
        found = minimize(loss, z, (shadow, weight), jac=True, method="L-BFGS-B", options={"maxiter": 100})
        z = found.x
        shadow = np.maximum(0.0, shadow - weight * it.constraints(z)[0])
        weight *= 3.0
    return it.layout(z)


def stochastic(case: LayoutProblem, start: Layout, seed: int) -> Layout:
    it, rng = Scaled(case, start), np.random.default_rng(seed)
    farm = case.farm
    winds = [
        WindFarm(farm.site, farm.turbines, farm.model, directions=[d], tabulate=farm.loops != "direct")
        for d in farm.states.direction
    ]
    # One direction alone stands for all of them: its mean is the whole.
    assert np.isclose(np.mean([wind.aep(start.x, start.y) for wind in winds]), it.whole, rtol=1e-3)
    z, steps = it.first.copy(), 4000
    mean, square = np.zeros_like(z), np.zeros_like(z)
    for step in range(1, steps + 1):
        rate = 0.3 * 0.001 ** (step / steps)  # diameters
        _, slope = it.loss(z, winds[rng.integers(len(winds))])
        room, turn = it.constraints(z)
        short = np.maximum(0.0, -room)
        slope -= 0.05 / rate * (short @ turn)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        z -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-12)
    return it.layout(z)


def projected(widening: float) -> Way:
    return lambda case, start, seed: Gradient(500, widening, "all", 0).run(case, seed, start).layout


WAYS: dict[str, Way] = {
    "projected gradient": projected(1.0),
    "projected gradient, wide wakes first": projected(16.0),
    "SLSQP": slsqp,
    "augmented Lagrangian, L-BFGS-B": augmented_lagrangian,
    "stochastic gradients": stochastic,
}


def mended(case: LayoutProblem, layout: Layout) -> Layout:
    limits = Limits(case, layout.types)
    place, _ = limits.restore(np.stack([layout.x, layout.y]) - limits.origin[:, None], rounds=2000)
    x, y = place + limits.origin[:, None]
    return Layout(x, y, layout.types)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["cs1-16", "cs1-36", "cs3"], metavar="CASE")
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args()
    print("| case | way | mean AEP, MWh | best | feasible | CPU s a start |")
    print("| --- | --- |" + " ---: |" * 4)
    for name in chosen.cases:
        case = problem(name)
        starts = [RandomStart().run(case, seed).layout for seed in range(chosen.seeds)]
        Gradient(20, 2.0).run(case, 0, starts[0])  # compile
        for words, way in WAYS.items():
            found, feasible, begin = [], 0, time.process_time()
            for seed, start in enumerate(starts):
                layout = way(case, start, seed)
                if not case.is_feasible(layout):
                    layout = mended(case, layout)
                if case.is_feasible(layout):
                    feasible += 1
                    found.append(1e3 * case.aep(layout))
            seconds = (time.process_time() - begin) / len(starts)
            mean, best = (np.mean(found), max(found)) if found else (np.nan, np.nan)
            print(
                f"| {name} | {words} | {mean:.0f} | {best:.0f} | {feasible} of {len(starts)} | {seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
