"""What differs between two databases: results that came, went, changed, and are better or worse for it.

Results are compared by key. Two are the same if layout and energy are: how long a search took does not count. Which of
two is better is decided by the objective, if both campaigns have the same, otherwise by the energy. Values that follow
from other wind, wakes, turbines, neighbours or costs are not comparable; their layouts are, under one of the campaigns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.assembly.stored_turbines import layout_of, own_types
from vindeby.campaign.neighbours import around
from vindeby.campaign.task_index import changed_fields
from vindeby.campaign.tasks import Cell
from vindeby.errors import ArgumentError
from vindeby.results.result_set import ResultPlace, ResultSet

if TYPE_CHECKING:
    from vindeby.wake import WindFarm


@dataclass(frozen=True)
class Changed:
    """A result that both databases have, with another layout or energy."""

    key: str
    before: float
    after: float
    moved: int
    """Turbines that stand elsewhere; all where their number changed."""
    is_same_task: bool
    """Whether the same was asked for: the fingerprints are equal."""
    gain_percent: float | None
    """By how much it is better: of an LCOE, by how much that is lower; None if it was 0 or is not comparable."""


@dataclass
class Difference:
    """The keys, in the order of farm, type and seed, and what differs between the campaigns."""

    compared_by: str
    """What ``before`` and ``after`` are."""
    same: int = 0
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    better: list[Changed] = field(default_factory=list)
    worse: list[Changed] = field(default_factory=list)
    equal: list[Changed] = field(default_factory=list)
    """Worth the same, with turbines that stand elsewhere."""
    not_comparable: list[Changed] = field(default_factory=list)
    """Each of the two is valued by its own campaign, and these differ in what decides the value."""
    unlike: list[str] = field(default_factory=list)
    """The sections in which these campaigns differ; ``layout`` where one campaign cannot value both layouts."""
    fields: list[tuple[str, str, str]] = field(default_factory=list)
    """Fields of the campaign: which, before, after."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.removed or self.changed or self.fields)

    @property
    def changed(self) -> list[Changed]:
        """Every result that is not the same."""
        return [*self.better, *self.worse, *self.equal, *self.not_comparable]


def difference(first: ResultSet, second: ResultSet, *, under: int | None = None) -> Difference:
    """Return what differs in the valid results of the second database from the first.

    With ``under``, layouts are compared by the AEP that the campaign of the first (1) or the second (2) gives them.
    """
    sets, models = (first, second), (_Model(first), _Model(second))
    objectives = [None if one.campaign is None else one.campaign.objective for one in sets]
    objective = objectives[0] if objectives[0] == objectives[1] and under is None else None
    name = "AEP in GWh per year" if objective is None else f"the objective, {objective.title}"
    if under is not None:
        if sets[under - 1].campaign is None:
            raise ArgumentError(f"--under {under}: {sets[under - 1].path} keeps no campaign")
        name += f", computed with the campaign of {sets[under - 1].path}"
    found = Difference(name)
    if first.campaign is not None and second.campaign is not None:
        found.fields = changed_fields(first.campaign, second.campaign)
    before, after = (_valid(results, by_energy=objective is None) for results in sets)
    found.added = [key for key in second.keys if key in after and key not in before]
    found.removed = [key for key in first.keys if key in before and key not in after]
    sign = 1.0 if objective is None else objective.sign
    for key in (key for key in first.keys if key in before and key in after):
        (one, mark), (other, other_mark) = before[key], after[key]
        if under is None:
            unlike = _unlike(*(model.sections(first.place(key)) for model in models))
        else:
            computed = [models[under - 1].aep(results, key) for results in sets]
            one, other = (one, other) if np.isnan(computed).any() else computed
            unlike = ["layout"] if np.isnan(computed).any() else []
        moved = _moved(*(layout_of(results.record(key)) for results in sets))
        gain = 100.0 * (other - one) / abs(one) if one and not unlike else None
        changed = Changed(key, sign * one, sign * other, moved, mark == other_mark, gain)
        if one == other and not moved:
            found.same += 1
        elif unlike:
            found.not_comparable.append(changed)
            found.unlike += [part for part in unlike if part not in found.unlike]
        else:
            (found.better if other > one else found.worse if other < one else found.equal).append(changed)
    return found


