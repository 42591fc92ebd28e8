"""One export: the results that were asked for, in one format, put in place as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vindeby._version import __version__
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
LOCAL = "local"


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
            target, replace=options.force, database=results.path, replaceable=_recogniser(file_format)
        ) as folder:
            write(folder)
    else:
        with new_file(target, replace=options.force, database=results.path) as file:
            write(file)
    return Exported(target, file_format, chosen)


def stated_crs(chosen: Chosen, options: Options) -> str | None:
    """The coordinate reference system that was given, else the campaign's, else None."""
    return options.crs or getattr(chosen.campaign, "crs", None)


def _writer(file_format: str, chosen: Chosen, options: Options) -> Callable[[Path], None]:
    """Only the module of the format is loaded."""
    crs = stated_crs(chosen, options)
    match file_format:
        case "netcdf" | "zarr":
            return _dataset_writer(file_format, chosen, crs)
        case "parquet" | "csv":
            return _table_writer(file_format, chosen, options.rows)
        case "geojson":
            from vindeby.interop.export.geojson import write_geojson

            return partial(write_geojson, chosen=chosen, crs=crs)
        case "windio":
            from vindeby.interop.export.windio import write_windio

            return partial(write_windio, chosen=chosen, crs=crs)
        case _:
            from vindeby.interop.export.floris import write_floris

            return partial(write_floris, chosen=chosen)


def _dataset_writer(file_format: str, chosen: Chosen, crs: str | None) -> Callable[[Path], None]:
    from vindeby.interop.export.gridded import dataset, write_netcdf, write_zarr

    write = write_netcdf if file_format == "netcdf" else write_zarr
    data = dataset(chosen, crs)
    return partial(write, data=data)


def _table_writer(file_format: str, chosen: Chosen, rows: str) -> Callable[[Path], None]:
    from vindeby.interop.export.columns import result_columns, turbine_columns, write_csv, write_parquet

    columns = turbine_columns(chosen) if rows == "turbines" else result_columns(chosen)
    if rows == "turbines" and (without := chosen.without_layouts()):
        chosen.notes.append(
            f"{len(without):,} of the results have no turbines, and so no row in the table; --rows results writes a "
            "row for each result"
        )
    if file_format == "csv":
        return partial(write_csv, columns=columns)
    metadata = {"vindeby": __version__, "database": chosen.database.name}
    if chosen.campaign is not None:
        metadata["campaign"] = chosen.campaign.dumps()
    return partial(write_parquet, columns=columns, metadata=metadata)


def _recogniser(file_format: str) -> Callable[[Path], bool]:
    from vindeby.interop.export.gridded import is_zarr_export

    return is_zarr_export if file_format == "zarr" else partial(is_marked, file_format=file_format)
