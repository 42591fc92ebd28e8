"""Small problems on which searches are tried: a circle, a concave area with a hole, two types, neighbours."""

from __future__ import annotations

import numpy as np

from vindeby.layout import Boundary, LayoutProblem
from vindeby.wake import (
    Neighbours,
    TableSite,
    Turbine,
    WeibullSite,
    WindFarm,
    iea37_10mw,
    iea37_335mw,
)

ROSE = (
    *(0.025, 0.024, 0.029, 0.036, 0.063, 0.065, 0.100, 0.122),
    *(0.063, 0.038, 0.039, 0.083, 0.213, 0.046, 0.032, 0.022),
)
BOOMERANG = ((0.0, 0.0), (6000.0, 0.0), (6000.0, 2000.0), (2500.0, 2500.0), (2000.0, 6000.0), (0.0, 6000.0))
HOLE = ((500.0, 500.0), (1500.0, 500.0), (1500.0, 1500.0), (500.0, 1500.0))


def _iea37() -> WindFarm:
    return WindFarm(TableSite(np.outer(ROSE, [0.3, 0.7]), [9.0, 9.8]), iea37_335mw(), "iea37")


def circle(turbines: int = 9, radius: float = 1000.0) -> LayoutProblem:
    """IEA Task 37's first case, with fewer turbines and one more wind speed."""
    return LayoutProblem(_iea37(), Boundary(circle=((5000.0, -3000.0), radius)), turbines, 260.0, "circle")


def boomerang() -> LayoutProblem:
    """A corner that points inwards, a square hole and a round one."""
    table = np.outer(ROSE[::2], [0.3, 0.4, 0.3]) / sum(ROSE[::2])
    boundary = Boundary([BOOMERANG], holes=[HOLE], round_holes=[((1000.0, 4000.0), 500.0)])
    return LayoutProblem(
        WindFarm(TableSite(table, [7.0, 9.0, 12.0]), iea37_10mw(), "iea37"), boundary, 10, 500.0, "boomerang"
    )


def mixed(model: str = "bastankhah-2014") -> LayoutProblem:
    """Two types whose thrust depends on the wind, beside a farm that stands already."""
    types = [Turbine.generic("small", 5.0, 126.0, 90.0), Turbine.generic("large", 10.0, 180.0, 120.0)]
    site = WeibullSite([0.3, 0.2, 0.1, 0.4], [9.0, 10.0, 8.0, 11.0], [2.0, 2.1, 2.2, 1.9])
    farm = WindFarm(
        site,
        types,
        model,
        directions=np.arange(0.0, 360.0, 30.0),
        speeds=[6.0, 9.0, 12.0],
        neighbours=Neighbours([-400.0, -400.0], [500.0, 1500.0], [0, 1]),
    )
    boundary = Boundary([((0.0, 0.0), (3000.0, 0.0), (3000.0, 2500.0), (0.0, 2500.0))])
    return LayoutProblem(farm, boundary, 7, [378.0, 540.0], "mixed", types=[0, 1, 0, 1, 0, 1, 0])


def round_with_hole() -> LayoutProblem:
    """A circle that a polygon is cut out of."""
    boundary = Boundary(
        circle=((0.0, 0.0), 1300.0), holes=[((-300.0, -300.0), (300.0, -300.0), (0.0, 400.0))]
    )
    return LayoutProblem(_iea37(), boundary, 9, 260.0, "round with hole")


def fine_rose() -> LayoutProblem:
    """Many directions and speeds, of which a search may use few at first."""
    farm = WindFarm(
        WeibullSite([0.3, 0.2, 0.1, 0.4], [9.0, 10.0, 8.0, 11.0], [2.0, 2.1, 2.2, 1.9]),
        Turbine.generic("small", 5.0, 126.0, 90.0),
        "bastankhah-2014",
        directions=np.arange(0.0, 360.0, 3.0),
        speeds=np.arange(3.0, 26.0, 2.0),
    )
    boundary = Boundary([((0.0, 0.0), (3000.0, 0.0), (3000.0, 2500.0), (0.0, 2500.0))])
    return LayoutProblem(farm, boundary, 9, 378.0, "fine rose")


PROBLEMS = {"circle": circle, "boomerang": boomerang, "mixed": mixed, "round with hole": round_with_hole}
