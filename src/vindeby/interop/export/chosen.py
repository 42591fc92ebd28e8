"""Which results an export takes: verified, valid, answers to the campaign, and those that were asked for."""

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import FloatArray
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, task_key
from vindeby.economy.cables import Routes
from vindeby.errors import ArgumentError, DataError, ShortfallError
from vindeby.results.result_set import ResultSet
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment, array_field

Place = tuple[int, int, int]
"""Farm, type and seed."""


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


class Result(NamedTuple):
    """What each turbine of one result is."""

    key: str
    place: Place
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
    attributes: Mapping[str, Attribute]
    """The root attributes of the database."""
    segments: list[Segment]
    """Verified records, those of one schema together."""
    results: list[Result]
    missing: dict[str, Place]
    """What was asked for and has no valid result."""
    whole: bool
    """Whether every result was asked for."""
    notes: list[str] = field(default_factory=list)
    """What the reader of the export must know."""

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def places(self) -> dict[str, Place]:
        """Farm, type and seed of each key, in order."""
        return {result.key: result.place for result in self.results}

    @property
    def farms(self) -> list[int]:
        """The numbers of the farms that have results."""
        return sorted({result.place[0] for result in self.results})

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
        if any(step.call is not None and step.call.cases for step in campaign.method):
            self.notes.append(
                "neighbours that stand in the cases of this study are not in the files, so that other tools compute "
                "more energy"
            )
        return campaign

    def needs_uniform_wind(self, purpose: str) -> Campaign:
        """The same, where a format holds one wind for all places."""
        campaign = self.needs_wind(purpose)
        if campaign.site.local is not None:
            raise ArgumentError(
                f"{self.database}: the wind of this campaign differs from place to place (site.local), which "
                f"{purpose} does not write; export the layouts to csv or netcdf instead"
            )
        return campaign


def choose(results: ResultSet, selection: Selection) -> Chosen:
    """The results that were asked for; ShortfallError where there is none."""
    valid = _valid(results)
    _refuse_named(results, selection, valid)
    campaign = results.campaign
    farms = _indices("--farm", selection.farms, campaign.farm_names if campaign else ())
    types = _indices("--type", selection.types, campaign.type_names if campaign else ())

    def is_wanted(key: str, place: Place) -> bool:
        return (
            (not farms or place[0] in farms)
            and (not types or place[1] in types)
            and (not selection.seeds or place[2] in selection.seeds)
            and (not selection.keys or any(fnmatch.fnmatchcase(key, pattern) for pattern in selection.keys))
        )

    # Of two results of one task, the one whose key says so is taken.
    canonical = sorted(valid, key=lambda key: task_key(*valid[key]) == key)
    wanted = {valid[key]: key for key in canonical if is_wanted(key, valid[key])}
    tasks = () if campaign is None else campaign.tasks()
    expected = {task.key: (task.farm_idx, task.type_idx, task.seed) for task in tasks}
    if results.where is not None:
        expected = {}  # whether a missing result would be chosen is not known
    expected = {key: place for key, place in expected.items() if is_wanted(key, place)}
    missing = [key for key, place in expected.items() if place not in wanted]
    if selection.best:
        wanted = _best(wanted, results)
        cells = {place[:2] for place in wanted}
        missing = [key for key, place in expected.items() if place[:2] not in cells]
    if not wanted:
        raise ShortfallError(
            f"{results.path}: no valid result is what was asked for ({len(results.rows):,} stored); "
            "`vindeby missing` says what is not there, and why"
        )
    segments = _segments(results, set(wanted.values()))
    aep = dict(zip(_decoded(results.rows["key"]), results.rows["aep"].tolist(), strict=True))
    found = {}
    for segment in segments:
        for row, key in enumerate(_keys(segment)):
            found[key] = _result(key, valid[key], aep[key], segment.take([row]), results.axes.by_place)
    in_order = [wanted[place] for place in sorted(wanted)]
    return Chosen(
        database=results.path,
        campaign=campaign,
        attributes=dict(results.source.attributes),
        segments=segments,
        results=[found[key] for key in in_order if key in found],
        missing={key: expected.get(key) or valid[key] for key in [*missing, *in_order] if key not in found},
        whole=selection == Selection() and results.where is None,
    )


