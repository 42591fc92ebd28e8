"""The built-in methods, a search and stored layouts, as tasks of a campaign by ``vindeby.assembly``."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import IntArray
from vindeby.assembly.energy import engine_name
from vindeby.assembly.evaluation import Evaluation
from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.assembly.starts import Starts
from vindeby.assembly.value import SCENARIO_AEP
from vindeby.assembly.wind import load_engine
from vindeby.campaign import Campaign, Task
from vindeby.campaign.starts import has_starts
from vindeby.campaign.tasks import Cell
from vindeby.errors import TaskError
from vindeby.layout import Layout, LayoutProblem, Result
from vindeby.layout.problem import Report
from vindeby.runner.methods.method_protocol import Solve, TaskResult
from vindeby.wake import ScenarioFarm
from vindeby.wake.compiling import compiled
from vindeby.wake.gathering import AtOnce, Evaluator

COMPILING = "compiling the wake model, once for this machine"
"""The stage of a task while machine code is made that is kept on disk."""
WAITING = "waiting for another worker to compile the wake model"
_OF_METHOD = ("method", "vary", "run")
"""Fields that a problem does not depend on."""


class SearchMethod:
    """The pipeline of a campaign's search steps."""

    def __init__(
        self,
        campaign: Campaign,
        progress: Callable[..., None] = lambda *_: None,
        evaluate: Evaluator | None = None,
    ) -> None:
        self._campaign, self._progress, self._evaluate = campaign, progress, evaluate or AtOnce()
        # Now, as PyWake replaces functions of NumPy when it is imported, and no task may.
        for variant in campaign.distinct("wake"):
            load_engine(variant)
        self._engine_names = {id(one.wake): engine_name(one) for one in campaign.distinct("wake")}
        for variant in campaign.distinct("method"):
            pipeline_of(variant)  # what cannot be used is found before any task runs
        self._starts = Starts(campaign) if has_starts(campaign) else None
        self._problem: tuple[object, LayoutProblem] | None = None
        self._warm = set[object]()
        """Wake models and methods whose kernels are compiled."""

    def prepare(self, cell: Cell) -> Solve:
        """Set up the farm, its wakes and whatever its seeds share.

        The first time, one search is made and forgotten: compiling the kernels, or loading them, can take a
        minute, and no task's time limit shall pay for that.
        """
        campaign = self._campaign.of(cell)
        steps, engine = [step.title for step in campaign.method], self._engine_names[id(campaign.wake)]
        with compiled.watched(self._on_compiling):
            method = method_of(campaign, cell, pipeline_of(campaign))
            problem = self._problem_of(campaign, cell)
            report = Report(names=steps, farm=problem.farm)
            problem = replace(problem, report=report, evaluate=self._evaluate)
            search, finish = method.prepare(problem), self._finish_of(campaign, problem)
            kind = id(campaign.wake), id(campaign.method)
            foreign = campaign.wake.pywake or campaign.wake.floris  # where nothing to compile takes long
            if foreign is None and kind not in self._warm:
                brief, seed = method.brief(), self._campaign.seeds[0]
                with self._warmed_up(problem):
                    short, start = (
                        search if brief == method else brief.prepare(problem),
                        self._start(cell, seed),
                    )
                    finish(short(seed, start), start)
                self._warm.add(kind)
        report.tell = self._progress
        type_indices = np.array(cell.type_indices) if cell.mix else None

        def solve(task: Task) -> TaskResult:
            start = self._start(cell, task.seed)
            found = finish(search(task.seed, start), start)
            return result_of(found, " -> ".join(steps), engine, type_indices)

        return solve

    def _finish_of(
        self, campaign: Campaign, problem: LayoutProblem
    ) -> Callable[[Result, Layout | None], Result]:
        """Return a function that states a result's energy and, for one objective, keeps a better start."""
        objective = campaign.objective
        has_rivals = objective is not None and objective.against is not None
        by_price = objective is not None and objective.is_priced_by_state
        starts_count = self._starts is not None and not has_rivals

        def finish(found: Result, start: Layout | None) -> Result:
            if start is not None and starts_count:
                found = _not_worse(problem, found, start, by_price)
            return _stated(problem, found, by_price)

        return finish

    def _start(self, cell: Cell, seed: int) -> Layout | None:
        start = None if self._starts is None else self._starts.of(cell, seed)
        return None if start is None else start.layout

    def _problem_of(self, campaign: Campaign, cell: Cell) -> LayoutProblem:
        """Return the problem of a cell; the previous one if only the method differs."""
        sections = (getattr(campaign, name) for name in type(campaign).model_fields if name not in _OF_METHOD)
        key = (cell.farm_idx, cell.type_idx, *map(id, sections))
        if self._problem is None or self._problem[0] != key:
            self._problem = None
            self._problem = key, problem_of(campaign, cell)
        return self._problem[1]

    @contextlib.contextmanager
    def _warmed_up(self, problem: LayoutProblem) -> Iterator[None]:
        """Compile or load the code of a search: an energy first, unless another worker is compiling it."""
        with (
            contextlib.suppress(compiled.CompiledElsewhereError),
            compiled.watched(self._on_compiling, waits=False),
        ):
            problem.aep(_along_a_line(problem))
        with contextlib.suppress(TaskError):  # this seed may be the one that finds no layout
            yield

    def _on_compiling(self, what: str) -> None:
        self._progress(COMPILING if what == "compiling" else WAITING)


