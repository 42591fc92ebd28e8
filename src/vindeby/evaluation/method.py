"""The evaluation of stored layouts as a method of a campaign: what a worker does for each case.

Energies, for the evaluated farm, in GWh per year:

- ``aep_free``: no turbine stands in a wake;
- ``aep_alone``: the farm with its own wakes, and without the neighbours of the combination;
- ``aep``: with its own wakes and those of the neighbours (with ``internal_wakes: false``, that of the next line);
- ``aep_external``: internal wakes switched off. The farm's turbines cast no wakes; they stand in those of the
  neighbours, which stand in each other's.

Losses are fractions of ``aep_free``: ``loss_total`` of ``aep``, ``loss_internal`` of ``aep_alone``, and
``loss_external``, what the neighbours take from the farm as it is: ``loss_total`` - ``loss_internal``.
``loss_external_only`` is that of ``aep_external``: what the neighbours would take from turbines that do not
disturb each other.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby import wake
from vindeby.arrays import FloatArray, IntArray
from vindeby.assembly.energy import engine_name
from vindeby.assembly.wind import farm_with, turbine_of, wind_of
from vindeby.campaign import Campaign, Task
from vindeby.campaign.neighbours import around
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.tasks import Cell, cell_key, parse_key
from vindeby.evaluation.as_campaign import call_of
from vindeby.evaluation.stored_layouts import Case, Period, Pinned, PinnedLayouts, TypedLayout, periods_of
from vindeby.runner.methods.method_protocol import Result, Solve
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import WindFarm
from vindeby.wake.farm import Layout
from vindeby.wake.gathering import gathering_of_thread

_STEPS_IN_A_BLOCK = 512
_ROSES_AT_ONCE = 8
_MOST_ENGINES = 64
_MOST_REMEMBERED_BYTES = 1 << 26


class Given(NamedTuple):
    """Of one layout in one period: AEP of each turbine (GWh, by the weights of the whole series), power by step (W)."""

    aep: FloatArray
    power: npt.NDArray[Any] | None = None


class Energies:
    """Evaluates layouts in the wind and with the wakes of a campaign; ``turbines`` are all types, by number.

    All turbines, the farm's own first and then its neighbours, are one layout for the engine, so that an engine is
    built once for a period and a set of turbine types. Steps are worked off in blocks, so that memory does not grow
    with the length of a series.

    ``power_type`` is that of the powers that are kept; none are where it is None.
    """

    def __init__(
        self, campaign: Campaign, turbines: Sequence[Turbine], power_type: str | None = None
    ) -> None:
        self._turbines, self._types = [*map(turbine_of, turbines)], len(turbines)
        self._turbines += map(passive, self._turbines[:])
        self._campaign, self._power_type = campaign, power_type
        series = campaign.site.time_series
        self.steps = 0 if series is None else len(series.wind_speed)
        weights = np.ones(self.steps) if series is None or series.weight is None else np.array(series.weight)
        self._weights = weights / weights.sum() if self.steps else weights
        self._building = threading.Lock()
        self._engine = lru_cache(_MOST_ENGINES)(self._make_engine)

    def among(
        self, own: TypedLayout, others: Sequence[TypedLayout], period: tuple[int, int], *, internal: bool
    ) -> Given:
        """What ``own`` gives among ``others``; without ``internal`` wakes its turbines cast none."""
        own_types = own.types if internal else own.types + self._types
        x, y, types = (
            np.concatenate(parts)
            for parts in zip((own.x, own.y, own_types), *((o.x, o.y, o.types) for o in others), strict=True)
        )
        (engine, index), count = self._engine_for(types, period), len(own)
        if self.steps:
            return self._by_step(engine, (x, y, index), count, *period)
        if (gathering := gathering_of_thread()) is not None:
            batch = partial(_turbine_aeps, own=count)
            return Given(gathering.evaluated(engine, (x, y, index), (count, 0), batch))
        return Given(engine.turbine_aep(x, y, index)[:count])

    def free_gwh(self, own: TypedLayout) -> float:
        """AEP if no turbine stood in a wake."""
        engine, index = self._engine_for(own.types, (0, self.steps))
        return engine.free_aep_at(own.x, own.y, index)

    def _by_step(
        self, engine: WindFarm, layout: tuple[FloatArray, FloatArray, Any], own: int, first: int, last: int
    ) -> Given:
        mean, weights, states = np.zeros(own), self._weights[first:last], engine.states
        if len(states.speed) > last - first:  # direction_std_deg divides up each step
            weights = weights.sum() * states.probability[np.argsort(np.asarray(states.step))]
        kept = None if self._power_type is None else np.empty((own, last - first), self._power_type)
        for steps, power in engine.power_steps(*layout, own=own, steps_per_chunk=_STEPS_IN_A_BLOCK):
            mean += power @ weights[steps]
            if kept is not None:
                kept[:, steps] = power
        return Given(mean * mean_power_to_aep_gwh(1.0), kept)

    def _engine_for(self, types: IntArray, period: tuple[int, int]) -> tuple[WindFarm, Any]:
        """An engine that knows these types only, since tables of pairs are for few, and their numbers in it."""
        distinct, index = np.unique(types, return_inverse=True)
        if gathering_of_thread() is not None:  # tasks share batches only with the same engine
            distinct, index = np.arange(len(self._turbines)), types
        with self._building:
            return self._engine(*period, tuple(distinct.tolist())), index

    def _make_engine(self, first: int, last: int, distinct: tuple[int, ...]) -> WindFarm:
        site = self._campaign.site
        wind = wind_of(part_of(site, first, last) if self.steps else site.stated)
        return farm_with(self._campaign.wake, wind, [self._turbines[type_idx] for type_idx in distinct])


def _turbine_aeps(farm: WindFarm, layouts: Sequence[Layout], own: int) -> list[FloatArray]:
    """AEP in GWh of the first ``own`` turbines of many layouts, a few at a time for their powers in all wind states."""
    step, weights = farm.states.step, farm.states.probability * mean_power_to_aep_gwh(1.0)
    weights = weights if step is None else weights[np.argsort(step)]
    few = (layouts[i : i + _ROSES_AT_ONCE] for i in range(0, len(layouts), _ROSES_AT_ONCE))
    return [row.reshape(own, -1) @ weights for some in few for row in farm.power_batch(some, own)]


def part_of(site: Site, first: int, last: int) -> Site:
    """The same site with these steps only."""
    series = site.time_series
    assert series is not None
    if (first, last) == (0, len(series.wind_speed)):
        return site
    cut = {
        name: value[first:last]
        for name in type(series).model_fields
        if isinstance(value := getattr(series, name), tuple)
    }
    return site.model_copy(update={"time_series": series.model_copy(update=cut)})


def passive(turbine: wake.Turbine) -> wake.Turbine:
    """The same type without thrust."""
    name = f"{turbine.name} without thrust"
    return replace(turbine, name=name, thrust=np.zeros_like(turbine.thrust))


class EvaluationMethod:
    """Evaluates the layouts of a database, for all farms and types of a study."""

    def __init__(self, campaign: Campaign) -> None:
        call = call_of(campaign)
        assert call is not None, "the campaign names this class"
        self.campaign, self.engine = campaign, engine_name(campaign)
        parameters: dict[str, Any] = call.parameters
        context = call.context or {}
        self.pinned = {key: tuple(map(Pinned.parse, texts)) for key, texts in parameters["layouts"].items()}
        self.cases, self.internal = call.cases or (), str(parameters["internal_wakes"])
        self.stored = PinnedLayouts(Path(context["source_database"]))
        self.turbines = [Turbine.model_validate(data) for data in parameters["turbines"]]
        self.power_type = str(parameters["power_type"]) if parameters["output"] == "power" else None
        self._around_farm = cache(self._surroundings)

    def prepare(self, cell: Cell) -> Solve:
        """The layouts of a farm and type, and what always stands around them."""
        return _Prepared(self, cell, *self._around_farm(cell.farm_idx)).solve

    def _surroundings(self, farm_idx: int) -> tuple[Energies, TypedLayout]:
        """The engines, and the turbines that stand already by the campaign of the database."""
        beside = around(self.campaign, farm_idx, self.turbines)
        energies = Energies(self.campaign, beside.turbines, self.power_type)
        return energies, TypedLayout(beside.x, beside.y, beside.types)


class _Prepared:
    """A farm with a type: evaluates its cases, and remembers what several of them need."""

    def __init__(self, method: EvaluationMethod, cell: Cell, energies: Energies, around: TypedLayout) -> None:
        self._method, self._cell, self._energies, self._around = method, cell, energies, around
        self._own = method.pinned[cell_key(cell.farm_idx, cell.type_idx)]
        self._without_neighbours = cache(self._free_and_alone)
        bytes_of_one = 1000 + 8 * cell.n_turbines * (energies.steps if method.power_type else 1)
        self._one = lru_cache(max(1, _MOST_REMEMBERED_BYTES // bytes_of_one))(self._among)

    def solve(self, task: Task) -> Result:
        """One case: a layout among a combination of neighbours."""
        case = Case.loads(self._method.cases[task.seed])
        own = self._own[case.layout]
        # A farm is not its own neighbour: a table may be shared by several evaluated farms.
        others = [one for one in case.neighbours if one.pinned.farm_idx != own.farm_idx]
        periods = periods_of(others, self._energies.steps)
        layout = self._method.stored.layout(own)
        arrays: dict[str, Any] = {"layout": np.stack([layout.x, layout.y])}
        if self._cell.mix:
            arrays["types"] = self._numbered(layout)
        arrays |= self._energies_of(own, periods)
        seed = parse_key(own.key)
        assert seed is not None
        return Result(
            arrays,
            {
                "combination": case.combination,
                "neighbours": ", ".join(map(str, others)),
                "layout_key": own.key,
                "layout_seed": seed[2],
                "internal_wakes": self._method.internal,
                "engine": self._method.engine,
            },
        )

    def _energies_of(self, own: Pinned, periods: Sequence[Period]) -> dict[str, Any]:
        free, alone = self._without_neighbours(own)
        found: dict[str, Any] = {}
        if self._method.internal != "off":
            found |= _named(self._whole(own, periods, internal=True), "")
            found["aep_alone"] = alone
        if self._method.internal != "on":
            external = self._whole(own, periods, internal=False)
            found |= _named(external, "" if self._method.internal == "off" else "_external")
            found["aep_external"] = float(external.aep.sum())
            found["loss_external_only"] = 1.0 - found["aep_external"] / free
        found |= {"aep_free": free, "loss_total": 1.0 - found["aep"] / free}
        if "aep_alone" in found:
            found["loss_internal"] = 1.0 - found["aep_alone"] / free
            found["loss_external"] = (found["aep_alone"] - found["aep"]) / free
        return found

    def _free_and_alone(self, own: Pinned) -> tuple[float, float]:
        """The energy of a layout without any wakes, and without those of the combination's neighbours (if needed)."""
        free, alone = self._energies.free_gwh(self._method.stored.layout(own)), 0.0
        if self._method.internal != "off":
            whole = Period(0, self._energies.steps, ())
            alone = float(self._one(own, whole, internal=True).aep.sum())
        return free, alone

    def _whole(self, own: Pinned, periods: Sequence[Period], *, internal: bool) -> Given:
        """All periods together."""
        parts = [self._one(own, period, internal=internal) for period in periods]
        powers = [part.power for part in parts if part.power is not None]
        power = np.concatenate(powers, axis=1) if powers else None
        return Given(np.sum([part.aep for part in parts], axis=0), power)

    def _among(self, own: Pinned, period: Period, *, internal: bool) -> Given:
        stored = self._method.stored
        others = [stored.layout(one) for one in period.standing]
        if len(self._around):
            others.append(self._around)
        return self._energies.among(
            stored.layout(own), others, (period.first, period.last), internal=internal
        )

    def _numbered(self, layout: TypedLayout) -> IntArray:
        """The types of a mix by their numbers in the study's campaign."""
        names = [turbine.name for turbine in self._method.turbines]
        here = [turbine.name for turbine in self._method.campaign.turbines]
        assert all(kind < len(here) for kind in self._cell.type_indices)
        return np.array([here.index(names[kind]) for kind in layout.types], np.int64)


def _named(given: Given, suffix: str) -> dict[str, Any]:
    found: dict[str, Any] = {f"turbine_aep{suffix}": given.aep}
    if not suffix:
        found["aep"] = float(given.aep.sum())
    if given.power is not None:
        found[f"power{suffix}"] = given.power
    return found
