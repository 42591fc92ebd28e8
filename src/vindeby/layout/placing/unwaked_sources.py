"""The wakes on the grid of turbines that stand in no wake themselves, worked out once for all steps and seeds.

Half of all turbines that come stand in no wake, direction by direction. Their thrust, and so all that they do, is that
of the free wind: five numbers for an offset, where the polynomials of all pieces of thrust are many cache lines.
The numbers are made by the same functions as in the steps, so that they are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vindeby.layout.placing.grid_wakes import GridWakes
from vindeby.layout.placing.state import NEW_CT, NEW_SCALE, OLD_SCALE, WHICH, new_change
from vindeby.layout.placing.thrust_pieces import add_changes, look_up, to_powers
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import kernel
from vindeby.wake.compiling.per_model import once_per_model
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.turbines.curves import curves_at


def fill_unwaked_sources(farm: WindFarm, wakes: GridWakes) -> None:
    """Work them out from the tabulated wakes of a farm whose free wind is the same everywhere."""
    rows, targets = np.zeros((2, wakes.most), np.uint64)
    _fill_kernel(farm.model)(
        farm.machines, farm.wind, wakes, *new_change(farm.wind.most), rows, targets, *wakes.unwaked
    )


@once_per_model
def _fill_kernel(model: WakeModel) -> Callable[..., None]:
    together = superposition_of(model)
    scale, term, wind_speed = together.scale, together.term, together.wind_speed

    @kernel(model.identity)
    def fill(
        machines, wind, wakes, change, change_at, rows, targets, thrust, points, rotors, gathered, energy
    ):
        types = machines.diameter.size
        for d in range(wind.cosine.size):
            first, number = wind.first[d], wind.first[d + 1] - wind.first[d]
            begin, found = wakes.first[d], wakes.first[d + 1] - wakes.first[d]
            for source in range(types):
                for k in range(number):
                    speed = wind.speed[first + k]
                    thrust[source, first + k] = curves_at(machines, source, speed)[1]
                    change[k, NEW_CT], change[k, OLD_SCALE] = thrust[source, first + k], 0.0
                    change[k, NEW_SCALE] = term(scale(speed, speed))
                    change_at[k, WHICH] = k
                    to_powers(wakes, change, change_at, k)
                for n in range(found):
                    targets[n] = (begin + n) * types + source
                    rows[n] = targets[n] * wakes.pieces
                add_changes(wakes.points, change, change_at, number, rows, targets, found, points)
                for n in range(found):
                    row = targets[n]
                    for t in range(types):
                        for k in range(number):
                            left = wind_speed(wind.speed[first + k], max(points[row, k], 0.0))
                            energy[row, t] += wind.weight[first + k] * curves_at(machines, t, left)[0]
                for target in range(types):
                    for n in range(found):
                        targets[n] = ((begin + n) * types + source) * types + target
                        rows[n] = targets[n] * wakes.pieces
                        for k in range(number):
                            gathered[targets[n], k] = look_up(wakes.rotors, rows[n], wakes, change[k, NEW_CT])
                    add_changes(wakes.rotors, change, change_at, number, rows, targets, found, rotors)

    return fill
