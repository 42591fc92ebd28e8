"""Cases of our own for comparing searches: three areas, four roses of 24 directions with one wind speed each.

Areas are shapes that are scaled until each turbine has a given room; the more turbines, the denser they stand. All keep
4 D apart. Wakes are Gaussian (Bastankhah and Porte-Agel 2014) with k = 0.04, put together by the root of the sum of
squares, as fractions of the free wind speed; thrust and power depend on the wind speed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vindeby.layout import Boundary, LayoutProblem
from vindeby.wake import TimeSeriesSite, Turbine, WakeModel, WeibullSite, WindFarm
from vindeby.wake.models import bastankhah_2014

FloatArray = npt.NDArray[np.float64]

SIZES = (30, 50, 80, 200, 300)
ROOM = {30: 8.0, 50: 7.2, 80: 6.5, 200: 5.4, 300: 5.0}
"""The side of a square of the area of one turbine, in rotor diameters, by the number of turbines."""
SPACING = 4.0
"""In rotor diameters."""
GROWTH = 0.04
RATED_MW, DIAMETER_M, HUB_HEIGHT_M = 10.0, 198.0, 119.0

AREAS: dict[str, tuple[tuple[float, float], ...]] = {
    "long": ((0.0, 0.0), (3.1, 0.5), (3.4, 1.3), (2.2, 1.5), (0.3, 1.1)),
    "even": ((0.1, 0.0), (1.2, 0.1), (1.6, 0.9), (1.1, 1.7), (0.2, 1.5), (-0.2, 0.7)),
    "notched": ((0.0, 0.0), (2.0, 0.0), (2.0, 1.6), (1.3, 1.6), (1.1, 0.8), (0.8, 1.6), (0.0, 1.6)),
}
"""Corners, anticlockwise, in a unit of their own."""

# Centre (degrees), width (degrees) and weight of the lobes of a rose; what is left blows evenly from everywhere.
_LOBES: dict[str, tuple[tuple[float, float, float], ...]] = {
    "one-way": ((245.0, 25.0, 0.75),),
    "two-way": ((35.0, 20.0, 0.35), (222.0, 30.0, 0.45)),
    "broad": ((270.0, 70.0, 0.8),),
    "even": (),
}
ROSES = tuple(_LOBES)


def wind(name: str, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The probability of each direction and its mean wind speed (m/s): stronger where it blows more often."""
    share = np.zeros(len(directions))
    for centre, width, weight in _LOBES[name]:
        off = (directions - centre + 180.0) % 360.0 - 180.0
        lobe = np.exp(-0.5 * (off / width) ** 2)
        share += weight * lobe / lobe.sum()
    share += (1.0 - share.sum()) / len(directions)
    return share, 8.5 + 2.5 * share / share.max()


def turbine() -> Turbine:
    """The turbine of all cases."""
    return Turbine.generic("10 MW", RATED_MW, DIAMETER_M, HUB_HEIGHT_M)


def wakes() -> WakeModel:
    """The wake model of all cases."""
    return replace(bastankhah_2014(GROWTH), name="gaussian", superposition="squares", reference="free")


def corners(area: str, turbines: int) -> FloatArray:
    """The corners of an area in metres, (corners, 2)."""
    shape = np.array(AREAS[area])
    x, y = shape.T
    size = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    room = ROOM.get(turbines, 5.0) * DIAMETER_M
    return np.asarray(shape * np.sqrt(turbines * room**2 / size))


def coarse_farm(rose: str) -> WindFarm:
    """24 directions with one wind speed each."""
    directions = np.arange(0.0, 360.0, 15.0)
    share, speed = wind(rose, directions)
    return WindFarm(TimeSeriesSite(speed, directions, 0.06, share), turbine(), wakes())


def fine_farm(rose: str, step: float = 3.0) -> WindFarm:
    """Weibull winds of twelve sectors, in directions every ``step`` degrees with ten wind speeds each."""
    share, speed = wind(rose, np.arange(0.0, 360.0, 30.0))
    site = WeibullSite(share, speed * 1.13, np.full(12, 2.1))
    return WindFarm(
        site,
        turbine(),
        wakes(),
        directions=np.arange(0.0, 360.0, step),
        speeds=np.arange(4.0, 23.0, 2.0),
    )


def problem(area: str, turbines: int, rose: str, *, fine: bool = False) -> LayoutProblem:
    """One case."""
    farm = fine_farm(rose) if fine else coarse_farm(rose)
    name = f"{area}-{turbines}-{rose}"
    return LayoutProblem(farm, Boundary([corners(area, turbines)]), turbines, SPACING * DIAMETER_M, name)
