"""The interface of search methods.

A method is a frozen set of parameters. ``prepare(problem)`` does what all seeds share and gives a search: a
function of a seed and a start. The search is pure: the same problem, seed and start give the same layout to
the bit, whatever ran before and beside it. Not converging within its budget is a status in the result; only a
problem without any feasible layout is an error (TaskError).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from vindeby.arrays import FloatArray, IntArray
from vindeby.errors import ArgumentError, TaskError
from vindeby.layout.problem import Layout, LayoutProblem

Status = Literal["complete", "converged", "budget"]
"""``complete``: a construction that is done; ``converged``: no better layout nearby; ``budget``: stopped by
the number of iterations or evaluations allowed."""


@dataclass(frozen=True, eq=False)
class Result:
    """A feasible layout, its energy, and the status of its search.

    Args:
        layout: Where the turbines stand, and their types.
        aep_gwh: AEP in GWh.
        status: ``"complete"``, ``"converged"``, or ``"budget"`` where the budget was used up.
        evaluations: How often the energy was computed.
        arrays: What else the search found, by name.
        notes: Single values that are stored with the result.
    """

    layout: Layout
    aep_gwh: float
    status: Status
    evaluations: int
    """The number of energy evaluations, of whole layouts or of the change by one moved turbine."""
    arrays: Mapping[str, FloatArray | IntArray] = field(default_factory=dict)
    """Further results of a method, by name; stored with the layout in the record of a task."""
    notes: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Notes on the search, by name; stored as attributes of that record."""

    def __repr__(self) -> str:
        return f"<Result: {self.aep_gwh:,.3f} GWh/year, {self.status}, {self.layout!r}>"

    @property
    def x(self) -> FloatArray:
        """The x coordinates of the turbines (m east)."""
        return self.layout.x

    @property
    def y(self) -> FloatArray:
        """The y coordinates of the turbines (m north)."""
        return self.layout.y

    @property
    def types(self) -> IntArray:
        """The type of each turbine."""
        return self.layout.types


Search = Callable[[int, Layout | None], Result]


class Method(ABC):
    """A search method; subclass it, as a frozen dataclass, to add another."""

    @abstractmethod
    def prepare(self, problem: LayoutProblem) -> Search:
        """Do what all seeds of a problem share, and return the search."""

    def brief(self) -> Method:
        """Return the same method with a small budget, which compiles all code that the method will use.

        A worker runs it once before its first task. A method whose budget is long, such as one in seconds, has
        a brief form of its own; any other is its own.
        """
        return self

    def after(self, before: Method) -> Method:  # noqa: ARG002  for methods that look at it
        """Return the method with its open parameters set to suit a previous step."""
        return self

    def run(self, problem: LayoutProblem, seed: int, start: Layout | None = None) -> Result:
        """Search once; for many seeds of one problem, call ``prepare`` and use the search it returns.

        Args:
            problem: What is to be laid out.
            seed: Of the random numbers; the same seed gives the same layout to the bit.
            start: The layout to begin with, for methods that need one.
        """
        return checked(problem, self)(seed, start)


def start_for(problem: LayoutProblem, start: Layout | None, method: str) -> Layout:
    """Return the start of a refining method; TaskError if there is none."""
    if start is None:
        raise TaskError(
            f"farm {problem.name}: {method} needs a start; put smart-start, lattice or random-start before it"
        )
    return start


def checked(problem: LayoutProblem, method: Method) -> Search:
    """Return the search of a method, with TaskError for a layout that breaks the constraints."""
    search = method.prepare(problem)
    name = type(method).__name__

    def run(seed: int, start: Layout | None = None) -> Result:
        result = search(seed, start)
        problem.refuse_infeasible(result.layout, name)
        return result

    return run


@dataclass(frozen=True)
class Pipeline(Method):
    """Methods in sequence, each starting from the layout of the previous one."""

    steps: Sequence[Method]

    def __post_init__(self) -> None:
        if not self.steps:
            raise ArgumentError("a pipeline needs at least one method")

    def prepare(self, problem: LayoutProblem) -> Search:
        later = [step.after(before) for before, step in pairwise(self.steps)]
        searches = [checked(problem, step) for step in (self.steps[0], *later)]

        def run(seed: int, start: Layout | None = None) -> Result:
            evaluations = 0
            arrays: dict[str, FloatArray | IntArray] = {}
            notes: dict[str, str | int | float | bool] = {}
            aep_gwh = None
            for number, search in enumerate(searches, 1):
                problem.report.step(number, len(searches), aep_gwh)
                result = search(seed, start)
                start, aep_gwh = result.layout, result.aep_gwh
                evaluations += result.evaluations
                arrays |= result.arrays
                notes |= result.notes
            return replace(result, evaluations=evaluations, arrays=arrays, notes=notes)

        return run

    def brief(self) -> Method:
        return Pipeline([step.brief() for step in self.steps])
