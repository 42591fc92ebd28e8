"""The steps that the loops of ``carried_moves`` share: who is downwind, who is in reach, the deficits of a pair.

A call hands over every array of a ``CarriedMoves`` one by one, which costs more than what most steps do: those that
take one are put whole into the loops.
"""

from __future__ import annotations

from collections.abc import Callable

from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined, scalar

__all__ = ["forget_trial", "is_downwind", "is_in_reach", "make_fill_pair"]


@inlined
def is_downwind(far: float, i: int, j: int) -> bool:
    """Whether ``i``, which is ``far`` downwind of ``j``, counts as downwind; of two abreast, one does."""
    return far > 0.0 or (far == 0.0 and i > j)


@inlined
def is_in_reach(moves, i, j, far, aside):  # type: ignore[no-untyped-def]
    """Whether ``j``, so ``far`` downwind of ``i``, may be in its wake; beyond the table every turbine may be."""
    point = int(far * moves.edge_per_m)
    if point >= moves.edge.shape[1]:
        return True
    pair = 0 if moves.types == 1 else moves.type_index[i] * moves.types + moves.type_index[j]
    return not abs(aside) >= moves.edge[pair, point]


@inlined
def forget_trial(moves, d):  # type: ignore[no-untyped-def]
    """All turbines are as before."""
    for q in range(moves.touched_count[d]):
        moves.state[d, moves.touched[d, q]] = 0
    moves.touched_count[d] = 0


def make_fill_pair(model: WakeModel) -> Callable[..., None]:
    """Make the step that computes the deficits of a pair."""
    deficit = model.deficit

    @scalar
    def deficits(data, far, aside, rise, heights, diameter, rotor, turbulence, thrust, out):  # type: ignore[no-untyped-def]
        last = last_turbulence = -1.0
        value = 0.0
        for k in range(turbulence.size):
            if thrust[k] != last or turbulence[k] != last_turbulence:
                last, last_turbulence = thrust[k], turbulence[k]
                value = deficit(data, far, aside, rise, heights, diameter, rotor, last, last_turbulence)
            out[k] = value

    @inlined
    def fill_pair(data, machines, source, target, far, aside, turbulence, thrust, out):  # type: ignore[no-untyped-def]
        """The deficits at all wind speeds of type ``source``, of these thrusts, on type ``target``."""
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        deficits(
            data, far, aside, rise, heights, machines.diameter[source], machines.diameter[target], turbulence,
            thrust, out,
        )  # fmt: skip

    return fill_pair
