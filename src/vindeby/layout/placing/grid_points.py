"""The points of a grid that turbines may come to, and what to say where too few turbines fit them."""

from __future__ import annotations

import numpy as np

from vindeby.layout.arrays import FloatArray
from vindeby.layout.lattices.fitting import a_lattice_fits
from vindeby.layout.problem import Problem


def grid_inside(problem: Problem, size: int) -> tuple[FloatArray, FloatArray]:
    """The points of a grid over the bounding box that are inside."""
    west, south, east, north = problem.boundary.bounds
    x, y = (v.ravel() for v in np.meshgrid(np.linspace(west, east, size), np.linspace(south, north, size)))
    inside = problem.boundary.inside(x, y)
    return x[inside], y[inside]


def no_room_on_grid(problem: Problem, size: int, fitted: int) -> str:
    """That only so many turbines fit a grid of this size, and what would help."""
    spacing = problem.spacing_by_type.max()
    diameters = spacing / problem.farm.turbines[0].rotor_diameter_m
    finer = next((more for more in range(size + 1, 4 * size + 20) if _fit(problem, more)), None)
    remedy = "use" if finer is None else f"use grid_size >= {finer},"
    if a_lattice_fits(problem):
        remedy += " lattice (all turbines fit one),"
    return (
        f"farm {problem.name}: only {fitted} of {problem.n_turbines} turbines fit a grid of {size} x {size} "
        f"at {diameters:.3g} D ({spacing:.6g} m); {remedy} fewer turbines or a smaller spacing"
    )


def _fit(problem: Problem, size: int) -> bool:
    """Whether all turbines fit a grid of this size in each of a few random orders of its points."""
    least, beside = problem.spacing_by_type.max() ** 2, problem.neighbours
    x, y = grid_inside(problem, size)
    zone = np.argmax([one.boundary.inside(x, y) for one in problem.zones], axis=0)
    for px, py in zip(beside.x, beside.y, strict=True):
        clear = (x - px) ** 2 + (y - py) ** 2 >= least
        x, y, zone = x[clear], y[clear], zone[clear]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(x))
        free_x, free_y, free_zone = x[order], y[order], zone[order]
        left = np.array([one.n_turbines for one in problem.zones])
        while len(free_x) and left.any():
            left[free_zone[0]] -= 1
            clear = (free_x - free_x[0]) ** 2 + (free_y - free_y[0]) ** 2 >= max(least, 1e-300)
            clear &= left[free_zone] > 0
            free_x, free_y, free_zone = free_x[clear], free_y[clear], free_zone[clear]
        if left.any():
            return False
    return True
