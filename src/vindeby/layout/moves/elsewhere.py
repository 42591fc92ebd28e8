"""What a farm would be worth with one turbine somewhere else, for searches that compare many places for it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from vindeby.layout.moves.moving import mover_of
from vindeby.layout.moves.one_move import can_move_one
from vindeby.layout.problem import Layout, Problem


def worth_elsewhere(problem: Problem, layout: Layout, which: int) -> Callable[[float, float], float]:
    """What the farm is worth, on some scale, as a function of where one turbine stands."""
    farm, beside = problem.farm, problem.neighbours
    if not can_move_one(farm.model):

        def whole(px: float, py: float) -> float:
            x, y = np.array(layout.x), np.array(layout.y)
            x[which], y[which] = px, py
            return problem.aep(Layout(x, y, layout.types))

        return whole
    middle = problem.boundary.origin
    x, y = np.append(layout.x, beside.x) - middle[0], np.append(layout.y, beside.y) - middle[1]
    type_index = np.append(layout.types, beside.types)
    moves, (settle, gained, _), _ = mover_of(farm, x, y, type_index, problem.counted)
    wind = farm.wind_near(middle)
    settle(farm.data, farm.machines, wind, moves)

    def elsewhere(px: float, py: float) -> float:
        return gained(farm.data, farm.machines, wind, moves, which, px - middle[0], py - middle[1], -inf)

    return elsewhere
