"""Which results an export takes: verified, valid, answers to the campaign, and those that were asked for."""

import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.economy.cables import Routes
from vindeby.errors import ArgumentError, DataError, ShortfallError
from vindeby.results.expected import CellPlace
from vindeby.results.result_set import CELL, ResultPlace, ResultSet
from vindeby.results.tables import ResultTable
from vindeby.store.format.rows import Segment, array_field
from vindeby.store.read.columns import placed


@dataclass(frozen=True)
class Selection:
    """What was asked for; everything where nothing is given. Farms and types by name or number."""

    keys: tuple[str, ...] = ()
    """Keys, or patterns such as ``farm0_*``."""
    farms: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    best: bool = False
    """Of each farm and type only the result with the most energy."""


class ExportedResult(NamedTuple):
    """What each turbine of one result is."""

    key: str
    place: ResultPlace
    aep_gwh: float
    layout: FloatArray
    """x and y in metres, (2, turbines); without turbines where the record has no layout."""
    types: list[int]
    """The type of each turbine, by its number in the campaign: that of the result, or of its mix."""
    zones: list[int] | None
    """The zone of each turbine, by its number in the farm; None for a farm without zones."""
    routes: Routes | None
    """Its cables; None where they are not stored."""


@dataclass(frozen=True)
class Chosen:
    """The results of an export, in the order of farm, type and seed."""

    database: Path
    campaign: Campaign | None
    table: ResultTable
    """Their verified records, in bulk."""
    results: list[ExportedResult]
    missing: dict[str, ResultPlace]
    """What was asked for and has no valid result."""
    whole: bool
    """Whether every result was asked for."""
    notes: list[str] = field(default_factory=list)
    """What the reader of the export must know."""

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def places(self) -> dict[str, ResultPlace]:
        """Farm, type and seed of each key, in order."""
        return {result.key: result.place for result in self.results}

    @property
    def farms(self) -> list[int]:
        """The numbers of the farms that have results."""
        return sorted({result.place[0] for result in self.results})

    @property
    def types(self) -> list[int]:
        """The numbers of the turbine types that stand in the results."""
        return sorted({kind for result in self.results for kind in result.types})

    def without_layouts(self) -> list[str]:
        """The keys of results that have no layout: those of a function that has nothing to do with wind."""
        return [result.key for result in self.results if not result.types]

    def needs_layouts(self, purpose: str) -> None:
        """Refuse results without layouts, where a format cannot do without."""
        without = self.without_layouts()
        if without:
            raise ArgumentError(
                f"{self.database}: {purpose} needs layouts, and {without[0]} has none ({len(without):,} of "
                f"{len(self):,} results); choose others with --key, or write csv with --rows results"
            )

    def needs_wind(self, purpose: str) -> Campaign:
        """The campaign, where a format holds wind, wakes and layouts; a function without wind has none of them."""
        self.needs_layouts(purpose)
        campaign = self.campaign
        if campaign is None:
            raise ArgumentError(
                f"{self.database}: {purpose} needs the campaign, and none is kept with these results; name it "
                "with --campaign FILE"
            )
        if campaign.returned_arrays is not None:
            raise ArgumentError(
                f"{self.database}: {purpose} writes wind, wakes and layouts, but this campaign is of a function that "
                "has none of them; export it as netcdf, zarr, parquet or csv"
            )
        if campaign.stored is not None:
            self.notes.append(
                "stored layouts that stand around a farm in the combinations are not in the files, so that other tools "
                "compute more energy"
            )
        return campaign

    def needs_uniform_wind(self, purpose: str) -> Campaign:
        """The same in the combination of the results, where a format holds one wind for all places, and one model."""
        campaign = self.needs_wind(purpose)
        if len(combinations := {result.place.combination for result in self.results}) > 1:
            axis, values = next(iter(campaign.axes.items()))
            raise ArgumentError(
                f"{self.database}: {purpose} writes one combination of axes, and these results are of "
                f"{len(combinations)}; choose one with --where, e.g. --where \"{axis} == '{values[0]}'\""
            )
        campaign = campaign.variants[combinations.pop()]
        if campaign.site.local is not None:
            raise ArgumentError(
                f"{self.database}: the wind of this campaign differs from place to place (site.local), which "
                f"{purpose} does not write; export the layouts to csv or netcdf instead"
            )
        return campaign


