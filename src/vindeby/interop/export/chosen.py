"""The results of an export: verified, valid, answering the campaign, and requested."""

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.assembly.stored_turbines import layout_of, zone_array
from vindeby.campaign import Campaign
from vindeby.economy.cables import Routes
from vindeby.errors import ArgumentError, ShortfallError
from vindeby.results.result_set import CELL, ResultPlace, ResultSet
from vindeby.results.tables import ResultTable
from vindeby.store.format.record import Record


class ExportedResult(NamedTuple):
    """A result with the type and the zone of each turbine, and its cables."""

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
    """The cables; None if they are not stored."""


@dataclass(frozen=True)
class Chosen:
    """The results of an export, in the order of farm, type and seed."""

    database: Path
    campaign: Campaign | None
    table: ResultTable
    """Their verified records, in bulk."""
    results: list[ExportedResult]
    whole: bool
    """True if every result was asked for."""
    notes: list[str] = field(default_factory=list)
    """Remarks for the reader of the export."""

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def places(self) -> dict[str, ResultPlace]:
        """The farm, type and seed of each key, in order."""
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
        """Return the keys of results without a layout, i.e. of a function that has nothing to do with wind."""
        return [result.key for result in self.results if not result.types]

    def needs_layouts(self, purpose: str) -> None:
        """Refuse results without layouts, where a format cannot do without."""
        without = self.without_layouts()
        if without:
            raise ArgumentError(
                f"{self.database}: {purpose} needs layouts, and {without[0]} has none ({len(without):,} of "
                f"{len(self):,} results); choose others with --where"
            )

    def needs_wind(self, purpose: str) -> Campaign:
        """Return the campaign for a format that holds wind, wakes and layouts; refuse a campaign that has none."""
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
                "has none of them; export it as netcdf or zarr"
            )
        if campaign.stored is not None:
            self.notes.append(
                "stored layouts that stand around a farm in the combinations are not in the files, so that other tools "
                "compute more energy"
            )
        return campaign

    def needs_uniform_wind(self, purpose: str) -> Campaign:
        """Return the campaign of the results' single combination; refuse several combinations, and local wind."""
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


def choose(results: ResultSet, *, best: bool = False) -> Chosen:
    """Return the valid results, with ``best`` only the best of each cell; raise ShortfallError if there is none."""
    wanted = _valid_rows(results)
    if best:
        worths = np.nan_to_num(results.worths(), nan=-np.inf)
        order = sorted(wanted, key=lambda place: (worths[wanted[place]], -place.seed))
        wanted = {place: wanted[place] for place in {place.cell: place for place in order}.values()}
    if not wanted:
        raise ShortfallError(
            f"{results.path}: no valid result is what was asked for; `vindeby missing` says what is not there, "
            "and why"
        )
    in_order = [wanted[place] for place in sorted(wanted)]
    table = ResultTable(results, np.array(in_order, np.intp))
    records = itertools.chain.from_iterable(segment.records() for segment in table.segments)
    exported = [_exported(row, one, results) for row, one in zip(table.rows, records, strict=True)]
    exported.sort(key=lambda one: one.place)
    return Chosen(
        database=results.path,
        campaign=results.campaign,
        table=table,
        results=exported,
        whole=not best and results.where is None,
    )


def _valid_rows(results: ResultSet) -> dict[ResultPlace, int]:
    """Return the row of each task; of two results of one task, the one whose key is the task's."""
    axes, found = results.axes, dict[ResultPlace, int]()
    columns = (results.rows[name].tolist() for name in ("key", *CELL, "ss_seed", "aep"))
    for row, (key, *numbers, aep) in enumerate(zip(*columns, strict=True)):
        place = ResultPlace(*numbers)
        is_known = min(place) >= 0 if results.campaign is None else axes.place_of(*place) is not None
        is_canonical = axes.key_of(place).encode() == key
        if aep == aep and is_known and (is_canonical or place not in found):
            found[place] = row
    return found


def _exported(row: np.void, record: Record, results: ResultSet) -> ExportedResult:
    place = ResultPlace(*row[[*CELL, "ss_seed"]].tolist())
    layout, cell = layout_of(record), results.axes.by_place.get(place.cell)
    if layout is None:
        layout = np.empty((2, 0))
    count = layout.shape[1]
    types, zones = record.arrays.get("types"), record.arrays.get("zone")
    if types is None or types.shape != (count,):
        types = np.full(count, place.type_idx)
    if zones is None or zones.shape != (count,):
        zones = zone_array(cell) if cell is not None and cell.zones and sum(cell.zones) == count else None
    return ExportedResult(
        record.key,
        place,
        float(row["aep"]),
        layout,
        types.astype(np.int64).tolist(),
        None if zones is None else zones.astype(np.int64).tolist(),
        Routes.stored(record.arrays),
    )
