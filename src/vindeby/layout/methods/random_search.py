"""random-search: one turbine moved at random, again and again, and kept where the farm gains by it.

The relocation search of Feng and Shen (2015): a turbine, a direction and a distance are drawn; a place outside
or too near to others is drawn anew; the move is kept if the yearly energy rises. It needs no gradient and no
smooth landscape, and it finds its way from a layout that the gradient holds for the best.
"""

from __future__ import annotations

from dataclasses import dataclass

from vindeby import parameters
from vindeby.layout.method import Method, Search
from vindeby.layout.moves.walk import Walk, walking
from vindeby.layout.problem import Problem

EVEN = 0.5
"""The share of moves whose lengths are drawn evenly up to the longest."""
DECADES = 3.0
"""The others are shorter than the longest by up to so many powers of ten, each scale alike."""


@dataclass(frozen=True)
class RandomSearch(parameters.RandomSearch, Method):
    """Relocation of single turbines.

    ``max_evaluations`` is its budget; ``max_step_m`` the longest move, by default the size of the area. Half
    of the moves are drawn evenly up to it, half on all scales below it. ``wind`` says in which wind states trials are
    made: in few (``coarse-to-fine``) or in ``all``.
    """

    def prepare(self, problem: Problem) -> Search:
        """Choose the wind states of the trials."""
        how = Walk(self.max_evaluations, self.max_step_m or 0.0, EVEN, DECADES)
        return walking(problem, how, self.wind, "random-search")
