"""Depths from a GeoTIFF, with rasterio (``vindeby[depth]``): the points of its grid in metres, and its first band."""

from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.errors import DataError, InputError, library
from vindeby.interop.geo.crs import crs_from_text
from vindeby.store.disk.files import refuse_special

_MOST_NUMBERS = 20_000_000


def read_raster(path: Path, crs: Any = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """X and y of the middles of its pixels (metres, increasing), and the numbers over (x, y); gaps are NaN.

    ``crs`` is the campaign's, where it has one. A raster in degrees, or in another system, is refused.
    """
    rasterio = library("rasterio", "depth", "a GeoTIFF file")
    refuse_special(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        # Only this driver: others read text that names more files.
        with rasterio.open(path, driver="GTiff") as raster:
            _refuse_unusable(path, raster, crs)
            band = raster.read(1, masked=True).astype(np.float64) * raster.scales[0] + raster.offsets[0]
            transform = raster.transform
    except rasterio.errors.RasterioError as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    values = np.ma.filled(band, np.nan)
    x = transform.c + transform.a * (np.arange(values.shape[1]) + 0.5)
    y = transform.f + transform.e * (np.arange(values.shape[0]) + 0.5)
    over = values.T
    if transform.e < 0.0:  # the first row is the northernmost
        y, over = y[::-1], over[:, ::-1]
    return x, y, np.ascontiguousarray(over)


def _refuse_unusable(path: Path, raster: Any, crs: Any) -> None:
    if raster.width * raster.height > _MOST_NUMBERS or min(raster.width, raster.height) < 2:
        size = f"{raster.width:,} x {raster.height:,} pixels"
        raise InputError(f"{path}: has {size}; crop it to the farms, e.g. with gdalwarp -te")
    turned = raster.transform.b != 0.0 or raster.transform.d != 0.0 or raster.transform.a <= 0.0
    if turned or raster.transform.is_identity:
        raise InputError(f"{path}: its rows do not run from west to east; rectify it, e.g. with gdalwarp")
    if (raster.units[0] or "m").lower().rstrip("s") not in ("m", "metre", "meter"):
        raise InputError(f"{path}: its numbers are in {raster.units[0]}; convert them to metres first")
    if raster.crs is None:
        return
    unit = "degrees" if raster.crs.is_geographic else raster.crs.linear_units
    if unit.lower() not in ("metre", "meter", "m"):
        raise InputError(f"{path}: its coordinates are in {unit}; project it to metres, with gdalwarp -t_srs")
    stated = crs_from_text(crs) if isinstance(crs, str) else None
    own = crs_from_text(raster.crs.to_wkt().replace("\n", " "))
    if stated is not None and own is not None and stated != own:
        raise InputError(f"{path}: is in {own.name}, but the campaign in {stated.name}; reproject it")
