"""Results as columns: one row per result, or one per turbine of each result. CSV and Parquet are made of these."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.interop.common import library
from vindeby.interop.export.chosen import Chosen
from vindeby.store.format.rows import Segment, array_field
from vindeby.store.read.export import (
    PLACE,
    array_column,
    array_names,
    attribute_column,
    attribute_names,
    axes_of,
    layout_sizes,
    number_column,
    origin_column,
    shapes_of,
    texts,
    turbines_in,
)

UNITS = {
    "aep_gwh": "GWh/year",
    "seconds": "s",
    "x_m": "m",
    "y_m": "m",
    "rotor_diameter_m": "m",
    "hub_height_m": "m",
}
"""Of the columns that have one."""


@dataclass(frozen=True)
class TurbineTypes:
    """The turbine types of a campaign, by their numbers; without one, what the records say."""

    names: list[str]
    diameters: list[float]
    hub_heights: list[float]


def turbine_types(chosen: Chosen) -> TurbineTypes:
    """The types that the campaign describes."""
    known = () if chosen.campaign is None else chosen.campaign.turbines
    return TurbineTypes(
        [one.name for one in known],
        [one.rotor_diameter_m for one in known],
        [one.hub_height_m for one in known],
    )


def result_columns(chosen: Chosen) -> dict[str, NDArray[Any]]:
    """One row per result, in order: what it is, its energy, and every single number or text of its record."""
    segments, order = chosen.segments, _order(chosen)
    places = np.array([chosen.places[key] for key in texts(segments, "key")], np.int64).reshape(-1, 3)
    farms, types, _ = axes_of(places, chosen.campaign)
    farm_names, type_names = (
        dict(zip(axis.numbers.tolist(), axis.names, strict=True)) for axis in (farms, types)
    )
    cells, known = chosen.cells, turbine_types(chosen).names
    labels = [
        cells[farm, kind].label(known) if (farm, kind) in cells else type_names[kind]
        for farm, kind in places[:, :2].tolist()
    ]
    columns: dict[str, NDArray[Any]] = {
        "key": _text(texts(segments, "key")),
        "farm_idx": places[:, 0],
        "farm": _text([farm_names[number] for number in places[:, 0].tolist()]),
        "type_idx": places[:, 1],
        "type": _text(labels),
        "seed": places[:, 2],
        "aep_gwh": number_column(segments, "aep"),
        "n_turbines": layout_sizes(segments),
        "seconds": number_column(segments, "seconds"),
        "origin": _text(origin_column(segments)),
        "fingerprint": _text(texts(segments, "fingerprint")),
        "checksum": _text(texts(segments, "checksum")),
    }
    for name in attribute_names(segments):
        if name not in {*PLACE, "aep", "n_turbines", "origin", "seconds"}:
            values = attribute_column(segments, name)
            columns[_free(name, columns)] = values.astype(object) if values.dtype.kind == "U" else values
    for name in array_names(segments):
        if name != "aep" and set(shapes_of(segments, name)) == {()}:
            columns[_free(name, columns)] = array_column(segments, name)
    return {name: column[order] for name, column in columns.items()}


def turbine_columns(chosen: Chosen) -> dict[str, NDArray[Any]]:
    """One row per turbine of each result, in order; zone and hub height are empty where nothing says them."""
    results = result_columns(chosen)
    counts, parts = [], []
    for number, (key, segment, row) in enumerate(chosen.in_order()):
        part = _turbines(
            chosen, key, segment, row, results["diameter"][number] if "diameter" in results else np.nan
        )
        counts.append(len(part["x_m"]))
        parts.append(part)
    repeated = {
        name: np.repeat(results[name], counts)
        for name in ("key", "farm_idx", "farm", "type_idx", "type", "seed")
    }
    own = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {**repeated, **own, "aep_gwh": np.repeat(results["aep_gwh"], counts)}


def _turbines(
    chosen: Chosen, key: str, segment: Segment, row: int, diameter: float
) -> dict[str, NDArray[Any]]:
    """What each turbine of one result is."""
    farm_idx = chosen.places[key][0]
    count = turbines_in(segment) or 0
    layout = segment.rows[array_field("layout")][row] if count else np.empty((2, 0))
    kinds, zones = kinds_in(chosen, key, segment, row), zones_in(chosen, key, segment, row)
    types = turbine_types(chosen)
    zone_names = _zone_names(chosen, farm_idx)
    return {
        "turbine": np.arange(count),
        "x_m": np.asarray(layout[0], np.float64),
        "y_m": np.asarray(layout[1], np.float64),
        "rotor_diameter_m": np.array([_of(types.diameters, kind, diameter) for kind in kinds], np.float64),
        "hub_height_m": np.array([_of(types.hub_heights, kind, np.nan) for kind in kinds], np.float64),
        "turbine_type_idx": np.array(kinds, np.int64),
        "turbine_type": _text([_of(types.names, kind, f"t{kind}") for kind in kinds]),
        "zone": np.array([-1] * count if zones is None else zones, np.int64),
        "zone_name": _text(
            ["" if zones is None else _of(zone_names, zone, "") for zone in zones or [0] * count]
        ),
    }


def kinds_in(chosen: Chosen, key: str, segment: Segment, row: int) -> list[int]:
    """The type of each turbine of a result, by its number in the campaign: that of the result, or of its mix."""
    count, field = turbines_in(segment) or 0, array_field("types")
    if field in (segment.rows.dtype.names or ()) and segment.rows[field].shape[1:] == (count,):
        return [int(kind) for kind in segment.rows[field][row].tolist()]
    return [chosen.places[key][1]] * count


def zones_in(chosen: Chosen, key: str, segment: Segment, row: int) -> list[int] | None:
    """The zone of each turbine of a result, by its number in the farm; None for a farm without zones."""
    count, field = turbines_in(segment) or 0, array_field("zone")
    if field in (segment.rows.dtype.names or ()) and segment.rows[field].shape[1:] == (count,):
        return [int(zone) for zone in segment.rows[field][row].tolist()]
    cell = chosen.cells.get(chosen.places[key][:2]) if chosen.campaign is not None else None
    if cell is None or not cell.zones or sum(cell.zones) != count:
        return None
    return [zone for zone, number in enumerate(cell.zones) for _ in range(number)]


def _zone_names(chosen: Chosen, farm_idx: int) -> list[str]:
    farms = () if chosen.campaign is None else chosen.campaign.farms
    return [zone.name for zone in farms[farm_idx].zones or ()] if farm_idx < len(farms) else []


def _order(chosen: Chosen) -> NDArray[np.intp]:
    """Where in the segments the results stand, in the order of the export."""
    stands = {key: number for number, key in enumerate(texts(chosen.segments, "key"))}
    return np.array([stands[key] for key in chosen.places], np.intp)


def _of(values: list[Any], index: int, otherwise: Any) -> Any:
    return values[index] if 0 <= index < len(values) else otherwise


def _text(values: list[str]) -> NDArray[Any]:
    return np.array(values, object)


def _free(name: str, columns: dict[str, Any]) -> str:
    while name in columns:
        name = f"record_{name}"
    return name


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
_NOT_KNOWN = {"zone": -1}
"""Whole numbers that stand for no value."""


def write_csv(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write the columns; an unknown value is an empty field.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(_field_texts(name, column) for name, column in columns.items()), strict=True))


def _field_texts(name: str, column: NDArray[Any]) -> list[str]:
    if column.dtype.kind == "f":
        return ["" if math.isnan(value) else repr(value) for value in column.tolist()]
    if column.dtype.kind == "b":
        return ["true" if value else "false" for value in column.tolist()]
    if np.issubdtype(column.dtype, np.integer):
        return ["" if value == _NOT_KNOWN.get(name) else str(value) for value in column.tolist()]
    return [f"'{text}" if text.startswith(_FORMULA) else text for text in map(str, column.tolist())]


def write_parquet(path: Path, columns: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write the columns; an unknown zone is null, an unknown number NaN."""
    pyarrow = library("pyarrow", "interop", "export --to parquet")
    parquet = library("pyarrow.parquet", "interop", "export --to parquet")
    fields, arrays = [], []
    for name, column in columns.items():
        values: Any = column
        if column.dtype.kind in "OU":
            values = pyarrow.array([str(text) for text in column.tolist()], pyarrow.string())
        elif name == "zone":
            values = pyarrow.array(column, mask=column < 0)
        else:
            values = pyarrow.array(column)
        unit = {"units": UNITS[name]} if name in UNITS else None
        fields.append(pyarrow.field(name, values.type, metadata=unit))
        arrays.append(values)
    schema = pyarrow.schema(fields, metadata=dict(metadata))
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), str(path))
