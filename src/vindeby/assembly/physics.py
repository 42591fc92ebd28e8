"""Checks whether a stored result is physically possible: the wind side of ``vindeby validate``.

Without a campaign only what every layout must satisfy can be checked: two rows of finite coordinates, as many
turbines as the record says, a positive yearly energy. With the campaign that made it, also that the turbines stand
inside the boundary and apart, are as many as asked, and give no more than their rated power all year, nor than they
would without wakes; and, ``deep``, that the stored energy is what the layout gives when it is computed again.

``done`` takes its verdicts from here too: a result that one command calls invalid is invalid for every other. The wind
(and with it Numba) is loaded only when an energy is compared with what the campaign's engine gives.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vindeby import units
from vindeby.arrays import FloatArray
from vindeby.assembly.stored_turbines import (
    Area,
    CellLayout,
    areas_of,
    check_inside,
    check_spacing,
    check_types,
    check_zone,
    energy_of,
    largest_diameter_m,
    layout_of,
    own_types,
)
from vindeby.assembly.value import (
    AREA,
    LCOE,
    NPV,
    OBJECTIVE,
    REVENUE,
    SCENARIO_AEP,
    check_cables,
    costs_of,
    revenue_of,
    values_of,
    with_revenue,
)
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import Around, around
from vindeby.campaign.tasks import Cell, Place, parse_key, task_key
from vindeby.campaign.variants import World
from vindeby.economy import Costs
from vindeby.errors import ArgumentError
from vindeby.parameters import weight_of
from vindeby.store.format.record import Record
from vindeby.text import plural
from vindeby.wake.layout_checks import Places

if TYPE_CHECKING:
    from vindeby.wake import WindFarm

RETURNS = "returns"
"""The attribute that names the arrays of a function's result, which has no layout and no energy."""


def check_returned(names: tuple[str, ...], record: Record) -> Iterator[str]:
    """Yield what is wrong with a result of a function that returns arrays of these names."""
    for name in names:
        array = record.arrays.get(name)
        if array is None:
            yield f"has no {name}"
        elif not np.isfinite(array).all():
            yield f"{name} holds values that are not finite"


TOLERANCE_AEP = 1e-9
"""Relative difference of energies that the same computation on another machine may have."""

TOLERANCE_STORED_AEP = 1e-3
"""Relative difference of an energy that another program computed for the same layout, wind and wake model."""

AEP_ORIGIN = "aep_origin"
"""The attribute that says where an energy comes from, where it is not the search that found the layout."""
RECOMPUTED = "recomputed"
STORED = "stored"
"""The ``aep_origin`` of an energy that another program stored, and that was compared when it was adopted."""


ENGINE_AEP = "aep_engine"
"""The attribute of a result of a user's function with what the campaign's wake model gives for its layout, in GWh."""
FREE_AEP = "aep_free"
"""The attribute with the AEP that the turbines would have without wakes, from which views take the wake loss."""


def far_from_engine(keys: Sequence[str], aep: ArrayLike, engine: ArrayLike) -> dict[str, float]:
    """Return, by key, the relative difference of energies from the wake model's if it is above the tolerance."""
    difference = np.ravel(aep) / np.ravel(engine) - 1.0
    return {
        key: float(far) for key, far in zip(keys, difference, strict=True) if abs(far) > TOLERANCE_STORED_AEP
    }


def differences_in_words(differences: Mapping[str, float]) -> str:
    """Describe energies of a user's function that differ from those of the wake model; empty if there are none."""
    if not differences:
        return ""
    key = max(differences, key=lambda one: abs(differences[one]))
    return (
        f"{plural(len(differences), 'result has', 'results have')} an aep that differs from what the wake model gives "
        f"({ENGINE_AEP}) by more than {TOLERANCE_STORED_AEP:.1%}, most of all {key} by {differences[key]:+.2%}; if the "
        "function counts energy in its own way, write energy: own into the campaign's call"
    ).replace("%", " %")


def physics_checks(
    campaign: Campaign | None, *, deep: bool = False
) -> list[Callable[[Record], Iterable[str]]]:
    """Return the checks for ``store.validate``, each of which yields what is wrong with a record."""
    if campaign is None:
        return [check_plain]
    if (names := campaign.returned_arrays) is not None:
        return [check_key, partial(check_returned, names)]
    return [check_plain, CampaignCheck(campaign, deep=deep)]


