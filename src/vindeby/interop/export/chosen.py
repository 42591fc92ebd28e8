"""Which results an export takes: verified, valid, answers to the campaign, and those that were asked for."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, task_key
from vindeby.errors import ArgumentError, DataError, ShortfallError
from vindeby.results.result_set import ResultSet
from vindeby.results.sources import Folder
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment
from vindeby.store.read.database import Database
from vindeby.store.read.export import turbines_in

Place = tuple[int, int, int]
"""Farm, type and seed."""


@dataclass(frozen=True)
class Selection:
    """What was asked for; everything where nothing is said. Farms and types by name or number."""

    keys: tuple[str, ...] = ()
    """Keys, or patterns such as ``farm0_*``."""
    farms: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    best: bool = False
    """Of each farm and type only the result with the most energy."""


@dataclass(frozen=True)
class Chosen:
    """The results of an export, in the order of farm, type and seed."""

    database: Path
    campaign: Campaign | None
    attributes: Mapping[str, Attribute]
    """The root attributes of the database."""
    segments: list[Segment]
    """Verified records, those of one schema together."""
    places: dict[str, Place]
    """Farm, type and seed of each key, in order."""
    aep: dict[str, float]
    """GWh per year."""
    missing: tuple[str, ...] = ()
    """What was asked for and has no valid result."""
    whole: bool = True
    """Whether every result was asked for."""
    notes: list[str] = field(default_factory=list)
    """What the reader of the export must know."""

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def cells(self) -> dict[tuple[int, int], Cell]:
        """The cells of the campaign, by farm and type."""
        known = () if self.campaign is None else self.campaign.cells()
        return {(cell.farm_idx, cell.type_idx): cell for cell in known}

    def needs_campaign(self, purpose: str) -> Campaign:
        """The campaign, where a format cannot do without."""
        if self.campaign is None:
            raise ArgumentError(
                f"{self.database}: {purpose} needs the campaign, and none is kept with these results; name it "
                "with --campaign FILE"
            )
        return self.campaign

    def needs_wind(self, purpose: str) -> Campaign:
        """The campaign, where a format holds wind, wakes and layouts; a function without wind has none of them."""
        campaign = self.needs_campaign(purpose)
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

    def without_layouts(self) -> list[str]:
        """The keys of results that have no layout: those of a function that has nothing to do with wind."""
        return [key for key, segment, _ in self.in_order() if not turbines_in(segment)]

    def needs_layouts(self, purpose: str) -> None:
        """Refuse results without layouts, where a format cannot do without."""
        without = self.without_layouts()
        if without:
            raise ArgumentError(
                f"{self.database}: {purpose} needs layouts, and {without[0]} has none ({len(without):,} of "
                f"{len(self):,} results); choose others with --key, or write csv with --rows results"
            )

    def in_order(self) -> Iterator[tuple[str, Segment, int]]:
        """Each key with its segment and row."""
        found = {
            key.decode(errors="replace"): (segment, row)
            for segment in self.segments
            for row, key in enumerate(segment.rows["key"].tolist())
        }
        for key in self.places:
            yield key, *found[key]


def choose(results: ResultSet, selection: Selection) -> Chosen:
    """The results that were asked for; ShortfallError where there is none."""
    rows = results.rows
    keys = [key.decode(errors="replace") for key in rows["key"].tolist()]
    good = _good(results, keys)
    farms, types = _numbers(results, selection)
    # Of two results of one task, the one whose key says so is taken.
    canonical = sorted(good, key=lambda key: task_key(*good[key]) == key)
    wanted = {good[key]: key for key in canonical if _matches(key, good[key], selection, farms, types)}
    _refuse_named(results, selection, set(keys), good)
    aep = dict(zip(keys, rows["aep"].tolist(), strict=True))
    expected = [task for task in _tasks(results) if _matches(task[0], task[1], selection, farms, types)]
    missing: list[str] = [key for key, place in expected if place not in wanted]
    if selection.best:
        wanted = _best(wanted, dict(zip(keys, results.worths().tolist(), strict=True)))
        cells = {place[:2] for place in wanted}
        missing = [key for key, place in expected if place[:2] not in cells]
    if not wanted:
        raise ShortfallError(
            f"{results.path}: no valid result is what was asked for ({len(keys):,} stored); "
            "`vindeby missing` says what is not there, and why"
        )
    places = {wanted[place]: place for place in sorted(wanted)}
    segments, damaged = _segments(results, places)
    for key in damaged:
        del places[key]
    return Chosen(
        database=results.path,
        campaign=results.campaign,
        attributes=dict(results.source.attributes),
        segments=segments,
        places=places,
        aep={key: aep[key] for key in places},
        missing=(*missing, *damaged),
        whole=selection == Selection(),
    )


def _good(results: ResultSet, keys: Sequence[str]) -> dict[str, Place]:
    """The valid results, with their places; of a campaign, only those that answer it."""
    rows = results.rows
    columns = (rows[name].tolist() for name in ("farm_idx", "type_idx", "ss_seed"))
    places = dict(zip(keys, zip(*columns, strict=True), strict=True))
    valid: NDArray[np.bool_] = ~np.isnan(rows["aep"])
    found = {key: places[key] for key, is_valid in zip(keys, valid.tolist(), strict=True) if is_valid}
    if results.campaign is None:
        return {key: place for key, place in found.items() if min(place) >= 0}
    seeds, cells = set(results.campaign.seeds), results.cells
    marks = dict(zip(keys, rows["fingerprint"].tolist(), strict=True))
    return {
        key: place
        for key, place in found.items()
        if (cell := cells.get(place[:2])) is not None
        and place[2] in seeds
        and marks[key] in (b"", cell.fingerprint(place[2]).encode())
    }


def _tasks(results: ResultSet) -> list[tuple[str, Place]]:
    tasks = () if results.campaign is None else results.campaign.tasks()
    return [(task.key, (task.farm_idx, task.type_idx, task.seed)) for task in tasks]


def _numbers(results: ResultSet, selection: Selection) -> tuple[set[int] | None, set[int] | None]:
    campaign = results.campaign
    farms = [farm.name for farm in campaign.farms] if campaign else []
    types = [turbine.name for turbine in campaign.turbines] if campaign else []
    return (
        _indices("--farm", selection.farms, farms) if selection.farms else None,
        _indices("--type", selection.types, types) if selection.types else None,
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


def _matches(
    key: str, place: Place, selection: Selection, farms: set[int] | None, types: set[int] | None
) -> bool:
    return (
        (farms is None or place[0] in farms)
        and (types is None or place[1] in types)
        and (not selection.seeds or place[2] in selection.seeds)
        and (not selection.keys or any(fnmatch.fnmatchcase(key, pattern) for pattern in selection.keys))
    )


def _refuse_named(
    results: ResultSet, selection: Selection, stored: set[str], good: Mapping[str, Place]
) -> None:
    """A key that was named must be there, and valid."""
    for key in selection.keys:
        if any(letter in key for letter in "*?["):
            results.matching(key)
        elif key not in stored:
            results.record(key)
        elif key not in good:
            raise DataError(
                f"{results.path}: result {key} is there, but is not valid or does not answer the campaign; "
                "`vindeby validate` says why"
            )


def _best(wanted: Mapping[Place, str], worth: Mapping[str, float]) -> dict[Place, str]:
    best: dict[tuple[int, int], Place] = {}
    for place in sorted(wanted):
        other = best.get(place[:2])
        if other is None or worth[wanted[place]] > worth[wanted[other]]:
            best[place[:2]] = place
    return {place: wanted[place] for place in best.values()}


def _segments(results: ResultSet, places: Mapping[str, Place]) -> tuple[list[Segment], list[str]]:
    """The verified records of these keys, each once; and the keys whose records turn out to be damaged."""
    source = results.source
    assert isinstance(source, Database | Folder), "there are results, so there is a file"
    found: list[Segment] = []
    seen: set[bytes] = set()
    for segment in source.segments():
        mine = [
            row
            for row, key in enumerate(segment.rows["key"].tolist())
            if key.decode(errors="replace") in places and key not in seen
        ]
        seen.update(segment.rows["key"][mine].tolist())
        if mine:
            found.append(segment.take(mine))
    return found, [key for key in places if key.encode() not in seen]
