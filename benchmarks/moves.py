"""What a trial of annealing costs where thrust depends on the wind, by size of the farm.

python benchmarks/moves.py [--sizes 30 50 80 200] [--evaluations 2000] [--seeds 1] [--fine] [--local] [--turned]
    [--judge 2000]

Gaussian wakes (``bastankhah-2014``), 40 D^2 per turbine, 4 D spacing; 24 directions of one speed each, or with
``--fine`` 360 directions of 23 speeds each, all of them in every trial. With ``--local`` the wind differs from place to
place: a grid of speedups between 0.9 and 1.1, other ones in each of 12 sectors; with ``--turned``, wakes also follow
the wind, which is turned by up to 10 degrees. To compare two versions, run it with
each: ``PYTHONPATH=OTHER/src``. "Reached" are the turbines that the wake of one reaches in a direction, on average.
With several ``--seeds``, each from a random start of its own, means are printed.

With ``--judge`` a walk of so many trials is made move by move, and every move is evaluated in full beside: how much
refused moves lose, how far a rough gain is off, and how many moves were missed, that is refused by a rough trial though
they would have been kept.
"""

from __future__ import annotations

import argparse
import time
from math import hypot, sqrt

import numpy as np

from vindeby.layout import Annealing, Boundary, Layout, LayoutProblem, RandomStart
from vindeby.layout.area.limits import Limits
from vindeby.layout.moves.carried_state import CarriedMoves
from vindeby.layout.moves.walk import Walk, draws, mover_of
from vindeby.layout.moves.walk_loop import allowed, temperature
from vindeby.wake import GriddedSite, Site, TableSite, Turbine, UniformSite, WindFarm, WindGrid

DIAMETER_M = 198.0


def local(site: Site, side: float, *, turned: bool = False) -> GriddedSite:
    """The wind of a site with hills: a point per 1.5 km or so, and one at each corner."""
    at = np.linspace(0.0, side, max(4, round(side / 1500.0)))
    sectors = np.arange(12) * 30.0
    phase = np.deg2rad(sectors)
    east, north = at[:, None, None] / 4000.0, at[None, :, None] / 3000.0
    speedup = 1.0 + 0.05 * np.sin(east + phase) + 0.05 * np.cos(north - 2.0 * phase)
    turning = 10.0 * np.sin(north + phase) * np.cos(east) if turned else None
    grid = WindGrid(at, at, direction=sectors, speedup=speedup, turning=turning)
    return GriddedSite(site, grid, turned_wakes=turned)


def case(turbines: int, *, fine: bool, gridded: bool = False, turned: bool = False) -> LayoutProblem:
    """A square farm."""
    directions = 360 if fine else 24
    rose = 1.5 + np.cos(np.arange(directions) * 2.0 * np.pi / directions - 4.0)
    rose /= rose.sum()
    site: Site
    if fine:
        speeds = np.arange(3.0, 26.0)
        chance = speeds * np.exp(-((speeds / 11.0) ** 2))
        site = TableSite(np.outer(rose, chance / chance.sum()), speeds)
    else:
        site = UniformSite(rose, wind_speed=9.5)
    side = DIAMETER_M * sqrt(40.0 * turbines)
    if gridded or turned:
        site = local(site, side, turned=turned)
    farm = WindFarm(site, Turbine.generic("10 MW", 10.0, DIAMETER_M, 119.0), "bastankhah-2014")
    square = ((0.0, 0.0), (side, 0.0), (side, side), (0.0, side))
    return LayoutProblem(farm, Boundary([square]), turbines, 4.0 * DIAMETER_M, f"{turbines}")


