"""The evaluation of stored layouts: their energies and losses, in the wind and among the neighbours of a campaign.

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

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from vindeby import wake
from vindeby.arrays import FloatArray, IntArray
from vindeby.assembly.energy import engine_name
from vindeby.assembly.physics import TOLERANCE_AEP
from vindeby.assembly.stored_layouts import PinnedLayouts, TypedLayout
from vindeby.assembly.wind import farm_with, turbine_of, wind_of
from vindeby.campaign import Campaign, Task
from vindeby.campaign.neighbours import around
from vindeby.campaign.sections.farm import NeighbourGroup
from vindeby.campaign.sections.method import StoredSection
from vindeby.campaign.sections.site import SiteSection
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.stored import Period, Pinned, layout_of_seed, periods_of, references_of, standing_around
from vindeby.campaign.tasks import Cell, KeyParts, parse_key
from vindeby.errors import VindebyError
from vindeby.store.format.record import Attribute, Record
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import WindFarm

_STEPS_IN_A_BLOCK = 512
_MOST_ENGINES = 64
_MOST_REMEMBERED_BYTES = 1 << 26
_MOST_FARMS = 4
"""Farms with a type, in a wind and wakes, for which a process remembers what combinations share."""


class Given(NamedTuple):
    """The energies of one layout in one period: AEP per turbine (GWh, by the whole series), power by step (W)."""

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
        self,
        campaign: Campaign,
        turbines: Sequence[TurbineSection],
        power_type: str | None = None,
    ) -> None:
        self._turbines, self._types = [*map(turbine_of, turbines)], len(turbines)
        self._turbines += map(passive, self._turbines[:])
        self._campaign, self._power_type = campaign, power_type
        series = campaign.site.time_series
        self.steps = 0 if series is None else len(series.wind_speed)
        weights = np.ones(self.steps) if series is None or series.weight is None else np.array(series.weight)
        self._weights = weights / weights.sum() if self.steps else weights
        self._engine = lru_cache(_MOST_ENGINES)(self._make_engine)

    def among(
        self, own: TypedLayout, others: Sequence[TypedLayout], period: tuple[int, int], *, internal: bool
    ) -> Given:
        """Return the energies of ``own`` among ``others``; without ``internal``, ``own`` casts no wakes."""
        own_types = own.types if internal else own.types + self._types
        x, y, types = (
            np.concatenate(parts)
            for parts in zip((own.x, own.y, own_types), *((o.x, o.y, o.types) for o in others), strict=True)
        )
        (engine, index), count = self._engine_for(types, period), len(own)
        if self.steps:
            return self._by_step(engine, (x, y, index), count, *period)
        return Given(engine.turbine_aep(x, y, index)[:count])

    def free_gwh(self, own: TypedLayout) -> float:
        """Return the AEP (GWh) without wakes."""
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
        """Return an engine for these types only, as tables of pairs are for few types, and each turbine's index."""
        distinct, index = np.unique(types, return_inverse=True)
        return self._engine(*period, tuple(distinct.tolist())), index

    def _make_engine(self, first: int, last: int, distinct: tuple[int, ...]) -> WindFarm:
        site = self._campaign.site
        wind = wind_of(part_of(site, first, last) if self.steps else self._campaign.stated_site)
        return farm_with(self._campaign.wake, wind, [self._turbines[type_idx] for type_idx in distinct])


def part_of(site: SiteSection, first: int, last: int) -> SiteSection:
    """Return the site with these steps of its time series only."""
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
    """Return the turbine type without thrust."""
    name = f"{turbine.name} without thrust"
    return replace(turbine, name=name, thrust=np.zeros_like(turbine.thrust))


Evaluate: TypeAlias = Callable[[Task], tuple[dict[str, Any], dict[str, Attribute]]]
"""A function that returns the arrays and the attributes of a task of one cell."""


def stored_section(campaign: Campaign) -> StoredSection:
    """Return the section on the stored layouts that a campaign evaluates."""
    assert campaign.stored is not None, "the campaign is one of stored layouts"
    return campaign.stored


