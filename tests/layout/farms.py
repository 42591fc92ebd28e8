"""Small problems for the tests of the search methods."""

from __future__ import annotations

import numpy as np

from tests.layout.cases import FREQUENCY, SHAPES, WEIBULL_A, WEIBULL_K
from vindeby.layout import Boundary, LayoutProblem
from vindeby.wake import Neighbours, Turbine, UniformSite, WeibullSite, WindFarm, iea37_335mw

CS1_FREQUENCY = (
    0.025, 0.024, 0.029, 0.036, 0.063, 0.065, 0.100, 0.122, 0.063, 0.038, 0.039, 0.083, 0.213, 0.046, 0.032, 0.022,
)  # fmt: skip


def round_farm(count: int = 9, radius: float = 900.0, spacing: float = 260.0) -> LayoutProblem:
    """Sixteen directions, one wind speed: the wind of the IEA37 case study 1."""
    farm = WindFarm(UniformSite(CS1_FREQUENCY, 9.8, 0.075), iea37_335mw(), "iea37")
    return LayoutProblem(farm, Boundary(circle=((500.0, -300.0), radius)), count, spacing, "round")


def mixed_farm(model: str = "iea37", shape: str = "concave", count: int = 8) -> LayoutProblem:
    """Two turbine types, two neighbours, a concave area, several wind speeds; coarse, to be quick."""
    turbines = [Turbine.generic("10MW", 10.0, 195.0, 121.0), Turbine.generic("15MW", 15.0, 240.0, 150.0)]
    farm = WindFarm(
        WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K),
        turbines,
        model,
        directions=np.arange(0.0, 360.0, 15.0),
        speeds=[6.0, 9.0, 12.0],
        neighbours=Neighbours([-2100.0, 600.0], [1500.0, 900.0], [0, 1]),
    )
    polygons, holes = SHAPES[shape]
    return LayoutProblem(
        farm,
        Boundary(polygons, holes=holes),
        count,
        [585.0, 720.0],
        "mixed",
        types=[i % 2 for i in range(count)],
    )
