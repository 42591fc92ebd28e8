"""One export: the results that were asked for, in one format, put in place as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vindeby.errors import ArgumentError
from vindeby.interop.export.chosen import Chosen, Selection, choose
from vindeby.interop.export.folders import is_marked
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.output_file import new_file, new_folder

FORMATS = {
    "netcdf": ".nc",
    "zarr": ".zarr",
    "parquet": ".parquet",
    "csv": ".csv",
    "windio": ".windio",
    "geojson": ".geojson",
    "floris": ".floris",
}
"""The formats, and how a file or folder of each is called if no name is given."""
FOLDERS = frozenset({"zarr", "windio", "floris"})
ROWS = ("turbines", "results")


@dataclass(frozen=True)
class Options:
    """How to write: rows of a table, and the coordinate reference system (``EPSG:32631``, or ``local``)."""

    rows: str = "turbines"
    crs: str | None = None
    force: bool = False


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: Path
    format: str
    chosen: Chosen


def export(
    results: ResultSet,
    file_format: str,
    path: Path | None = None,
    selection: Selection | None = None,
    options: Options | None = None,
) -> Exported:
    """Write the chosen results; without a path, beside the database."""
    options = options or Options()
    if file_format not in FORMATS:
        raise ArgumentError(f"--to: {file_format!r} is not known; use one of {', '.join(FORMATS)}")
    if options.rows not in ROWS:
        raise ArgumentError(f"--rows: {options.rows!r} is not known; use one of {', '.join(ROWS)}")
    target = path or results.path.with_suffix(FORMATS[file_format])
    chosen = choose(results, selection or Selection())
    write = _writer(file_format, chosen, options)
    if file_format in FOLDERS:
        with new_folder(
            target,
            replace=options.force,
            database=results.path,
            replaceable=partial(is_marked, file_format=file_format),
        ) as folder:
            write(folder)
    else:
        with new_file(target, replace=options.force, database=results.path) as file:
            write(file)
    return Exported(target, file_format, chosen)


def _writer(file_format: str, chosen: Chosen, options: Options) -> Callable[[Path], None]:
    """A function that writes the results to a path; only the module of the format is loaded."""
    crs = options.crs or getattr(chosen.campaign, "crs", None)
    match file_format:
        case "netcdf" | "zarr":
            from vindeby.interop.export.gridded import dataset, write_netcdf, write_zarr

            data = dataset(chosen, crs)
            if file_format == "netcdf":
                return partial(write_netcdf, data=data)
            return partial(write_zarr, data=data, chosen=chosen)
        case "parquet" | "csv":
            from vindeby.interop.export.columns import table_columns, write_csv, write_parquet

            columns = table_columns(chosen, options.rows)
            if file_format == "csv":
                return partial(write_csv, columns=columns)
            return partial(write_parquet, columns=columns, chosen=chosen)
        case "geojson":
            from vindeby.interop.export.geojson import write_geojson

            return partial(write_geojson, chosen=chosen, crs=crs)
        case "windio":
            from vindeby.interop.export.windio import write_windio

            return partial(write_windio, chosen=chosen, crs=crs)
        case _:
            from vindeby.interop.export.floris import write_floris

            return partial(write_floris, chosen=chosen)