class StoredMethod:
    """The method that evaluates the stored layouts of a campaign."""

    def __init__(self, campaign: Campaign) -> None:
        self._evaluation = Evaluation(campaign)

    def prepare(self, cell: Cell) -> Solve:
        """Set up the energies of a farm and type in the wind and wakes of a combination."""
        evaluate = self._evaluation.of(cell)
        return lambda task: TaskResult(*evaluate(task))


def _along_a_line(problem: LayoutProblem) -> Layout:
    west, south, east, north = problem.boundary.bounds
    types = problem.types_in_order()
    return Layout(np.linspace(west, east, len(types)), np.linspace(south, north, len(types)), types)


def _not_worse(problem: LayoutProblem, found: Result, start: Layout, by_price: bool) -> Result:
    """Return the result, or its start if that is better."""
    searched = by_price or problem.stated is None or isinstance(problem.stated, ScenarioFarm)
    aep_of = problem.aep if searched else problem.stated_aep
    sign = 1.0 if problem.valuation is None else problem.valuation.sign
    before, after = (sign * problem.objective(one, aep_of(one)) for one in (start, found.layout))
    return found if after >= before else replace(found, layout=start, aep_gwh=problem.aep(start))


def _stated(problem: LayoutProblem, found: Result, by_price: bool) -> Result:
    """Return the result with its stated energy and, unless ``by_price``, also the energy of the search."""
    if problem.stated is None and not problem.evaluate.shares_batches:
        return found
    stated_gwh = problem.stated_aep(found.layout)  # on processors, wherever the search computed
    if problem.stated is None:
        return replace(found, aep_gwh=stated_gwh)
    searched = {} if by_price else {"aep_searched": found.aep_gwh}  # by price, it is not an energy
    notes, arrays = {**found.notes, **searched}, dict(found.arrays)
    if isinstance(problem.stated, ScenarioFarm):
        arrays[SCENARIO_AEP] = problem.stated.scenario_aep(found.x, found.y, found.types)
    return replace(found, aep_gwh=stated_gwh, notes=notes, arrays=arrays)


def result_of(found: Result, search: str, engine: str, type_indices: IntArray | None) -> TaskResult:
    """Return the result of a search, with its types' campaign numbers (``type_indices``) if there are several."""
    arrays: dict[str, NDArray[Any]] = {
        **found.arrays,
        "layout": np.stack([found.x, found.y]),
        "aep": np.asarray(found.aep_gwh),
    }
    if type_indices is not None:
        arrays["types"] = type_indices[found.types]
    attributes = {
        **found.notes,
        "engine": engine,
        "search": search,
        "search_status": found.status,
        "evaluations": found.evaluations,
    }
    return TaskResult(arrays, attributes)