def judge(problem: LayoutProblem, start: Layout, trials: int) -> None:
    """Print what the trials of a walk would have been, evaluated in full; in shares of the mean energy of a turbine."""
    limits, many = Limits(problem, start.types), problem.n_turbines
    farm, place = problem.farm, np.stack([start.x, start.y]) - limits.origin[:, None]
    moves, kernels, _ = mover_of(farm, place[0], place[1], start.types, problem.counted, limits.origin)
    assert isinstance(moves, CarriedMoves)
    common = farm.data, farm.turbine_arrays, farm.wind_near(limits.origin), moves
    energy = kernels.settle(*common)
    each = energy / many
    hot, cold = 0.003 * each, 0.0003 * each
    west, south, east, north = problem.boundary.bounds
    draw = draws(many, 0, Walk(trials, hypot(east - west, north - south), 0.1, 2.5))
    lost, off, missed, kept, done = [], [], 0, 0, 0
    while done < trials:
        kernels.settle(*common)
        for turbine, to_east, to_north, chance in draw()[: trials - done]:
            i = int(turbine)
            move = i, moves.x[i] + to_east, moves.y[i] + to_north
            if not allowed(limits.areas, limits.zone, moves.x, moves.y, limits.need, *move):
                continue
            done += 1
            needed = chance * temperature(hot, cold, done, trials)
            rough = kernels.gained(*common, *move, 1e8)
            found = kernels.gained(*common, *move, needed)
            full = kernels.gained(*common, *move, -np.inf)
            off.append(abs(rough - full) / each)
            if found > needed:
                kernels.keep(*common, *move)
                kept += 1
            else:
                lost.append(-full / each)
                missed += full > needed
    print(
        f"  {done} trials: {kept / done:.1%} kept, {missed} missed; "
        f"refused moves lose {np.quantile(lost, 0.5):.2%} (median), 99 % more than {np.quantile(lost, 0.01):.3%}; "
        f"rough gains are off by up to {np.max(off):.3%}",
        flush=True,
    )


def reached(problem: LayoutProblem, layout: Layout) -> float:
    """How many turbines the wake of one reaches in a direction, on average: what a trial follows."""
    limits = Limits(problem, layout.types)
    place = np.stack([layout.x, layout.y]) - limits.origin[:, None]
    moves, kernels, _ = mover_of(problem.farm, place[0], place[1], layout.types, problem.counted)
    if not isinstance(moves, CarriedMoves):
        return np.nan
    kernels.settle(
        problem.farm.data, problem.farm.turbine_arrays, problem.farm.wind_near(limits.origin), moves
    )
    return float(moves.reached.sum(axis=2).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[30, 50, 80, 200])
    parser.add_argument("--evaluations", type=int, default=2000)
    parser.add_argument("--fine", action="store_true")
    parser.add_argument("--local", action="store_true")
    parser.add_argument("--turned", action="store_true")
    parser.add_argument("--judge", type=int, default=0, metavar="TRIALS")
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    print(
        "| turbines | states | reached | whole, us | trial, us | AEP, GWh | its standard error |\n| ---: |"
        + " ---: |" * 6
    )
    for turbines in given.sizes:
        problem = case(turbines, fine=given.fine, gridded=given.local, turned=given.turned)
        start = RandomStart().run(problem, 0).layout
        search = Annealing(given.evaluations, 0.003, "all").prepare(problem)
        Annealing(5000, 0.003, "all").run(problem, 0, start)  # compile
        trials, energies = [], []
        for seed in range(given.seeds):
            own = RandomStart().run(problem, seed).layout
            begin = time.process_time()
            result = search(seed, own)
            trials.append(1e6 * (time.process_time() - begin) / result.evaluations)
            energies.append(result.aep_gwh)
        begin = time.process_time()
        problem.aep(start)
        whole = time.process_time() - begin
        states, error = len(problem.farm.states.speed), np.std(energies) / sqrt(given.seeds)
        print(
            f"| {turbines} | {states} | {reached(problem, result.layout):.1f} | {1e6 * whole:.0f} | "
            f"{np.mean(trials):.1f} | {np.mean(energies):.3f} | {error:.1f} |",
            flush=True,
        )
        if given.judge:
            judge(problem, start, given.judge)


if __name__ == "__main__":
    main()
