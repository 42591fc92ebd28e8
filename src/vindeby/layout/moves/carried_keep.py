"""A kept move of ``carried_moves``: what the trial noted becomes the layout."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.layout.moves.carried_estimate import move_pair_sums
from vindeby.layout.moves.carried_steps import ACROSS, ALONG, COST, NEW, NEW_WATTS, STRONGEST, WATTS
from vindeby.wake.compiling.compiled import inlined, kernel

__all__ = ["make_keep"]


@inlined
def _position(members, count, i):  # type: ignore[no-untyped-def]
    """Where ``i`` stands in a list."""
    for q in range(count - 1):
        if members[q] == i:
            return q
    return count - 1


@inlined
def _unlist(moves, d, moved):  # type: ignore[no-untyped-def]
    """Forget who reached the moved turbine, and whom it reached."""
    for q in range(moves.target_count[d, moved]):
        j = moves.targets[d, moved, q]
        last = moves.source_count[d, j] - 1
        moves.sources[d, j, _position(moves.sources[d, j], last + 1, moved)] = moves.sources[d, j, last]
        moves.source_count[d, j] = last
    for q in range(moves.source_count[d, moved]):
        i = moves.sources[d, moved, q]
        last = moves.target_count[d, i] - 1
        at = _position(moves.targets[d, i], last + 1, moved)
        moves.targets[d, i, at] = moves.targets[d, i, last]
        for k in range(moves.deficit.shape[2]):
            moves.spot[d, i, COST] -= moves.deficit[d, i, k, at] * moves.steepest[d, k]
            moves.deficit[d, i, k, at] = moves.deficit[d, i, k, last]
        moves.target_count[d, i] = last


@inlined
def _list(moves, d, moved):  # type: ignore[no-untyped-def]
    """Who reaches the moved turbine now, and whom it reaches."""
    count = moves.new_target_count[d]
    moves.target_count[d, moved] = count
    for q in range(count):
        j = moves.new_targets[d, q]
        moves.targets[d, moved, q] = j
        moves.sources[d, j, moves.source_count[d, j]] = moved
        moves.source_count[d, j] += 1
    count = moves.new_source_count[d]
    moves.source_count[d, moved] = count
    for q in range(count):
        i = moves.new_sources[d, q]
        moves.sources[d, moved, q] = i
        at = moves.target_count[d, i]
        moves.targets[d, i, at] = moved
        for k in range(moves.deficit.shape[2]):
            deficit = moves.note[moves.first_note_on_moved[d] + k * count + q]
            moves.deficit[d, i, k, at] = deficit
            moves.spot[d, i, STRONGEST] = max(moves.spot[d, i, STRONGEST], deficit)
            moves.spot[d, i, COST] += deficit * moves.steepest[d, k]
        moves.target_count[d, i] = at + 1


@inlined
def _take_over(moves, d, moved):  # type: ignore[no-untyped-def]
    """The sums and wakes of all that the trial touched in one direction, as they were listed then."""
    for a in range(moves.touched_count[d]):
        i = moves.touched[d, a]
        moves.spot[d, i, WATTS] = moves.spot[d, i, NEW_WATTS]
        row = moves.wind[d, i]
        # Wakes that stay as they are were made with the wind speed and thrust that they had.
        for what in range(NEW if moves.state[d, i] == 2 else NEW // 2):
            for k in range(row.shape[1]):
                row[what, k] = row[NEW + what, k]
        if moves.state[d, i] != 2 or moves.first_note[d, i] < 0:
            continue
        count = moves.new_target_count[d] if i == moved else moves.target_count[d, i]
        deficits, first, strongest, cost = moves.deficit[d, i], moves.first_note[d, i], 0.0, 0.0
        for k in range(row.shape[1]):
            for q in range(count):
                deficit = moves.note[first + k * count + q]
                deficits[k, q] = deficit
                strongest = max(strongest, deficit)
                cost += deficit * moves.steepest[d, k]
        moves.spot[d, i, STRONGEST], moves.spot[d, i, COST] = strongest, cost


def make_keep(identity: str, settle: Callable[..., float]) -> Callable[..., None]:
    """Make the loop; ``settle`` is for moves that changed more than there is room to note."""

    @kernel(identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):  # type: ignore[no-untyped-def]
        """Follows ``gained`` of the same move."""
        old_x, old_y = moves.x[moved], moves.y[moved]
        moves.x[moved], moves.y[moved] = x, y
        if moves.noted[0] < 0:
            settle(data, machines, wind, moves)
            return
        move_pair_sums(moves, moved, old_x, old_y)
        for d in range(wind.cosine.size):
            if not moves.idle[d]:
                _take_over(moves, d, moved)
                _unlist(moves, d, moved)
                _list(moves, d, moved)
                moves.spot[d, moved, ALONG], moves.spot[d, moved, ACROSS] = (
                    moves.new_along[d],
                    moves.new_across[d],
                )

    return keep
