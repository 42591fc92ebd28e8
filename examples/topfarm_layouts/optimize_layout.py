"""The function of a TopFarm script: a smart start, then random search, for one farm and one seed."""

import numpy as np
from py_wake.literature import Nygaard_2022
from topfarm import TopFarmProblem
from topfarm.constraint_components.boundary import XYBoundaryConstraint
from topfarm.constraint_components.spacing import SpacingConstraint
from topfarm.cost_models.py_wake_wrapper import PyWakeAEPCostModelComponent
from topfarm.drivers.random_search_driver import RandomizeTurbinePosition_Circle
from topfarm.easy_drivers import EasyRandomSearchDriver


def optimize_layout(
    site, wind_turbines, boundary, n_wt, min_spacing, seed, max_iter, grid_size=10, random_pct=30
):
    """x and y in metres, and AEP in GWh per year."""
    wake_model = Nygaard_2022(site, wind_turbines)
    directions, speeds = np.arange(0, 360, 30), np.arange(4, 25, 2)
    problem = TopFarmProblem(
        design_vars={"x": np.zeros(n_wt), "y": np.zeros(n_wt)},
        cost_comp=PyWakeAEPCostModelComponent(wake_model, n_wt=n_wt, wd=directions, ws=speeds),
        driver=EasyRandomSearchDriver(RandomizeTurbinePosition_Circle(max_step=500), max_iter=max_iter),
        constraints=[XYBoundaryConstraint(boundary, "polygon"), SpacingConstraint(min_spacing)],
        expected_cost=1,
    )
    low, high = boundary.min(axis=0), boundary.max(axis=0)
    x, y = np.meshgrid(np.linspace(low[0], high[0], grid_size), np.linspace(low[1], high[1], grid_size))
    problem.smart_start(
        x,
        y,
        problem.cost_comp.get_aep4smart_start(wd=directions, ws=speeds),
        random_pct=random_pct,
        seed=seed,
        show_progress=False,
    )
    np.random.seed(seed)  # noqa: NPY002 - TopFarm draws from NumPy's global generator
    _, state, _ = problem.optimize()
    aep = float(wake_model(state["x"], state["y"], wd=directions, ws=speeds).aep().sum())
    return state["x"], state["y"], aep
