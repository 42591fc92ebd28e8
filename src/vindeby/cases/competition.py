"""The judge of the wind-farm layout competitions at GECCO 2014 and 2015: the cost of energy of a layout.

Written from the competition's evaluator (github.com/d9w/WindFLO, ``KusiakLayoutEvaluator.cpp``), with which it is
compared in the tests. A wake is a cone whose tip is R / k upwind of the turbine that casts it; it also reaches the
turbines beside and just upwind of that turbine. A wake makes the scale of the Weibull distribution smaller. The
number of turbines is free.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vindeby.campaign import presets
from vindeby.campaign.reading.yaml_text import read
from vindeby.cases.catalogue import Case

FloatArray = npt.NDArray[np.float64]

_THRUST, _RADIUS_M, _GROWTH = 0.8, 38.5, 0.075
_RATED_KW, _SLOPE, _OFFSET = 1500.0, 140.86, -500.0
_EDGES = np.arange(3.5, 14.25, 0.5)
"""The edges of the wind speed bins (m/s), from cut-in to rated speed."""
_HOURS_PER_YEAR = 8760.0
SPACING_M = 8.0 * _RADIUS_M
"""The least distance between turbines; the campaign files have a little more, so that rounding does not break it."""


def cost_of_energy(case: Case, x: FloatArray, y: FloatArray) -> float:
    """Return the cost of a kWh by the formula of 2015; lower is better. The rules are checked elsewhere."""
    n = len(x)
    turbines, substations, upkeep = 750_000.0 * n, 8_000_000.0 * np.floor(n / 30.0), 20_000.0 * n
    years = (1.0 - 1.03**-20.0) / 0.03
    discount = 0.666667 + 0.333333 * np.exp(-0.00174 * n * n)
    per_year = ((turbines + substations) * discount + upkeep) / years
    return float(per_year / (_HOURS_PER_YEAR * mean_power_kw(case, x, y)) + 0.1 / n)


def mean_power_kw(case: Case, x: FloatArray, y: FloatArray) -> float:
    """Return the power of all turbines in the competition's unit: 15 times a mean per degree of each sector."""
    wind = read(presets.case_file("competition.yaml"), "competition.yaml").data[case.name]
    mid_powers = _SLOPE * 0.5 * (_EDGES[1:] + _EDGES[:-1]) + _OFFSET
    total = 0.0
    for sector, (scale, shape, share) in enumerate(zip(wind["a"], wind["k"], wind["omega"], strict=True)):
        here = scale * (1.0 - _lost(np.radians(15.0 * sector + 7.5), x, y))
        exceeded = np.exp(-((_EDGES / here[:, None]) ** shape))
        power = (exceeded[:, :-1] - exceeded[:, 1:]) @ mid_powers + _RATED_KW * exceeded[:, -1]
        total += 15.0 * share * float(power.sum())
    return total


def _lost(toward: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the fraction of wind speed that each turbine loses, in wind towards this angle from the x axis."""
    cos, sin = np.cos(toward), np.sin(toward)
    dx, dy, tip = x[:, None] - x, y[:, None] - y, _RADIUS_M / _GROWTH
    far = dx * cos + dy * sin
    # Rounding may give a cosine above 1, which the evaluator takes as no wake.
    with np.errstate(invalid="ignore"):
        beta = np.arccos((far + tip) / np.hypot(dx + tip * cos, dy + tip * sin))
        hit = beta < np.arctan(_GROWTH)
    np.fill_diagonal(hit, val=False)
    lost = (1.0 - np.sqrt(1.0 - _THRUST)) / (1.0 + np.abs(far) / tip) ** 2
    return np.asarray(np.sqrt((np.where(hit, lost, 0.0) ** 2).sum(axis=1)))
