"""A campaign whose method is a Python function of the user's own: ``method: {call: "package.module:function"}``.

The function gets one ``CallTask`` and returns a mapping with at least ``layout``, x then y in metres as an
array of shape (2, n), and ``aep``, in GWh per year. Further arrays and numbers are kept as arrays, texts as
attributes. It runs in a worker process: it may leak, hang, crash or print without harm to any other task.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from vindeby.assembly.energy import code_warning, engine_warning
from vindeby.assembly.starts import Starts
from vindeby.campaign import Campaign, Task
from vindeby.campaign.neighbours import Standing, neighbours_of
from vindeby.campaign.reading.code_files import imported
from vindeby.campaign.sections.boundary import BoundarySection
from vindeby.campaign.sections.method import Call
from vindeby.campaign.sections.site import SiteSection
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.tasks import Cell
from vindeby.errors import ArgumentError
from vindeby.runner.methods.method_protocol import InvalidResultError, Solve, TaskMethod, TaskResult

if TYPE_CHECKING:
    from vindeby.layout import Layout, LayoutProblem
    from vindeby.wake import WindFarm
    from vindeby.wake.gathering import Evaluator


Function: TypeAlias = Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class FunctionTask:
    """The argument of a function that has nothing to do with wind."""

    key: str
    """The name of the result, such as ``farm0_t5_s12``."""
    seed: int
    parameters: Mapping[str, Any]
    """The ``parameters`` of the campaign file for the function; a copy for this task."""


@dataclass(frozen=True, kw_only=True)
class CallTask(FunctionTask):
    """The argument of a layout function: one layout to find."""

    farm: str
    boundary: BoundarySection
    """The allowed area of turbines; ``boundary.shape()`` is a shapely geometry, in metres."""
    turbine: TurbineSection
    n_turbines: int
    min_spacing_m: float
    site: SiteSection
    neighbours: tuple[Standing, ...] = ()
    """Turbines that stand already, each with ``x``, ``y`` and ``turbine``."""
    zones: tuple[tuple[BoundarySection, int], ...] = ()
    """The areas of a farm with zones, and how many turbines stand in each; the layout has them zone by zone."""
    mix: Mapping[int, int] = field(default_factory=dict)
    """The number of turbines by the campaign's type number; the result of a mix has an array ``types``."""
    prepared: _Prepared | None = field(default=None, repr=False, compare=False)
    """The shared data of the tasks of a farm and a type, from which the properties below are made."""

    @property
    def problem(self) -> LayoutProblem:
        """The ``vindeby.LayoutProblem`` that search methods get (wind farm, area, spacing, counts, mix)."""
        if self.prepared is None:
            raise ArgumentError(
                f"task {self.key}: only a task that vindeby made has a problem and a wind farm"
            )
        return self.prepared.problem

    @property
    def start(self) -> Layout | None:
        """The start layout that the campaign gives (``vindeby.Layout``: x, y, types); None if it gives none."""
        if self.prepared is None:
            raise ArgumentError(f"task {self.key}: only a task that vindeby made has a start")
        return self.prepared.start(self.seed)

    @property
    def wind_farm(self) -> WindFarm:
        """The ``vindeby.WindFarm`` that evaluates layouts, in the wind in which energies are stated."""
        return self.problem.farm if self.problem.stated is None else self.problem.stated


class CallMethod:
    """The method that calls a function, loaded once for all farms and types."""

    def __init__(self, campaign: Campaign, call: Call) -> None:
        self._campaign = campaign
        self._call = call
        self._function: Function = imported("method.call", call.function, "function")
        if call.energy_is_compared:
            from vindeby.assembly.wind import load_engine  # and Numba, before any task runs

            load_engine(campaign)

    def prepare(self, cell: Cell) -> Solve:
        """Return the function for a cell; it shares nothing between tasks by itself."""
        return _Prepared(self._campaign, self._call, self._function, cell).solve


