"""``jensen``: the top-hat wake that widens linearly.

N. O. Jensen, "A note on wind generator interaction", Risø-M-2411 (1983); several wakes as squares after
I. Katic, J. Højstrup, N. O. Jensen, EWEC 1986:

    deficit = 2 a (R / (R + k x))^2 x (share of the rotor inside the wake),

with k = 0.1; fractions of the free wind speed. ``top_hat`` says what the induction and the share are.
"""

from __future__ import annotations

from functools import cache

from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import ModelData, WakeModel
from vindeby.wake.models.induction import Induction
from vindeby.wake.models.top_hat import Rotor, make_top_hat

_top_hat = cache(make_top_hat)


@scalar
def _radius(
    data: ModelData, downwind: float, diameter: float, thrust: float, turbulence: float
) -> tuple[float, float, float]:
    growth = data.constants[0]
    return 0.5 * diameter + growth * downwind, growth, 0.0


def jensen(k: float = 0.1, induction: Induction = "madsen", rotor: Rotor = "overlap") -> WakeModel:
    """The model of 1983; ``k`` is the growth of the radius, 0.1 on land; 0.04 to 0.05 is common offshore.

    ``induction``: of Madsen or of momentum theory. ``rotor``: the share of its area in the wake, or its centre alone.
    """
    functions = _top_hat(_radius, induction, rotor)
    return WakeModel(
        name="jensen",
        constants=(k,),
        deficit=functions.deficit,
        deficit_with_slopes=functions.deficit_with_slopes,
        reach=functions.reach,
        superposition="squares",
        reference="free",
        growth_constants=(0,),
    )