def notes_of(checks: Iterable[Callable[[Record], Iterable[str]]]) -> list[str]:
    """Return remarks of the checks that do not make any result invalid."""
    found = (differences_in_words(check.differences) for check in checks if isinstance(check, CampaignCheck))
    return [*filter(None, found)]


def check_plain(record: Record) -> Iterator[str]:
    """Yield what is wrong with a record whatever its campaign: its layout, its energy and its key."""
    layout = record.arrays.get("layout")
    if layout is None:
        yield "has no layout"
    elif layout.ndim != 2 or layout.shape[0] != 2 or layout.shape[1] == 0:
        yield f"layout has the shape {layout.shape}, not (2, n)"
    elif not np.isfinite(layout).all():
        yield f"layout holds {int((~np.isfinite(layout)).sum())} values that are not finite"
    elif (said := record.attributes.get("n_turbines")) is not None and said != layout.shape[1]:
        yield f"n_turbines is {said}, but the layout has {layout.shape[1]}"
    yield from _check_energy(record)
    yield from check_key(record)


def _check_energy(record: Record) -> Iterator[str]:
    stored = record.arrays.get("aep")
    if stored is None:
        yield "has no aep"
    elif stored.size != 1:
        yield f"aep has the shape {stored.shape}, not a single number"
    elif not np.isfinite(stored).all():
        yield f"aep is {stored.ravel()[0]}"
    elif float(stored.ravel()[0]) == 0.0:
        yield "aep is 0: no energy was stored; only the layout can be used"
    elif float(stored.ravel()[0]) < 0.0:
        yield f"aep is {float(stored.ravel()[0]):g}, and must be positive"


def check_key(record: Record) -> Iterator[str]:
    """Yield what is wrong if the key of a record disagrees with its attributes."""
    said = [record.attributes.get(name) for name in ("farm_idx", "type_idx", "ss_seed")]
    numbers = [value for value in said if isinstance(value, int)]
    named = parse_key(record.key)
    if len(numbers) < len(said):
        return
    farm_idx, type_idx, seed = numbers
    if (spelled := task_key(farm_idx, type_idx, seed, named.tag if named else "")) != record.key:
        yield f"its attributes say {spelled}"


class CampaignCheck:
    """Checks of the layouts of a campaign, with the data that the checks of its cells share."""

    def __init__(self, campaign: Campaign, *, deep: bool = False) -> None:
        self._campaign, self.deep = campaign, deep
        self._checks: dict[Place, CellCheck] = {}
        self.areas: dict[int, list[tuple[str, Area]]] = {}
        self.wind_farms: dict[object, WindFarm] = {}
        self.not_computed_again: Counter[str] = Counter()
        """The number of records that ``deep`` did not compute again, by reason."""
        self.differences: dict[str, float] = {}
        """Relative differences, by key, of a user's function from the wake model's energy above the tolerance."""

    def __call__(self, record: Record) -> Iterator[str]:
        """Yield what is wrong with a record; nothing about a record that is not in the campaign."""
        check = self.of(record.key)
        if check is not None:
            yield from check(record)
        elif self.deep:
            self.not_computed_again["not in the campaign"] += 1

    def of(self, key: str) -> CellCheck | None:
        """Return the check of the cell that a key names; None if the campaign has no such cell."""
        cell = self._campaign.cell_of(key)
        if cell is None:
            return None
        if cell.place not in self._checks:
            self._checks[cell.place] = CellCheck(self._campaign.of(cell), cell, self)
        return self._checks[cell.place]

    def energy_gwh(self, record: Record) -> float | None:
        """Return the energy (GWh) of the layout with the campaign's engine; None if the campaign does not allow it."""
        check = self.of(record.key)
        return None if check is None else check.energy_gwh(record)


