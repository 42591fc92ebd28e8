"""Wind series, wind states and turbine curves in files of their own: read once and put into the campaign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from vindeby.campaign.reading.columns import CURVE, FREQUENCY, SECTORS, TIME, WEIGHT, WIND
from vindeby.campaign.reading.farm_files import neighbour_groups
from vindeby.campaign.reading.files import named_text
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import NumberTable, TableReader, find_time_problem
from vindeby.campaign.reading.yaml_text import Document, Origin, field_name, not_used
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.local_wind import AXES, RANGES, WEIBULL
from vindeby.errors import VindebyError


def with_wind_files(document: Document, folder: Path) -> Document:
    """Put the tables that stand in files of their own into the document."""
    site = document.data.get("site")
    for key, reader in (("weibull", _sectors), ("time_series", time_series), ("states", _states)):
        if isinstance(site, dict):
            _resolve_table(document, site, ("site", key), folder, reader)
    for holder, place in [(document.data, ()), *neighbour_groups(document.data)]:
        turbines = holder.get("turbines")
        for index, turbine in enumerate(turbines if isinstance(turbines, list) else []):
            if isinstance(turbine, dict):
                at: DataPath = (*place, "turbines", index, "table")
                _resolve_table(document, turbine, at, folder, _curve)
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
    path = folder / section["file"]
    text = named_text(document, (*at, "file"), path, latin=True)
    gaps = section.pop("gaps", "") if at[-1] == "time_series" else None
    table = TableReader(str(path), field_name(at), gaps=gaps)
    read = reader(text, table)
    if table.notes:
        holder["source"] = {"file": path.name, "format": "csv", "notes": table.notes}
    document.notes += [f"{path.name}: {note}" for note in not_used(table.unused)]
    both = [key for key in read if key in section]
    if both:
        message = f"is given here and by a column of {section['file']}"
        document.refuse((*at, both[0]), message, "remove it here, or rename the column")
    del section["file"]
    section.update(read)
    document.origins.update({(*at, key): Origin(str(path), 1) for key in read})


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
    table = reader.read(text, wanted, ("wind direction", "wind speed"), as_text=("time",))
    reader.check_range(table, "weight", 0.0, 1e300, "weights must not be negative")
    data = _wind(table, reader)
    if "weight" in table.columns:
        data["weight"] = table.columns["weight"]
    if "time" in table.texts:
        data["times"] = table.texts["time"]
        if problem := find_time_problem(data["times"]):
            reader.refuse(table.lines[problem.entry], f"the time {problem.message}", problem.remedy)
    return data


def _states(text: str, reader: TableReader) -> dict[str, Any]:
    wanted = {**WIND, "probability": FREQUENCY}
    table = reader.read(text, wanted, ("wind direction", "wind speed", "probability"))
    reader.check_range(table, "probability", 0.0, 1.0, "give probabilities as fractions of the year")
    return _wind(table, reader) | {"probability": table.columns["probability"]}


def _wind(table: NumberTable, reader: TableReader) -> dict[str, Any]:
    reader.check_wind(table)
    names = {
        "wind direction": "wind_direction",
        "wind speed": "wind_speed",
        "turbulence intensity": "turbulence_intensity",
    }
    return {key: table.columns[name] for name, key in names.items() if name in table.columns}


def _curve(text: str, reader: TableReader) -> dict[str, Any]:
    table = reader.read(text, CURVE, ("wind speed", "ct"))
    if {"power", "cp"} <= table.columns.keys():
        del table.columns["cp"]
        reader.notes.append("power is taken, and the column of Cp is not used")
    names = {"wind speed": "wind_speed", "power": "power_kw", "cp": "cp", "ct": "ct"}
    return {key: table.columns[name] for name, key in names.items() if name in table.columns}


FloatArray = npt.NDArray[np.float64]

_VARIABLES = {"ti": "turbulence_intensity"} | {name: name for name in RANGES}
_AXES = {
    "x": "x", "y": "y", "easting": "x", "northing": "y",
    "h": "height", "height": "height", "z": "height",
    "wd": "wind_directions", "wind_direction": "wind_directions", "direction": "wind_directions",
    "sector": "wind_directions",
}  # fmt: skip
_AT: DataPath = ("site", "local")
_GIVEN_HERE = ("x", "y", "height", "wind_directions", "source", *RANGES)


def with_local_wind(document: Document, folder: Path) -> Document:
    """Put the local wind that stands in a file of its own into the document."""
    site = document.data.get("site")
    local = site.get("local") if isinstance(site, dict) else None
    if isinstance(local, dict) and "file" in local:
        _Resolver(document, site, local).resolve(folder)
    elif isinstance(local, dict) and "use" in local:
        _refuse(document, "use", "is given without a file", "add file: GRID.nc, or remove it")
    return document


class _Resolver:
    """The site's data, into which a file is put."""

    def __init__(self, document: Document, site: dict[str, Any], local: dict[str, Any]) -> None:
        self.document, self.site, self.local = document, site, local

    def resolve(self, folder: Path) -> None:
        name = self.local["file"]
        if not isinstance(name, str) or not name:
            _refuse(self.document, "file", "must be the path of a file", "write it as text", name)
        for key in _GIVEN_HERE:
            if key in self.local:
                _refuse(
                    self.document, key, "is given beside file", "give one of them; use: says what is taken"
                )
        path = folder / name
        try:
            found = readers().gridded_file(path, tuple(_VARIABLES))
        except VindebyError as error:
            _refuse(self.document, "file", str(error), "name a netCDF-4 file with the local wind", name)
        arrays = {
            _VARIABLES[key.lower()]: given for key, given in found.arrays.items() if key.lower() in _VARIABLES
        }
        if "use" not in self.local:
            self.document.notes += [f"{path.name}: {note}" for note in not_used(found.others)]
        taken = self._chosen(arrays)
        axes = self._axes({one for quantity in taken for one in arrays[quantity][0]}, found.arrays)
        for quantity in taken:
            self._put(quantity, *arrays[quantity], axes)
        self.local.update({axis: values.tolist() for axis, values in axes.items()})
        self._take_sectors(axes)
        del self.local["file"]
        self.local.pop("use", None)
        self.local["source"] = Path(name).name
        origin = self.document.origin((*_AT, "file"))
        for key in (*AXES, *taken):
            self.document.origins[(*_AT, key)] = Origin(origin.source, origin.line)

    def _chosen(self, arrays: dict[str, Any]) -> list[str]:
        """The quantities that are taken: all that the file has, or those that ``use`` names."""
        has = ", ".join(name for name in RANGES if name in arrays) or "nothing of the local wind"
        use = self.local.get("use")
        if use is None:
            if not arrays:
                names = "Speedup, Turning, Weibull_A, Weibull_k, Sector_frequency, TI"
                _refuse(
                    self.document,
                    "file",
                    "has no variable of the local wind",
                    f"name them as PyWake does: {names}",
                )
            return [name for name in RANGES if name in arrays]
        if not isinstance(use, list) or not use or not all(isinstance(name, str) for name in use):
            _refuse(self.document, "use", "must be a list of variables", f"known: {', '.join(RANGES)}", use)
        for name in use:
            known = _VARIABLES.get(name.lower())
            if known is None:
                _refuse(
                    self.document,
                    "use",
                    "is not a variable of the local wind",
                    f"known: {', '.join(RANGES)}",
                    name,
                )
            if known not in arrays:
                _refuse(self.document, "use", "is not in the file", f"it has: {has}", name)
        wanted = {_VARIABLES[name.lower()] for name in use}
        return [name for name in RANGES if name in wanted]

    def _axes(self, names: set[str], arrays: dict[str, Any]) -> dict[str, FloatArray]:
        """The coordinates of the axes, in the order of a grid, by vindeby's names."""
        found: dict[str, FloatArray] = {}
        for name in sorted(names):
            axis = _AXES.get(name.lower())
            if axis is None:
                _refuse(self.document, "file", f"has a variable over {name}, which is not an axis of the local wind",
                        f"use x, y, h and wd, or leave the variable out of use: {', '.join(RANGES)}")  # fmt: skip
            if axis in found:
                _refuse(self.document, "file", f"has two axes for {axis}", "keep one of them")
            values = arrays[name][1]
            if values.ndim != 1 or not np.isfinite(values).all():
                _refuse(
                    self.document, "file", f"has an axis {name} that is not a list of numbers", "correct it"
                )
            found[axis] = values
        return {axis: found[axis] for axis in AXES if axis in found}

    def _put(
        self, quantity: str, axes: tuple[str, ...], array: FloatArray, known: dict[str, FloatArray]
    ) -> None:
        own = [_AXES[name.lower()] for name in axes]
        order = sorted(range(len(own)), key=lambda index: AXES.index(own[index]))
        ordered, names = array.transpose(order), [own[index] for index in order]
        if not np.isfinite(ordered).all():
            place = np.argwhere(~np.isfinite(ordered))[0]
            where = ", ".join(f"{axis} {known[axis][i]:.10g}" for axis, i in zip(names, place, strict=True))
            _refuse(
                self.document,
                "file",
                f"{quantity} has no number at {where}",
                "fill the gaps, or crop the grid",
            )
        self.local[quantity] = {"axes": names, "values": ordered.ravel().tolist()}

    def _take_sectors(self, axes: dict[str, FloatArray]) -> None:
        """What holds for the whole site goes to the site."""
        weibull = self.site.get("weibull")
        if not isinstance(weibull, dict):
            return
        everywhere = [name for name in RANGES if name in self.local and "x" not in self.local[name]["axes"]]
        if all(name in everywhere for name in WEIBULL):
            self._refuse_both(weibull, "sectors")
            columns = [self.local.pop(name)["values"] for name in WEIBULL]
            weibull["sectors"] = [
                {"direction": direction, "a": a, "k": k, "frequency": frequency}
                for direction, a, k, frequency in zip(axes["wind_directions"].tolist(), *columns, strict=True)
                if direction < 360.0
            ]
        if "turbulence_intensity" in everywhere and not self.local["turbulence_intensity"]["axes"]:
            self._refuse_both(weibull, "turbulence_intensity")
            (weibull["turbulence_intensity"],) = self.local.pop("turbulence_intensity")["values"]

    def _refuse_both(self, weibull: dict[str, Any], key: str) -> None:
        if key in weibull:
            remedy = "remove it here, or name what to use: under local"
            self.document.refuse(("site", "weibull", key), "is given here and by the file of local", remedy)


def _refuse(document: Document, key: str, message: str, remedy: str, value: Any = None) -> NoReturn:
    document.refuse((*_AT, key), message, remedy, value)
