"""Water depths and tables by depth in files of their own: read once and put into the campaign.

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
from vindeby.campaign.reading.tables import TableReader
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used
from vindeby.campaign.sections.costs import Grid, cropped, near_points
from vindeby.campaign.sections.farm import Farm
from vindeby.errors import VindebyError
from vindeby.text import plural

_DEPTHS = ("depth", "water_depth", "waterdepth", "bathymetry", "depth_m")
_HEIGHTS = ("elevation", "altitude", "topo", "height", "z")
_AXES = {"x": "x", "easting": "x", "y": "y", "northing": "y"}
_DEGREES = ("lon", "lat", "longitude", "latitude")
_MOST_POINTS = 500_000
_METRES = "project it to the metres of the campaign first, e.g. with gdalwarp -t_srs EPSG:32631"
_DEPTH = Column("m", "depth", "depthm", "waterdepth", "waterdepthm", "bathymetry")
_GRID = {
    "x": Column("m", "x", "xm", "easting", "utmx", "xcoord"),
    "y": Column("m", "y", "ym", "northing", "utmy", "ycoord"),
    "depth": _DEPTH,
    "elevation": Column("m", "elevation", "elevationm", "altitude", "z", "topo"),
}
_VALUES = {
    "mass": Column("kg", "mass", "masskg", "monopilemass", "monopilemasskg", also={"t": 1e-3}),
    "cost": Column("eur", "cost", "costeur", "eur", also={"meur": 1e-6}),
}


def with_cost_files(document: Document, folder: Path) -> Document:
    """Put the depths, and the tables by depth, that stand in files of their own into the document."""
    costs = document.data.get("costs")
    foundation = costs.get("foundation") if isinstance(costs, dict) else None
    if not isinstance(foundation, dict):
        return document
    for key in ("depth", "mass", "cost"):
        given = foundation.get(key)
        if isinstance(given, str):
            at = ("costs", "foundation", key)
            document.origins[(*at, "file")] = document.origin(at)
            foundation[key] = given = {"file": given}
        if isinstance(given, dict) and "file" in given:
            named = NamedFile(document, given, ("costs", "foundation", key), folder)
            _take_depths(named) if key == "depth" else _take_curve(named, key)
    return document


def _take_curve(named: NamedFile, key: str) -> None:
    """A table of depth and mass, or cost, in the order of depths."""
    named.refuse_beside("file", ("table", "polynomial"))
    reader = TableReader(str(named.path), named.field)
    table = reader.read(named.text(latin=True), {"depth": _DEPTH, key: _VALUES[key]}, ("depth", key))
    _note(named, reader.notes + not_used(reader.unused))
    pairs = sorted(zip(table.columns["depth"], table.columns[key], strict=True))
    named.put({"table": [list(pair) for pair in pairs]}, Origin(str(named.path), table.header_line))


def _note(named: NamedFile, notes: list[str]) -> None:
    named.document.notes += [f"{named.path.name}: {note}" for note in notes]


def _take_depths(named: NamedFile) -> None:
    """The grid of depths around the farms."""
    named.refuse_beside("file", ("x", "y", "values", "source"))
    if (positive := named.data.get("positive")) not in (None, "up", "down"):
        named.refuse_key("positive", "is neither up nor down", "write up for heights, down for depths")
    reader = _READERS.get(suffix_of(named.path), _of_netcdf)
    if reader is not _of_netcdf and "variable" in named.data:
        named.refuse_key("variable", "is only for netCDF files", "remove it")
    x, y, values, is_up = reader(named)
    is_up = is_up if positive is None else positive == "up"
    area = _area(named.document.data)
    x, y, values = _around(x, y, -values if is_up else values, area)
    if values.size > _MOST_POINTS:
        message = f"has {values.size:,} points in and around the farms, more than {_MOST_POINTS:,}"
        named.refuse_key("file", message, "make the grid coarser, e.g. with gdalwarp -tr 100 100")
    values = _filled(named, x, y, values, area)
    for option in ("positive", "variable"):
        named.data.pop(option, None)
    named.put({"x": x.tolist(), "y": y.tolist(), "values": values.ravel().tolist()})
    named.data["source"] = named.path.name


_Read = tuple[FloatArray, FloatArray, FloatArray, bool]
"""x, y, numbers over (x, y), and whether they are heights."""


def _of_table(named: NamedFile) -> _Read:
    reader = TableReader(str(named.path), named.field)
    table = reader.read(named.text(latin=True), _GRID, ("x", "y"))
    found = [name for name in ("depth", "elevation") if name in table.columns]
    if len(found) != 1:
        wrong = "names a column of depth and one of elevation" if found else "names no column of depth"
        reader.refuse(table.header_line, wrong, "name one of the columns depth, or elevation")
    _note(named, reader.notes + not_used(reader.unused))
    (x, i), (y, j) = (np.unique(np.array(table.columns[axis]), return_inverse=True) for axis in ("x", "y"))
    if len(x) < 2 or len(y) < 2:
        named.refuse("is not a grid: it has one x or one y", "give two or more of each")
    if 2 * len(i) < len(x) * len(y):
        message = f"is not a grid: {len(i):,} points have {len(x):,} different x and {len(y):,} different y"
        named.refuse(message, "interpolate scattered soundings to a grid first, e.g. with gdal_grid")
    values, seen = np.full((len(x), len(y)), np.nan), set[tuple[int, int]]()
    for line, place in zip(table.lines, zip(i.tolist(), j.tolist(), strict=True), strict=True):
        if place in seen:
            reader.refuse(line, "has the x and y of a line above it", "keep one of them")
        seen.add(place)
    values[i, j] = table.columns[found[0]]
    return x, y, values, found[0] == "elevation"


def _of_raster(named: NamedFile) -> _Read:
    try:
        x, y, values = readers().raster_file(named.path, named.document.data.get("crs"))
    except VindebyError as error:
        named.refuse_key("file", str(error), "name a GeoTIFF file in metres")
    return x, y, values, False


def _of_netcdf(named: NamedFile) -> _Read:
    variable = named.data.get("variable")
    wanted = (*_DEPTHS, *_HEIGHTS) if variable is None else (str(variable).lower(),)
    try:
        found = readers().gridded_file(named.path, wanted)
    except VindebyError as error:
        named.refuse_key("file", str(error), "name a netCDF-4 or GeoTIFF file, or a table, with depths")
    names = [name for name in found.arrays if name.lower() in wanted]
    if len(names) != 1:
        several = f"has {' and '.join(names)}" if names else "has no variable of depth"
        others = ", ".join(found.others[:8])
        named.refuse_key(
            "file", several, f"name it with variable:{' one of ' + others if others else ' NAME'}"
        )
    axes, values = found.arrays[names[0]]
    known = [_AXES.get(axis.lower(), "") for axis in axes]
    if sorted(known) != ["x", "y"]:
        degrees = [axis for axis in axes if axis.lower() in _DEGREES]
        wrong = "in degrees" if degrees else "not x and y"
        message = f"has {names[0]} over {' and '.join(axes) or 'no axis'}, which is {wrong}"
        named.refuse_key("file", message, _METRES if degrees else "give a grid over x and y")
    for one in (names[0], *axes):
        unit = found.attributes.get(one, {}).get("units", "m").strip()
        if unit.lower().rstrip("s") not in ("", "m", "metre", "meter"):
            named.refuse_key("file", f"has {one} in {unit}", "convert it to metres first")
    x, y = (np.asarray(found.arrays[axes[known.index(axis)]][1], np.float64) for axis in ("x", "y"))
    values = values if known == ["x", "y"] else values.T
    for axis, points in (("x", x), ("y", y)):
        rising = len(points) > 1 and (np.isfinite(points).all() and len(set(np.sign(np.diff(points)))) == 1)
        if not rising or points[0] == points[1]:
            message = f"has an axis {axis} that neither rises nor falls all along"
            named.refuse_key("file", message, "sort it, with two or more points")
    _note(named, not_used(found.others) if variable is None else [])
    by_name = "up" if names[0].lower() in _HEIGHTS else "down"
    is_up = found.attributes.get(names[0], {}).get("positive", by_name).strip().lower() == "up"
    return x[np.argsort(x)], y[np.argsort(y)], values[np.ix_(np.argsort(x), np.argsort(y))], is_up


_READERS = {
    **dict.fromkeys((".csv", ".txt", ".xyz", ".tsv", ".dat"), _of_table),
    **dict.fromkeys((".tif", ".tiff"), _of_raster),
}
"""By how the name of a file ends; others are netCDF."""


def _area(data: dict[str, Any]) -> BaseGeometry | None:
    """Where turbines may stand; None where the farms are wrong, which is then reported."""
    farms = data.get("farms")
    try:
        shapes = [Farm.model_validate(farm).boundary.shape() for farm in farms or ()]
    except (ValidationError, TypeError):
        return None
    return shapely.union_all(shapes) if shapes else None


def _around(x: FloatArray, y: FloatArray, values: FloatArray, area: BaseGeometry | None) -> Grid:
    """The part of a grid in whose cells the farms lie; only its ends where they reach beyond, which is then refused."""
    if area is None:
        return x, y, values
    west, south, east, north = area.bounds
    if not (x[0] <= west and east <= x[-1] and y[0] <= south and north <= y[-1]):
        return x[[0, -1]], y[[0, -1]], np.zeros((2, 2))
    return cropped(x, y, values, area)


def _filled(
    named: NamedFile, x: FloatArray, y: FloatArray, values: FloatArray, area: BaseGeometry | None
) -> FloatArray:
    """The depths, with 0 where the grid has none and no farm is near; refuses a gap that a farm needs."""
    gaps = ~np.isfinite(values)
    if not gaps.any():
        return values
    needed = np.argwhere(gaps if area is None else gaps & near_points(area, x, y))
    if len(needed):
        i, j = needed[0]
        message = f"has no depth at ({x[i]:.10g}, {y[j]:.10g}), in or beside a farm"
        named.refuse_key("file", message, "fill the gaps, e.g. with gdal_fillnodata")
    _note(named, [f"{plural(int(gaps.sum()), 'point')} without a depth, away from the farms, taken as 0 m"])
    return np.where(gaps, 0.0, values)
