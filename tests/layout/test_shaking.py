"""Climbs with wide wakes again and again: from the best so far, shaken, and only upwards."""

from __future__ import annotations

import numpy as np
import pytest

from tests.layout.small_problems import PROBLEMS, circle
from vindeby.layout import Boundary, Gradient, Layout, LayoutProblem, RandomStart
from vindeby.layout.climbing.simplified_farm import widened
from vindeby.layout.climbing.stages import climb_stages, climb_with_shakes, shaken


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_shaken_layout_keeps_to_the_rules_and_is_another_one(name: str) -> None:
    problem = PROBLEMS[name]()
    start, rng = RandomStart().run(problem, 0).layout, np.random.default_rng(0)
    found = shaken(problem, start, rng)
    assert found is not None
    assert max(problem.shortfalls(found)) <= 1e-6
    assert (found.types == start.types).all()
    far = np.hypot(found.x - start.x, found.y - start.y)
    assert 0.2 * problem.farm.turbine_arrays.diameter.min() < far.mean()


def test_a_farm_without_room_is_not_shaken() -> None:
    problem = circle()
    full = LayoutProblem(problem.farm, Boundary(circle=((0.0, 0.0), 300.0)), 9, 260.0, "full")
    angle = np.linspace(0.0, 2.0 * np.pi, 9, endpoint=False)
    layout = Layout.of(250.0 * np.cos(angle), 250.0 * np.sin(angle))
    assert shaken(full, layout, np.random.default_rng(0)) is None


@pytest.mark.slow
def test_shakes_lead_up_and_never_down() -> None:
    problem = widened(circle(16, 1300.0), 4.0)
    assert problem is not None
    stages = [(problem, 12)]
    gains = []
    for seed in range(4):
        start = RandomStart().run(problem, seed).layout
        alone = climb_stages(stages, start, 10)
        found = climb_with_shakes(stages, start, 10, 6, np.random.default_rng(seed))
        assert found.energy == pytest.approx(problem.aep(found.layout), rel=1e-9)
        assert problem.is_feasible(found.layout)
        assert found.iterations <= 7 * 12
        gains.append(found.energy / alone.energy - 1.0)
    assert min(gains) >= 0.0
    assert np.mean(gains) > 1e-4


def test_without_shakes_the_stages_are_climbed_once() -> None:
    problem = circle()
    start = RandomStart().run(problem, 0).layout
    once, same = (
        climb_stages([(problem, 5)], start, 10),
        climb_with_shakes([(problem, 5)], start, 10, 0, np.random.default_rng(0)),
    )
    assert (once.layout.x == same.layout.x).all()
    assert (once.energy, once.iterations, once.evaluations) == (
        same.energy,
        same.iterations,
        same.evaluations,
    )


def test_the_seed_of_gradient_is_that_of_its_shakes() -> None:
    problem = circle()
    start = RandomStart().run(problem, 0).layout
    search = Gradient(120, 4.0).prepare(problem)
    first, same, other = search(3, start), search(3, start), search(4, start)
    assert (first.x == same.x).all()
    assert (first.x != other.x).any()