def choose(results: ResultSet, selection: Selection) -> Chosen:
    """The results that were asked for; ShortfallError where there is none."""
    campaign, rows, axes = results.campaign, results.rows, results.axes
    keys = [key.decode(errors="replace") for key in rows["key"].tolist()]
    places = [ResultPlace(*numbers) for numbers in rows[[*CELL, "ss_seed"]].tolist()]
    known = zip(keys, places, rows["aep"].tolist(), strict=True)
    valid = {
        key: row
        for row, (key, place, aep) in enumerate(known)
        if aep == aep and (min(place) >= 0 if campaign is None else axes.place_of(*place))
    }
    _refuse_named(results, selection, valid)
    farms, types = (
        _indices("--farm", selection.farms, axes.farms),
        _indices("--type", selection.types, axes.types),
    )

    def is_wanted(key: str, place: ResultPlace) -> bool:
        return (
            (not farms or place[0] in farms)
            and (not types or place[1] in types)
            and (not selection.seeds or place.seed in selection.seeds)
            and (not selection.keys or any(fnmatch.fnmatchcase(key, pattern) for pattern in selection.keys))
        )

    # Of two results of one task, the one whose key says so is taken.
    canonical = sorted(valid.items(), key=lambda one: axes.key_of(places[one[1]]) == one[0])
    wanted = {places[row]: row for key, row in canonical if is_wanted(key, places[row])}
    expected: dict[str, ResultPlace] = {}
    if campaign is not None and results.where is None:  # else it is not known whether it would be chosen
        every = (
            (ResultPlace(*cell, seed), one) for cell, one in axes.by_place.items() for seed in axes.seeds
        )
        expected = {
            one.key(place.seed): place for place, one in every if is_wanted(one.key(place.seed), place)
        }
    if selection.best:
        wanted = _best(wanted, results)
        there = {place.cell for place in wanted}
        missing = {key: place for key, place in expected.items() if place.cell not in there}
    else:
        missing = {key: place for key, place in expected.items() if place not in wanted}
    if not wanted:
        raise ShortfallError(
            f"{results.path}: no valid result is what was asked for ({len(rows):,} stored); "
            "`vindeby missing` says what is not there, and why"
        )
    in_order = [wanted[place] for place in sorted(wanted)]
    table = ResultTable(results, rows[in_order])
    found = {}
    for segment, part in placed(table.segments):
        for number, row in enumerate(table.rows[part]):
            found[row["key"]] = _result(row, segment.take([number]), axes.by_place)
    damaged = {keys[row]: places[row] for row in in_order if rows["key"][row] not in found}
    return Chosen(
        database=results.path,
        campaign=campaign,
        table=table,
        results=[found[key] for key in rows["key"][in_order].tolist() if key in found],
        missing=missing | damaged,
        whole=selection == Selection() and results.where is None,
    )


def _indices(option: str, given: Sequence[str], names: Sequence[str]) -> set[int]:
    found = set()
    for text in given:
        if text in names:
            found.add(names.index(text))
        elif text.isdecimal() and (not names or int(text) < len(names)):
            found.add(int(text))
        else:
            known = ", ".join(f"{number} ({name})" for number, name in enumerate(names[:8]))
            raise ArgumentError(f"{option}: {text!r} is not known; use one of: {known or 'numbers from 0'}")
    return found


def _refuse_named(results: ResultSet, selection: Selection, valid: Collection[str]) -> None:
    for key in selection.keys:
        if any(letter in key for letter in "*?["):
            results.matching(key)
        elif key not in valid:
            results.record(key)
            raise DataError(
                f"{results.path}: result {key} is there, but is not valid or does not answer the campaign; "
                "`vindeby validate` says why"
            )


def _best(wanted: Mapping[ResultPlace, int], results: ResultSet) -> dict[ResultPlace, int]:
    """Return the most valuable result of each farm and type; of equal ones, that with the first seed."""
    worths = np.nan_to_num(results.worths(), nan=-np.inf)
    best: dict[CellPlace, ResultPlace] = {}
    for place in sorted(wanted, key=lambda place: (worths[wanted[place]], -place.seed)):
        best[place.cell] = place
    return {place: wanted[place] for place in best.values()}


def _result(row: Any, record: Segment, cells: Mapping[CellPlace, Cell]) -> ExportedResult:
    names = [name for name, _, shape in record.schema.arrays if 0 not in shape]
    arrays = {name: record.rows[array_field(name)][0] for name in names}
    place = ResultPlace(*row[[*CELL, "ss_seed"]].tolist())
    layout, cell = arrays.get("layout"), cells.get(place.cell)
    if layout is None or layout.ndim != 2 or len(layout) != 2:
        layout = np.empty((2, 0))
    count = layout.shape[1]
    zones, types = arrays.get("zone"), arrays.get("types")
    own_zones = None if zones is None or zones.shape != (count,) else [int(zone) for zone in zones]
    if own_zones is None and cell is not None and cell.zones and sum(cell.zones) == count:
        own_zones = [zone for zone, number in enumerate(cell.zones) for _ in range(number)]
    own_types = (
        [place.type_idx] * count
        if types is None or types.shape != (count,)
        else [int(kind) for kind in types]
    )
    key, layout = row["key"].decode(errors="replace"), np.asarray(layout, np.float64)
    return ExportedResult(key, place, float(row["aep"]), layout, own_types, own_zones, Routes.stored(arrays))
