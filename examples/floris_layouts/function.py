"""Find a layout with the optimiser of FLORIS, for the farm, wind and seed of a campaign task."""

from typing import Any

import numpy as np
import shapely
from floris import FlorisModel, WindRose
from floris.optimization.layout_optimization.layout_optimization_scipy import LayoutOptimizationScipy

WIND_SPEEDS = np.arange(5.0, 26.0, 4.0)
MARGIN_M = 1.0
"""Added to the spacing and kept from the boundary: the optimiser meets its constraints only approximately."""


def optimise(task: Any) -> dict[str, Any]:
    """Return the better of a random layout and its optimised version, with its energy in GWh per year."""
    area = task.boundary.shape().buffer(-MARGIN_M)
    spacing_m = task.min_spacing_m + MARGIN_M
    start = random_layout(area, task.n_turbines, spacing_m, task.seed)
    model = FlorisModel("defaults")
    model.set(wind_data=wind_rose(task.site), layout_x=start[0], layout_y=start[1])
    search = LayoutOptimizationScipy(
        model,
        list(area.exterior.coords)[:-1],
        min_dist=spacing_m,
        optOptions={"maxiter": task.parameters["iterations"]},
    )
    found = np.array(search.optimize())
    candidates = [start, found] if is_feasible(task, found) else [start]
    energies = [energy_gwh(model, layout) for layout in candidates]
    best = int(np.argmax(energies))
    return {"layout": candidates[best], "aep": energies[best], "start_aep": energies[0]}


def energy_gwh(model: FlorisModel, layout: np.ndarray) -> float:
    model.set(layout_x=layout[0], layout_y=layout[1])
    model.run()
    return float(model.get_farm_AEP()) / 1e9


def wind_rose(site: Any) -> WindRose:
    """Convert the campaign's Weibull sectors to frequencies of wind directions and speeds."""
    sectors, step = site.weibull.sectors, WIND_SPEEDS[1] - WIND_SPEEDS[0]
    edges = np.append(WIND_SPEEDS - step / 2, WIND_SPEEDS[-1] + step / 2)
    table = [one.frequency * np.diff(-np.exp(-((edges / one.a) ** one.k))) for one in sectors]
    directions = np.array([one.direction for one in sectors], float)
    calm = 1.0 - np.sum(table)  # slower or faster wind: no power, as at the first wind speed
    speeds = np.insert(WIND_SPEEDS, 0, WIND_SPEEDS[0] - step)
    table = np.column_stack([calm * np.array([one.frequency for one in sectors]), table])
    return WindRose(directions, speeds, site.weibull.turbulence_intensity, table)


def random_layout(area: Any, count: int, spacing_m: float, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    left, bottom, right, top = area.bounds
    places: list[np.ndarray] = []
    while len(places) < count:
        place = random.uniform((left, bottom), (right, top))
        far = all(np.hypot(*(place - other)) >= spacing_m for other in places)
        if far and area.contains(shapely.Point(place)):
            places.append(place)
    return np.array(places).T


def is_feasible(task: Any, layout: np.ndarray) -> bool:
    points = shapely.points(layout.T)
    apart = shapely.distance(points[:, None], points[None, :]) + np.diag(np.full(task.n_turbines, np.inf))
    return bool(shapely.contains(task.boundary.shape(), points).all() and apart.min() >= task.min_spacing_m)
