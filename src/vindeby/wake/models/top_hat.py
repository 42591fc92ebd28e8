"""Top-hat wakes: the same deficit everywhere inside a circle that widens downwind, none outside.

    deficit = 2 a (R / R_w)^2 x (share of the rotor inside the wake)

with the rotor's radius R, the wake's radius R_w and the induction a(ct). Models differ in R_w. The share is that of the
rotor's area, or 1 or 0 as the rotor's centre is inside or outside: then the deficit does not change with a crosswind
move but at the wake's edge, where it jumps, and the gradient, which is 0 across the wind on both sides, does not show
the edge.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, Literal, NamedTuple

from vindeby.errors import ArgumentError
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.circles import covered_share
from vindeby.wake.models.contract import ModelData, without_slopes
from vindeby.wake.models.induction import Induction, induction_named

Rotor = Literal["overlap", "centre"]


class TopHat(NamedTuple):
    """The functions of a wake model (see ``contract``)."""

    deficit: Callable[..., float]
    deficit_with_slopes: Callable[..., tuple[float, float, float, float, float]]
    reach: Callable[..., float]


def make_top_hat(
    radius_of: Callable[..., tuple[float, float, float]], induction: Induction, rotor: Rotor
) -> TopHat:
    """The functions of a top hat.

    ``radius_of(data, downwind, diameter, thrust, turbulence)``: the wake's radius, and its slopes with downwind
    distance and thrust.
    """
    _require_rotor(rotor)
    induction_of, of_area = induction_named(induction), rotor == "overlap"

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
        radius = 0.5 * diameter
        wake_radius, radius_downwind, radius_thrust = radius_of(data, downwind, diameter, thrust, turbulence)
        distance = sqrt(crosswind * crosswind + rise * rise)
        share, share_radius, share_distance = covered_share(
            wake_radius, 0.5 * rotor if of_area else 0.0, distance
        )
        induction, induction_slope = induction_of(thrust)
        spread = (radius / wake_radius) * (radius / wake_radius)
        whole = 2.0 * induction * spread
        wider = share_radius - 2.0 * share / wake_radius
        with_crosswind = 0.0
        if distance > 0.0:
            with_crosswind = whole * share_distance * crosswind / distance
        return (
            whole * share,
            radius_downwind * whole * wider,
            with_crosswind,
            2.0 * induction_slope * spread * share + radius_thrust * whole * wider,
            0.0,
        )

    @scalar
    def reach(
        data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
    ) -> float:
        wake_radius = radius_of(data, downwind, diameter, thrust, turbulence)[0]
        return wake_radius + (0.5 * rotor if of_area else 0.0)

    return TopHat(without_slopes(deficit_with_slopes), deficit_with_slopes, reach)


def _require_rotor(rotor: Any) -> None:
    if rotor not in ("overlap", "centre"):
        raise ArgumentError(f"rotor must be 'overlap' or 'centre', not {rotor!r}")
