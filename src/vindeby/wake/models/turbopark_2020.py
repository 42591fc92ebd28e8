"""``turbopark-2020``: the TurbOPark model as it was first published, with a top-hat wake.

N. G. Nygaard, S. T. Steen, L. Poulsen, J. G. Pedersen, "Modelling cluster wakes and wind farm blockage", J. Phys.:
Conf. Ser. 1618 (2020) 062072. The wake grows with the turbulence in it, that of the free wind and that of the rotor
after Frandsen (2007), dD_w/dx = A I(x), which integrates to the width of ``nygaard-2022`` without its initial part:

    D_w/D = 1 + A sqrt(ct)/c2 (g(y) - g(y0)),  A = 0.6,  c1 = 1.5,  c2 = 0.8,
    deficit = 2 a (D/D_w)^2 x (share of the rotor inside the wake),

with a of momentum theory, so that 2 a = 1 - sqrt(1 - ct). The wakes of all turbines add as squares, as fractions of
the free wind speed, and I0 is the turbulence intensity of the free wind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import NamedTuple

from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.circles import covered_share
from vindeby.wake.models.contract import ModelData, WakeModel, without_slopes
from vindeby.wake.models.induction import Induction, induction_named
from vindeby.wake.models.jensen import Rotor, require_rotor
from vindeby.wake.models.nygaard_2022 import width

__all__ = ["turbopark_2020"]


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
        # The constants make the initial part of this width 0, and it is one of diameters.
        grown, grown_downwind, grown_thrust = width(data, downwind, diameter, thrust, turbulence)
        radius = 0.5 * diameter
        wake_radius = radius + 0.5 * grown
        distance = sqrt(crosswind * crosswind + rise * rise)
        share, share_radius, share_distance = covered_share(
            wake_radius, 0.5 * rotor if of_area else 0.0, distance
        )
        induction, induction_slope = induction_of(thrust)
        spread = (radius / wake_radius) * (radius / wake_radius)
        whole = 2.0 * induction * spread
        with_radius = whole * (share_radius - 2.0 * share / wake_radius)
        with_crosswind = 0.0
        if distance > 0.0:
            with_crosswind = whole * share_distance * crosswind / distance
        return (
            whole * share,
            with_radius * 0.5 * grown_downwind,
            with_crosswind,
            2.0 * induction_slope * spread * share + with_radius * 0.5 * grown_thrust,
            0.0,
        )

    @scalar
    def reach(
        data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
    ) -> float:
        grown = width(data, downwind, diameter, thrust, turbulence)[0]
        return 0.5 * (diameter + (rotor if of_area else 0.0) + grown)

    return _Functions(without_slopes(deficit_with_slopes), deficit_with_slopes, reach)


def turbopark_2020(
    expansion: float = 0.6, induction: Induction = "momentum", rotor: Rotor = "overlap"
) -> WakeModel:
    """The model of 2020; ``expansion`` is A, ``induction`` and ``rotor`` are those of ``jensen``."""
    require_rotor(rotor)
    functions = _functions(induction, rotor == "overlap")
    return WakeModel(
        name="turbopark-2020",
        constants=(expansion, 1.5, 0.8, 0.0, 0.96),
        deficit=functions.deficit,
        deficit_with_slopes=functions.deficit_with_slopes,
        reach=functions.reach,
        superposition="squares",
        reference="free",
        needs_turbulence=True,
        thrust_limit=0.0,  # where the wake's edge crosses a rotor depends on the thrust
        growth_constants=(0,),
    )
