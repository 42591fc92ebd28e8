"""The energy-island preset as TopFarm and PyWake know it, for the benchmarks that run beside them.

Needs ``topfarm``, which is no dependency of vindeby; tests/layout/make_golden.py says how to install it.
"""

from __future__ import annotations

from typing import Any

import energy_island
import numpy as np


def problem(farm_index: int, type_index: int, count: int, **options: Any) -> tuple[Any, Any]:
    """TopFarm's problem on PyWake's Nygaard_2022, and its cost component; ``options`` are those of either."""
    from topfarm import TopFarmProblem
    from topfarm.constraint_components.boundary import XYBoundaryConstraint
    from topfarm.constraint_components.spacing import SpacingConstraint
    from topfarm.cost_models.py_wake_wrapper import PyWakeAEPCostModelComponent

    start = options.pop("start", (np.zeros(count), np.zeros(count)))
    driver = {"driver": options.pop("driver")} if "driver" in options else {}
    component = PyWakeAEPCostModelComponent(_model(type_index), count, **options)
    spacing = 3.0 * energy_island.CAMPAIGN.turbines[type_index].generic.rotor_diameter_m
    edge = np.array(energy_island.CAMPAIGN.farms[farm_index].boundary.polygon)
    return TopFarmProblem(
        design_vars={"x": start[0], "y": start[1]},
        cost_comp=component,
        constraints=[SpacingConstraint(spacing), XYBoundaryConstraint(edge, "polygon")],
        **driver,
    ), component


def _model(type_index: int) -> Any:
    import xarray as xr
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.site import XRSite
    from py_wake.wind_turbines.generic_wind_turbines import GenericWindTurbine

    generic = energy_island.CAMPAIGN.turbines[type_index].generic
    sectors = energy_island.sectors()
    around = [*sectors, sectors[0]]
    data = {
        "Sector_frequency": ("wd", [s.frequency for s in around]),
        "Weibull_A": ("wd", [s.a for s in around]),
        "Weibull_k": ("wd", [s.k for s in around]),
        "TI": 0.1,
    }
    how = energy_island.CAMPAIGN.site.weibull.interpolation
    site = XRSite(xr.Dataset(data, coords={"wd": np.linspace(0, 360, 13)}), interp_method=how)
    return Nygaard_2022(
        site,
        GenericWindTurbine(
            "generic", generic.rotor_diameter_m, generic.hub_height_m, generic.rated_power_mw * 1000
        ),
    )
