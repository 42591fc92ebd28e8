"""``jensen``: the top-hat wake.

N. O. Jensen, "A note on wind generator interaction", Risø-M-2411 (1983); several wakes as squares after
I. Katic, J. Højstrup, N. O. Jensen, EWEC 1986:

    deficit = 2 a (R / (R + k x))^2 x (share of the rotor inside the wake),

with k = 0.1; fractions of the free wind speed. The induction a is that of Madsen or that of momentum theory
(``induction``). The share is that of the rotor's area, or 1 or 0 as the rotor's centre is inside or outside: then the
deficit does not change with a crosswind move but at the wake's edge, where it jumps, and the gradient, which is 0
across the wind on both sides, does not show the edge.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any, Literal, NamedTuple

from vindeby.errors import ArgumentError
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.circles import covered_share
from vindeby.wake.models.contract import ModelData, WakeModel, without_slopes
from vindeby.wake.models.induction import Induction, induction_named

__all__ = ["Rotor", "jensen", "require_rotor"]

Rotor = Literal["overlap", "centre"]


class _Functions(NamedTuple):
    deficit: Callable[..., float]
    deficit_with_slopes: Callable[..., tuple[float, float, float, float, float]]
    reach: Callable[..., float]


@cache
def _functions(induction_name: str, of_area: bool) -> _Functions:
    induction_of = induction_named(induction_name)

    @scalar
    def deficit_with_slopes(
        data: ModelData,
        downwind: float,
        crosswind: float,
        rise: float,
        heights: float,
        diameter: float,
        rotor: float,
        thrust: float,
        turbulence: float,
    ) -> tuple[float, float, float, float, float]:
        growth = data.constants[0]
        radius = 0.5 * diameter
        wake_radius = radius + growth * downwind
        distance = sqrt(crosswind * crosswind + rise * rise)
        share, share_radius, share_distance = covered_share(
            wake_radius, 0.5 * rotor if of_area else 0.0, distance
        )
        induction, induction_slope = induction_of(thrust)
        spread = (radius / wake_radius) * (radius / wake_radius)
        whole = 2.0 * induction * spread
        with_crosswind = 0.0
        if distance > 0.0:
            with_crosswind = whole * share_distance * crosswind / distance
        return (
            whole * share,
            growth * whole * (share_radius - 2.0 * share / wake_radius),
            with_crosswind,
            2.0 * induction_slope * spread * share,
            0.0,
        )

    @scalar
    def reach(
        data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
    ) -> float:
        return 0.5 * (diameter + (rotor if of_area else 0.0)) + data.constants[0] * downwind

    return _Functions(without_slopes(deficit_with_slopes), deficit_with_slopes, reach)


def require_rotor(rotor: Any) -> None:
    """Refuse a word that does not say how a top hat is averaged over a rotor."""
    if rotor not in ("overlap", "centre"):
        raise ArgumentError(f"rotor must be 'overlap' or 'centre', not {rotor!r}")


def jensen(growth: float = 0.1, induction: Induction = "madsen", rotor: Rotor = "overlap") -> WakeModel:
    """The model of 1983; ``growth`` is k, 0.1 on land; 0.04 to 0.05 is common offshore.

    ``induction``: of Madsen or of momentum theory. ``rotor``: the share of its area in the wake, or its centre alone.
    """
    require_rotor(rotor)
    functions = _functions(induction, rotor == "overlap")
    return WakeModel(
        name="jensen",
        constants=(growth,),
        deficit=functions.deficit,
        deficit_with_slopes=functions.deficit_with_slopes,
        reach=functions.reach,
        superposition="squares",
        reference="free",
        growth_constants=(0,),
    )
