"""Results for other tools: netCDF, Zarr, Parquet, CSV, windIO, GeoJSON, FLORIS.

Only verified results are exported, and each file or folder is put in place as a whole (``exporting``).
"""

from typing import NamedTuple


class ExportFormat(NamedTuple):
    """A format of export: the default name of its file or folder, and the module that writes it."""

    suffix: str
    module: str
    is_folder: bool = False


FORMATS = {
    "netcdf": ExportFormat(".nc", "gridded"),
    "zarr": ExportFormat(".zarr", "gridded", is_folder=True),
    "parquet": ExportFormat(".parquet", "columns"),
    "csv": ExportFormat(".csv", "columns"),
    "windio": ExportFormat(".windio", "windio", is_folder=True),
    "geojson": ExportFormat(".geojson", "geojson"),
    "floris": ExportFormat(".floris", "floris", is_folder=True),
}
"""The formats of export: each module has ``write(path, file_format, chosen, options)``, and is loaded when needed."""
