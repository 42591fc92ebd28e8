"""Water depths, tables by depth and prices in files of their own: read once and put into the campaign.

Depths come as a grid: netCDF-4, GeoTIFF, or a table with the columns x, y and depth. Only the part around the farms is
kept, so that a map of a whole sea can be named. Whether numbers are depths or heights is decided by the name of the
variable, its attribute ``positive``, or ``positive: up`` in the campaign file; it is never guessed from the numbers.
"""

from pathlib import Path
from typing import Any

import numpy as np
import shapely
from pydantic import ValidationError
from shapely.geometry.base import BaseGeometry

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.columns import Column
from vindeby.campaign.reading.files import NamedFile, suffix_of
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import NumberTable, TableReader
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used
from vindeby.campaign.sections.costs import cropped
from vindeby.campaign.sections.farm import Farm
from vindeby.errors import VindebyError
from vindeby.text import plural

_HEIGHTS = ("elevation", "altitude", "topo", "height", "z")
_VARIABLES = ("depth", "water_depth", "waterdepth", "bathymetry", "depth_m", *_HEIGHTS)
_AXES = {"x": "x", "easting": "x", "y": "y", "northing": "y"}
_DEGREES = ("lon", "lat", "longitude", "latitude")
_MOST_POINTS = 500_000
_NO_DEPTH = -9999.0
"""Where a file has no depth: as far above the water as no limit allows."""
_METRES = "project it to the metres of the campaign first, e.g. with gdalwarp -t_srs EPSG:32631"
_COLUMNS = {
    "x": Column("m", "x", "xm", "easting", "utmx", "xcoord"),
    "y": Column("m", "y", "ym", "northing", "utmy", "ycoord"),
    "depth": Column("m", "depth", "depthm", "waterdepth", "waterdepthm", "bathymetry"),
    "elevation": Column("m", "elevation", "elevationm", "altitude", "z", "topo"),
    "mass": Column("kg", "mass", "masskg", "monopilemass", "monopilemasskg", also={"t": 1e-3}),
    "cost": Column("eur", "cost", "costeur", "eur", also={"meur": 1e-6}),
    "price": Column("eur/mwh", "price", "priceeurpermwh", "spotprice", "dayaheadprice"),
}


def with_cost_files(document: Document, folder: Path) -> Document:
    """Put the depths, the tables by depth and the prices that stand in files of their own into the document."""
    costs, objective = (document.data.get(key) for key in ("costs", "objective"))
    foundation: Any = costs.get("foundation") if isinstance(costs, dict) else None
    for key in ("depth", "mass", "cost") if isinstance(foundation, dict) else ():
        given, at = foundation.get(key), ("costs", "foundation", key)
        if isinstance(given, str):
            document.origins[(*at, "file")] = document.origin(at)
            foundation[key] = given = {"file": given}
        if isinstance(given, dict) and "file" in given:
            named = NamedFile(document, given, at, folder)
            _take_depths(named) if key == "depth" else _take_curve(named, key)
    within = ("objective", "npv") if isinstance(objective, dict) and "npv" in objective else ("objective",)
    priced = objective["npv"] if len(within) > 1 else objective
    if isinstance(priced, dict) and isinstance(priced.get("price"), str):
        named = NamedFile(document, priced, within, folder, "price")
        table, origin = _table(named, ("price",))
        named.put({"price": table.columns["price"]}, origin)
    return document


def _table(
    named: NamedFile, required: tuple[str, ...], other: tuple[str, ...] = ()
) -> tuple[NumberTable, Origin]:
    """The columns of a table, and where it begins."""
    reader = TableReader(str(named.path), named.field)
    wanted = {name: _COLUMNS[name] for name in (*required, *other)}
    table = reader.read(named.text(latin=True), wanted, required)
    _note(named, reader.notes + not_used(reader.unused))
    return table, Origin(str(named.path), table.header_line)


def _note(named: NamedFile, notes: list[str]) -> None:
    named.document.notes += [f"{named.path.name}: {note}" for note in notes]


def _take_curve(named: NamedFile, key: str) -> None:
    """A table of depth and mass, or cost, in the order of depths."""
    named.refuse_beside("file", ("table", "polynomial"))
    table, origin = _table(named, ("depth", key))
    pairs = sorted(zip(table.columns["depth"], table.columns[key], strict=True))
    named.put({"table": [list(pair) for pair in pairs]}, origin)