class _Prepared:
    def __init__(self, campaign: Campaign, call: Call, function: Function, cell: Cell) -> None:
        self._campaign, self._cell = campaign, cell
        self._call, self._function = call, function

    @cached_property
    def problem(self) -> LayoutProblem:
        """The problem of the cell, made on first use because it loads Numba."""
        from vindeby.assembly.search import problem_of

        return problem_of(self._campaign, self._cell)

    def start(self, seed: int) -> Layout | None:
        """Return the start of a seed, if any; it loads Numba, as the problem does."""
        found = self._starts.of(self._cell, seed)
        return None if found is None else found.layout

    @cached_property
    def _starts(self) -> Starts:
        return Starts(self._campaign)

    @cached_property
    def _of_farm(self) -> dict[str, Any]:
        campaign, cell = self._campaign, self._cell
        farm = campaign.farms[cell.farm_idx]
        areas = [zone.boundary for zone in farm.zones or ()]
        return {
            "farm": farm.name,
            "boundary": farm.boundary,
            "turbine": campaign.turbines[cell.type_idx],
            "n_turbines": cell.n_turbines,
            "min_spacing_m": cell.spacing_m,
            "site": campaign.site,
            "neighbours": neighbours_of(campaign, cell.farm_idx),
            "zones": tuple(zip(areas, cell.zones, strict=True)),
            "prepared": self,
        }

    def _task(self, task: Task) -> FunctionTask | CallTask:
        given: dict[str, Any] = {
            "key": task.key,
            "seed": task.seed,
            "parameters": copy.deepcopy(self._call.parameters),
        }
        if not self._campaign.is_about_wind:
            return FunctionTask(**given)
        return CallTask(**given, **self._of_farm, mix=dict(self._cell.mix))

    def solve(self, task: Task) -> TaskResult:
        given = self._function(self._task(task))
        if not isinstance(given, Mapping):
            raise InvalidResultError(
                f"the function returned a {type(given).__name__}, not a mapping with layout and aep"
            )
        texts = {str(name): value for name, value in given.items() if isinstance(value, str)}
        arrays = {str(name): value for name, value in given.items() if not isinstance(value, str)}
        return TaskResult(arrays, {"engine": self._call.function, **texts})


def method_for(
    campaign: Campaign, progress: Callable[..., None], evaluate: Evaluator | None = None
) -> TaskMethod:
    """Return the campaign's method, ready to prepare farms and types; InputError if it cannot be used.

    ``evaluate`` evaluates layouts, but those of functions of a user's own; by default each is evaluated at once.
    """
    calls = [step.call for one in campaign.distinct("method") for step in one.method if step.call is not None]
    if calls and campaign.vary is not None:
        return _OfCombinations(campaign, progress, evaluate)
    if calls:
        return CallMethod(campaign, calls[0])
    from vindeby.runner.methods.search import (
        SearchMethod,
        StoredMethod,
    )  # which load Numba, as calls need not

    return SearchMethod(campaign, progress, evaluate) if campaign.stored is None else StoredMethod(campaign)


class _OfCombinations:
    """The methods of a campaign's combinations, some of which call a function; one per combination."""

    def __init__(self, campaign: Campaign, progress: Callable[..., None], evaluate: Evaluator | None) -> None:
        for one in campaign.distinct("method"):
            method_for(one, progress)  # what cannot be used is found before any task runs
        self._last = lru_cache(maxsize=1)(
            lambda number: method_for(campaign.variants[number], progress, evaluate)
        )

    def prepare(self, cell: Cell) -> Solve:
        """Set up what all tasks of a farm, a type and a combination share."""
        return self._last(cell.combination).prepare(cell)


def warning(campaign: Campaign, search_path: Sequence[str]) -> str:
    """Return the warning to show before a campaign's code is imported; empty if there is none."""
    for step in (step for one in campaign.distinct("method") for step in one.method):
        named = step.call.function if step.call else step.python.model if step.python else ""
        if named and (text := code_warning(f"method.{step.chosen[0]}", named, search_path)):
            return text
    return engine_warning(campaign, search_path)
