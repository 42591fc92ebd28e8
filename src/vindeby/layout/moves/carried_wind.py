"""Where the loops of ``carried_moves`` find the free wind of a turbine.

Where it is the same everywhere, these functions vanish when they are compiled. Where it differs from place to place,
``CarriedMoves.free`` has a row for every direction and turbine, direction after direction, and after these a row per
direction for the moved turbine where it would stand: a trial fills them in, once, and a kept move takes them over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from vindeby.layout.moves.move_state import free_winds, row_of
from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.loops.wind_access import Locality


class OwnWinds(NamedTuple):
    """Compiled functions.

    ``settled(moves, d, states, i)``: the free wind of turbine ``i`` where it stands; ``tried(moves, d, states, i,
    moved)``: with the move. ``fill(wind, d, moves, t, x, y, row)`` works out that of type ``t`` at a place,
    ``fill_tried(wind, moves, moved, x, y)`` that of the moved turbine in all directions; ``take_over(moves, d, moved)``
    makes it the one where it stands.
    """

    settled: Callable[..., Any]
    tried: Callable[..., Any]
    fill: Callable[..., None]
    fill_tried: Callable[..., None]
    take_over: Callable[..., None]


@inlined
def _same_tried(moves, d, states, i, moved):
    return states


@inlined
def _fill_none(wind, moves, moved, x, y):
    return None


@inlined
def _take_over_none(moves, d, moved):
    return None


@inlined
def _own_tried(moves, d, states, i, moved):
    n, directions = moves.x.size, moves.settled.idle.size
    row = directions * n + d if i == moved else d * n + i
    return row_of(moves.free, states.speed.size, row)


_SAME, _OWN = free_winds("uniform"), free_winds("local")
_FILL_OWN = _OWN.fill


@inlined
def _fill_tried(wind, moves, moved, x, y):
    directions = moves.settled.idle.size
    for d in range(directions):
        if not moves.settled.idle[d]:
            _FILL_OWN(wind, d, moves, moves.type_index[moved], x, y, directions * moves.x.size + d)


@inlined
def _take_over(moves, d, moved):
    free, n = moves.free, moves.x.size
    old, new = d * n + moved, moves.settled.idle.size * n + d
    for k in range(free.speed.shape[1]):
        free.speed[old, k], free.weight[old, k] = free.speed[new, k], free.weight[new, k]
        free.turbulence[old, k] = free.turbulence[new, k]


def own_winds(locality: Locality) -> OwnWinds:
    """The functions for a kind of wind: the same everywhere, or local with wakes that go straight."""
    if locality == "uniform":
        return OwnWinds(_SAME.settled, _same_tried, _SAME.fill, _fill_none, _take_over_none)
    return OwnWinds(_OWN.settled, _own_tried, _OWN.fill, _fill_tried, _take_over)
