"""The wakes of pairs that no table holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vindeby.layout.placing.state import NEW_CT, NEW_SCALE, NEW_TI, OLD_CT, OLD_SCALE, OLD_TI
from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.models.contract import Pair

__all__ = ["Pairs", "make_pairs"]


class Pairs(NamedTuple):
    """What the wake of a pair adds to a sum, and by how much that has changed."""

    computed: Callable[..., float]
    compute_change: Callable[..., float]


def make_pairs(model: WakeModel) -> Pairs:
    """Make the functions for a model; their results are still to be multiplied by the scale of the source."""
    deficit, term = model.deficit, superposition_of(model).term

    @scalar
    def computed(data, machines, far, aside, source, target, thrust, turbulence):
        """The deficit, or its square, of a pair; ``target`` -1 is a point at the hub height of type 0."""
        rotor = machines.diameter[target] if target >= 0 else 0.0
        other, height = machines.hub_height[max(target, 0)], machines.hub_height[source]
        value = deficit(
            data, Pair(far, aside, other - height, other + height, machines.diameter[source], rotor, thrust, turbulence)
        )  # fmt: skip
        return term(value)

    @scalar
    def compute_change(data, machines, far, aside, source, target, change, k):
        """What a pair's wake has changed by, computed."""
        new_thrust, new_turbulence = change[k, NEW_CT], change[k, NEW_TI]
        value = change[k, NEW_SCALE] * computed(
            data, machines, far, aside, source, target, new_thrust, new_turbulence
        )
        if change[k, OLD_SCALE] != 0.0:
            value -= change[k, OLD_SCALE] * computed(
                data, machines, far, aside, source, target, change[k, OLD_CT], change[k, OLD_TI]
            )
        return value

    return Pairs(computed, compute_change)
