"""Wind series, wind states and turbine curves in files of their own: read once and put into the campaign."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from vindeby.arrays import Labelled
from vindeby.campaign.reading.files import NamedFile, named_files
from vindeby.campaign.reading.labelled_wind import LabelledWind, weibull_sectors
from vindeby.campaign.reading.places import SITES, TURBINES
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import WIND, Table, TableReader, find_time_problem
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used
from vindeby.campaign.sections.local_wind import RANGES, WEIBULL
from vindeby.errors import VindebyError


def with_wind_files(document: Document, folder: Path) -> None:
    """Put the tables and the local wind that stand in files of their own into the document."""
    forms = {"weibull": _sectors, "time_series": time_series, "states": _states}
    for form, reader in forms.items():
        for site in SITES:
            for named in named_files(document, folder, f"{site}.{form}"):
                _resolve_table(named, reader, may_drop=form == "time_series")
    for named in named_files(document, folder, *(f"{turbine}.table" for turbine in TURBINES)):
        _resolve_table(named, _curve)
    for named in named_files(document, folder, *(f"{site}.local" for site in SITES)):
        _LocalWind(document, named.data, named.at, folder, holder=named.holder).resolve()


def _resolve_table(
    named: NamedFile, reader: Callable[[str, TableReader], dict[str, Any]], *, may_drop: bool = False
) -> None:
    gaps = named.data.pop("gaps", "") if may_drop else None
    table = TableReader(str(named.path), named.field, gaps=gaps)
    read = reader(named.text(latin=True), table)
    if table.notes and (holder := named.holder) is not None:
        holder["source"] = {"file": named.path.name, "format": "csv", "notes": table.notes}
    named.note(not_used(table.unused))
    named.refuse_beside("a column of the file", read)
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


class _LocalWind(NamedFile, LabelledWind):
    """A file of local wind, with the names of PyWake."""

    axis_names = {  # noqa: RUF012
        "x": "x", "y": "y", "easting": "x", "northing": "y",
        "h": "height", "height": "height", "z": "height",
        "wd": "wind_directions", "wind_direction": "wind_directions", "direction": "wind_directions",
        "sector": "wind_directions",
    }  # fmt: skip
    names = {"ti": "turbulence_intensity"} | {name: name for name in RANGES}

    def refuse_part(self, name: str, message: str, remedy: str) -> NoReturn:
        self.refuse_key("file", f"{name} {message}".strip(), remedy)

    def resolve(self) -> None:
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
            self.note(not_used(found.others))
        taken = self._chosen()
        axes = {axis for name in taken for axis in self.by_name[name].axes}
        known = [self.axis_names.get(axis) for axis in axes]
        if None in known or len(set(known)) < len(known):
            message = f"has variables over {', '.join(sorted(axes))}, not over each of x, y, h and wd once"
            self.refuse_key("file", message, f"leave the variable out of use: {', '.join(RANGES)}")
        values = self.local(taken)
        self._take_sectors(self.holder and self.holder.get("weibull"), values)
        self.data.pop("use", None)
        self.put({**values, "source": self.path.name})

    def _chosen(self) -> list[str]:
        """Return the names in the file of the variables that are read."""
        has = {self.names[name]: name for name in self.by_name if name in self.names}
        known = [name for name in RANGES if name in has]
        use = known if self.data.get("use") is None else self.data["use"]
        if not use or not isinstance(use, list) or not all(isinstance(name, str) for name in use):
            wrong = "file" if not has else "use"
            remedy = f"it has: {', '.join(known) or 'none'}; write e.g. use: [Speedup]"
            self.refuse_key(wrong, "is not a list of variables of the local wind", remedy)
        wanted = [self.names.get(name.lower()) for name in use]
        for name, one in zip(use, wanted, strict=True):
            if one not in has:
                message, remedy = "is not in the file", f"it has: {', '.join(known)}"
                self.document.refuse((*self.at, "use"), message, remedy, name)
        return [has[name] for name in known if name in wanted]

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