def _take_depths(named: NamedFile) -> None:
    """The grid of depths around the farms."""
    named.refuse_beside("file", ("x", "y", "values", "source"))
    if (positive := named.data.get("positive")) not in (None, "up", "down"):
        named.refuse_key("positive", "is neither up nor down", "write up for heights, down for depths")
    x, y, values, is_up = _READERS.get(suffix_of(named.path), _of_netcdf)(named)
    if (area := _area(named.document.data)) is not None:
        x, y, values = cropped(x, y, values, area)
    if values.size > _MOST_POINTS:
        message = f"has {values.size:,} points in and around the farms, more than {_MOST_POINTS:,}"
        named.refuse_key("file", message, "make the grid coarser, e.g. with gdalwarp -tr 100 100")
    upward = is_up if positive is None else positive == "up"
    depths, gaps = -values if upward else values, ~np.isfinite(values)
    if gaps.any():
        _note(named, [f"{plural(int(gaps.sum()), 'point')} without a depth, taken as land"])
    depths = np.where(gaps, _NO_DEPTH, depths)
    named.data.pop("positive", None)
    named.put({"x": x.tolist(), "y": y.tolist(), "values": depths.ravel().tolist()})
    named.data["source"] = named.path.name


_Read = tuple[FloatArray, FloatArray, FloatArray, bool]
"""x, y, numbers over (x, y), and whether they are heights."""


def _of_table(named: NamedFile) -> _Read:
    table, origin = _table(named, ("x", "y"), ("depth", "elevation"))
    found = [name for name in ("depth", "elevation") if name in table.columns]
    if len(found) != 1:
        wrong = "names a column of depth and one of elevation" if found else "names no column of depth"
        named.refuse(wrong, "name one of the columns depth, or elevation", line=origin.line)
    (x, i), (y, j) = (np.unique(np.array(table.columns[axis]), return_inverse=True) for axis in ("x", "y"))
    if 2 * len(i) < len(x) * len(y):
        message = f"is not a grid: {len(i):,} points have {len(x):,} different x and {len(y):,} different y"
        named.refuse(message, "interpolate scattered soundings to a grid first, e.g. with gdal_grid")
    for again in np.setdiff1d(np.arange(len(i)), np.unique(i * len(y) + j, return_index=True)[1])[:1]:
        message = "has the x and y of a line above it"
        named.refuse(message, "keep one of them", line=table.lines[again])
    values = np.full((len(x), len(y)), np.nan)
    values[i, j] = table.columns[found[0]]
    return x, y, values, found[0] == "elevation"


def _of_raster(named: NamedFile) -> _Read:
    try:
        x, y, values = readers().raster_file(named.path, named.document.data.get("crs"))
    except VindebyError as error:
        named.refuse_key("file", str(error), "name a GeoTIFF file in metres")
    return x, y, values, False


def _of_netcdf(named: NamedFile) -> _Read:
    variable = named.data.pop("variable", None)
    wanted = _VARIABLES if variable is None else (str(variable).lower(),)
    try:
        found = readers().gridded_file(named.path, wanted)
    except VindebyError as error:
        named.refuse_key("file", str(error), "name a netCDF-4 or GeoTIFF file, or a table, with depths")
    names = [name for name in found.arrays if name.lower() in wanted]
    if len(names) != 1:
        several = f"has {' and '.join(names)}" if names else "has no variable of depth"
        others = ", ".join(found.others[:8]) or "NAME"
        named.refuse_key("file", several, f"name it with variable: {others}")
    axes, values = found.arrays[names[0]]
    known = [_AXES.get(axis.lower(), "") for axis in axes]
    if sorted(known) != ["x", "y"]:
        degrees = any(axis.lower() in _DEGREES for axis in axes)
        over = f"has {names[0]} over {' and '.join(axes) or 'no axis'}, which is"
        message = f"{over} {'in degrees' if degrees else 'not x and y'}"
        named.refuse_key("file", message, _METRES if degrees else "give a grid over x and y")
    for one in (names[0], *axes):
        unit = found.attributes.get(one, {}).get("units", "m").strip()
        if unit.lower().rstrip("s") not in ("", "m", "metre", "meter"):
            named.refuse_key("file", f"has {one} in {unit}", "convert it to metres first")
    x, y = (np.asarray(found.arrays[axes[known.index(axis)]][1], np.float64) for axis in ("x", "y"))
    values = values if known == ["x", "y"] else values.T
    _note(named, not_used(found.others) if variable is None else [])
    by_name = "up" if names[0].lower() in _HEIGHTS else "down"
    is_up = found.attributes.get(names[0], {}).get("positive", by_name).strip().lower() == "up"
    return np.sort(x), np.sort(y), values[np.ix_(np.argsort(x), np.argsort(y))], is_up


_READERS = {
    **dict.fromkeys((".csv", ".txt", ".xyz", ".tsv", ".dat"), _of_table),
    **dict.fromkeys((".tif", ".tiff"), _of_raster),
}
"""By how the name of a file ends; others are netCDF."""


def _area(data: dict[str, Any]) -> BaseGeometry | None:
    """Where turbines may stand; None where the farms are wrong, which is then reported."""
    try:
        shapes = [Farm.model_validate(farm).boundary.shape() for farm in data.get("farms") or ()]
    except (ValidationError, TypeError):
        return None
    return shapely.union_all(shapes) if shapes else None