class CellCheck:
    """Checks of the layouts of a cell, in the campaign of its combination or of a scenario."""

    def __init__(self, campaign: Campaign, cell: Cell, shared: CampaignCheck) -> None:
        self.campaign, self.cell = campaign, cell
        self._shared, self._deep = shared, shared.deep
        # A function of the user's own is compared with the wake model when its result is stored, and for ``deep``. An
        # engine is asked only then: it may be slow, and execute code that the campaign names.
        self._call = next((step.call for step in campaign.method if step.call is not None), None)
        self._is_elsewhere = campaign.wake.engine is not None or self._call is not None
        # Energies among stored layouts are computed again by ``EvaluationCheck``.
        self._is_stored = campaign.stored is not None

    @cached_property
    def _around(self) -> Around:
        return around(self.campaign, self.cell.farm_idx, self.campaign.turbines_of(self.cell))

    @cached_property
    def _costs(self) -> Costs | None:
        return costs_of(self.campaign, self.cell)

    @cached_property
    def _alone(self) -> list[tuple[World, CellCheck]]:
        """The check of the cell in each scenario, which counts nothing."""
        silent = copy.copy(self._shared)
        silent.not_computed_again, silent.differences = Counter(), {}
        return [(world, CellCheck(world.campaign, self.cell, silent)) for world in self.campaign.worlds]

    def __call__(self, record: Record) -> Iterator[str]:
        """Yield what is wrong with the record."""
        wrong = list(self._check(record))
        yield from wrong
        energy = record.arrays.get("aep")
        if self.campaign.scenarios and self._layout(record) and energy is not None and energy.size == 1:
            yield from self._check_scenarios(record, wrong)

    def _check(self, record: Record) -> Iterator[str]:
        layout = self._layout(record)
        if layout is None:
            self._skip("no layout")
            return
        yield from check_zone(self.cell, record)
        yield from self.wrong_amount(layout)
        yield from self.wrong_places(layout)
        wrong_cables = list(check_cables(self.campaign, self.cell, record))
        yield from wrong_cables
        yield from self._check_turbine(record)
        stored_gwh = energy_of(record)
        if stored_gwh is None or not 0.0 < stored_gwh < np.inf:
            self._skip("no energy")
            return
        x, y, types = layout
        if types is None:
            self._skip("no types")
            return
        if not wrong_cables:
            yield from self._check_values(record, stored_gwh)
        is_stored = record.attributes.get(AEP_ORIGIN) == STORED and not record.fingerprint
        is_rough = is_stored or self._call is not None
        again = ("aep", stored_gwh, TOLERANCE_STORED_AEP if is_rough else TOLERANCE_AEP)
        engine_gwh = record.attributes.get(ENGINE_AEP) if self.compares else None
        if isinstance(engine_gwh, float):
            self._shared.differences.update(far_from_engine([record.key], stored_gwh, engine_gwh))
            again = ENGINE_AEP, engine_gwh, TOLERANCE_AEP
        yield from self._check_worth((x, y, types), stored_gwh, again)
        yield from self._check_revenue(record)
        if self._deep:
            yield from self._check_weight(record)
            said, free_gwh = record.attributes.get(FREE_AEP), self.free_gwh(record)
            if isinstance(said, float) and free_gwh and abs(said - free_gwh) > TOLERANCE_AEP * free_gwh:
                yield f"{FREE_AEP} is {said:.9g} GWh, but without any wakes it would be {free_gwh:.9g} GWh"

    @property
    def compares_energies(self) -> bool:
        """Return whether the energies of results are, or should be, those of the wake model."""
        return self._call is None or self._call.energy != "own"

    @property
    def compares(self) -> bool:
        """Return whether the energy of a user's function should be that of the wake model."""
        return self._call is not None and self._call.energy_is_compared

    def energy_gwh(self, record: Record) -> float | None:
        """Return the energy (GWh) of the layout with the campaign's engine; None if the campaign does not allow it."""
        layout = self._layout(record)
        if layout is None or layout[2] is None or self._is_stored:
            return None
        if any(self.wrong_amount(layout)) or any(self.wrong_places(layout)):
            return None
        try:
            return float(self._engine.aep(layout[0], layout[1], layout[2]))
        except ArgumentError:  # turbines in one place, where the spacing allows it
            return None

    def free_gwh(self, record: Record) -> float | None:
        """Return the AEP (GWh) without wakes; None if another engine or a function computes energies."""
        layout = self._layout(record)
        if self._is_elsewhere or self._is_stored or layout is None or layout[2] is None:
            return None
        return self._without_wakes((layout[0], layout[1], layout[2]))

    def _without_wakes(self, layout: Places) -> float:
        if self._engine.locality == "uniform":
            return float(self._of_one_gwh[layout[2]].sum())
        return self._engine.free_aep_at(*layout)

    @cached_property
    def _of_one_gwh(self) -> FloatArray:
        """The AEP in GWh of one turbine of each type without wakes, in wind that is the same everywhere."""
        kinds = range(len(self._engine.turbines))
        return np.array([self._engine.wake_free_aep(1, kind) for kind in kinds])

    def scenario_arrays(self, record: Record) -> dict[str, FloatArray]:
        """Return the energies of a layout by scenario, with the campaign's engine; NaN if the layout is infeasible."""
        if not self.campaign.scenarios or self._layout(record) is None:
            return {}
        return {SCENARIO_AEP: np.array([check.energy_gwh(record) for _, check in self._alone], np.float64)}

    def _layout(self, record: Record) -> CellLayout | None:
        layout = layout_of(record)
        if layout is None or not layout.size:
            return None
        x, y = layout
        return x, y, own_types(record.arrays, self.cell, len(x))

    def _skip(self, why: str) -> None:
        if self._deep:
            self._shared.not_computed_again[why] += 1

    def wrong_amount(self, layout: CellLayout) -> Iterator[str]:
        """Yield what is wrong with the number of turbines, or with the number of each type."""
        yield from check_types(self.campaign, self.cell, layout[2])
        if (count := len(layout[0])) != self.cell.n_turbines:
            yield f"has {plural(count, 'turbine')}, but the campaign asks for {self.cell.n_turbines}"

    def wrong_places(self, layout: CellLayout) -> Iterator[str]:
        """Yield the turbines outside their area or depths, and the pair that is too close."""
        if len(layout[0]) == self.cell.n_turbines or not self.cell.zones:
            areas, farm_idx = self._shared.areas, self.cell.farm_idx
            if farm_idx not in areas:
                areas[farm_idx] = areas_of(self.campaign.farms[farm_idx])
            yield from check_inside(areas[farm_idx], self.cell, layout)
        yield from check_spacing(self._around, self.cell, layout)
        yield from self._check_depths(*layout[:2])

    def _check_depths(self, x: FloatArray, y: FloatArray) -> Iterator[str]:
        depth = None if self.campaign.costs is None else self.campaign.costs.depth
        foundation = getattr(self._costs, "foundation", None)
        if depth is None or depth.limits is None or foundation is None:
            return
        found, (least, most) = foundation.grid.at(x, y), depth.limits
        short = np.maximum(least - found, found - most)
        worst = int(np.argmax(short))
        if short[worst] > units.TOLERANCE_M:
            limits = f"{least:g} to {most:g} m"
            yield f"turbine {worst} stands in water of {found[worst]:.6g} m, but {limits} are allowed"

    def _check_values(self, record: Record, stored_gwh: float) -> Iterator[str]:
        costs, objective = self._costs, self.campaign.objective
        values = values_of(self.campaign, self.cell, record.arrays, costs)
        for name, value in values.items():
            said, scale = record.attributes.get(name), max(abs(value), 1e-6 if name == AREA else 0.0)
            if name in (NPV, OBJECTIVE) and NPV in values:  # differences of larger numbers
                scale = values["capex_eur"]
            elif name == OBJECTIVE and objective is not None:
                scale = max(scale, values[LCOE] if objective.is_of_costs else stored_gwh)
            needed = costs is not None or self.campaign.scenarios or name == AREA
            if said is None and record.fingerprint and needed:
                yield f"does not say {name}"
            elif isinstance(said, float) and not abs(said - value) <= TOLERANCE_AEP * scale:
                yield f"{name} is {said:.9g}, but its energy and turbines make {value:.9g}"

    def _check_turbine(self, record: Record) -> Iterator[str]:
        said = record.attributes.get("diameter")
        diameter = largest_diameter_m(self.campaign, self.cell)
        if said is not None and said != diameter:
            yield f"diameter is {said}, but type {self.cell.type_idx} of the campaign has {diameter:g}"

    def _check_worth(
        self, layout: Places, stored_gwh: float, again: tuple[str, float, float]
    ) -> Iterator[str]:
        """Say what is wrong with an energy; ``again`` is what ``deep`` computes again: name, value and tolerance."""
        types = layout[2]
        each_mw = [turbine.rated_power_mw for turbine in self.campaign.turbines_of(self.cell)]
        full_gwh = units.capacity_to_largest_aep_gwh(float(np.array(each_mw)[types].sum()))
        if stored_gwh > full_gwh:
            yield f"aep is {stored_gwh:.6f} GWh, but at rated power all year it would be {full_gwh:.6f} GWh"
        if self._is_stored:
            return
        if self._call is not None and not self.compares:
            self._skip("method call")
            return
        if self._is_elsewhere and not self._deep:
            return
        most_gwh = np.inf if self._is_elsewhere else self._without_wakes(layout)
        if stored_gwh > most_gwh * (1.0 + TOLERANCE_AEP):
            yield f"aep is {stored_gwh:.6f} GWh, but without any wakes it would be {most_gwh:.6f} GWh"
        if self._deep:
            try:
                again_gwh = self._engine.aep(*layout)
            except ArgumentError as error:
                yield str(error)
                return
            name, said_gwh, tolerance = again
            if abs(again_gwh - said_gwh) > tolerance * again_gwh:
                yield f"{name} is {said_gwh:.9g} GWh, but the layout gives {again_gwh:.9g} GWh"

    def _check_revenue(self, record: Record) -> Iterator[str]:
        objective, stored = self.campaign.objective, revenue_of(record.arrays)
        if objective is None or not objective.is_priced_by_state or not record.fingerprint:
            return
        if stored is None:
            yield f"has no {REVENUE}"
        elif self._deep:
            others = {name: array for name, array in record.arrays.items() if name != REVENUE}
            again = float(with_revenue(self.campaign, self.cell, others)[REVENUE])
            if not abs(again - stored) <= TOLERANCE_AEP * again:
                yield f"{REVENUE} is {stored:.9g}, but the layout gives {again:.9g}"

    def _check_weight(self, record: Record) -> Iterator[str]:
        weight = record.attributes.get("weight")
        objective, numbers = self.campaign.objective, parse_key(record.key)
        if objective is not None and objective.against is not None and numbers is not None:
            right = weight_of(numbers.seed)
            if weight not in (None, right):
                yield f"weight is {weight}, but that of seed {numbers.seed} is {right}"

    def _check_scenarios(self, record: Record, wrong: Collection[str]) -> Iterator[str]:
        each = record.arrays.get(SCENARIO_AEP, np.empty(0))
        weights = np.array([world.weight for world, _ in self._alone])
        if each.shape != weights.shape or each.dtype.kind not in "fiu":
            yield f"{SCENARIO_AEP} does not hold an energy for each of {len(weights)} scenarios"
            return
        pairs = zip(self._alone, each.tolist(), strict=True)
        for (world, check), aep_gwh in pairs if self._deep else ():
            arrays = {name: record.arrays[name] for name in ("layout", "types") if name in record.arrays}
            one = Record(record.key, "", {**arrays, "aep": np.array(aep_gwh)}, {})
            news = [what for what in (*check_plain(one), *check(one)) if what not in wrong]
            yield from (f"{SCENARIO_AEP} in {world.name!r}: {what}" for what in news)
        mean_gwh = float(weights @ each / weights.sum())
        stored_gwh = float(record.arrays["aep"].ravel()[0])
        if not abs(mean_gwh - stored_gwh) <= TOLERANCE_AEP * mean_gwh:
            yield f"aep is {stored_gwh:.9g} GWh, but the mean over its scenarios is {mean_gwh:.9g} GWh"

    @cached_property
    def _engine(self) -> WindFarm:
        # Without neighbours all farms are alike.
        types, farm_idx = self.cell.type_indices, self.cell.farm_idx if len(self._around) else None
        key = (types, farm_idx, *(id(getattr(self.campaign, name)) for name in OF_WIND))
        known = self._shared.wind_farms
        if key not in known:
            from vindeby.assembly.wind import wind_farm  # loads Numba, which a campaign of calls need not

            known[key] = wind_farm(self.campaign, types, farm_idx)
        return known[key]


OF_WIND = ("site", "wake", "neighbours", "scenarios", "objective", "turbines", "farms")
"""The fields that a cell's wind farm is made of: combinations that have the same objects in them share it."""