def source_of(campaign: Campaign, beside: Path) -> Path:
    """Return the database with the stored layouts: where it was, or with the same name next to ``beside``."""
    path = Path(stored_section(campaign).database or "")
    return path if path.exists() else beside.with_name(path.name)


class Evaluation:
    """Evaluates the stored layouts of a campaign, and remembers what several of its tasks need."""

    def __init__(self, campaign: Campaign, source: Path | None = None) -> None:
        section = stored_section(campaign)
        self.campaign, self.internal = campaign, section.internal_wakes
        self.stored = PinnedLayouts(source or Path(section.database or ""))
        self.turbines = section.turbines or ()
        self.power_type = section.power_type if section.output == "power" else None
        self._has_combinations = len({id(one.neighbours) for one in campaign.variants}) > 1
        self._engine_name = cache(lambda number: engine_name(campaign.variants[number]))
        self._farms: dict[object, _OfFarm] = {}

    def of(self, cell: Cell) -> Evaluate:
        """Return the function that evaluates the tasks of a cell."""
        campaign = self.campaign.of(cell)
        groups = campaign.groups if self._has_combinations else ()
        key = cell.farm_idx, cell.type_idx, id(campaign.site), id(campaign.wake), groups
        if key not in self._farms:
            if len(self._farms) == _MOST_FARMS:
                del self._farms[next(iter(self._farms))]
            self._farms[key] = _OfFarm(self, campaign, cell, groups)
        return partial(self._evaluated, campaign, cell, self._farms[key])

    def _evaluated(
        self, campaign: Campaign, cell: Cell, farm: _OfFarm, task: Task
    ) -> tuple[dict[str, Any], dict[str, Attribute]]:
        own, standing = layout_of_seed(campaign, cell, task.seed), standing_around(campaign, cell.farm_idx)
        layout = self.stored.layout(own)
        arrays: dict[str, Any] = {"layout": np.stack([layout.x, layout.y])}
        if cell.mix:
            arrays["types"] = self._numbered(layout)
        return arrays | farm.energies(own, periods_of(standing, farm.steps)), {
            "neighbour_layouts": ", ".join(map(str, standing)),
            "layout_key": own.key,
            "layout_seed": KeyParts.of(own.key).seed,
            "internal_wakes": self.internal,
            "engine": self._engine_name(cell.combination),
        }

    def _numbered(self, layout: TypedLayout) -> IntArray:
        """Return each turbine's type number in the campaign."""
        names = [turbine.name for turbine in self.turbines]
        here = [turbine.name for turbine in self.campaign.turbines]
        return np.array([here.index(names[kind]) for kind in layout.types], np.int64)


