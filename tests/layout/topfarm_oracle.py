"""TopFarm + PyWake on one case: the oracle of smart start."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.layout.cases import CIRCLE, FREQUENCY, SHAPES, TURBINES, WEIBULL_A, WEIBULL_K, Case


def _model(name: str, site: Any, turbines: Any) -> Any:
    from py_wake.deficit_models.gaussian import IEA37SimpleBastankhahGaussianDeficit
    from py_wake.literature.gaussian_models import Bastankhah_PorteAgel_2014, Niayifar_PorteAgel_2016
    from py_wake.literature.noj import Jensen_1983
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.superposition_models import SquaredSum
    from py_wake.wind_farm_models import PropagateDownwind

    if name == "iea37":
        return PropagateDownwind(site, turbines, IEA37SimpleBastankhahGaussianDeficit(), SquaredSum())
    if name == "bastankhah-2014":
        return Bastankhah_PorteAgel_2014(site, turbines, k=0.0324555)
    models = {
        "nygaard-2022": Nygaard_2022,
        "niayifar-2016": Niayifar_PorteAgel_2016,
        "jensen": Jensen_1983,
    }
    return models[name](site, turbines)


def _site(interpolation: str) -> Any:
    import xarray as xr
    from py_wake.site import XRSite

    sectors = xr.Dataset(
        {
            name: ("wd", [*values, values[0]])
            for name, values in (
                ("Sector_frequency", FREQUENCY),
                ("Weibull_A", WEIBULL_A),
                ("Weibull_k", WEIBULL_K),
            )
        },
        coords={"wd": np.linspace(0, 360, 13)},
    )
    sectors["TI"] = 0.1
    return XRSite(sectors, interp_method=interpolation)


def _turbines(case: Case) -> Any:
    from py_wake.wind_turbines import WindTurbines
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine

    generic = [
        GenericWindTurbine(name, TURBINES[name][1], TURBINES[name][2], TURBINES[name][0] * 1000)
        for name in case.turbines
    ]
    return generic[0] if len(generic) == 1 else WindTurbines.from_WindTurbine_lst(generic)


def _boundary(case: Case) -> Any:
    from topfarm.constraint_components.boundary import (
        CircleBoundaryConstraint,
        ExclusionZone,
        InclusionZone,
        XYBoundaryConstraint,
    )

    polygons, holes = SHAPES[case.shape]
    if not polygons:
        return CircleBoundaryConstraint(*CIRCLE)
    if len(polygons) == 1 and not holes:
        return XYBoundaryConstraint(np.array(polygons[0]), "polygon")
    zones = [InclusionZone(np.array(ring)) for ring in polygons]
    zones += [ExclusionZone(np.array(ring)) for ring in holes]
    return XYBoundaryConstraint(zones, "multi_polygon")


def bounds(case: Case) -> tuple[float, float, float, float]:
    polygons, _ = SHAPES[case.shape]
    if not polygons:
        (x, y), radius = CIRCLE
        return x - radius, y - radius, x + radius, y + radius
    points = np.concatenate([np.array(ring) for ring in polygons])
    return (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())


def smart_start(case: Case) -> tuple[list[float], list[float], list[int]]:
    """Where TopFarm puts the turbines, in the order in which it does, and their types."""
    from py_wake.flow_map import Points
    from topfarm import TopFarmProblem
    from topfarm.constraint_components.spacing import SpacingConstraint
    from topfarm.cost_models.py_wake_wrapper import PyWakeAEPCostModelComponent
    from topfarm.utils import smart_start as plain_smart_start

    turbines = _turbines(case)
    model = _model(case.model, _site(case.interpolation), turbines)
    left, bottom, right, top = bounds(case)
    grid_x, grid_y = np.meshgrid(
        np.linspace(left, right, case.grid_size), np.linspace(bottom, top, case.grid_size)
    )
    diameters = np.array([TURBINES[name][1] for name in case.turbines])
    component = PyWakeAEPCostModelComponent(model, case.count, grad_method=None)
    problem = TopFarmProblem(
        design_vars={"x": np.zeros(case.count), "y": np.zeros(case.count)},
        cost_comp=component,
        constraints=[SpacingConstraint(case.spacing * diameters[0]), _boundary(case)],
    )
    directions = None if case.directions is None else np.array(case.directions)
    speeds = None if case.speeds is None else list(case.speeds)
    value = component.get_aep4smart_start(ws=speeds, wd=directions)
    options = {"random_pct": case.random_pct, "seed": case.seed, "show_progress": False}
    if len(case.turbines) == 1 and not case.neighbours:
        x, y = problem.smart_start(grid_x, grid_y, value, **options)
        return [float(v) for v in x], [float(v) for v in y], [0] * len(x)

    # Both of what TopFarm's problem does not pass on to its smart start.
    distance = next(
        c for c in problem.model.constraint_components if hasattr(c, "boundary_properties")
    ).distances(grid_x.ravel(), grid_y.ravel())
    inside = (distance if distance.ndim == 1 else distance.min(axis=1)) >= 0
    points = grid_x.ravel()[inside], grid_y.ravel()[inside]
    if case.neighbours:
        near_x, near_y = np.array(case.neighbours).T

        def beside_neighbours(px: Any, py: Any, x: Any, y: Any) -> Any:
            result = model(
                np.append(near_x, x),
                np.append(near_y, y),
                wd=np.arange(360) if directions is None else directions,
                ws=speeds or [6, 8, 10, 12, 14],
            )
            return result.aep_map(Points(px, py, np.full(px.shape, turbines.hub_height()))).values

        x, y = plain_smart_start(
            *points, beside_neighbours, case.count, case.spacing * diameters[0], **options
        )
        return [float(v) for v in x], [float(v) for v in y], [0] * len(x)
    kinds = list(range(len(case.turbines)))
    x, y, types = plain_smart_start(
        *points, value, case.count, case.spacing * diameters, types=kinds, **options
    )
    return [float(v) for v in x], [float(v) for v in y], [int(t) for t in types]
