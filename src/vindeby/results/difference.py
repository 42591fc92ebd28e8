"""The differences between two databases: results that are new, missing, changed, better or worse.

Results are compared by key. Two are the same if layout and energy are: how long a search took does not count. Which of
two is better is decided by the objective, if both campaigns have the same, otherwise by the energy. Values that follow
from other wind, wakes, turbines, neighbours or costs are not comparable; ``vindeby evaluate`` computes the layouts of
both with one campaign.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from vindeby.arrays import FloatArray
from vindeby.assembly.stored_turbines import layout_of
from vindeby.campaign.neighbours import around
from vindeby.campaign.task_index import changed_fields
from vindeby.campaign.tasks import Cell
from vindeby.results.result_set import ResultSet


@dataclass(frozen=True)
class Changed:
    """A result that both databases have, with another layout or energy."""

    key: str
    before: float
    after: float
    moved: int
    """The number of turbines at other positions; all if the number of turbines changed."""
    is_same_task: bool
    """True if the fingerprints are equal: both results answer the same task."""
    gain_percent: float | None
    """The gain in percent; for an LCOE, its decrease; None if it was 0 or is not comparable."""


@dataclass
class Difference:
    """The keys, in the order of farm, type and seed, and what differs between the campaigns."""

    compared_by: str
    """The quantity of ``before`` and ``after``."""
    same: int = 0
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    better: list[Changed] = field(default_factory=list)
    worse: list[Changed] = field(default_factory=list)
    equal: list[Changed] = field(default_factory=list)
    """Results of equal value whose turbines have other positions."""
    not_comparable: list[Changed] = field(default_factory=list)
    """Each of the two is valued by its own campaign, and these differ in what decides the value."""
    unlike: list[str] = field(default_factory=list)
    """The sections in which these campaigns differ."""
    fields: list[tuple[str, str, str]] = field(default_factory=list)
    """Fields of the campaign: which, before, after."""

    @property
    def is_empty(self) -> bool:
        """Return whether nothing differs."""
        return not (self.added or self.removed or self.changed or self.fields)

    @property
    def changed(self) -> list[Changed]:
        """Every result that is not the same."""
        return [*self.better, *self.worse, *self.equal, *self.not_comparable]


def difference(first: ResultSet, second: ResultSet) -> Difference:
    """Return the differences of the second database's valid results from the first's."""
    sets, models = (first, second), (_Model(first), _Model(second))
    objectives = [None if one.campaign is None else one.campaign.objective for one in sets]
    objective = objectives[0] if objectives[0] == objectives[1] else None
    found = Difference("AEP in GWh per year" if objective is None else f"the objective, {objective.title}")
    if first.campaign is not None and second.campaign is not None:
        found.fields = changed_fields(first.campaign, second.campaign)
    before, after = (_valid(results, by_energy=objective is None) for results in sets)
    found.added = [key for key in second.keys if key in after and key not in before]
    found.removed = [key for key in first.keys if key in before and key not in after]
    sign = 1.0 if objective is None else objective.sign
    for key in (key for key in first.keys if key in before and key in after):
        (one, mark), (other, other_mark) = before[key], after[key]
        unlike = _unlike(*(model.sections(key) for model in models))
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
    """Return the number of turbines at other positions; all if the number of turbines changed."""
    if before is None or after is None:
        return 0
    same_number = before.shape == after.shape
    moved: int = (before != after).any(axis=0).sum() if same_number else max(before.shape[1], after.shape[1])
    return int(moved)


class _Model:
    """The wind, wakes, turbines, neighbours and costs by which a campaign values layouts."""

    def __init__(self, results: ResultSet) -> None:
        self._results, self._of_cell = results, cache(self._sections_of)

    def sections(self, key: str) -> dict[str, Any]:
        """Return the data that decide a layout's value, by section of the campaign; empty for a task not in it."""
        cell = self._results.cell(key)
        if cell is None:
            return {}
        standing = self._results.record(key).attributes.get("neighbour_layouts", "")
        return {**self._of_cell(cell), "stored neighbours": standing}

    def _sections_of(self, cell: Cell) -> dict[str, Any]:
        assert self._results.campaign is not None, "only a campaign has cells"
        campaign = self._results.campaign.of(cell)
        costs, priced = campaign.costs, campaign.objective is not None and campaign.objective.is_of_costs
        beside = around(campaign, cell.farm_idx)
        standing = zip(beside.x.tolist(), beside.y.tolist(), beside.types.tolist(), strict=True)
        return {
            "site": campaign.stated_site.identity(),
            "wake": campaign.wake.identity(),
            "turbines": [turbine.identity() for turbine in campaign.turbines_of(cell)],
            "neighbours": [*standing, *(turbine.identity() for turbine in beside.turbines)],
            "scenarios": [one.model_dump() for one in (campaign.scenarios or {}).values()],
            "costs": costs and priced and costs.model_dump(exclude={"cables": {"router", "seconds"}}),
        }
