"""Numbers over x and y in metres: a variable of a netCDF-4 file, or a GeoTIFF (``vindeby[depth]``)."""

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.errors import DataError, InputError, library
from vindeby.interop.geo.crs import crs_from_text
from vindeby.store.disk.files import refuse_special
from vindeby.store.foreign.gridded_file import MOST_NUMBERS, read_gridded_file

_AXES = {"x": "x", "easting": "x", "y": "y", "northing": "y"}
_Grid = tuple[FloatArray, FloatArray, FloatArray]


def read_raster(path: Path, variable: str, crs: Any = None) -> _Grid:
    """X and y, increasing, and the numbers over (x, y) in metres, of which gaps are NaN.

    ``variable`` is that of a netCDF file, ``crs`` the campaign's; a GeoTIFF in another one is refused.
    """
    is_tiff = path.suffix.lower() in (".tif", ".tiff")
    x, y, values = _of_tiff(path, crs) if is_tiff else _of_netcdf(path, variable)
    columns, rows = np.argsort(x), np.argsort(y)
    return x[columns], y[rows], values[np.ix_(columns, rows)]


def _of_netcdf(path: Path, variable: str) -> _Grid:
    found = read_gridded_file(path, (variable.lower(),))
    for name in [name for name in found.arrays if name.lower() == variable.lower()]:
        one = found.arrays[name]
        axes = {_AXES.get(axis.lower(), axis): axis for axis in one.axes}
        if sorted(axes) != ["x", "y"] or len(one.axes) > 2:
            over = f"over {' and '.join(one.axes) or 'nothing'}, not over x and y"
            raise InputError(f"{path}: has {name} {over}; project it, e.g. with gdalwarp -t_srs EPSG:32631")
        for read in (name, *one.axes):
            _refuse_unit(path, read, found.units[read])
        x, y = (found.arrays[axes[axis]].values for axis in ("x", "y"))
        return x, y, one.over(axes["x"], axes["y"])
    others = ", ".join(found.others[:8]) or "NAME"
    raise InputError(f"{path}: has no variable {variable}; name another with variable: {others}")


def _refuse_unit(path: Path, what: str, unit: str) -> None:
    if unit.strip().lower().rstrip("s") not in ("", "m", "metre", "meter"):
        raise InputError(f"{path}: has {what} in {unit}; convert it to metres first")


def _of_tiff(path: Path, crs: Any) -> _Grid:
    rasterio = library("rasterio", "depth", "a GeoTIFF file")
    refuse_special(path)
    try:
        # Only this driver: others read text that names more files.
        with rasterio.open(path, driver="GTiff") as raster:
            at, own = raster.transform, raster.crs and crs_from_text(raster.crs.to_wkt().replace("\n", " "))
            if raster.crs:
                unit = "degrees" if raster.crs.is_geographic else raster.crs.linear_units
                _refuse_unit(path, "coordinates", unit)
            if own and isinstance(crs, str) and own != crs_from_text(crs):
                raise InputError(f"{path}: is in {own.name}, not in {crs}; reproject it with gdalwarp -t_srs")
            _refuse_unit(path, "numbers", raster.units[0] or "m")
            if raster.width * raster.height > MOST_NUMBERS:
                raise InputError(f"{path}: has more than {MOST_NUMBERS:,} pixels; crop it with gdalwarp -te")
            if at.b != 0.0 or at.d != 0.0 or at.is_identity:
                raise InputError(f"{path}: its rows do not run from west to east; rectify it with gdalwarp")
            band = raster.read(1, masked=True).astype(np.float64) * raster.scales[0] + raster.offsets[0]
    except rasterio.errors.RasterioError as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    values = np.ma.filled(band, np.nan).T
    across, along = (np.arange(count) + 0.5 for count in values.shape)
    return at.c + at.a * across, at.f + at.e * along, values
