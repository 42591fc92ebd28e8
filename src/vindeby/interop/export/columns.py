"""Results as columns, with one row per turbine of each result. CSV and Parquet are made of these."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby._version import __version__
from vindeby.errors import library
from vindeby.interop.export.chosen import Chosen
from vindeby.interop.export.exporting import ExportOptions
from vindeby.results.tables import degrees
from vindeby.results.written import csv_field
from vindeby.store.read.columns import UNKNOWN

UNITS = {
    "aep_gwh": "GWh/year",
    "x_m": "m",
    "y_m": "m",
    "rotor_diameter_m": "m",
    "hub_height_m": "m",
    "longitude": "degrees_east",
    "latitude": "degrees_north",
}


def write(path: Path, file_format: str, chosen: Chosen, options: ExportOptions) -> None:
    """Write a table as ``csv`` or ``parquet``."""
    if without := chosen.without_layouts():
        chosen.notes.append(
            f"{len(without):,} of the results have no turbines, and so no row in the table; `vindeby query` lists "
            "results"
        )
    columns = turbine_columns(chosen, options.crs)
    if file_format == "csv":
        write_csv(path, columns)
    else:
        write_parquet(path, columns, chosen)


def turbine_columns(chosen: Chosen, crs: str | None = None) -> dict[str, NDArray[Any]]:
    """Return one row per turbine of each result, in order; zone and hub height are empty if unknown."""
    table, results = chosen.table, chosen.results
    columns = table.columns()
    table.add_single_values(columns)
    place_of = {key: place for place, key in enumerate(table.keys)}
    order = np.array([place_of[result.key] for result in results], np.intp)
    columns = {name: column[order] for name, column in columns.items()}
    counts = [len(result.types) for result in results]
    diameters = columns.get("diameter", np.full(len(results), np.nan))
    repeated = {
        name: np.repeat(columns[name], counts)
        for name in ("key", "farm_idx", "farm", "type_idx", "type", *table.results.axes.axes, "seed")
    }
    turbines = () if chosen.campaign is None else chosen.campaign.turbines
    types = [type_ for result in results for type_ in result.types]
    known = [turbines[type_] if 0 <= type_ < len(turbines) else None for type_ in types]
    stated = zip(known, np.repeat(diameters, counts).tolist(), strict=True)
    x, y = np.concatenate([np.empty((2, 0)), *(result.layout for result in results)], axis=1)
    zones = [zone for result in results for zone in result.zones or [UNKNOWN] * len(result.types)]
    names = [_zone_name(chosen, farm, zone) for farm, zone in zip(repeated["farm_idx"], zones, strict=True)]
    return {
        **repeated,
        "turbine": np.concatenate([np.empty(0, np.int64), *map(np.arange, counts)]),
        "x_m": x,
        "y_m": y,
        "rotor_diameter_m": np.array(
            [one.rotor_diameter_m if one else own for one, own in stated], np.float64
        ),
        "hub_height_m": np.array([one.hub_height_m if one else np.nan for one in known], np.float64),
        "turbine_type_idx": np.array(types, np.int64),
        "turbine_type": _text(
            [one.name if one else f"t{type_}" for one, type_ in zip(known, types, strict=True)]
        ),
        "zone": np.array(zones, np.int64),
        "zone_name": _text(names),
        "aep_gwh": np.repeat(columns["aep"], counts),
        **{name: np.repeat(columns[name], counts) for name in table.derived},
        **degrees(crs, x, y),
    }


def _zone_name(chosen: Chosen, farm_idx: int, zone: int) -> str:
    farms = () if chosen.campaign is None else chosen.campaign.farms
    zones = (farms[farm_idx].zones or ()) if farm_idx < len(farms) else ()
    return zones[zone].name if 0 <= zone < len(zones) else ""


def _text(values: list[str]) -> NDArray[Any]:
    return np.array(values, object)


def write_csv(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write the columns; an unknown value is an empty field."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        fields = (map(csv_field, plain_values(name, column)) for name, column in columns.items())
        writer.writerows(zip(*fields, strict=True))


def plain_values(name: str, column: NDArray[Any]) -> list[Any]:
    """Return a column as plain values, with None for what is not known."""
    unknown = (UNKNOWN, "") if name in ("zone", "zone_name") else ()
    return [
        None if value in unknown or (isinstance(value, float) and math.isnan(value)) else value
        for value in column.tolist()
    ]


def write_parquet(path: Path, columns: Mapping[str, NDArray[Any]], chosen: Chosen) -> None:
    """Write the columns; an unknown zone is null, an unknown number NaN."""
    pyarrow = library("pyarrow", "interop", "export --to parquet")
    parquet = library("pyarrow.parquet", "interop", "export --to parquet")
    fields, arrays = [], []
    for name, column in columns.items():
        kind = pyarrow.string() if column.dtype.kind in "OU" else None
        values = pyarrow.array(column, kind, mask=column < 0 if name == "zone" else None)
        unit = {"units": UNITS[name]} if name in UNITS else None
        fields.append(pyarrow.field(name, values.type, metadata=unit))
        arrays.append(values)
    metadata = {"vindeby": __version__, "database": chosen.database.name}
    if chosen.campaign is not None:
        metadata["campaign"] = chosen.campaign.dumps()
    schema = pyarrow.schema(fields, metadata=metadata)
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), str(path))
