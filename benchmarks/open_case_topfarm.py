"""A case of ``open_case_data`` as TopFarm and PyWake know it, and what TopFarm's drivers make of a start.

Needs ``topfarm``, which is not a dependency of vindeby; tests/layout/make_golden.py says how to install it. What a
driver leaves infeasible is mended by the smallest move before its energy is taken.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from typing import Any

import numpy as np
import open_case_data

from vindeby.layout import Layout, LayoutProblem
from vindeby.layout.area.limits import Limits

DRIVERS = ("TopFarm SGD", "TopFarm SLSQP")
SAMPLE = 24
"""Wind states of one step of SGD."""


def model() -> Any:
    """PyWake's model with the same wakes and turbine."""
    from py_wake.deficit_models.gaussian import BastankhahGaussianDeficit
    from py_wake.deficit_models.utils import ct2a_mom1d
    from py_wake.site import UniformSite
    from py_wake.superposition_models import SquaredSum
    from py_wake.wind_farm_models import PropagateDownwind
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine

    given = open_case_data
    turbine = GenericWindTurbine("10 MW", given.DIAMETER_M, given.HUB_HEIGHT_M, given.RATED_MW * 1000.0)
    deficit = BastankhahGaussianDeficit(ct2a=ct2a_mom1d, k=given.GROWTH)
    return PropagateDownwind(UniformSite([1.0], 0.06), turbine, deficit, superpositionModel=SquaredSum())


def wind_of(problem: LayoutProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Direction, speed and probability of every wind state."""
    states = problem.farm.states
    return np.repeat(states.direction, np.diff(states.first)), states.speed, states.probability


def aep(problem: LayoutProblem, layout: Layout) -> float:
    """PyWake's energy of a layout in GWh: the same as vindeby's but for rounding."""
    direction, speed, probability = wind_of(problem)
    watts = model()(layout.x, layout.y, wd=direction, ws=speed, time=True).Power.values
    return float((watts.sum(axis=0) * probability).sum() * 8760.0 / 1e9)


def optimised(driver: str, problem: LayoutProblem, start: Layout, iterations: int) -> tuple[float, float]:
    """CPU seconds, and the AEP (GWh) of what a driver makes of the start; 0 where it cannot be mended."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        question = _problem(driver, problem, start, iterations)
        began = time.process_time()
        _, state, _ = question.optimize(disp=False)
        seconds = time.process_time() - began
    layout = Layout.of(state["x"], state["y"])
    if not problem.is_feasible(layout):
        limits = Limits(problem, layout.types)
        place, _ = limits.restore(np.stack([layout.x, layout.y]) - limits.origin[:, None], rounds=2000)
        layout = Layout.of(*(place + limits.origin[:, None]))
    return seconds, problem.aep(layout) if problem.is_feasible(layout) else 0.0


def _problem(driver: str, problem: LayoutProblem, start: Layout, iterations: int) -> Any:
    from py_wake.utils.gradients import autograd
    from topfarm import TopFarmProblem
    from topfarm.constraint_components.boundary import XYBoundaryConstraint
    from topfarm.constraint_components.constraint_aggregation import DistanceConstraintAggregation
    from topfarm.constraint_components.spacing import SpacingConstraint
    from topfarm.cost_models.cost_model_wrappers import CostModelComponent
    from topfarm.easy_drivers import EasyScipyOptimizeDriver, EasySGDDriver

    count, far = problem.n_turbines, float(problem.spacing_by_type[0])
    every = wind_of(problem)
    farm, rng = model(), np.random.default_rng(0)
    stochastic = driver == "TopFarm SGD"

    def energy(x: np.ndarray, y: np.ndarray, wind: Any) -> Any:
        direction, speed, weight = wind
        power = farm(x, y, wd=direction, ws=speed, time=True, return_simulationResult=False)[2]
        return (power.sum(axis=0) * weight).sum() * 8760.0 / 1e9

    def cost(x: np.ndarray, y: np.ndarray, **_: Any) -> Any:
        return 0.0 if stochastic else energy(x, y, every)  # SGD needs the gradient alone

    def slopes(x: np.ndarray, y: np.ndarray, **_: Any) -> Any:
        wind = every
        if stochastic:  # a sample of wind states, as often as they blow
            direction, speed, probability = every
            chosen = rng.choice(len(speed), SAMPLE, p=probability / probability.sum())
            wind = direction[chosen], speed[chosen], np.full(SAMPLE, 1.0 / SAMPLE)
        return autograd(lambda x, y: energy(x, y, wind), vector_interdependence=True, argnum=[0, 1])(x, y)

    boundary = XYBoundaryConstraint(problem.boundary.edges[:, :2] + problem.boundary.origin, "polygon")
    if stochastic:
        rate = open_case_data.DIAMETER_M / 5.0
        how = EasySGDDriver(maxiter=iterations, learning_rate=rate, speedupSGD=True, sgd_thresh=0.05)
        rules = DistanceConstraintAggregation(boundary, count, far, farm.windTurbines)
    else:
        how = EasyScipyOptimizeDriver("SLSQP", maxiter=iterations, disp=False)
        rules = [SpacingConstraint(far), boundary]
    return TopFarmProblem(
        design_vars={"x": start.x, "y": start.y},
        cost_comp=CostModelComponent(["x", "y"], count, cost, slopes, maximize=True),
        constraints=rules,
        driver=how,
    )
