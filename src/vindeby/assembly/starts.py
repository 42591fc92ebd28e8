"""The layouts that searches start from: whether they are allowed, where a repair puts them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.assembly.physics import TOLERANCE_AEP, CampaignCheck, CellCheck
from vindeby.assembly.stored_turbines import energy_of
from vindeby.assembly.value import LCOE, NPV, OBJECTIVE, values_of, with_cables, with_revenue
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import field_name
from vindeby.campaign.sections.layouts import GivenLayout
from vindeby.campaign.starts import has_starts, start_of, start_section, types_of
from vindeby.campaign.tasks import Cell, Place, parse_key
from vindeby.errors import ArgumentError, CampaignError, Problem, TaskError
from vindeby.store.format.record import Record

if TYPE_CHECKING:
    from vindeby.layout import Layout

AEP_START, MOVED, GAIN = "aep_start", "start_moved_m", "gain_percent"
"""Attributes of a result: the AEP (GWh) of the layout that its search started from; how far (m) the farthest turbine of
that layout was moved by a repair; and by how much the result is better, by the objective or the AEP."""
_OF_COSTS = {"lcoe": ("lcoe_start", LCOE), "npv": ("npv_start", NPV)}
_MOST_PROBLEMS = 20
_REMEDY = "correct the layout; repair: true moves turbines to the nearest allowed places"


class _MisplacedError(TaskError):
    """Turbines of a start stand where they may not, and were not to be moved."""


@dataclass(frozen=True)
class AllowedStart:
    """A feasible layout, and the distance (m) that a repair moved its farthest turbine."""

    x: FloatArray
    y: FloatArray
    types: IntArray
    """The type of each turbine among those of its cell."""
    moved_m: float = 0.0

    @cached_property
    def layout(self) -> Layout:
        """The start as the ``Layout`` that search methods take."""
        from vindeby.layout import Layout  # loads Numba

        return Layout(self.x, self.y, self.types)


class Starts:
    """The starts of a campaign's tasks, each judged by the rules that results are judged by, once."""

    def __init__(self, campaign: Campaign, check: CampaignCheck | None = None) -> None:
        self._campaign, self._check = campaign, check or CampaignCheck(campaign)
        self._found: dict[tuple[Place, int], AllowedStart] = {}
        self._known: dict[int, dict[str, float]] = {}

    def of(self, cell: Cell, seed: int | None) -> AllowedStart | None:
        """Return the start of a task, None if it has none; raise TaskError if it is not allowed."""
        campaign = self._campaign.of(cell)
        given = start_of(campaign, cell, seed)
        if given is None:
            return None
        if (place := (cell.place, id(given))) not in self._found:
            self._found[place] = self._judged(campaign, cell, given)
        return self._found[place]

    def _judged(self, campaign: Campaign, cell: Cell, given: GivenLayout) -> AllowedStart:
        types = np.array(types_of(campaign, cell, given), np.int64)
        layout = np.array(given.x), np.array(given.y), types
        _, section = start_section(campaign, cell.farm_idx)
        check = self._check.of(cell.key(0))
        assert check is not None, "the campaign has its own cells"
        amount, places = [*check.wrong_amount(layout)], [*check.wrong_places(layout)]
        may_be_moved = section is not None and section.repair
        if amount:
            raise TaskError("; ".join(amount))
        if places and not may_be_moved:
            raise _MisplacedError("; ".join(places))
        start = AllowedStart(*layout)
        if not places:
            return start
        from vindeby.assembly.search import problem_of  # loads Numba
        from vindeby.layout.area.limits import nearest_allowed

        found = nearest_allowed(problem_of(campaign, cell), start.layout)
        moved_m = float(np.hypot(found.x - start.x, found.y - start.y).max())
        return AllowedStart(found.x, found.y, types, moved_m)

    def attributes(self, record: Record) -> dict[str, float]:
        """Return the attributes of a result about its start: energy, cost, distance moved, and the gain."""
        check, numbers = self._check.of(record.key), parse_key(record.key)
        start = None if check is None or numbers is None else self.of(check.cell, numbers.seed)
        if check is None or start is None:
            return {}
        campaign = check.campaign
        _, section = start_section(campaign, check.cell.farm_idx)
        found = {MOVED: start.moved_m} if section is not None and section.repair else {}
        values = self._values(check, record.key, start)
        if "aep" not in values:  # turbines in one place, where the spacing allows it
            return found
        found[AEP_START] = values["aep"]
        objective, last = campaign.objective, record.attributes.get(OBJECTIVE)
        if objective is not None and objective.of in _OF_COSTS:
            name, value = _OF_COSTS[objective.of]
            found[name] = values[value]
        before, after, sign = values["aep"], energy_of(record), 1.0
        if objective is not None and OBJECTIVE in values and isinstance(last, float):
            before, after, sign = values[OBJECTIVE], last, objective.sign
        if check.compares_energies and after is not None and before:
            found[GAIN] = 100.0 * sign * (after - before) / abs(before)
        return found

    def check(self, record: Record) -> Iterator[str]:
        """Yield the attributes of a result, among these, that differ from those of its start."""
        for name, value in self.attributes(record).items() if record.fingerprint else ():
            said = record.attributes.get(name)
            if not isinstance(said, float) or not np.isclose(said, value, rtol=TOLERANCE_AEP, atol=1e-5):
                yield f"{name} is {said}, but its start gives {value:.9g}"

    def _values(self, check: CellCheck, key: str, start: AllowedStart) -> dict[str, float]:
        """Return the AEP (GWh), costs and value of a start, by the names of attributes; empty without AEP."""
        if id(start) not in self._known:
            campaign, cell = check.campaign, check.cell
            arrays: dict[str, Any] = {"layout": np.stack([start.x, start.y])}
            if cell.mix:
                arrays["types"] = np.array(cell.type_indices)[start.types]
            record = Record(key, "", arrays, {})
            aep_gwh = check.energy_gwh(record)
            if aep_gwh is not None:
                arrays |= {"aep": np.array(aep_gwh), **check.scenario_arrays(record)}
                arrays = with_revenue(campaign, cell, with_cables(campaign, cell, arrays))
            self._known[id(start)] = (
                {} if aep_gwh is None else {"aep": aep_gwh, **values_of(campaign, cell, arrays)}
            )
        return self._known[id(start)]


def refuse_starts(campaign: Campaign) -> None:
    """Raise CampaignError unless every start is feasible, or a repair is requested and can make it so."""
    if not has_starts(campaign):
        return
    starts, problems = Starts(campaign), dict[Problem, None]()
    for cell in campaign.cells():
        at, section = start_section(campaign.of(cell), cell.farm_idx)
        whose = f"farm {campaign.farms[cell.farm_idx].name!r} with type {cell.label(campaign.type_names)!r}"
        source = (section.source if section else None) or campaign.name
        for seed in campaign.seeds if section else ():
            try:
                starts.of(cell, seed)
            except (TaskError, ArgumentError) as error:
                remedy = _REMEDY if isinstance(error, _MisplacedError) else "correct the layout"
                problems[Problem(source, field_name(at), f"{whose}: {error}", None, remedy)] = None
    if problems:
        raise CampaignError([*problems][:_MOST_PROBLEMS])