def _valid(results: ResultSet) -> dict[str, Place]:
    """The valid results, with their places; of a campaign, only those that answer it."""
    seeds = None if results.campaign is None else set(results.campaign.seeds)
    names = ["key", "farm_idx", "type_idx", "ss_seed", "fingerprint", "aep"]
    found = {}
    for key, farm, type_, seed, mark, aep in results.rows[names].tolist():
        cell = results.axes.by_place.get((farm, type_))
        if seeds is None:
            answers = min(farm, type_, seed) >= 0
        else:
            answers = cell is not None and seed in seeds and mark in (b"", cell.fingerprint(seed).encode())
        if answers and not math.isnan(aep):
            found[key.decode(errors="replace")] = (farm, type_, seed)
    return found


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


def _refuse_named(results: ResultSet, selection: Selection, valid: Mapping[str, Place]) -> None:
    """A key that was named must be there, and valid."""
    for key in selection.keys:
        if any(letter in key for letter in "*?["):
            results.matching(key)
        elif key not in valid:
            results.record(key)
            raise DataError(
                f"{results.path}: result {key} is there, but is not valid or does not answer the campaign; "
                "`vindeby validate` says why"
            )


def _best(wanted: Mapping[Place, str], results: ResultSet) -> dict[Place, str]:
    """Of each farm and type the result that is worth most; of equal ones the one with the first seed."""
    worths = np.nan_to_num(results.worths(), nan=-np.inf).tolist()
    worth = dict(zip(_decoded(results.rows["key"]), worths, strict=True))
    best: dict[tuple[int, int], Place] = {}
    for place in sorted(wanted, key=lambda place: (worth[wanted[place]], -place[2])):
        best[place[:2]] = place
    return {place: wanted[place] for place in best.values()}


def _segments(results: ResultSet, keys: set[str]) -> list[Segment]:
    """The verified records of these keys, each once; those that turn out to be damaged are not among them."""
    found: list[Segment] = []
    seen: set[str] = set()
    for segment in results.source.segments():
        mine = [row for row, key in enumerate(_keys(segment)) if key in keys and key not in seen]
        if mine:
            found.append(segment.take(mine))
            seen.update(_keys(found[-1]))
    return found


def _keys(segment: Segment) -> list[str]:
    return _decoded(segment.rows["key"])


def _decoded(keys: NDArray[np.bytes_]) -> list[str]:
    return [key.decode(errors="replace") for key in keys.tolist()]


def _result(
    key: str, place: Place, aep_gwh: float, record: Segment, cells: Mapping[tuple[int, int], Cell]
) -> Result:
    """What the turbines of a record are; ``record`` holds nothing else."""
    names = [name for name, _, shape in record.schema.arrays if 0 not in shape]
    arrays = {name: record.rows[array_field(name)][0] for name in names}
    layout, cell = arrays.get("layout"), cells.get(place[:2])
    if layout is None or layout.ndim != 2 or len(layout) != 2:
        layout = np.empty((2, 0))
    count = layout.shape[1]
    zones, types = arrays.get("zone"), arrays.get("types")
    own_zones = None if zones is None or zones.shape != (count,) else [int(zone) for zone in zones]
    if own_zones is None and cell is not None and cell.zones and sum(cell.zones) == count:
        own_zones = [zone for zone, number in enumerate(cell.zones) for _ in range(number)]
    own_types = (
        [place[1]] * count if types is None or types.shape != (count,) else [int(kind) for kind in types]
    )
    routes = Routes.stored(arrays)
    return Result(key, place, aep_gwh, np.asarray(layout, np.float64), own_types, own_zones, routes)
