"""What shapes of lattices are worth: each neighbour's wake as the engine computes it, added up here one by one."""

from __future__ import annotations

from math import acos, ceil, cos, exp, hypot, pi, sin, sqrt

import numpy as np
import pytest

from tests.layout.lattice_cases import AREA, FARM
from vindeby.layout import Boundary, LayoutProblem
from vindeby.layout.lattices.judges import CELLS, LEAST, POINTS, QuickJudge
from vindeby.wake import WindFarm

FREE = 9.8
SIDE = 640.0
ENGINE = WindFarm(FARM.site, FARM.turbines, FARM.model, tabulate=False)

SHAPES = [(0.3, 0.0, 0.0), (1.1, 0.4, 0.37), (-0.7, 0.9, -0.21), (2.9, -0.3, 0.49)]
"""Angle, logarithm of the aspect, skew."""


def neighbours(angle: float, log_aspect: float, skew: float, most: float) -> list[tuple[float, float]]:
    """Where they stand: rows of turbines a pitch apart, each row shifted by a part of it."""
    aspect = exp(log_aspect)
    pitch = SIDE / sqrt(aspect)
    many = ceil(most / pitch * (1.0 + abs(skew))) + ceil(most / (aspect * pitch)) + 1
    found = []
    for row in range(-many, many + 1):
        for column in range(-many, many + 1):
            along, across = pitch * (column + skew * row), pitch * aspect * row
            x, y = along * cos(angle) - across * sin(angle), along * sin(angle) + across * cos(angle)
            if (row, column) != (0, 0) and hypot(x, y) <= most:
                found.append((x, y))
    return found


def share_with_a_neighbour(distance: float, radius: float) -> float:
    """Of a disc, what is common to it and one that is shifted: two segments of a circle."""
    half = acos(distance / (2.0 * radius))
    return (2.0 * half - sin(2.0 * half)) / pi


def worth(shape: tuple[float, float, float], turbines: int) -> float:
    radius = SIDE * sqrt(turbines / pi)
    squares = np.zeros(len(ENGINE.states.direction))
    least = LEAST * ENGINE.turbines[0].thrust_coefficient_at(FREE)
    for x, y in neighbours(*shape, min(CELLS * SIDE, 2.0 * radius)):
        taken = 1.0 - ENGINE.wind_speed([0.0, x], [0.0, y])[0, :, 0] / FREE
        squares += share_with_a_neighbour(hypot(x, y), radius) * np.where(taken > least, taken, 0.0) ** 2
    shares = np.linspace(0.0, 1.0, POINTS)
    power = np.interp(np.sqrt(squares), shares, ENGINE.turbines[0].power_at(FREE * (1.0 - shares)))
    return float(power @ ENGINE.states.probability) * 8760.0 / 1e9


@pytest.mark.parametrize("turbines", [4, 60])
def test_a_shape_is_worth_what_the_wakes_of_its_neighbours_leave(turbines: int) -> None:
    """With 4 turbines those within the disc count, with 60 those within so many sides."""
    judge = QuickJudge(LayoutProblem(FARM, Boundary([AREA]), turbines))
    found = judge.shape_energies(np.array(SHAPES).T, SIDE)
    expected = [worth(shape, turbines) for shape in SHAPES]
    assert np.ptp(expected) > 1e-3 * np.mean(expected)
    assert found == pytest.approx(expected, rel=1e-9)


def test_looks_at_shapes_are_counted_as_work() -> None:
    judge = QuickJudge(LayoutProblem(FARM, Boundary([AREA]), 60))
    judge.shape_energies(np.array(SHAPES).T, SIDE)
    assert judge.evaluations == pytest.approx(len(SHAPES) * 100.0 / 60**2)
