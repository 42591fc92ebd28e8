"""The layout cases of IEA Wind Task 37 as problems, with the figures others have published.

Case study 1: 16, 36 or 64 turbines of 3.35 MW in a circle, 16 wind directions, one wind speed. Case studies 3
and 4: 25 turbines of 10 MW in one region and 81 in five, 20 wind speeds in 20 and in 360 directions; the latter
rose is that of case study 3, interpolated. All keep 2 D apart and use the same Gaussian wake model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vindeby.layout import Boundary, LayoutProblem
from vindeby.wake import TableSite, UniformSite, WindFarm, iea37_10mw, iea37_335mw

DATA = json.loads((Path(__file__).parent / "iea37_data.json").read_text())


@dataclass(frozen=True)
class Case:
    """A case and its published figures in MWh: the task's example layout, and the best feasible one known."""

    turbines: int
    example_mwh: float
    best_known_mwh: float
    minutes: float
    evaluations: int
    """So long is one annealing: a fifth of the time or less on one core."""
    radius_m: float = 0.0


CASES = {
    "cs1-16": Case(16, 366941.57, 421451.07, 10.0, 4_000_000, 1300.0),
    "cs1-36": Case(36, 737883.10, 882382.78, 10.0, 12_000_000, 2000.0),
    "cs1-64": Case(64, 1294974.30, 1526474.68, 10.0, 8_000_000, 3000.0),
    "cs3": Case(25, 938573.63, 977444.04, 10.0, 8_000_000),
    "cs4": Case(81, 2851096.41, 2912817.38, 30.0, 1_000_000),
}


def problem(name: str) -> LayoutProblem:
    """The case as a layout problem."""
    case = CASES[name]
    if case.radius_m:
        farm = WindFarm(UniformSite(DATA["cs1_frequency"], wind_speed=9.8), iea37_335mw(), "iea37")
        boundary = Boundary(circle=((0.0, 0.0), case.radius_m))
    else:
        farm = WindFarm(TableSite(_rose(name), DATA["cs3_speed"]), iea37_10mw(), "iea37")
        regions = DATA["cs4_regions"]
        boundary = Boundary([regions["IIIa"]] if name == "cs3" else list(regions.values()))
    return LayoutProblem(farm, boundary, case.turbines, 2.0 * farm.turbines[0].rotor_diameter_m, name)


def _rose(name: str) -> np.ndarray:
    """Probabilities by direction and speed; cs4 has one direction a degree, linear between those of cs3."""
    frequency, by_speed = np.array(DATA["cs3_frequency"]), np.array(DATA["cs3_speed_frequency"])
    if name == "cs3":
        return frequency[:, None] * by_speed
    place = np.arange(360) / 18.0
    left = np.floor(place).astype(int)
    share = place - left
    frequency = frequency[left % 20] * (1 - share) + frequency[(left + 1) % 20] * share
    by_speed = by_speed[left % 20] * (1 - share)[:, None] + by_speed[(left + 1) % 20] * share[:, None]
    return (frequency / frequency.sum())[:, None] * by_speed
