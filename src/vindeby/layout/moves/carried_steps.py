"""The steps that the loops of ``carried_moves`` share: who is downwind, and the deficits of one turbine on others.

A call hands over every array of a ``CarriedMoves`` one by one, which costs more than what most steps do: those that
take one are put whole into the loops.
"""

from __future__ import annotations

from collections.abc import Callable

from vindeby.wake import WakeModel
from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.loops.wind_access import Locality, superposition_for
from vindeby.wake.models.contract import Pair
from vindeby.wake.turbines.curves import curves_at

__all__ = [
    "ACROSS",
    "ALONG",
    "COST",
    "HIGHEST",
    "NEW",
    "NEW_WATTS",
    "SPEED",
    "SPOT",
    "STRONGEST",
    "SUMMED",
    "THRUST",
    "WATTS",
    "forget_trial",
    "is_downwind",
    "make_fill_deficits",
    "make_settle_one",
]

ALONG, ACROSS, WATTS, NEW_WATTS, STRONGEST, COST, SPOT = 0, 1, 2, 3, 4, 5, 6
"""Of ``spot``: place downwind and crosswind (m), mean power (W), and that in a trial; a deficit that none of the
turbine's wakes is above; what its wakes may take from others at most (W). How many these are."""
SUMMED, HIGHEST, SPEED, THRUST, NEW = 0, 1, 2, 3, 4
"""Of ``wind``: the sum of wakes; the highest that it was since it was summed up; with which wind speed and thrust the
turbine's wakes were made. From ``NEW`` on the same four in a trial."""


@inlined
def is_downwind(far: float, i: int, j: int) -> bool:
    """Whether ``i``, which is ``far`` downwind of ``j``, counts as downwind; of two abreast, one does."""
    return far > 0.0 or (far == 0.0 and i > j)


@inlined
def forget_trial(moves, d):
    """All turbines are as before."""
    trial = moves.trial
    for q in range(trial.touched_count[d]):
        trial.state[d, trial.touched[d, q]] = 0
    trial.touched_count[d] = 0


def make_settle_one(model: WakeModel, locality: Locality) -> Callable[..., float]:
    """Make the step for a turbine whose wakes are summed."""
    wind_speed = superposition_for(model, locality).wind_speed

    @inlined
    def settle_one(machines, type_index, states, row, new):
        """Wind speeds and thrusts of a turbine, in its ``row`` from ``new`` on; returns its mean power.

        ``states`` are its own free wind.
        """
        power = 0.0
        for k in range(states.speed.size):
            speed = wind_speed(states.speed[k], max(row[new + SUMMED, k], 0.0))
            watts, thrust = curves_at(machines, type_index, speed)
            row[new + SPEED, k], row[new + THRUST, k] = speed, thrust
            power += states.weight[k] * watts
        return power

    return settle_one


def make_fill_deficits(model: WakeModel) -> Callable[..., None]:
    """Make the step that computes the deficits of one turbine on others."""
    deficit = model.deficit

    @inlined
    def fill_deficits(data, machines, moves, source, listed, count, turbulence, thrust, out, first):
        """Those of type ``source`` on ``count`` turbines ``listed``, so ``far`` and ``aside``, at all wind speeds.

        They go into ``out`` from ``first`` on, wind speed by wind speed: with one thrust after the other, what depends
        on it alone is computed once.
        """
        height, diameter = machines.hub_height[source], machines.diameter[source]
        for k in range(turbulence.size):
            at = first + k * count
            if k > 0 and thrust[k] == thrust[k - 1] and turbulence[k] == turbulence[k - 1]:
                for q in range(count):
                    out[at + q] = out[at + q - count]
                continue
            ct, ti = thrust[k], turbulence[k]
            for q in range(count):
                target = moves.type_index[listed[q]]
                hub = machines.hub_height[target]
                out[at + q] = deficit(
                    data, Pair(moves.room.far[q], moves.room.aside[q], hub - height, hub + height, diameter,
                    machines.diameter[target], ct, ti),
                )  # fmt: skip

    return fill_deficits
