"""Top-hat wakes: the same deficit everywhere inside a circle that widens downwind, none outside.

    deficit = 2 a (R / R_w)^2 x (share of the rotor inside the wake)

with the rotor's radius R, the wake's radius R_w and the induction a(ct). Models differ in R_w. The share is that of the
rotor's area, or 1 or 0 as the rotor's centre is inside or outside: then the deficit does not change with a crosswind
move but at the wake's edge, where it jumps, and the gradient, which is 0 across the wind on both sides, does not show
the edge.

``top-hat``: a wake that widens linearly, R_w = R + k x, with its other parts as given.

``jensen``: that of N. O. Jensen, "A note on wind generator interaction", Risø-M-2411 (1983), with k = 0.1;
several wakes as squares after I. Katic, J. Højstrup, N. O. Jensen, EWEC 1986; fractions of the free wind speed.

``turbopark-2020``: TurbOPark as it was first published, N. G. Nygaard, S. T. Steen, L. Poulsen, J. G. Pedersen,
"Modelling cluster wakes and wind farm blockage", J. Phys.: Conf. Ser. 1618 (2020) 062072. The wake grows with the
turbulence in it, that of the free wind and that of the rotor after Frandsen (2007), dD_w/dx = A I(x), which integrates
to the width of ``nygaard-2022`` without its initial part:

    D_w/D = 1 + A sqrt(ct)/c2 (g(y) - g(y0)),  A = 0.6,  c1 = 1.5,  c2 = 0.8,

with a of momentum theory, so that 2 a = 1 - sqrt(1 - ct). The wakes of all turbines add as squares, as fractions of
the free wind speed, and I0 is the turbulence intensity of the free wind.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from inspect import signature
from math import sqrt
from typing import Any

from vindeby.parameters import Induction, Jensen, Rotor, TopHat, Turbopark2020
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import ModelData, Pair, Slopes, WakeModel
from vindeby.wake.models.nygaard_2022 import width
from vindeby.wake.models.overlap import covered_share
from vindeby.wake.models.self_similar_2020 import induced


@scalar
def momentum(thrust: float) -> tuple[float, float]:
    """Return the induction a = (1 - sqrt(1 - ct)) / 2 of momentum theory, and its slope with ct.

    Thrust coefficients above 1 count as 1, where a is 1/2; the slope, which has no bound towards 1, is 0 there.
    """
    if thrust >= 1.0:
        return 0.5, 0.0
    root = sqrt(1.0 - thrust)
    return 0.5 * (1.0 - root), 0.25 / root


_INDUCTIONS: dict[str, Callable[[float], tuple[float, float]]] = {"madsen": induced, "momentum": momentum}


@cache
def make_top_hat(
    radius_of: Callable[..., tuple[float, float, float, float]], induction: Induction, rotor: Rotor
) -> dict[str, Any]:
    """Return the functions of a top-hat wake, by their names in ``WakeModel``.

    ``radius_of(data, downwind, diameter, thrust, turbulence)``: the wake's radius, and its slopes with downwind
    distance, thrust and turbulence.
    """
    induction_of, of_area = _INDUCTIONS[induction], rotor == "overlap"

    @scalar
    def deficit_with_slopes(data: ModelData, pair: Pair) -> Slopes:
        radius = 0.5 * pair.diameter
        wake_radius, radius_downwind, radius_thrust, radius_turbulence = radius_of(
            data, pair.downwind, pair.diameter, pair.thrust, pair.turbulence
        )
        distance = sqrt(pair.crosswind * pair.crosswind + pair.rise * pair.rise)
        share, share_radius, share_distance = covered_share(
            wake_radius, 0.5 * pair.rotor if of_area else 0.0, distance
        )
        induction, induction_slope = induction_of(pair.thrust)
        spread = (radius / wake_radius) * (radius / wake_radius)
        whole = 2.0 * induction * spread
        wider = share_radius - 2.0 * share / wake_radius
        with_crosswind = 0.0
        if distance > 0.0:
            with_crosswind = whole * share_distance * pair.crosswind / distance
        return (
            whole * share,
            radius_downwind * whole * wider,
            with_crosswind,
            2.0 * induction_slope * spread * share + radius_thrust * whole * wider,
            radius_turbulence * whole * wider,
        )

    @scalar
    def reach(
        data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
    ) -> float:
        wake_radius = radius_of(data, downwind, diameter, thrust, turbulence)[0]
        return wake_radius + (0.5 * rotor if of_area else 0.0)

    return {"deficit_with_slopes": deficit_with_slopes, "reach": reach}


@scalar
def _linear_radius(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    k = data.constants[0]
    return 0.5 * diameter + k * downwind, k, 0.0, 0.0


def top_hat(**parts: Any) -> WakeModel:
    """Return a linearly widening top-hat wake with the parts listed in ``vindeby.parameters.TopHat``."""
    given = TopHat(**parts)
    return WakeModel(
        **make_top_hat(_linear_radius, given.induction, given.rotor),
        name="top-hat",
        constants=(given.k,),
        superposition=given.superposition,
        reference=given.reference,
        growth_constants=(0,),
        thrust_of=given.thrust_of,
    )


setattr(top_hat, "__signature__", signature(TopHat))  # noqa: B010 - mypy does not know it


def jensen(
    k: float = Jensen.k, induction: Induction = Jensen.induction, rotor: Rotor = Jensen.rotor
) -> WakeModel:
    """Return the model of 1983; ``k``, the growth of the radius per metre, is 0.1 on land, 0.04 to 0.05 offshore.

    ``induction``: of Madsen or of momentum theory. ``rotor``: the share of its area in the wake, or its centre alone.
    """
    return replace(top_hat(k=k, induction=induction, rotor=rotor), name="jensen")


@scalar
def _turbulent_radius(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    # The constants make the initial part of this width 0, and it is one of diameters.
    grown, with_downwind, with_thrust, with_turbulence = width(data, downwind, diameter, thrust, turbulence)
    return 0.5 * (diameter + grown), 0.5 * with_downwind, 0.5 * with_thrust, 0.5 * with_turbulence


def turbopark_2020(
    a: float = Turbopark2020.a,
    induction: Induction = Turbopark2020.induction,
    rotor: Rotor = Turbopark2020.rotor,
) -> WakeModel:
    """Return the model of 2020; ``a`` is A, the wake expansion, ``induction`` and ``rotor`` are as in ``jensen``."""
    given = Turbopark2020(a, induction, rotor)
    return WakeModel(
        **make_top_hat(_turbulent_radius, given.induction, given.rotor),
        name="turbopark-2020",
        constants=(given.a, 1.5, 0.8, 0.0, 0.96),
        superposition="squares",
        reference="free",
        needs_turbulence=True,
        thrust_limit=0.0,  # where the wake's edge crosses a rotor depends on the thrust
        growth_constants=(0,),
    )
