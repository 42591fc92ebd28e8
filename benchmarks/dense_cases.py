"""Farms of any number of turbines 4 D apart in an area that they fill more or less, for the benchmarks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vindeby.layout import Boundary, LayoutProblem
from vindeby.wake import Turbine, UniformSite, WindFarm
from vindeby.wake.models import bastankhah_2014

SPACING_D = 4.0
TURBINE = Turbine.generic("15MW", 15.0, 240.0, 150.0)
PENTAGON = np.array([(0.0, 0.0), (1.1, 0.1), (1.2, 0.9), (0.5, 1.25), (0.0, 0.8)])


def rose(directions: int) -> list[float]:
    """Frequencies with one strong and one weaker prevailing wind."""
    angle = np.arange(directions) * 360.0 / directions
    frequency = (
        0.25 + 3.0 * np.exp(-(((angle - 240.0) / 30.0) ** 2)) + np.exp(-(((angle - 75.0) / 25.0) ** 2))
    )
    return [float(value) for value in frequency / frequency.sum()]


def problem(turbines: int, full: float, directions: int = 24) -> LayoutProblem:
    """One wind speed, Gaussian wakes with k = 0.04 put together by squares.

    ``full`` is the share of the area that the turbines would take in the densest packing, rows of equal triangles, of
    an endless plane.
    """
    wake = replace(bastankhah_2014(0.04), superposition="squares", reference="free")
    farm = WindFarm(UniformSite(rose(directions), 10.0), TURBINE, wake)
    spacing = SPACING_D * TURBINE.rotor_diameter_m
    x, y = PENTAGON.T
    size = 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
    scale = float(np.sqrt(turbines * spacing**2 * np.sqrt(0.75) / (full * size)))
    area = Boundary([[(a * scale, b * scale) for a, b in PENTAGON.tolist()]])
    return LayoutProblem(farm, area, turbines, spacing, f"{turbines} turbines, {full:.0%} full")
