"""Wind series, wind states and turbine curves in files of their own: read once and put into the campaign."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.campaign.reading.columns import CURVE, FREQUENCY, SECTORS, TIME, WEIGHT, WIND
from vindeby.campaign.reading.farm_files import sites, turbine_entries
from vindeby.campaign.reading.files import NamedFile
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import NumberTable, TableReader, find_time_problem
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.local_wind import AXES, RANGES, WEIBULL
from vindeby.errors import VindebyError


def with_wind_files(document: Document, folder: Path) -> Document:
    """Put the tables that stand in files of their own into the document."""
    for site, at in sites(document.data):
        for key, reader in (("weibull", _sectors), ("time_series", time_series), ("states", _states)):
            _resolve_table(document, site, (*at, key), folder, reader)
    for turbine, at in turbine_entries(document.data):
        _resolve_table(document, turbine, (*at, "table"), folder, _curve)
    return document


def _resolve_table(
    document: Document,
    holder: dict[str, Any],
    at: DataPath,
    folder: Path,
    reader: Callable[[str, TableReader], dict[str, Any]],
) -> None:
    section = holder.get(str(at[-1]))
    if not isinstance(section, dict) or not isinstance(section.get("file"), str):
        return
    named = NamedFile(document, section, at, folder)
    gaps = section.pop("gaps", "") if at[-1] == "time_series" else None
    table = TableReader(str(named.path), named.field, gaps=gaps)
    read = reader(named.text(latin=True), table)
    if table.notes:
        holder["source"] = {"file": named.path.name, "format": "csv", "notes": table.notes}
    document.notes += [f"{named.path.name}: {note}" for note in not_used(table.unused)]
    for key in read:
        if key in section:
            message = f"is given here and by a column of {section['file']}"
            named.refuse_key(key, message, "remove it here, or rename the column")
    named.put(read, Origin(str(named.path), 1))


def _sectors(text: str, reader: TableReader) -> dict[str, Any]:
    table = reader.read(text, SECTORS, ("a", "k", "frequency"))
    remedy = "give fractions of the year, or name the column frequency [%]"
    reader.check_range(table, "frequency", 0.0, 1.0, remedy)
    directions = table.columns.get("direction") or table.columns.pop("sector", [])
    if not directions:
        reader.refuse(table.header_line, "names no column of direction", "name one direction, or sector")
    first, count = min(directions), len(directions)
    counted = first in (0.0, 1.0) and sorted(directions) == [first + index for index in range(count)]
    if counted and "direction" not in table.columns:
        directions = [(number - first) * 360.0 / count for number in directions]
        message = (
            f"sectors are counted from {first:g}: the first is centred on north, the others follow clockwise"
        )
        reader.notes.append(message)
    names = ("direction", "a", "k", "frequency")
    columns = {**table.columns, "direction": [value % 360.0 for value in directions]}
    rows = sorted(zip(*(columns[name] for name in names), strict=True))
    return {"sectors": [dict(zip(names, row, strict=True)) for row in rows]}


def time_series(text: str, reader: TableReader) -> dict[str, Any]:
    """The section ``time_series`` of a site, from a table."""
    wanted = {**WIND, "weight": WEIGHT, "time": TIME}
    table = reader.read(text, wanted, ("wind direction", "wind speed"))
    reader.check_range(table, "weight", 0.0, 1e300, "weights must not be negative")
    data = _wind(table, reader)
    if "weight" in table.columns:
        data["weight"] = table.columns["weight"]
    if table.times is not None:
        data["times"] = table.times
        if problem := find_time_problem(table.times):
            entry, message, remedy = problem
            reader.refuse(table.lines[entry], f"the time {message}", remedy)
    return data


def _states(text: str, reader: TableReader) -> dict[str, Any]:
    wanted = {**WIND, "probability": FREQUENCY}
    table = reader.read(text, wanted, ("wind direction", "wind speed", "probability"))
    reader.check_range(table, "probability", 0.0, 1.0, "give probabilities as fractions of the year")
    return _wind(table, reader) | {"probability": table.columns["probability"]}


def _wind(table: NumberTable, reader: TableReader) -> dict[str, Any]:
    reader.check_wind(table)
    return {name.replace(" ", "_"): table.columns[name] for name in WIND if name in table.columns}


def _curve(text: str, reader: TableReader) -> dict[str, Any]:
    table = reader.read(text, CURVE, ("wind speed", "ct"))
    if {"power", "cp"} <= table.columns.keys():
        del table.columns["cp"]
        reader.notes.append("power is taken, and the column of Cp is not used")
    names = {"wind speed": "wind_speed", "power": "power_kw", "cp": "cp", "ct": "ct"}
    return {key: table.columns[name] for name, key in names.items() if name in table.columns}


_VARIABLES = {"ti": "turbulence_intensity"} | {name: name for name in RANGES}
_AXES = {
    "x": "x", "y": "y", "easting": "x", "northing": "y",
    "h": "height", "height": "height", "z": "height",
    "wd": "wind_directions", "wind_direction": "wind_directions", "direction": "wind_directions",
    "sector": "wind_directions",
}  # fmt: skip
_GIVEN_HERE = ("x", "y", "height", "wind_directions", "source", *RANGES)


def with_local_wind(document: Document, folder: Path) -> Document:
    """Put the local wind that stands in a file of its own into the document."""
    for site, at in sites(document.data):
        local, inside = site.get("local"), (*at, "local")
        if isinstance(local, dict) and "file" in local:
            _LocalWind(document, local, inside, folder).resolve(site)
        elif isinstance(local, dict) and "use" in local:
            document.refuse((*inside, "use"), "is given without a file", "add file: GRID.nc, or remove it")
    return document


class _LocalWind(NamedFile):
    """The local wind of a site, in a netCDF file."""

    def resolve(self, site: dict[str, Any]) -> None:
        """Put what the file holds into the site."""
        self.refuse_beside("file", _GIVEN_HERE, "; use: says what is taken")
        try:
            found = readers().gridded_file(self.path, tuple(_VARIABLES))
        except VindebyError as error:
            self.refuse_key("file", str(error), "name a netCDF-4 file with the local wind")
        arrays = {
            _VARIABLES[key.lower()]: given for key, given in found.arrays.items() if key.lower() in _VARIABLES
        }
        if "use" not in self.data:
            self.document.notes += [f"{self.path.name}: {note}" for note in not_used(found.others)]
        taken = self._chosen(arrays)
        axes = self._axes({one for quantity in taken for one in arrays[quantity][0]}, found.arrays)
        values: dict[str, Any] = {
            quantity: self._grid(quantity, arrays[quantity], axes) for quantity in taken
        }
        self._take_sectors(site.get("weibull"), values, axes)
        self.data.pop("use", None)
        self.put({**{axis: points.tolist() for axis, points in axes.items()}, **values})
        self.data["source"] = self.path.name

    def _chosen(self, arrays: dict[str, Any]) -> list[str]:
        """The quantities that are taken: all that the file has, or those that ``use`` names."""
        if not arrays:
            names = "Speedup, Turning, Weibull_A, Weibull_k, Sector_frequency, TI"
            self.refuse_key("file", "has no variable of the local wind", f"name them as PyWake does: {names}")
        has = [name for name in RANGES if name in arrays]
        given = self.data.get("use")
        use = has if given is None else given if isinstance(given, list) else [given]
        if not use or not all(isinstance(name, str) for name in use):
            self.refuse_key("use", "must be a list of variables", f"it has: {', '.join(has)}")
        for name in use:
            if _VARIABLES.get(name.lower()) not in has:
                self.document.refuse(
                    (*self.at, "use"), "is not in the file", f"it has: {', '.join(has)}", name
                )
        wanted = {_VARIABLES[name.lower()] for name in use}
        return [name for name in has if name in wanted]

    def _axes(self, names: set[str], arrays: dict[str, Any]) -> dict[str, FloatArray]:
        """The coordinates of the axes, in the order of a grid, by vindeby's names."""
        found: dict[str, FloatArray] = {}
        for name in sorted(names):
            axis = _AXES.get(name.lower())
            if axis is None:
                message = f"has a variable over {name}, which is not an axis of the local wind"
                remedy = f"use x, y, h and wd, or leave the variable out of use: {', '.join(RANGES)}"
                self.refuse_key("file", message, remedy)
            if axis in found:
                self.refuse_key("file", f"has two axes for {axis}", "keep one of them")
            values = arrays[name][1]
            if values.ndim != 1 or not np.isfinite(values).all():
                self.refuse_key("file", f"has an axis {name} that is not a list of numbers", "correct it")
            found[axis] = values
        return {axis: found[axis] for axis in AXES if axis in found}

    def _grid(self, quantity: str, given: Any, known: dict[str, FloatArray]) -> dict[str, Any]:
        """A quantity as a campaign file has it."""
        axes, array = given
        own = [_AXES[name.lower()] for name in axes]
        order = sorted(range(len(own)), key=lambda index: AXES.index(own[index]))
        ordered, names = array.transpose(order), [own[index] for index in order]
        for place in np.argwhere(~np.isfinite(ordered))[:1]:
            where = ", ".join(f"{axis} {known[axis][i]:.10g}" for axis, i in zip(names, place, strict=True))
            message = f"{quantity} has no number at {where}"
            self.refuse_key("file", message, "fill the gaps, or crop the grid")
        return {"axes": names, "values": ordered.ravel().tolist()}

    def _take_sectors(self, weibull: Any, values: dict[str, Any], axes: dict[str, FloatArray]) -> None:
        """What holds for the whole site goes to the site."""
        if not isinstance(weibull, dict):
            return
        everywhere: dict[str, Any] = {}
        if all(name in values and "x" not in values[name]["axes"] for name in WEIBULL):
            columns = [values.pop(name)["values"] for name in WEIBULL]
            everywhere["sectors"] = [
                {"direction": direction, "a": a, "k": k, "frequency": frequency}
                for direction, a, k, frequency in zip(axes["wind_directions"].tolist(), *columns, strict=True)
                if direction < 360.0
            ]
        if values.get("turbulence_intensity", {"axes": ["x"]})["axes"] == []:
            (everywhere["turbulence_intensity"],) = values.pop("turbulence_intensity")["values"]
        for key in everywhere:
            if key in weibull:
                remedy = "remove it here, or name what to use: under local"
                message = "is given here and by the file of local"
                self.document.refuse((*self.at[:-1], "weibull", key), message, remedy)
        weibull.update(everywhere)
