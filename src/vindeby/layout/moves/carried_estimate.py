"""What a move gains, estimated from pairs of turbines, for ``carried_moves`` to refuse most moves by.

The estimate adds up what the moved turbine and each of the others take from each other as if they stood alone
(``pair_losses``). How near that comes depends on the wakes and the layout, so it is learnt on the way, from moves that
are kept and, now and then, from one that is evaluated whatever its estimate. A move is refused by its estimate where a
gain that is ``ROOM`` times as much better than estimated as any of late would not do.
"""

from __future__ import annotations

from vindeby.layout.moves.pair_losses import pair_loss
from vindeby.wake.compiling.compiled import inlined

__all__ = [
    "LEARNT",
    "MARGIN",
    "REFUSED",
    "SEEN",
    "TRUSTED",
    "estimated_gain",
    "is_to_be_learnt_from",
    "learn",
    "most_gain",
]

FIRST, EVERY = 100, 32
"""The first so many moves are evaluated whatever their estimates, then one in so many."""
TRUSTED = 0.6
"""A loss is taken for at least this share of its estimate; the margin that is learnt stands on top of it."""
ROOM = 1.5
"""The margin is so many times what was seen to be needed."""
FADING = 0.99
"""How much of the margin is left with every move that is evaluated whatever its estimate: layouts change."""
SEEN, REFUSED, MARGIN, LEARNT = 0, 1, 2, 3
"""Of ``learnt``: how many moves were estimated, and how many refused by that; the margin (W). How many these are."""


@inlined
def estimated_gain(moves, moved, x, y):  # type: ignore[no-untyped-def]
    """The gain (W) of a turbine moved to a place, from pairs."""
    total, types = 0.0, moves.reaches.types
    one, px, py = moves.type_index[moved], moves.x[moved], moves.y[moved]
    for j in range(moves.x.size):
        if j != moved:
            other, east, north, counts = moves.type_index[j], moves.x[j], moves.y[j], j < moves.counted
            total += pair_loss(moves.pair_losses, types, one, other, east - px, north - py, counts)
            total -= pair_loss(moves.pair_losses, types, one, other, east - x, north - y, counts)
    return total


@inlined
def is_to_be_learnt_from(moves):  # type: ignore[no-untyped-def]
    """Whether the next move is to be evaluated whatever its estimate; counts them."""
    moves.learnt[SEEN] += 1.0
    seen = int(moves.learnt[SEEN])
    if seen <= FIRST or seen % EVERY == 0:
        moves.learnt[MARGIN] *= FADING
        return True
    return False


@inlined
def learn(moves, estimate, gain):  # type: ignore[no-untyped-def]
    """Compare an estimated loss with what came of it."""
    if estimate < 0.0:
        moves.learnt[MARGIN] = max(moves.learnt[MARGIN], ROOM * (gain - TRUSTED * estimate))


@inlined
def most_gain(moves, estimate):  # type: ignore[no-untyped-def]
    """The gain (W) that a move with this estimate is not expected to be above."""
    return TRUSTED * estimate + moves.learnt[MARGIN]
