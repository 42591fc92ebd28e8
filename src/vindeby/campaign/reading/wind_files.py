"""Wind series, wind states and turbine curves in files of their own: read once and put into the campaign."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from vindeby.arrays import Labelled
from vindeby.campaign.reading.files import NamedFile
from vindeby.campaign.reading.labelled_wind import LabelledWind, weibull_sectors
from vindeby.campaign.reading.places import SITES, TURBINES, Place, places
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import WIND, Table, TableReader, find_time_problem
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used
from vindeby.campaign.sections.local_wind import RANGES, WEIBULL
from vindeby.errors import VindebyError


def with_wind_files(document: Document, folder: Path) -> Document:
    """Put the tables that stand in files of their own into the document."""
    forms = {"weibull": _sectors, "time_series": time_series, "states": _states}
    for form, reader in forms.items():
        for place in places(document.data, *(f"{site}.{form}" for site in SITES)):
            _resolve_table(document, place, folder, reader, may_drop=form == "time_series")
    for place in places(document.data, *(f"{turbine}.table" for turbine in TURBINES)):
        _resolve_table(document, place, folder, _curve)
    return document


def _resolve_table(
    document: Document,
    place: Place,
    folder: Path,
    reader: Callable[[str, TableReader], dict[str, Any]],
    *,
    may_drop: bool = False,
) -> None:
    holder, key, at = place
    section = holder[key]
    if not isinstance(section, dict) or not isinstance(section.get("file"), str):
        return
    named = NamedFile(document, section, at, folder)
    gaps = section.pop("gaps", "") if may_drop else None
    table = TableReader(str(named.path), named.field, gaps=gaps)
    read = reader(named.text(latin=True), table)
    if table.notes and "." not in key:  # an axis may set nothing else of what holds it
        holder["source"] = {"file": named.path.name, "format": "csv", "notes": table.notes}
    document.notes += [f"{named.path.name}: {note}" for note in not_used(table.unused)]
    for key in read:
        if key in section:
            message = f"is given here and by a column of {section['file']}"
            named.refuse_key(key, message, "remove it here, or rename the column")
    named.put(read, Origin(str(named.path), 1))


def _sectors(text: str, reader: TableReader) -> dict[str, Any]:
    table = reader.read(
        text, ("direction", "sector", "a", "k", "sector frequency"), ("a", "k", "sector frequency")
    )
    remedy = "give fractions of the year, or name the column frequency [%]"
    reader.check_range(table, "sector frequency", 0.0, 1.0, remedy)
    directions = table.columns.get("direction") or table.columns.pop("sector", [])
    if not directions:
        reader.refuse(table.header.line, "names no column of direction", "name one direction, or sector")
    first, count = min(directions), len(directions)
    counted = first in (0.0, 1.0) and sorted(directions) == [first + index for index in range(count)]
    if counted and "direction" not in table.columns:
        directions = [(number - first) * 360.0 / count for number in directions]
        message = (
            f"sectors are counted from {first:g}: the first is centred on north, the others follow clockwise"
        )
        reader.notes.append(message)
    columns = [table.columns[name] for name in ("sector frequency", "a", "k")]
    rows = sorted(zip([value % 360.0 for value in directions], *columns, strict=True))
    return {"sectors": weibull_sectors(*zip(*rows, strict=True))}


def time_series(text: str, reader: TableReader) -> dict[str, Any]:
    """The section ``time_series`` of a site, from a table."""
    table = reader.read(text, (*WIND, "weight", "time"), WIND[:2])
    reader.check_range(table, "weight", 0.0, 1e300, "weights must not be negative")
    data = _wind(table, reader)
    if "weight" in table.columns:
        data["weight"] = table.columns["weight"]
    if times := table.words.get("time"):
        data["times"] = times
        if problem := find_time_problem(times):
            entry, message, remedy = problem
            reader.refuse(table.lines[entry], f"the time {message}", remedy)
    return data


def _states(text: str, reader: TableReader) -> dict[str, Any]:
    table = reader.read(text, (*WIND, "probability"), (*WIND[:2], "probability"))
    reader.check_range(table, "probability", 0.0, 1.0, "give probabilities as fractions of the year")
    return _wind(table, reader) | {"probability": table.columns["probability"]}


def _wind(table: Table, reader: TableReader) -> dict[str, Any]:
    reader.check_wind(table)
    return {name.replace(" ", "_"): table.columns[name] for name in WIND if name in table.columns}


def _curve(text: str, reader: TableReader) -> dict[str, Any]:
    table = reader.read(text, ("wind speed", "power", "ct", "cp"), ("wind speed", "ct"))
    if {"power", "cp"} <= table.columns.keys():
        del table.columns["cp"]
        reader.notes.append("power is taken, and the column of Cp is not used")
    names = {"wind speed": "wind_speed", "power": "power_kw", "cp": "cp", "ct": "ct"}
    return {key: table.columns[name] for name, key in names.items() if name in table.columns}


_GIVEN_HERE = ("x", "y", "height", "wind_directions", "source", *RANGES)


def with_local_wind(document: Document, folder: Path) -> Document:
    """Put the local wind that stands in a file of its own into the document."""
    for site, key, at in places(document.data, *(f"{site}.local" for site in SITES)):
        local = site[key]
        if isinstance(local, dict) and "file" in local:
            _LocalWind(document, local, at, folder).resolve(site)
        elif isinstance(local, dict) and "use" in local:
            document.refuse((*at, "use"), "is given without a file", "add file: GRID.nc, or remove it")
    return document


class _LocalWind(NamedFile, LabelledWind):
    axis_names = {  # noqa: RUF012
        "x": "x", "y": "y", "easting": "x", "northing": "y",
        "h": "height", "height": "height", "z": "height",
        "wd": "wind_directions", "wind_direction": "wind_directions", "direction": "wind_directions",
        "sector": "wind_directions",
    }  # fmt: skip
    names = {"ti": "turbulence_intensity"} | {name: name for name in RANGES}

    def refuse_part(self, name: str, message: str, remedy: str) -> NoReturn:
        self.refuse_key("file", f"{name} {message}".strip(), remedy)

    def resolve(self, site: dict[str, Any]) -> None:
        self.refuse_beside("file", _GIVEN_HERE, "; use: says what is taken")
        try:
            found = readers().gridded_file(self.path, tuple(self.names))
        except VindebyError as error:
            self.refuse_key("file", str(error), "name a netCDF-4 file with the local wind")
        self.by_name = {
            name.lower(): Labelled(tuple(axis.lower() for axis in one.axes), one.values)
            for name, one in found.arrays.items()
        }
        if "use" not in self.data:
            self.document.notes += [f"{self.path.name}: {note}" for note in not_used(found.others)]
        taken = self._chosen()
        self._refuse_unfit(taken)
        values = self.local(taken)
        self._take_sectors(site.get("weibull"), values)
        self.data.pop("use", None)
        self.put(values)
        self.data["source"] = self.path.name

    def _chosen(self) -> list[str]:
        """The variables that are taken, by their names in the file."""
        has = {self.names[name]: name for name in self.by_name if name in self.names}
        if not has:
            names = "Speedup, Turning, Weibull_A, Weibull_k, Sector_frequency, TI"
            self.refuse_key("file", "has no variable of the local wind", f"name them as PyWake does: {names}")
        given, known = self.data.get("use"), [name for name in RANGES if name in has]
        use = known if given is None else given if isinstance(given, list) else [given]
        if not use or not all(isinstance(name, str) for name in use):
            self.refuse_key("use", "must be a list of variables", f"it has: {', '.join(known)}")
        for name in use:
            if self.names.get(name.lower()) not in has:
                self.document.refuse(
                    (*self.at, "use"), "is not in the file", f"it has: {', '.join(known)}", name
                )
        wanted = {self.names[name.lower()] for name in use}
        return [has[name] for name in known if name in wanted]

    def _refuse_unfit(self, taken: Sequence[str]) -> None:
        """Refuse axes that are not those of a grid, and gaps."""
        axes = sorted({axis for name in taken for axis in self.by_name[name].axes})
        for axis in axes:
            if axis not in self.axis_names:
                message = f"has a variable over {axis}, which is not an axis of the local wind"
                remedy = f"use x, y, h and wd, or leave the variable out of use: {', '.join(RANGES)}"
                self.refuse_key("file", message, remedy)
            if not np.isfinite(self.axis(axis)).all():
                self.refuse_key("file", f"has an axis {axis} that is not a list of numbers", "correct it")
        known = [self.axis_names[axis] for axis in axes]
        if len(set(known)) < len(known):
            self.refuse_key("file", f"has two axes for {max(known, key=known.count)}", "keep one of them")
        for name in taken:
            one = self.by_name[name]
            for place in np.argwhere(~np.isfinite(one.values))[:1]:
                at = zip(one.axes, place, strict=True)
                where = ", ".join(f"{self.axis_names[axis]} {self.axis(axis)[i]:.10g}" for axis, i in at)
                message = f"{self.names[name]} has no number at {where}"
                self.refuse_key("file", message, "fill the gaps, or crop the grid")

    def _take_sectors(self, weibull: Any, values: dict[str, Any]) -> None:
        """Move what is the same everywhere from the grid to the section ``weibull``."""
        if not isinstance(weibull, dict):
            return
        everywhere: dict[str, Any] = {}
        if all(name in values and "x" not in values[name]["axes"] for name in WEIBULL):
            a, k, frequency = (values.pop(name)["values"] for name in WEIBULL)
            rows = weibull_sectors(values.get("wind_directions", [0.0]), frequency, a, k)
            everywhere["sectors"] = [row for row in rows if row["direction"] < 360.0]
        if values.get("turbulence_intensity", {"axes": ["x"]})["axes"] == []:
            (everywhere["turbulence_intensity"],) = values.pop("turbulence_intensity")["values"]
        for key in everywhere:
            if key in weibull:
                remedy = "remove it here, or name what to use: under local"
                message = "is given here and by the file of local"
                self.document.refuse((*self.at[:-1], "weibull", key), message, remedy)
        weibull.update(everywhere)
