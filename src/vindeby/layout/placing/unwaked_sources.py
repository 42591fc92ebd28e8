"""The wakes on the grid of turbines that stand in no wake themselves, worked out once for all steps and seeds.

Half of all turbines that come stand in no wake, direction by direction. Their thrust, and so all that they do, is that
of the free wind: five numbers for an offset, where the polynomials of all pieces of thrust are many cache lines.
The numbers are made by the same functions as in the steps, so that they are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vindeby.layout.placing.grid_wakes import COEFFICIENTS, GridWakes
from vindeby.layout.placing.state import (
    NEW_CT,
    NEW_PIECE,
    NEW_POWERS,
    NEW_SCALE,
    OLD_CT,
    OLD_PIECE,
    OLD_POWERS,
    OLD_SCALE,
    WHICH,
    new_change,
)
from vindeby.wake import WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.models.contract import once_per_model
from vindeby.wake.turbines.curves import curves_at


@inlined
def to_powers(wakes, change, change_at, k):
    """Where new and old thrust lie in the table; within one piece their difference is one polynomial."""
    last = wakes.pieces - 1
    at = (change[k, NEW_CT] - wakes.lowest_thrust) * wakes.per_piece
    piece = min(max(int(at), 0), last)
    t = 2.0 * (at - piece) - 1.0
    power = change[k, NEW_SCALE]
    for j in range(COEFFICIENTS):
        change[k, NEW_POWERS + j] = power
        power *= t
    change_at[k, NEW_PIECE], change_at[k, OLD_PIECE] = piece, -1
    if change[k, OLD_SCALE] == 0.0:
        return
    at = (change[k, OLD_CT] - wakes.lowest_thrust) * wakes.per_piece
    before = min(max(int(at), 0), last)
    t = 2.0 * (at - before) - 1.0
    power = change[k, OLD_SCALE]
    first = NEW_POWERS if before == piece else OLD_POWERS
    if before != piece:
        change_at[k, OLD_PIECE] = before
        for j in range(COEFFICIENTS):
            change[k, OLD_POWERS + j] = 0.0
    for j in range(COEFFICIENTS):
        change[k, first + j] -= power
        power *= t


@inlined
def add_changes(table, change, change_at, count, rows, targets, found, sums):
    """Add what wakes have changed by to the sums (target, wind speed) of all targets that were found.

    ``rows`` says where a target's polynomials begin in the table. Targets are innermost: what does not depend on them
    stays in registers, and no sum waits for another.
    """
    for m in range(count):
        k = np.uint64(change_at[m, WHICH])
        p = change[k]
        a0, a1, a2, a3, a4, a5 = p[6], p[7], p[8], p[9], p[10], p[11]
        new = np.uint64(change_at[k, NEW_PIECE])
        if change_at[k, OLD_PIECE] < 0:
            for n in range(found):
                c = table[rows[n] + new]
                sums[targets[n], k] += c[0] * a0 + c[1] * a1 + c[2] * a2 + c[3] * a3 + c[4] * a4 + c[5] * a5
            continue
        b0, b1, b2, b3, b4, b5 = p[12], p[13], p[14], p[15], p[16], p[17]
        old = np.uint64(change_at[k, OLD_PIECE])
        for n in range(found):
            c, e = table[rows[n] + new], table[rows[n] + old]
            value = c[0] * a0 + c[1] * a1 + c[2] * a2 + c[3] * a3 + c[4] * a4 + c[5] * a5
            value += e[0] * b0 + e[1] * b1 + e[2] * b2 + e[3] * b3 + e[4] * b4 + e[5] * b5
            sums[targets[n], k] += value


@inlined
def add_rows(table, count, rows, targets, found, sums):
    """Add rows of a table to the sums (target, wind speed) of all targets that were found."""
    for n in range(found):
        row, target = table[rows[n]], sums[targets[n]]
        for k in range(np.uint64(count)):
            target[k] += row[k]


@inlined
def look_up(table, row, wakes, thrust):
    """A pair's wake at a thrust coefficient; its polynomials begin at ``row`` of the table."""
    at = (thrust - wakes.lowest_thrust) * wakes.per_piece
    piece = min(max(int(at), 0), wakes.pieces - 1)
    t = 2.0 * (at - piece) - 1.0
    c = table[np.uint64(row + piece)]
    return c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5]))))


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
