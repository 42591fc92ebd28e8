"""Water depths, tables by depth and prices in files of their own: read once and put into the campaign.

Depths come as a grid: netCDF-4, or a table with the columns x, y and depth. Only the part around the farms is
kept, so that a map of a whole sea can be named. Numbers are depths unless the campaign file says ``positive: up``.
"""

from pathlib import Path
from typing import Any

import numpy as np
import shapely
from pydantic import ValidationError
from shapely.geometry.base import BaseGeometry

from vindeby.campaign.reading.farm_files import TABLES
from vindeby.campaign.reading.files import NamedFile, named_files, suffix_of
from vindeby.campaign.reading.places import places
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import Table, TableReader
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used
from vindeby.campaign.sections.costs import Grid, cropped
from vindeby.campaign.sections.farm import Farm
from vindeby.errors import VindebyError

_MOST_POINTS = 500_000
_AXES = {"x": "x", "easting": "x", "y": "y", "northing": "y"}
_NO_DEPTH = -9999.0
"""Where a file has no depth: as far above the water as no limit allows."""


def with_cost_files(document: Document, folder: Path) -> None:
    """Put the depths, the tables by depth and the prices that stand in files of their own into the document."""
    for quantity in ("depth", "mass", "cost"):
        for named in named_files(document, folder, f"costs.foundation.{quantity}", may_be_text=True):
            _take_depths(named) if quantity == "depth" else _take_curve(named, quantity)
    for holder, key, at in places(document.data, "objective.price"):
        if isinstance(holder[key], str):
            named = NamedFile(document, holder, at[:-1], folder, key)
            table, origin = _table(named, "price")
            named.put({key: table.columns["price"]}, origin)


def _table(named: NamedFile, *columns: str) -> tuple[Table, Origin]:
    reader = TableReader(str(named.path), named.field)
    table = reader.read(named.text(latin=True), columns, columns)
    named.note(reader.notes + not_used(reader.unused))
    return table, Origin(str(named.path), table.header.line)


def _take_curve(named: NamedFile, key: str) -> None:
    named.refuse_beside("file", ("table", "polynomial"))
    table, origin = _table(named, "depth", key)
    pairs = sorted(zip(table.columns["depth"], table.columns[key], strict=True))
    named.put({"table": [list(pair) for pair in pairs]}, origin)


def _take_depths(named: NamedFile) -> None:
    named.refuse_beside("file", ("x", "y", "values", "source"))
    positive = named.data.get("positive", "down")
    if positive not in ("up", "down"):
        named.refuse_key("positive", "must be up or down", "write up for heights, down for depths")
    x, y, values = (_of_table if suffix_of(named.path) in TABLES else _of_netcdf)(named)
    if (area := _area(named.document.data)) is not None:
        x, y, values = cropped(x, y, values, area)
    if values.size > _MOST_POINTS:
        message = f"has {values.size:,} points in and around the farms, more than {_MOST_POINTS:,}"
        named.refuse_key("file", message, "make the grid coarser, e.g. with gdalwarp -tr 100 100")
    depths = np.where(np.isfinite(values), -values if positive == "up" else values, _NO_DEPTH)
    named.data.pop("positive", None)
    grid = {"x": x.tolist(), "y": y.tolist(), "values": depths.ravel().tolist()}
    named.put({**grid, "source": named.path.name})


def _of_table(named: NamedFile) -> Grid:
    what = "height" if named.data.get("positive") == "up" else "depth"
    columns = _table(named, "x", "y", what)[0].columns
    (x, i), (y, j) = (np.unique(np.array(columns[axis]), return_inverse=True) for axis in ("x", "y"))
    values = np.full((len(x), len(y)) if 2 * len(i) >= len(x) * len(y) else (0, 0), np.nan)
    if values.size:
        values[i, j] = columns[what]
    if np.isfinite(values).sum() < len(i):
        message = f"is not a grid: {len(i):,} points have {len(x):,} different x and {len(y):,} different y"
        named.refuse(message, "give each point once; interpolate scattered ones first, e.g. with gdal_grid")
    return x, y, values


def _of_netcdf(named: NamedFile) -> Grid:
    variable = "depth"
    if "variable" in named.data:
        if "positive" not in named.data:
            remedy = "write positive: up beside it for heights, or positive: down for depths"
            named.refuse_key("variable", "may hold depths or heights", remedy)
        variable = str(named.data.pop("variable"))
    try:
        found = readers().gridded_file(named.path, (variable.lower(),))
    except VindebyError as error:
        remedy = "name a netCDF-4 file in metres, or a table; gdal_translate -of netCDF -co FORMAT=NC4 converts others"
        named.refuse_key("file", str(error), remedy)
    names = [name for name in found.arrays if name.lower() == variable.lower()]
    if not names:
        others = ", ".join(found.others[:8]) or "NAME"
        named.refuse(f"has no variable {variable}", f"name another with variable: {others}")
    depths = found.arrays[names[0]]
    axes = {_AXES.get(axis.lower(), axis): axis for axis in depths.axes}
    if sorted(axes) != ["x", "y"] or len(depths.axes) > 2:
        over = " and ".join(depths.axes) or "nothing"
        message = f"has {names[0]} over {over}, not over x and y"
        named.refuse(message, "project it, e.g. with gdalwarp -t_srs EPSG:32631")
    for name in (names[0], *depths.axes):
        if found.units[name].strip().lower().rstrip("s") not in ("", "m", "metre", "meter"):
            named.refuse(f"has {name} in {found.units[name]}", "convert it to metres first")
    x, y = (found.arrays[axes[axis]].values for axis in ("x", "y"))
    columns, rows = np.argsort(x), np.argsort(y)
    return x[columns], y[rows], depths.over(axes["x"], axes["y"])[np.ix_(columns, rows)]


def _area(data: dict[str, Any]) -> BaseGeometry | None:
    """Return where turbines may stand; None where the farms are wrong, which is reported later."""
    try:
        shapes = [Farm.model_validate(farm).boundary.shape() for farm in data.get("farms") or ()]
    except (ValidationError, TypeError):
        return None
    return shapely.union_all(shapes) if shapes else None
