"""What differs between two databases: results that came, went, changed, and are better or worse for it.

Results are compared by key. Two are the same if layout and energy are: how long a search took does not count. Which of
two is better is decided by the objective, if both campaigns have the same, otherwise by the energy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vindeby.assembly.stored_turbines import layout_of
from vindeby.campaign import Campaign
from vindeby.results.result_set import ResultSet


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
    """By how much it is better: of an LCOE, by how much that is lower; None where it was 0 before."""


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
    fields: list[tuple[str, str, str]] = field(default_factory=list)
    """Fields of the campaign: which, before, after."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.removed or self.changed or self.fields)

    @property
    def changed(self) -> list[Changed]:
        """Every result that is not the same."""
        return [*self.better, *self.worse, *self.equal]


def difference(first: ResultSet, second: ResultSet) -> Difference:
    """What differs in the valid results of the second database from the first."""
    objectives = [None if one.campaign is None else one.campaign.objective for one in (first, second)]
    objective = objectives[0] if objectives[0] == objectives[1] else None
    name = "AEP in GWh per year" if objective is None else f"the objective, {objective.title}"
    found = Difference(name, fields=_campaign_fields(first.campaign, second.campaign))
    before, after = (_valid(results, by_energy=objective is None) for results in (first, second))
    sign = 1.0 if objective is None else objective.sign
    found.added = [key for key in second.keys if key in after and key not in before]
    for key in first.keys:
        if key in before and key not in after:
            found.removed.append(key)
        elif key in before:
            _compare(found, first, second, key, (before[key], after[key]), sign)
    return found


def _valid(results: ResultSet, *, by_energy: bool) -> dict[str, tuple[float, str]]:
    """What each valid result is worth, and its fingerprint."""
    keys = [results.key_of(row) for row in range(len(results.rows))]
    marks = [mark.decode(errors="replace") for mark in results.rows["fingerprint"].tolist()]
    each = results.rows["aep"] if by_energy else results.worths()
    worths = zip(keys, each.tolist(), marks, strict=True)
    return {key: (worth, mark) for key, worth, mark in worths if worth == worth}


def _compare(
    found: Difference, first: ResultSet, second: ResultSet, key: str, worths: tuple[Any, Any], sign: float
) -> None:
    (before, mark), (after, other) = worths
    layouts = [layout_of(results.record(key)) for results in (first, second)]
    moved = 0
    if layouts[0] is not None and layouts[1] is not None:
        if layouts[0].shape == layouts[1].shape:
            moved = int((layouts[0] != layouts[1]).any(axis=0).sum())
        else:
            moved = max(layout.shape[1] for layout in layouts if layout is not None)
    if before == after and not moved:
        found.same += 1
        return
    gain = 100.0 * (after - before) / abs(before) if before else None
    changed = Changed(key, sign * before, sign * after, moved, mark == other, gain)
    (found.better if after > before else found.worse if after < before else found.equal).append(changed)


def _campaign_fields(first: Campaign | None, second: Campaign | None) -> list[tuple[str, str, str]]:
    if first is None or second is None:
        return []
    flat = [_flattened(campaign.model_dump(mode="json", by_alias=True)) for campaign in (first, second)]
    names = dict.fromkeys([*flat[0], *flat[1]])
    pairs = [(name, flat[0].get(name, "not given"), flat[1].get(name, "not given")) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _flattened(value: Any, path: str = "") -> dict[str, str]:
    """Each field with its path; a list of numbers is one field."""
    if isinstance(value, Mapping):
        parts = [(f"{path}.{key}" if path else str(key), part) for key, part in value.items()]
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        parts = [(f"{path}[{place}]", part) for place, part in enumerate(value)]
    else:
        return {} if value is None else {path: str(np.asarray(value).tolist())}
    return {name: text for one, part in parts for name, text in _flattened(part, one).items()}
