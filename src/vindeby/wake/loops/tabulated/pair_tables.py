"""Everything about a pair of turbines that does not depend on the wind speed, tabulated.

Where turbulence is the same in all wind states, the deficit that one turbine type casts on another is a function of
three numbers: downwind distance, crosswind distance and thrust coefficient. It is tabulated as a tensor B-spline
in

    x/(x + 30 D)   from 1 to 400 diameters downwind,
    |y|/(a + b x)  up to where the wake ends: the line is a tangent to the model's (concave) reach, so it lies
                   above it everywhere (from 1 D on) and also tells which pairs see each other,
    t(ct)          the thrust variable of ``curves``.

The thrust axis is innermost: for a pair, the first two are worked out once and give a short row of coefficients,
from which every wind speed takes four. With the sizes below the deficit is right to about 1e-6 at worst (close
behind a rotor) and 4e-8 on average; pairs outside the table are computed directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import kernel
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.tabulated.splines import coefficients
from vindeby.wake.models.contract import ModelData, WakeModel
from vindeby.wake.models.overlap import overlap_table
from vindeby.wake.turbines.curves import thrust_variable
from vindeby.wake.turbines.turbine import Turbine

FloatArray = npt.NDArray[np.float64]

NEAREST, FARTHEST, MIDDLE, TANGENT = 1.0, 400.0, 30.0, 30.0
DOWNWIND_POINTS, CROSSWIND_POINTS, THRUST_POINTS = 56, 72, 22
NODES = THRUST_POINTS + 2
"""Coefficients along the thrust axis; an even number fills the processor's registers."""
LINE = (CROSSWIND_POINTS + 3) * NODES
PAGE = (DOWNWIND_POINTS + 3) * LINE
"""How far apart neighbours along the other axes and pairs of types are; constants, so that loops vectorise."""
MOST_TYPES = 3
"""With more turbine types there would be too many pairs of them."""


class PairTables(NamedTuple):
    """Tables of all pairs of types; row ``source * types + target``, or one value a source type."""

    table: FloatArray
    reach: FloatArray
    reach_slope: FloatArray
    nearest: FloatArray
    farthest: FloatArray
    middle: FloatArray
    first_downwind: float
    per_downwind: float
    per_crosswind: float
    first_thrust: float
    per_thrust: float
    types: int


def can_tabulate(model: WakeModel, turbines: Sequence[Turbine], turbulence: FloatArray) -> bool:
    """Whether tables can stand for the model here: one turbulence intensity, few types, no kink in thrust."""
    most_thrust = max(t.thrust_range()[1] for t in turbines)
    same = bool(turbulence.size) and bool(np.all(turbulence == turbulence[0]))
    return model.tabulate and same and len(turbines) <= MOST_TYPES and 0 < most_thrust < model.thrust_limit


@once_per_model
def _fill_kernel(model: WakeModel) -> Callable[..., tuple[float, float]]:
    deficit, reach = model.deficit, model.reach

    @kernel(model.identity)
    def fill(data, downwind, beside, thrust, rise, heights, diameter, rotor, turbulence, at, out):
        """Fill in the deficits; returns the line of the reach, constant and slope."""
        top, step = thrust[-1], 1e-3 * at
        here, above = reach(data, at, diameter, rotor, top, turbulence), 0.0
        slope = (
            reach(data, at + step, diameter, rotor, top, turbulence)
            - reach(data, at - step, diameter, rotor, top, turbulence)
        ) / (2.0 * step)
        # The difference quotient is a little off the slope; the line is raised until it is above the reach again.
        for i in range(downwind.size):
            line = here + slope * (downwind[i] - at)
            above = max(above, reach(data, downwind[i], diameter, rotor, top, turbulence) - line)
        constant = here + above - slope * at
        for i in range(downwind.size):
            edge = constant + slope * downwind[i]
            for j in range(beside.size):
                for k in range(thrust.size):
                    out[i, j, k] = deficit(
                        data,
                        downwind[i],
                        beside[j] * edge,
                        rise,
                        heights,
                        diameter,
                        rotor,
                        thrust[k],
                        turbulence,
                    )
        return constant, slope

    return fill


@lru_cache(maxsize=8)
def _table(
    model: WakeModel,
    source: tuple[float, float],
    target: tuple[float, float],
    turbulence: float,
    thrusts: tuple[float, float],
) -> tuple[FloatArray, float, float]:
    """One pair of types, each (diameter, hub height): coefficients, and the line of the reach."""
    data = ModelData(np.array(model.constants), overlap_table())
    (diameter, height), (rotor, other) = source, target
    place = np.linspace(NEAREST / (NEAREST + MIDDLE), FARTHEST / (FARTHEST + MIDDLE), DOWNWIND_POINTS)
    downwind = diameter * MIDDLE * place / (1.0 - place)
    beside = np.linspace(0.0, 1.0, CROSSWIND_POINTS)
    t = np.linspace(thrust_variable(thrusts[0]), thrust_variable(thrusts[1]), THRUST_POINTS)
    thrust = (2.0 * t / (1.0 + t * t)) ** 2
    values = np.empty((DOWNWIND_POINTS, CROSSWIND_POINTS, THRUST_POINTS))
    constant, slope = _fill_kernel(model)(
        data, downwind, beside, thrust, other - height, other + height, diameter, rotor, turbulence,
        TANGENT * diameter, values,
    )  # fmt: skip
    smooth = coefficients(coefficients(coefficients(values, 0), 1, even=True), 2)[:, :, :NODES]
    return np.ascontiguousarray(smooth), constant, slope


def pair_tables(model: WakeModel, turbines: Sequence[Turbine], turbulence: float) -> PairTables:
    """Make, or take from those made before, the tables for these turbine types."""
    low = min(t.thrust_range()[0] for t in turbines)
    high = max(t.thrust_range()[1] for t in turbines)
    # A little wider, so that no thrust falls on the last point, and never of no width.
    thrusts = (max(0.0, low - 0.01), min(high + 0.01, 0.5 * (high + model.thrust_limit)))
    sizes = [(t.rotor_diameter_m, t.hub_height_m) for t in turbines]
    made = [_table(model, s, t, turbulence, thrusts) for s in sizes for t in sizes]
    diameter = np.array([d for d, _ in sizes])
    first, last = NEAREST / (NEAREST + MIDDLE), FARTHEST / (FARTHEST + MIDDLE)
    first_t, last_t = thrust_variable(thrusts[0]), thrust_variable(thrusts[1])
    return PairTables(
        table=np.concatenate([m[0].ravel() for m in made]),
        reach=np.array([m[1] for m in made]),
        reach_slope=np.array([m[2] for m in made]),
        nearest=NEAREST * diameter,
        farthest=FARTHEST * diameter,
        middle=MIDDLE * diameter,
        first_downwind=first,
        per_downwind=(DOWNWIND_POINTS - 1) / (last - first),
        per_crosswind=float(CROSSWIND_POINTS - 1),
        first_thrust=first_t,
        per_thrust=(THRUST_POINTS - 1) / (last_t - first_t),
        types=len(turbines),
    )