class _OfFarm:
    """A farm with a type, in one wind and with one wake model, for all combinations of neighbours.

    ``groups`` are turbines of a combination that are not of the database.
    """

    def __init__(
        self, evaluation: Evaluation, campaign: Campaign, cell: Cell, groups: tuple[NeighbourGroup, ...]
    ) -> None:
        self._stored, self._internal = evaluation.stored, evaluation.internal
        without = campaign.model_copy(update={"neighbours": None}) if groups else campaign
        always = around(without, cell.farm_idx, evaluation.turbines)
        here = around(campaign, cell.farm_idx, always.turbines) if groups else always
        self._always, self._here = (TypedLayout(one.x, one.y, one.types) for one in (always, here))
        self._has_groups = bool(groups)
        self._energies = Energies(campaign, here.turbines, evaluation.power_type)
        self.steps = self._energies.steps
        self._without_neighbours = cache(self._free_and_alone)
        bytes_of_one = 1000 + 8 * cell.n_turbines * (self.steps if evaluation.power_type else 1)
        self._one = lru_cache(max(1, _MOST_REMEMBERED_BYTES // bytes_of_one))(self._among)

    def energies(self, own: Pinned, periods: Sequence[Period]) -> dict[str, Any]:
        """Return energies, losses and powers of a layout with the neighbours of these periods."""
        free, alone = self._without_neighbours(own)
        found: dict[str, Any] = {}
        if self._internal != "off":
            found |= _named(self._whole(own, periods, internal=True), "")
            found["aep_alone"] = alone
        if self._internal != "on":
            external = self._whole(own, periods, internal=False)
            found |= _named(external, "" if self._internal == "off" else "_external")
            found["aep_external"] = float(external.aep.sum())
            found["loss_external_only"] = 1.0 - found["aep_external"] / free
        found |= {"aep_free": free, "loss_total": 1.0 - found["aep"] / free}
        if "aep_alone" in found:
            found["loss_internal"] = 1.0 - found["aep_alone"] / free
            found["loss_external"] = (found["aep_alone"] - found["aep"]) / free
        return found

    def _free_and_alone(self, own: Pinned) -> tuple[float, float]:
        free, alone = self._energies.free_gwh(self._stored.layout(own)), 0.0
        if self._internal != "off":
            whole = Period(0, self.steps, ())
            alone = float(self._one(own, whole, False, internal=True).aep.sum())
        return free, alone

    def _whole(self, own: Pinned, periods: Sequence[Period], *, internal: bool) -> Given:
        parts = [self._one(own, period, self._has_groups, internal=internal) for period in periods]
        powers = [part.power for part in parts if part.power is not None]
        power = np.concatenate(powers, axis=1) if powers else None
        return Given(np.sum([part.aep for part in parts], axis=0), power)

    def _among(self, own: Pinned, period: Period, has_groups: bool, *, internal: bool) -> Given:
        others = [self._stored.layout(one) for one in period.standing]
        beside = self._here if has_groups else self._always
        if len(beside):
            others.append(beside)
        return self._energies.among(
            self._stored.layout(own), others, (period.first, period.last), internal=internal
        )


def _named(given: Given, suffix: str) -> dict[str, Any]:
    found: dict[str, Any] = {f"turbine_aep{suffix}": given.aep}
    if not suffix:
        found["aep"] = float(given.aep.sum())
    if given.power is not None:
        found[f"power{suffix}"] = given.power
    return found


def with_neighbours_placed(campaign: Campaign, source: Path) -> Campaign:
    """Return the campaign of one combination with groups in place of stored layouts around a farm; for pictures.

    Raises VindebyError where ``source`` does not hold these layouts as they were.
    """
    stored, types, groups = PinnedLayouts(source), stored_section(campaign).turbines or (), []
    for _, one in references_of(campaign):
        layout = stored.layout(Pinned.parse(one.stored))
        groups.append(
            NeighbourGroup.model_construct(  # unchecked: the name may be longer than any given
                name=one.farm if one.since is None else f"{one.farm} from {one.since}",
                turbines=tuple(types[kind] for kind in sorted(set(layout.types.tolist()))),
                type=tuple(types[kind].name for kind in layout.types.tolist()),
                positions=tuple(zip(layout.x.tolist(), layout.y.tolist(), strict=True)),
            )
        )
    stored.close()
    return campaign.model_copy(update={"neighbours": (*campaign.groups, *groups) or None})


class EvaluationCheck:
    """Computes the results of stored layouts again, with the database of these, which may stand ``beside``."""

    def __init__(self, campaign: Campaign, beside: Path) -> None:
        self._evaluation = Evaluation(campaign, source_of(campaign, beside))
        self._campaign = campaign
        self.not_computed_again: Counter[str] = Counter()
        """The number of records that were not computed again, by reason."""

    def __call__(self, record: Record) -> Iterator[str]:
        """Yield the arrays of a record that differ from those computed for its layout."""
        cell, numbers = self._campaign.cell_of(record.key), parse_key(record.key)
        task = None if cell is None or numbers is None else next(cell.tasks([numbers.seed]))
        if cell is None or task is None or task.fingerprint != record.fingerprint:
            self.not_computed_again["not in the campaign"] += 1
            return
        try:
            arrays, _ = self._evaluation.of(cell)(task)
        except VindebyError:  # the database is not there, or not what it was
            self.not_computed_again[f"without the layouts of {self._evaluation.stored.path.name}"] += 1
            return
        for name, again in arrays.items():
            said = record.arrays.get(name, np.empty(0))
            tolerance = 1e-6 if said.dtype == np.float32 else TOLERANCE_AEP
            if said.shape != np.shape(again) or not np.allclose(
                said, again, rtol=tolerance, atol=TOLERANCE_AEP
            ):
                yield f"{name} is not what its layout gives"
