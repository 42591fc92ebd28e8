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

from functools import cache

from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import ModelData, WakeModel
from vindeby.wake.models.induction import Induction
from vindeby.wake.models.nygaard_2022 import width
from vindeby.wake.models.top_hat import Rotor, make_top_hat

_top_hat = cache(make_top_hat)


@scalar
def _radius(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float]:
    # The constants make the initial part of this width 0, and it is one of diameters.
    grown, grown_downwind, grown_thrust = width(data, downwind, diameter, thrust, turbulence)
    return 0.5 * (diameter + grown), 0.5 * grown_downwind, 0.5 * grown_thrust


def turbopark_2020(a: float = 0.6, induction: Induction = "momentum", rotor: Rotor = "overlap") -> WakeModel:
    """The model of 2020; ``a`` is the expansion A, ``induction`` and ``rotor`` are those of ``jensen``."""
    functions = _top_hat(_radius, induction, rotor)
    return WakeModel(
        name="turbopark-2020",
        constants=(a, 1.5, 0.8, 0.0, 0.96),
        deficit=functions.deficit,
        deficit_with_slopes=functions.deficit_with_slopes,
        reach=functions.reach,
        superposition="squares",
        reference="free",
        needs_turbulence=True,
        thrust_limit=0.0,  # where the wake's edge crosses a rotor depends on the thrust
        growth_constants=(0,),
    )
