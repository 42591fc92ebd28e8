"""``bastankhah-2016``: the Gaussian wake that begins behind a near wake, without yaw.

M. Bastankhah, F. Porté-Agel, "Experimental and theoretical study of wind turbine wakes in yawed conditions", J. Fluid
Mech. 806 (2016) 506-541, eqs. 7.1-7.4. The far wake begins where the potential core ends, x0 downwind (eq. 6.16), and
widens with the turbulence intensity I at the source:

    x0/D = (1 + r) / (sqrt(2) (4 alpha I + 2 beta (1 - r))),  r = sqrt(1 - ct),
    sigma = D/sqrt(8) + k (x - x0),  k = ka I + kb,

alpha = 0.58, beta = 0.077; ka = 0.38 and kb = 0.004 after A. Niayifar and F. Porté-Agel, Energies 9 (2016) 741. Nearer
than x0 the width goes linearly from 0.501 D sqrt(ct/2) at the rotor to D/sqrt(8), as in the model ``gauss`` of FLORIS.
The deficit is C exp(-y^2/(2 sigma^2)) at the rotor's centre, C of momentum and at most 1; the wakes of all turbines add
as squares, as fractions of the free wind speed. I is that of the free wind.
"""

from math import sqrt

from vindeby.parameters import Bastankhah2016
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import SIGMAS, ModelData, Pair, Slopes, WakeModel
from vindeby.wake.models.gaussian import at_rotor_centre, make_gaussian

_MOST_THRUST = 0.9999
"""Above it the start of the far wake is that of this thrust coefficient; its slope has no bound towards 1."""


@scalar
def _far_wake_start(
    data: ModelData, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float]:
    """Return the start of the far wake (m), and its slopes with thrust and turbulence."""
    alpha, beta = data.constants[2], data.constants[3]
    root = sqrt(1.0 - min(thrust, _MOST_THRUST))
    below = sqrt(2.0) * (4.0 * alpha * turbulence + 2.0 * beta * (1.0 - root))
    start = diameter * (1.0 + root) / below
    with_root = diameter / below + start * sqrt(2.0) * 2.0 * beta / below
    root_thrust = -0.5 / root if thrust < _MOST_THRUST else 0.0
    return start, with_root * root_thrust, -start * sqrt(2.0) * 4.0 * alpha / below


@scalar
def _width(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float, float]:
    """Return the width sigma (m) and its slopes with downwind distance, thrust and turbulence."""
    start, start_thrust, start_turbulence = _far_wake_start(data, diameter, thrust, turbulence)
    far_wake = diameter / sqrt(8.0)
    if downwind >= start:
        ka, kb = data.constants[0], data.constants[1]
        growth = ka * turbulence + kb
        return (
            far_wake + growth * (downwind - start),
            growth,
            -growth * start_thrust,
            ka * (downwind - start) - growth * start_turbulence,
        )
    at_rotor = 0.501 * diameter * sqrt(0.5 * thrust)
    along = downwind / start
    with_start = -(far_wake - at_rotor) * along / start
    at_rotor_thrust = 0.5 * at_rotor / thrust if thrust > 0.0 else 0.0
    return (
        at_rotor + (far_wake - at_rotor) * along,
        (far_wake - at_rotor) / start,
        at_rotor_thrust * (1.0 - along) + with_start * start_thrust,
        with_start * start_turbulence,
    )


_behind_rotor = make_gaussian(_width, at_rotor_centre)["deficit_with_slopes"]


@scalar
def _deficit_with_slopes(data: ModelData, pair: Pair) -> Slopes:
    if pair.thrust <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    slopes: Slopes = _behind_rotor(data, pair)
    return slopes


@scalar
def _reach(
    data: ModelData, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
) -> float:
    # In the near wake the width may shrink with thrust; it is nowhere above that at the rotor with a thrust of 1.
    start = _far_wake_start(data, diameter, thrust, turbulence)[0]
    ka, kb = data.constants[0], data.constants[1]
    growth = ka * turbulence + kb
    return SIGMAS * (0.501 * diameter / sqrt(2.0) + growth * max(downwind - start, 0.0))


def bastankhah_2016(
    ka: float = Bastankhah2016.ka,
    kb: float = Bastankhah2016.kb,
    alpha: float = Bastankhah2016.alpha,
    beta: float = Bastankhah2016.beta,
) -> WakeModel:
    """Return the model of 2016; ``alpha`` and ``beta`` define the potential core's length."""
    return WakeModel(
        name="bastankhah-2016",
        constants=(ka, kb, alpha, beta),
        deficit_with_slopes=_deficit_with_slopes,
        reach=_reach,
        superposition="squares",
        reference="free",
        needs_turbulence=True,
        thrust_limit=0.0,  # where the far wake begins, a kink, depends on the thrust
        growth_constants=(0, 1),
        free_wind_of="target",
    )
