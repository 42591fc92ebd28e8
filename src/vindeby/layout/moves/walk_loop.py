"""The loop of a walk, compiled: moves tried one after the other, from what the moved turbine changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from vindeby.layout.moves.one_move import MoveKernels
from vindeby.layout.moves.swapping import make_swap, may_swap, never_swap
from vindeby.layout.moves.walk_rules import is_allowed, temperature_at
from vindeby.wake.compiling.compiled import kernel, scalar


@scalar
def _note(moves, best, best_types):
    """Keep the layout as it is now."""
    for j in range(best.shape[1]):
        best[0, j], best[1, j] = moves.x[j], moves.y[j]
        best_types[j] = moves.type_index[j]


@cache
def walk_kernel(
    kernels: MoveKernels, identity: str, swapping: bool
) -> Callable[..., tuple[int, int, float, float]]:
    """The walk of a farm; only in one of several types turbines swap types."""
    settle, gained, keep = kernels
    identity = f"{identity} swapping" if swapping else identity
    swap = make_swap(settle, identity) if swapping else never_swap

    @kernel(identity, counts_references=False)
    def try_all(
        data,
        machines,
        wind,
        moves,
        areas,
        zone,
        need,
        draws,
        others,
        group,
        hot,
        cold,
        trials,
        budget,
        best,
        best_types,
        kept,
        energy,
        most,
    ):
        """Try all moves drawn, or until the budget is spent.

        Returns the trials so far, the moves kept since sums were last made anew, the energy and the most of it (W).
        """
        for t in range(draws.shape[0]):
            i = int(draws[t, 0])
            if swapping and others[t] >= 0:
                j = others[t]
                if not may_swap(moves.type_index, group, moves.x, moves.y, need, i, j):
                    continue
                slack = draws[t, 3] * temperature_at(hot, cold, trials, budget)
                trials += 1
                gain = swap(data, machines, wind, moves, need, i, j, energy, slack)
                if gain > slack:
                    energy += gain
                    if energy > most:
                        most = energy
                        _note(moves, best, best_types)
                if trials == budget:
                    break
                continue
            px, py = moves.x[i] + draws[t, 1], moves.y[i] + draws[t, 2]
            if not is_allowed(areas, zone, moves.x, moves.y, need, i, px, py):
                continue
            slack = draws[t, 3] * temperature_at(hot, cold, trials, budget)
            gain = gained(data, machines, wind, moves, i, px, py, slack)
            trials += 1
            if gain > slack:
                keep(data, machines, wind, moves, i, px, py)
                kept += 1
                energy += gain
                if energy > most:
                    most = energy
                    _note(moves, best, best_types)
            if trials == budget:
                break
        return trials, kept, energy, most

    return try_all
