"""One export: the results that were asked for, in one format, put in place as a whole."""

from __future__ import annotations

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
    if file_format in FOLDERS:
        replaceable = partial(is_marked, file_format=file_format)
        place = new_folder(target, replace=options.force, database=results.path, replaceable=replaceable)
    else:
        place = new_file(target, replace=options.force, database=results.path)
    with place as temporary:
        _write(temporary, file_format, chosen, options)
    return Exported(target, file_format, chosen)


def _write(path: Path, file_format: str, chosen: Chosen, options: Options) -> None:
    """Write the results to a path; only the module of the format is loaded."""
    crs = options.crs or getattr(chosen.campaign, "crs", None)
    match file_format:
        case "netcdf" | "zarr":
            from vindeby.interop.export import gridded

            gridded.write(path, file_format, chosen, crs)
        case "parquet" | "csv":
            from vindeby.interop.export import columns

            columns.write(path, file_format, chosen, options.rows)
        case "geojson":
            from vindeby.interop.export.geojson import write_geojson

            write_geojson(path, chosen, crs)
        case "windio":
            from vindeby.interop.export.windio import write_windio

            write_windio(path, chosen, crs)
        case _:
            from vindeby.interop.export.floris import write_floris

            write_floris(path, chosen)