def unlike_sections(*pair: tuple[ResultSet, str]) -> list[str]:
    """List the sections in which the campaigns of two results value layouts differently; none if one is unknown."""
    return _unlike(*(_Model(results).sections(results.place(key)) for results, key in pair))


def _unlike(mine: dict[str, Any], others: dict[str, Any]) -> list[str]:
    return [part for part in mine if others and mine[part] != others[part]]


def _valid(results: ResultSet, *, by_energy: bool) -> dict[str, tuple[float, str]]:
    """Return the value and the fingerprint of each valid result."""
    keys = [results.key_of(row) for row in range(len(results.rows))]
    marks = [mark.decode(errors="replace") for mark in results.rows["fingerprint"].tolist()]
    each = results.rows["aep"] if by_energy else results.worths()
    worths = zip(keys, each.tolist(), marks, strict=True)
    return {key: (worth, mark) for key, worth, mark in worths if worth == worth}


def _moved(before: FloatArray | None, after: FloatArray | None) -> int:
    """Return how many turbines stand elsewhere; all where their number changed."""
    if before is None or after is None:
        return 0
    same_number = before.shape == after.shape
    moved: int = (before != after).any(axis=0).sum() if same_number else max(before.shape[1], after.shape[1])
    return int(moved)


class _Model:
    """The wind, wakes, turbines, neighbours and costs by which a campaign values layouts."""

    def __init__(self, results: ResultSet) -> None:
        self._campaign, self._cells = results.campaign, results.axes.by_place
        self._farm, self._decisive = cache(self._new_farm), cache(self._decisive_of)

    def sections(self, place: ResultPlace) -> dict[str, Any]:
        """Return what decides the value of a layout, by section of the campaign; empty for a task that is not in it."""
        cell = self._cells.get(place.cell)
        return {} if cell is None else {**self._decisive(cell), "by_seed": cell.by_seed.get(place.seed)}

    def _decisive_of(self, cell: Cell) -> dict[str, Any]:
        assert self._campaign is not None, "only a campaign has cells"
        campaign = self._campaign.of(cell)
        costs, priced = campaign.costs, campaign.objective is not None and campaign.objective.is_of_costs
        beside = around(campaign, cell.farm_idx)
        standing = zip(beside.x.tolist(), beside.y.tolist(), beside.types.tolist(), strict=True)
        return {
            "site": campaign.stated_site.identity(),
            "wake": campaign.wake.identity(),
            "turbines": [turbine.identity() for turbine in campaign.turbines_of(cell)],
            "neighbours": [*standing, *(turbine.identity() for turbine in beside.turbines)],
            "scenarios": [one.model_dump(exclude={"name"}) for one in campaign.scenarios or ()],
            "costs": costs and priced and costs.model_dump(exclude={"cables": {"router", "seconds"}}),
        }

    def aep(self, results: ResultSet, key: str) -> float:
        """Return the AEP of a layout (GWh), or NaN where the campaign has no turbines or no wind for it."""
        record, cell = results.record(key), self._cells.get(results.place(key).cell)
        layout = layout_of(record)
        if (
            cell is None or layout is None or cell.by_seed
        ):  # the campaign does not have the neighbours of a case
            return np.nan
        types = own_types(record.arrays, cell, layout.shape[1])
        try:
            return np.nan if types is None else self._farm(cell).aep(layout[0], layout[1], types)
        except ArgumentError:  # outside the grid of the wind
            return np.nan

    def _new_farm(self, cell: Cell) -> WindFarm:
        from vindeby.assembly.wind import wind_farm  # loads Numba

        assert self._campaign is not None, "only a campaign has cells"
        return wind_farm(self._campaign.of(cell), cell.type_indices, cell.farm_idx)
