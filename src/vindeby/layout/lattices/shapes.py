"""Shapes of lattices: angle, aspect and skew, and the search for the best of them before any place is looked at.

A shape is a column of an array (3, shapes): angle, logarithm of aspect, skew. Every lattice has a shape with a skew of
at most a half and a second vector that is not shorter than the first, so these are the ones that are drawn. The area
of a cell is what the farm has for each turbine; then the spacing bounds the aspect.

Away from boundaries the energy of a shape is cheap (``shape_wakes``). Many are drawn; the best are changed a little
again and again, each one against its own changes only, so that different shapes stay in the race.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi

import numpy as np

from vindeby.layout.arrays import FloatArray
from vindeby.layout.lattices.plane_lattice import TRIANGULAR_ASPECT
from vindeby.layout.lattices.points import Ground

SPREAD = np.array([[0.5], [0.7], [0.5]])
"""How far apart shapes are, in each number."""
FARTHEST, DECADES = 0.3, 1.5
"""Changes are up to this share of the spread, and so many powers of ten smaller, each scale alike."""
FIRST, ROUNDS, LEFT = 60, 6, 0.7
"""How many of those drawn are changed, in how many rounds, and which share of them goes on to the next."""
SAME = 1e-5
"""Shapes whose energies differ by less than this share are one, drawn twice or turned round."""
LEAST_RANGE, MOST, WITHOUT_SPACING = 0.05, 2.0, 1.5
"""Of the logarithm of aspect: its range is at least so wide, and reaches so far at most, or without a spacing."""


def widest_aspect(ground: Ground) -> float:
    """The logarithm of the largest aspect at which rows are not denser than the spacing."""
    most = 2.0 * log(ground.side / ground.spacing) if ground.spacing > 0.0 else WITHOUT_SPACING
    return min(max(most, log(TRIANGULAR_ASPECT) + LEAST_RANGE), MOST)


def draw_shapes(rng: np.random.Generator, many: int, most: float) -> FloatArray:
    """Shapes up to a log of aspect, anywhere."""
    u = rng.random((4, many))
    least = log(TRIANGULAR_ASPECT)
    log_aspect = least + u[1] * (most - least)
    # Below this skew, the vector to the next row would be shorter than that along the row.
    shortest = np.sqrt(np.maximum(1.0 - np.exp(2.0 * log_aspect), 0.0))
    skew = (shortest + u[2] * (0.5 - shortest)) * np.where(u[3] < 0.5, 1.0, -1.0)
    return np.stack([pi * u[0], log_aspect, skew])


def keeps_spacing(shapes: FloatArray, ground: Ground) -> FloatArray:
    """Whether neighbours in a row, and those of the next row, are far enough apart."""
    aspect = np.exp(shapes[1])
    across = (shapes[2] - np.rint(shapes[2])) ** 2 + aspect**2
    shortest = ground.side**2 / aspect * np.minimum(across, 1.0)
    return np.asarray(shortest >= ground.spacing**2 * (1.0 - 1e-9))


def best_shapes(
    energies: Callable[[FloatArray], FloatArray],
    ground: Ground,
    rng: np.random.Generator,
    looks: int,
    wanted: int,
) -> FloatArray:
    """The best different shapes, at most so many, the best first; ``looks`` are drawn, and about as many changed."""
    most = widest_aspect(ground)

    def judged(shapes: FloatArray) -> FloatArray:
        return np.where(keeps_spacing(shapes, ground), energies(shapes), -1.0)

    def best(shapes: FloatArray, worth: FloatArray, many: int) -> tuple[FloatArray, FloatArray]:
        order = np.argsort(-worth, kind="stable")[:many]
        return shapes[:, order], worth[order]

    shapes = draw_shapes(rng, looks, most)
    shapes, worth = best(shapes, judged(shapes), FIRST)
    for _ in range(ROUNDS):
        many, each = len(worth), max(1, looks // (ROUNDS * len(worth)))
        size = (3, many, each)
        step = FARTHEST * 10.0 ** (-DECADES * rng.random(size[1:])) * SPREAD[:, :, None]
        changed = rng.random(size) < 0.6
        near = shapes[:, :, None] + step * rng.standard_normal(size) * changed
        near[1] = np.minimum(near[1], most)
        found = judged(near.reshape(3, -1)).reshape(size[1:])
        at = np.arange(many), found.argmax(axis=1)
        better = found[at] > worth
        shapes = np.where(better, near[:, *at], shapes)
        worth = np.where(better, found[at], worth)
        shapes, worth = best(shapes, worth, max(wanted, int(np.ceil(LEFT * many))))
    order = np.argsort(-worth, kind="stable")
    differs = np.append(True, -np.diff(worth[order]) > SAME * worth[order][:-1])
    return shapes[:, order[differs][:wanted]]
