"""Small changes of a layout: one turbine less, one more, or other types for some.

The turbine that is removed is the one without which the farm keeps most energy, less what the others cost where they
stand; a turbine that is added goes to the best of many free places. Where there is no free place, all turbines are
pushed apart to make room for it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.layout.area.limits import Limits
from vindeby.layout.counting.choice import Choice
from vindeby.layout.moves.walk import best_place
from vindeby.layout.problem import Layout, LayoutProblem, joined

PLACES = 300
"""Random places that are looked at for one more turbine."""
PUSHES, ROUNDS = 8, 300
"""Where none is free: how many of them are tried, and how long turbines are pushed apart each time."""


def remove_least_valuable(problem: LayoutProblem, layout: Layout) -> tuple[Layout, int]:
    """The layout less the turbine that the farm misses least, and how many energies were computed for it.

    ``problem`` is of any number of turbines: only its energies are asked.
    """
    many = len(layout.x)
    all_but = [np.delete(np.arange(many), i) for i in range(many)]
    kept = [Layout(layout.x[which], layout.y[which], layout.types[which]) for which in all_but]
    worth = [problem.aep(one) - problem.loss_of_places(one) for one in kept]
    return kept[int(np.argmax(worth))], many


def with_one_more(
    problem: LayoutProblem, layout: Layout, kind: int, rng: np.random.Generator
) -> tuple[Layout | None, int]:
    """The layout and one more turbine of a type, and how many energies were computed; None where it has no room.

    ``problem`` is that of the larger number of turbines.
    """
    east, north = problem.zones[0].boundary.sample(rng, PLACES)
    free = _free(problem, layout, kind, east, north)
    if not len(free):
        return _pushed_apart(problem, layout, kind, east[:PUSHES], north[:PUSHES])
    more = _grown(layout, kind, east[free[0]], north[free[0]])
    best = best_place(problem, more, len(layout.x), east[free], north[free])
    return _grown(layout, kind, *best), len(free)


def _free(problem: LayoutProblem, layout: Layout, kind: int, east: FloatArray, north: FloatArray) -> IntArray:
    others, spacing = joined(layout, problem.neighbours), problem.spacing_by_type
    need = 0.5 * (spacing[others.types] + spacing[kind])
    apart = np.hypot(east[:, None] - others.x, north[:, None] - others.y)
    return np.flatnonzero((apart >= need).all(axis=1))


def _pushed_apart(
    problem: LayoutProblem, layout: Layout, kind: int, east: FloatArray, north: FloatArray
) -> tuple[Layout | None, int]:
    limits = Limits(problem, np.append(layout.types, kind))
    best, most, computed = None, -np.inf, 0
    for px, py in zip(east, north, strict=True):
        more, _ = limits.mended(_grown(layout, kind, px, py), ROUNDS)
        if problem.is_feasible(more):
            computed += 1
            if (worth := problem.aep(more) - problem.loss_of_places(more)) > most:
                best, most = more, worth
    return best, computed


def _grown(layout: Layout, kind: int, x: float, y: float) -> Layout:
    return joined(layout, Layout.of([x], [y], kind))


EXCHANGES = 500
"""So many exchanges are tried in a row without a gain, drawn at random where there are more."""
LEAST_GAIN = 1e-9
"""Of the objective: less than that is rounding."""
Change = tuple[tuple[int, int], ...]
"""Turbines, each with the type that it gets."""


class TypeChanges:
    """A layout whose turbines change types, within a choice; ``problem`` gives energies, spacings and neighbours."""

    def __init__(
        self, problem: LayoutProblem, choice: Choice, layout: Layout, rng: np.random.Generator
    ) -> None:
        self._problem, self._choice, self._rng = problem, choice, rng
        everyone = joined(layout, problem.neighbours)
        self._x, self._y, self._all_types = everyone.x, everyone.y, everyone.types
        self._many = len(layout.x)
        value = problem.valuation
        # Cables stay as they are: they do not depend on types.
        self._value = None if value is None else value.routed(layout.x, layout.y)
        self.evaluations = 1
        self._worth = self._worth_of(layout.types)

    @property
    def types(self) -> IntArray:
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
        aep_gwh = self._problem.aep(layout)
        if self._value is None:
            return aep_gwh
        parts = self._value.parts(layout.x, layout.y, types)
        return self._value.sign * self._value.objective_of(parts, self._many, aep_gwh)
