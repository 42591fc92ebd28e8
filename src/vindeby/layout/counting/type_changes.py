"""Turbines that change their type where the farm gains by it: one alone, or two that exchange theirs.

All turbines stay where they are, so a larger type needs the room for it. Every single change is evaluated; those that
gain are then made in the order of their gains, each if it still gains beside those before. Exchanges come when no
single change gains any more, as where there are as many of a type as are allowed.
"""

from __future__ import annotations

from itertools import combinations
from typing import final

import numpy as np

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.layout.counting.choice import Choice
from vindeby.layout.problem import Layout, Problem

EXCHANGES = 500
"""So many exchanges are tried in a row without a gain, drawn at random where there are more."""
LEAST_GAIN = 1e-9
"""Of the objective: less than that is rounding."""
Change = tuple[tuple[int, int], ...]
"""Turbines, each with the type that it gets."""


@final
class TypeChanges:
    """A layout whose turbines change types, within a choice; ``problem`` gives energies, spacings and neighbours."""

    def __init__(self, problem: Problem, choice: Choice, layout: Layout, rng: np.random.Generator) -> None:
        self._problem, self._choice, self._rng = problem, choice, rng
        self._x, self._y = (
            np.append(layout.x, problem.neighbours.x),
            np.append(layout.y, problem.neighbours.y),
        )
        self._all_types = np.append(layout.types, problem.neighbours.types)
        self._many = len(layout.x)
        self.evaluations = 1
        self._worth = self._worth_of(layout.types)

    @property
    def types(self) -> IntArray:
        """The type of each turbine, as it is now."""
        return self._all_types[: self._many]

    def make(self) -> bool:
        """Change types until no change gains; whether any was made."""
        changed = False
        while self._change_some() or self._exchange_two():
            changed = True
        return changed

    def _change_some(self) -> bool:
        singles: list[Change] = [
            ((i, kind),) for i in range(self._many) for kind in range(len(self._problem.farm.turbines))
        ]
        gains = [(self._gain(change), change) for change in singles]
        useful = sorted((one for one in gains if self._is_gain(one[0])), key=lambda one: (-one[0], one[1]))
        for _, change in useful:
            self._keep_if_it_gains(change)
        return bool(useful)

    def _exchange_two(self) -> bool:
        types = self.types
        pairs = [(i, j) for i, j in combinations(range(self._many), 2) if types[i] != types[j]]
        order = self._rng.permutation(len(pairs))[:EXCHANGES]
        return any(
            self._keep_if_it_gains(((i, int(types[j])), (j, int(types[i]))))
            for i, j in (pairs[place] for place in order)
        )

    def _keep_if_it_gains(self, change: Change) -> bool:
        if not self._is_gain(gain := self._gain(change)):
            return False
        self._all_types = self._after(change)
        self._worth += gain
        return True

    def _is_gain(self, gain: float) -> bool:
        return gain > LEAST_GAIN * abs(self._worth)

    def _gain(self, change: Change) -> float:
        """What a change is worth; minus infinity where it is not allowed, or is none."""
        after = self._after(change)
        mine = after[: self._many]
        by_type = np.bincount(mine, minlength=len(self._problem.farm.turbines))
        if np.array_equal(after, self._all_types) or not self._choice.allows(by_type):
            return -np.inf
        need = self._problem.spacing_by_type[after]
        if not all(self._has_room(need, i) for i, _ in change):
            return -np.inf
        self.evaluations += 1
        return self._worth_of(mine) - self._worth

    def _after(self, change: Change) -> IntArray:
        types = self._all_types.copy()
        for i, kind in change:
            types[i] = kind
        return types

    def _has_room(self, need: FloatArray, i: int) -> bool:
        apart = np.hypot(self._x - self._x[i], self._y - self._y[i])
        apart[i] = np.inf
        return bool((apart >= 0.5 * (need + need[i])).all())

    def _worth_of(self, types: IntArray) -> float:
        layout = Layout(self._x[: self._many], self._y[: self._many], types)
        by_type = np.bincount(types, minlength=len(self._problem.farm.turbines))
        return self._choice.objective.worth(self._problem.aep(layout), by_type)
