"""The energy-island preset's farms and types as layout problems, for the benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.campaign import Campaign
from vindeby.layout import Boundary, LayoutProblem
from vindeby.wake import Turbine, WeibullSite, WindFarm

CAMPAIGN: Any = Campaign.load("energy-island")
GRID_SIZE, RANDOM_PCT, CAPACITY_MW = 18, 30.0, 1000.0


def sectors() -> Any:
    return CAMPAIGN.site.weibull.sectors


def problem(farm_index: int, type_index: int, directions: npt.ArrayLike | None = None) -> LayoutProblem:
    generic = CAMPAIGN.turbines[type_index].generic
    site = WeibullSite(
        frequency=[s.frequency for s in sectors()],
        weibull_a=[s.a for s in sectors()],
        weibull_k=[s.k for s in sectors()],
        turbulence_intensity=0.1,
        interpolation=CAMPAIGN.site.weibull.interpolation,
    )
    turbine = Turbine.generic(
        CAMPAIGN.turbines[type_index].name,
        generic.rated_power_mw,
        generic.rotor_diameter_m,
        generic.hub_height_m,
    )
    farm = CAMPAIGN.farms[farm_index]
    count = int(np.floor(CAPACITY_MW / generic.rated_power_mw))
    return LayoutProblem(
        WindFarm(site, turbine, "nygaard-2022", directions=directions),
        Boundary([farm.boundary.polygon]),
        count,
        3.0 * generic.rotor_diameter_m,
        farm.name,
    )
