"""random-search: one turbine moved at random, repeatedly; a move is accepted if the farm gains by it.

The relocation search of Feng and Shen (2015): a turbine, a direction and a distance are drawn; a place outside
becomes the nearest one on the border, and one too near to others is drawn anew; the move is kept if the yearly energy
rises. It needs no gradient and no smooth landscape, and it finds its way from a layout that the gradient holds for the
best.

annealing: single turbines moved at random, at first even where the farm loses by it, then less and less.

Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983). A farm with narrow wakes has countless optima, and
what lies between two of them is worse than both: a search that only climbs stays with the first. The walk here
crosses such valleys while it is hot and settles while it cools; what it ends with is best refined by gradient.
"""

from dataclasses import dataclass

from vindeby import parameters
from vindeby.layout.method import Method, Search
from vindeby.layout.moves.walk import Walk, walking
from vindeby.layout.problem import LayoutProblem

SEARCH_EVEN, SEARCH_DECADES = 0.5, 3.0
"""The share of moves with uniformly drawn lengths in random-search, and the powers of ten that others span."""
COOLING = 30.0
"""The ratio of first to last temperature, if a temperature is given."""
OF_LOSSES = 0.1
"""The default first temperature, as a fraction of the start's wake loss."""
COOLING_OF_LOSSES = 10.0
"""The ratio of first to last temperature, if no temperature is given."""
EVEN = 0.1
"""The share of moves whose lengths are drawn evenly up to the size of the area."""
DECADES = 2.5
"""The others are shorter by up to so many powers of ten, each scale alike."""


@dataclass(frozen=True)
class Annealing(parameters.AnnealingParameters, Method):
    """Simulated annealing of a start.

    ``max_evaluations`` is its budget: the longer, the better what it ends with. ``temperature`` is how much
    may readily be lost by a move at first, as a fraction of the mean energy of a turbine. Without it, that is a tenth
    of the start's wake loss: where wakes take little, a move changes little. ``wind`` says in which wind states trials
    are made: in few (``coarse-to-fine``) or in ``all``.
    """

    def prepare(self, problem: LayoutProblem) -> Search:
        hot, cooling, of_losses = self.temperature, COOLING, False
        if hot is None:
            hot, cooling, of_losses = OF_LOSSES, COOLING_OF_LOSSES, True
        how = Walk(self.max_evaluations, 0.0, EVEN, DECADES, hot, hot / cooling, of_losses)
        return walking(problem, how, self.wind, "annealing")


@dataclass(frozen=True)
class RandomSearch(parameters.RandomSearchParameters, Method):
    """Relocation of single turbines.

    ``max_evaluations`` is its budget; ``max_step_m`` the longest move, by default the size of the area. Half
    of the moves are drawn evenly up to it, half on all scales below it. ``wind`` says in which wind states trials are
    made: in few (``coarse-to-fine``) or in ``all``.
    """

    def prepare(self, problem: LayoutProblem) -> Search:
        how = Walk(self.max_evaluations, self.max_step_m or 0.0, SEARCH_EVEN, SEARCH_DECADES)
        return walking(problem, how, self.wind, "random-search")
