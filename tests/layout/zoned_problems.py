"""Small farms of several zones and of several types, on which searches are tried."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vindeby.layout import Boundary, LayoutProblem, Zone, Zones
from vindeby.wake import TableSite, Turbine, WeibullSite, WindFarm, iea37_335mw

WEST = ((0.0, 0.0), (2000.0, 0.0), (2000.0, 3000.0), (0.0, 3000.0))
EAST = ((2000.0, 0.0), (4000.0, 0.0), (4000.0, 3000.0), (2000.0, 3000.0))
CIRCLE = ((6500.0, 1500.0), 1200.0)
ROSE = (0.1, 0.1, 0.1, 0.15, 0.15, 0.1, 0.2, 0.1)


def three_zones(spacing_m: float = 400.0) -> LayoutProblem:
    """Two rectangles that share an edge, one with a hole, and a circle; 5, 3 and 4 turbines."""
    zones = Zones(
        [
            Zone(Boundary([WEST]), 5, "west"),
            Zone(Boundary([EAST], round_holes=[((3000.0, 1500.0), 400.0)]), 3, "east"),
            Zone(Boundary(circle=CIRCLE), 4, "round"),
        ]
    )
    farm = WindFarm(TableSite(np.outer(ROSE, [0.3, 0.7]), [9.0, 9.8]), iea37_335mw(), "iea37")
    return LayoutProblem(farm, zones, 12, spacing_m, "three zones")


def two_types(model: str = "bastankhah-2014") -> WindFarm:
    """Turbines of 5 and 10 MW whose thrust depends on the wind."""
    types = [Turbine.generic("small", 5.0, 126.0, 90.0), Turbine.generic("large", 10.0, 180.0, 120.0)]
    site = WeibullSite([0.3, 0.2, 0.1, 0.4], [9.0, 10.0, 8.0, 11.0], [2.0, 2.1, 2.2, 1.9])
    return WindFarm(site, types, model, directions=np.arange(0.0, 360.0, 30.0), speeds=[6.0, 9.0, 12.0])


def mix_of_two(model: str = "bastankhah-2014") -> LayoutProblem:
    """Five small turbines and three large ones in a rectangle."""
    return LayoutProblem(two_types(model), Boundary([WEST]), 8, [378.0, 540.0], "a mix", mix=[5, 3])


def mix_by_zone() -> LayoutProblem:
    """Two zones, each with a mix of its own."""
    zones = Zones([Zone(Boundary([WEST]), 4, "west"), Zone(Boundary([EAST]), 3, "east")])
    return LayoutProblem(two_types(), zones, 7, [378.0, 540.0], "a mix by zone", mix=[[3, 1], [1, 2]])


def mix_over_zones() -> LayoutProblem:
    """Two zones that share one mix."""
    zones = Zones([Zone(Boundary([WEST]), 4, "west"), Zone(Boundary([EAST]), 3, "east")])
    return LayoutProblem(two_types(), zones, 7, [378.0, 540.0], "a mix over zones", mix=[4, 3])


PROBLEMS: dict[str, Callable[[], LayoutProblem]] = {
    "three zones": three_zones,
    "mix": mix_of_two,
    "mix by zone": mix_by_zone,
    "mix over zones": mix_over_zones,
}
