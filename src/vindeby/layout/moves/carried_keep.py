"""A kept move of ``carried_moves``: what the trial noted becomes the layout."""

from __future__ import annotations

from collections.abc import Callable

from vindeby.layout.moves.carried_estimate import move_pair_sums
from vindeby.layout.moves.carried_steps import ACROSS, ALONG, NEW, NEW_WATTS, STRONGEST, WATTS
from vindeby.layout.moves.carried_wind import own_winds
from vindeby.wake.compiling.compiled import inlined, kernel
from vindeby.wake.loops.wind_access import Locality


@inlined
def _position(members, count, i):
    """Where ``i`` stands in a list."""
    for q in range(count - 1):
        if members[q] == i:
            return q
    return count - 1


@inlined
def _unlist(moves, d, moved):
    """Forget who reached the moved turbine, and whom it reached."""
    settled = moves.settled
    for q in range(settled.target_count[d, moved]):
        j = settled.targets[d, moved, q]
        last = settled.source_count[d, j] - 1
        settled.sources[d, j, _position(settled.sources[d, j], last + 1, moved)] = settled.sources[d, j, last]
        settled.source_count[d, j] = last
    for q in range(settled.source_count[d, moved]):
        i = settled.sources[d, moved, q]
        last = settled.target_count[d, i] - 1
        at = _position(settled.targets[d, i], last + 1, moved)
        settled.targets[d, i, at] = settled.targets[d, i, last]
        for k in range(settled.deficit.shape[2]):
            settled.deficit[d, i, k, at] = settled.deficit[d, i, k, last]
        settled.target_count[d, i] = last


@inlined
def _list(moves, d, moved):
    """Who reaches the moved turbine now, and whom it reaches."""
    settled, trial = moves.settled, moves.trial
    count = trial.target_count[d]
    settled.target_count[d, moved] = count
    for q in range(count):
        j = trial.targets[d, q]
        settled.targets[d, moved, q] = j
        settled.sources[d, j, settled.source_count[d, j]] = moved
        settled.source_count[d, j] += 1
    count = trial.source_count[d]
    settled.source_count[d, moved] = count
    for q in range(count):
        i = trial.sources[d, q]
        settled.sources[d, moved, q] = i
        at = settled.target_count[d, i]
        settled.targets[d, i, at] = moved
        for k in range(settled.deficit.shape[2]):
            deficit = moves.notes.deficit[moves.notes.first_on_moved[d] + k * count + q]
            settled.deficit[d, i, k, at] = deficit
            settled.spot[d, i, STRONGEST] = max(settled.spot[d, i, STRONGEST], deficit)
        settled.target_count[d, i] = at + 1


@inlined
def _take_over(moves, d, moved):
    """The sums and wakes of all that the trial touched in one direction, as they were listed then."""
    settled, trial, notes = moves.settled, moves.trial, moves.notes
    for a in range(trial.touched_count[d]):
        i = trial.touched[d, a]
        settled.spot[d, i, WATTS] = settled.spot[d, i, NEW_WATTS]
        row = settled.wind[d, i]
        # Wakes that stay as they are were made with the wind speed and thrust that they had.
        for what in range(NEW if trial.state[d, i] == 2 else NEW // 2):
            for k in range(row.shape[1]):
                row[what, k] = row[NEW + what, k]
        if trial.state[d, i] != 2 or notes.first[d, i] < 0:
            continue
        count = trial.target_count[d] if i == moved else settled.target_count[d, i]
        deficits, first, strongest = settled.deficit[d, i], notes.first[d, i], 0.0
        for k in range(row.shape[1]):
            for q in range(count):
                deficit = notes.deficit[first + k * count + q]
                deficits[k, q] = deficit
                strongest = max(strongest, deficit)
        settled.spot[d, i, STRONGEST] = strongest


def make_keep(locality: Locality, identity: str, settle: Callable[..., float]) -> Callable[..., None]:
    """Make the loop; ``settle`` is for moves that changed more than there is room to note."""
    take_over_wind = own_winds(locality).take_over

    @kernel(identity, counts_references=False)
    def keep(data, machines, wind, moves, moved, x, y):
        """Follows ``gained`` of the same move."""
        settled = moves.settled
        old_x, old_y = moves.x[moved], moves.y[moved]
        moves.x[moved], moves.y[moved] = x, y
        if moves.notes.used[0] < 0:
            settle(data, machines, wind, moves)
            return
        move_pair_sums(moves, moved, old_x, old_y)
        for d in range(wind.cosine.size):
            if not settled.idle[d]:
                _take_over(moves, d, moved)
                _unlist(moves, d, moved)
                _list(moves, d, moved)
                take_over_wind(moves, d, moved)
                settled.spot[d, moved, ALONG] = moves.trial.along[d]
                settled.spot[d, moved, ACROSS] = moves.trial.across[d]

    return keep
