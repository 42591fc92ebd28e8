"""Wakes on the grid as polynomials of the thrust coefficient, one for each piece of it (see ``grid_wakes``)."""

from __future__ import annotations

from vindeby.layout.placing.grid_wakes import COEFFICIENTS
from vindeby.layout.placing.state import (
    NEW_CT,
    NEW_PIECE,
    NEW_POWERS,
    NEW_SCALE,
    OLD_CT,
    OLD_PIECE,
    OLD_POWERS,
    OLD_SCALE,
)
from vindeby.wake.compiling.compiled import inlined

__all__ = ["look_up", "look_up_change", "to_powers"]


@inlined
def to_powers(wakes, change, change_at, k):
    """Where new and old thrust lie in the table; within one piece their difference is one polynomial."""
    last = wakes.points.shape[2] - 1
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
def _polynomial(c, e, piece, change, k, j):
    return (
        c[e, piece, 0] * change[k, j] + c[e, piece, 1] * change[k, j + 1] + c[e, piece, 2] * change[k, j + 2]
        + c[e, piece, 3] * change[k, j + 3] + c[e, piece, 4] * change[k, j + 4] + c[e, piece, 5] * change[k, j + 5]
    )  # fmt: skip


@inlined
def look_up_change(table, e, change, change_at, k):
    """What a pair's wake has changed by, from its polynomials."""
    value = _polynomial(table, e, change_at[k, NEW_PIECE], change, k, NEW_POWERS)
    if change_at[k, OLD_PIECE] >= 0:
        value += _polynomial(table, e, change_at[k, OLD_PIECE], change, k, OLD_POWERS)
    return value


@inlined
def look_up(pieces, lowest_thrust, per_piece, thrust):
    """A pair's wake at a thrust coefficient; ``pieces`` are the pair's polynomials."""
    at = (thrust - lowest_thrust) * per_piece
    piece = min(max(int(at), 0), pieces.shape[0] - 1)
    t = 2.0 * (at - piece) - 1.0
    c = pieces[piece]
    return c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5]))))
