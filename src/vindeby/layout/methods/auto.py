"""auto: what pays for this problem within a budget of CPU seconds or of evaluations.

Which search gives the best layout for a minute depends on the number of turbines, the rose and the wake model. This
method tries starts against each other, refines the best and moves its turbines until the budget is spent
(``portfolio.contest``). It also reports the energy of the best layout over the time.
"""

from dataclasses import dataclass, replace

from vindeby import parameters
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.method import Method, Result, Search
from vindeby.layout.methods.gradient import Gradient
from vindeby.layout.methods.starts import BoundaryGrid, Lattice
from vindeby.layout.methods.walks import Annealing, RandomSearch
from vindeby.layout.portfolio.candidates import Budget, Tools
from vindeby.layout.portfolio.contest import Contest
from vindeby.layout.portfolio.starts import starts_for
from vindeby.layout.problem import Layout, LayoutProblem

SECONDS = 60.0
"""The budget where none is given."""


@dataclass(frozen=True)
class Auto(parameters.Auto, Method):
    """A portfolio of searches.

    ``seconds`` is a budget of CPU time of the process; what is found then depends on the machine, and the result's
    note ``repeatable`` is False. ``evaluations`` is one of work, with which a seed gives the same layout to the bit.
    Give one of them; without both, it is 60 seconds. A start that is given takes part in the race.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seconds is not None and self.evaluations is not None:
            raise ArgumentError("give auto seconds or evaluations, not both")

    def prepare(self, problem: LayoutProblem) -> Search:
        """Choose the starts; whatever else seeds share is made when it is first needed, within the budget."""
        tools, starts = Tools(problem), starts_for(problem)
        seconds = SECONDS if self.seconds is None and self.evaluations is None else self.seconds

        def run(seed: int, start: Layout | None = None) -> Result:
            found = Contest(tools, starts, Budget(seconds, self.evaluations), seed).run(start)
            return replace(found, notes={**found.notes, "repeatable": seconds is None})

        return run

    def brief(self) -> Method:
        """Each part once."""
        return _EachPartOnce()


@dataclass(frozen=True)
class _EachPartOnce(Method):
    """All that ``auto`` may use, as shortly as it goes: compiles its loops."""

    def prepare(self, problem: LayoutProblem) -> Search:
        def run(seed: int, start: Layout | None = None) -> Result:
            result = None
            starts = (one.method for one in starts_for(problem))
            methods = [
                replace(one, trials=1) if isinstance(one, Lattice | BoundaryGrid) else one for one in starts
            ]
            for method in (*methods, Gradient(16), RandomSearch(1), Annealing(1)):
                try:
                    result = method.prepare(problem)(seed, start if result is None else result.layout)
                except (ArgumentError, TaskError):
                    continue
            if result is None:
                raise TaskError(f"farm {problem.name}: auto found no start")
            return result

        return run
