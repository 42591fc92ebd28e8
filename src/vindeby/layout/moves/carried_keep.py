"""A kept move of ``carried_moves``: what the trial noted becomes the layout."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.layout.moves.carried_steps import is_downwind
from vindeby.wake.compiling.compiled import inlined, kernel

__all__ = ["make_keep"]


@inlined
def _unlist(members, count, i):  # type: ignore[no-untyped-def]
    """Take ``i`` out of a list; returns how many are left."""
    for q in range(count):
        if members[q] == i:
            members[q] = members[count - 1]
            return count - 1
    return count


@inlined
def _relist(moves, d, moved):  # type: ignore[no-untyped-def]
    """Who reaches the moved turbine, and whom it reaches."""
    for q in range(moves.target_count[d, moved]):
        j = moves.targets[d, moved, q]
        moves.source_count[d, j] = _unlist(moves.sources[d, j], moves.source_count[d, j], moved)
    for q in range(moves.source_count[d, moved]):
        i = moves.sources[d, moved, q]
        moves.target_count[d, i] = _unlist(moves.targets[d, i], moves.target_count[d, i], moved)
    moves.target_count[d, moved] = moves.new_target_count[d]
    for q in range(moves.new_target_count[d]):
        j = moves.new_targets[d, q]
        moves.targets[d, moved, q] = j
        moves.sources[d, j, moves.source_count[d, j]] = moved
        moves.source_count[d, j] += 1
    moves.source_count[d, moved] = moves.new_source_count[d]
    for q in range(moves.new_source_count[d]):
        i = moves.new_sources[d, q]
        moves.sources[d, moved, q] = i
        moves.targets[d, i, moves.target_count[d, i]] = moved
        moves.target_count[d, i] += 1


@inlined
def _reorder(along, order, moved):  # type: ignore[no-untyped-def]
    """The moved turbine, step by step, to its new place in the order."""
    a = 0
    while order[a] != moved:
        a += 1
    while a > 0 and is_downwind(along[order[a - 1]] - along[moved], order[a - 1], moved):
        order[a] = order[a - 1]
        a -= 1
    while a + 1 < order.size and is_downwind(along[moved] - along[order[a + 1]], moved, order[a + 1]):
        order[a] = order[a + 1]
        a += 1
    order[a] = moved


@inlined
def _take_over(moves, d):  # type: ignore[no-untyped-def]
    """What the trial noted in one direction."""
    most = moves.summed.shape[2]
    for row in range(moves.first_note[d], moves.first_note[d + 1]):
        i, j = moves.note_source[row], moves.note_target[row]
        for k in range(most):
            moves.deficit[d, i, j, k] = moves.note_deficit[row, k]
    for q in range(moves.touched_count[d]):
        i = moves.touched[d, q]
        moves.watts[d, i] = moves.new_watts[d, i]
        for k in range(most):
            moves.summed[d, i, k] = moves.new_summed[d, i, k]
            moves.highest[d, i, k] = moves.new_highest[d, i, k]
            if moves.state[d, i] == 2:
                moves.cast_speed[d, i, k] = moves.new_speed[d, i, k]
                moves.cast_thrust[d, i, k] = moves.new_thrust[d, i, k]


def make_keep(identity: str, settle: Callable[..., float]) -> Callable[..., None]:
    """Make the loop; ``settle`` is for moves that changed more than there is room to note."""

    @kernel(identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):  # type: ignore[no-untyped-def]
        """Follows ``gained`` of the same move."""
        moves.x[moved], moves.y[moved] = x, y
        if moves.first_note[0] < 0:
            settle(data, machines, wind, moves)
            return
        for d in range(wind.cosine.size):
            if moves.idle[d]:
                continue
            _relist(moves, d, moved)
            _take_over(moves, d)
            moves.along[d, moved], moves.across[d, moved] = moves.new_along[d], moves.new_across[d]
            _reorder(moves.along[d], moves.order[d], moved)

    return keep
