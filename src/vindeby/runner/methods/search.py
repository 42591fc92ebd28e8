"""The built-in search as a method: what ``vindeby.assembly`` makes of a campaign, task after task."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import IntArray
from vindeby.assembly.energy import engine_name
from vindeby.assembly.search import method_of, pipeline_of, problem_of
from vindeby.assembly.value import SCENARIO_AEP
from vindeby.assembly.wind import load_engine
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.errors import TaskError
from vindeby.layout import Layout, LayoutProblem, Method, Pipeline, Search
from vindeby.layout import Result as Found
from vindeby.layout.problem import Report
from vindeby.runner.methods.method_protocol import Result, Solve
from vindeby.wake import ScenarioFarm
from vindeby.wake.compiling import compiled
from vindeby.wake.gathering import gathering_of_thread

COMPILING = "compiling the wake model, once for this machine"
"""The stage of a task while machine code is made that is kept on disk."""
WAITING = "waiting for another worker to compile the wake model"


class SearchMethod:
    """The pipeline of a campaign's search steps."""

    def __init__(self, campaign: Campaign, progress: Callable[..., None] = lambda *_: None) -> None:
        self._campaign, self._progress = campaign, progress
        # Now, as PyWake replaces functions of NumPy when it is imported, and no task may.
        load_engine(campaign)
        self._pipeline = pipeline_of(campaign)
        self._words = " -> ".join(step.title for step in campaign.method)
        self._engine = engine_name(campaign)
        self._by_price = campaign.objective is not None and campaign.objective.is_priced_by_state
        foreign = campaign.wake.pywake or campaign.wake.floris
        self._warm = foreign is not None  # there is nothing to compile that takes long

    def prepare(self, cell: Cell) -> Solve:
        """Set up the farm, its wakes and whatever its seeds share.

        The first time, one search is made and forgotten: compiling the kernels, or loading them, can take a
        minute, and no task's time limit shall pay for that.
        """
        with compiled.watched(self._on_compiling):
            method = method_of(self._campaign, cell, self._pipeline)
            problem = problem_of(self._campaign, cell)
            report = Report(names=[step.title for step in self._campaign.method], farm=problem.farm)
            problem = replace(problem, report=report)
            search = _stated(problem, method.prepare(problem), self._by_price)
            if not self._warm:
                self._warm_up(problem, method, search)
                self._warm = True
        report.tell = self._progress
        if not isinstance(method, Pipeline):  # it repeats its steps, nobody knows how often
            report.tell = lambda *how_far: self._progress(*how_far[:-1], None)
        type_indices = np.array(cell.type_indices) if cell.mix else None
        return lambda task: result_of(search(task.seed, None), self._words, self._engine, type_indices)

    def _warm_up(self, problem: LayoutProblem, method: Method, search: Search) -> None:
        """Compile what a search needs, or load it: first an energy, unless another worker is compiling that already."""
        with (
            contextlib.suppress(compiled.CompiledElsewhereError),
            compiled.watched(self._on_compiling, waits=False),
        ):
            problem.aep(_along_a_line(problem))
        brief = method.brief()
        with contextlib.suppress(TaskError):  # this seed may be the one that finds no layout
            short = search if brief == method else _stated(problem, brief.prepare(problem), self._by_price)
            short(self._campaign.seeds[0], None)

    def _on_compiling(self, what: str) -> None:
        self._progress(COMPILING if what == "compiling" else WAITING)


def _along_a_line(problem: LayoutProblem) -> Layout:
    """As many turbines as are searched for, from one corner of the area to the other."""
    west, south, east, north = problem.boundary.bounds
    types = problem.types_in_order()
    return Layout(np.linspace(west, east, len(types)), np.linspace(south, north, len(types)), types)


def _stated(problem: LayoutProblem, search: Search, by_price: bool) -> Search:
    """The search with its energy as it is stated; the one that it searched by, if not ``by_price``, beside it."""

    def run(seed: int, start: Layout | None = None) -> Found:
        found = search(seed, start)
        if problem.stated is None and gathering_of_thread() is None:
            return found
        stated_gwh = problem.stated_aep(found.layout)  # on processors, wherever the search computed
        if problem.stated is None:
            return replace(found, aep_gwh=stated_gwh)
        searched = {} if by_price else {"aep_searched": found.aep_gwh}  # by price, it is not an energy
        notes, arrays = {**found.notes, **searched}, dict(found.arrays)
        if isinstance(problem.stated, ScenarioFarm):
            arrays[SCENARIO_AEP] = problem.stated.scenario_aep(found.x, found.y, found.types)
        return replace(found, aep_gwh=stated_gwh, notes=notes, arrays=arrays)

    return run


def result_of(found: Found, search: str, engine: str, type_indices: IntArray | None) -> Result:
    """What a search found, with the numbers of its types in the campaign (``type_indices``) where there are several."""
    arrays: dict[str, NDArray[Any]] = {
        **found.arrays,
        "layout": np.stack([found.x, found.y]),
        "aep": np.asarray(found.aep_gwh),
    }
    best_types = arrays.pop("scenario_best_types", None)
    if type_indices is not None:
        if best_types is not None:
            arrays["scenario_best_types"] = type_indices[best_types]
        arrays["types"] = type_indices[found.types]
        if "tried_mix" in arrays:  # without the types that only neighbours have
            arrays["tried_mix"] = arrays["tried_mix"][:, : len(type_indices)]
    attributes = {
        **found.notes,
        "engine": engine,
        "search": search,
        "search_status": found.status,
        "evaluations": found.evaluations,
    }
    return Result(arrays, attributes)
