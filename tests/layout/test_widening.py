"""Which wakes can be made wider: a model says it itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.layout.small_problems import circle
from vindeby.layout import Gradient, LayoutProblem, RandomStart
from vindeby.layout.climbing.simplified_farm import stages, widened
from vindeby.wake import MODELS, Turbine, UniformSite, WakeModel, WindFarm, model_named

pytestmark = pytest.mark.slow


def with_model(model: WakeModel) -> LayoutProblem:
    problem = circle()
    return replace(problem, farm=WindFarm(problem.farm.site, problem.farm.turbines, model))


def loss_aside(model: WakeModel) -> float:
    """What a turbine loses that stands far behind another, beside its wake."""
    farm = WindFarm(
        UniformSite((1.0,), 9.0), Turbine.generic("t", 5, 120, 90), model,
        directions=[270.0], speeds=[9.0], tabulate=False,
    )  # fmt: skip
    return farm.wake_loss([0.0, 3000.0], [0.0, 600.0])


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_says_which_constants_its_wakes_grow_with(name: str) -> None:
    model = model_named(name)
    wide = model.widened(4.0)
    assert wide is not None
    assert len(wide.constants) == len(model.constants)
    assert wide.identity == model.identity  # one machine code, other numbers
    changed = [
        i for i, pair in enumerate(zip(model.constants, wide.constants, strict=True)) if pair[0] != pair[1]
    ]
    assert tuple(changed) == model.growth_constants
    assert loss_aside(wide) > 10 * loss_aside(model) + 1e-9


def test_a_model_of_any_name_is_widened_by_what_it_says() -> None:
    mine = replace(model_named("iea37"), name="mine", constants=(0.03,))
    wide = widened(with_model(mine), 8.0)
    assert wide is not None
    assert wide.farm.model.constants == (0.24,)
    assert wide.farm.model.name == "mine"


def test_a_model_that_names_no_constants_is_searched_with_its_true_wakes() -> None:
    problem = with_model(replace(model_named("iea37"), growth_constants=()))
    assert [widened(problem, factor) for factor in stages(16.0)] == [None] * 4
    start = RandomStart().run(problem, 0).layout
    found, plain = (Gradient(20, widening).run(problem, 0, start) for widening in (16.0, 1.0))
    np.testing.assert_array_equal(found.x, plain.x)
    np.testing.assert_array_equal(found.y, plain.y)
