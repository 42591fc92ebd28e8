"""Wind series, wind states and turbine curves in files of their own: read once and put into the campaign."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.files import NamedFile, named_files
from vindeby.campaign.reading.labelled_wind import weibull_sectors
from vindeby.campaign.reading.places import SITES, TURBINES
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.reading.tables import WIND, Table, TableReader, find_time_problem
from vindeby.campaign.reading.yaml_text import Document, Origin, not_used
from vindeby.campaign.sections.local_wind import RANGES
from vindeby.errors import CampaignError, VindebyError


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
        _put_local_wind(named)


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
    named.put(read, Origin(str(named.path), 1, table.lines))


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
    rows = sorted(zip([value % 360.0 for value in directions], *columns, table.lines, strict=True))
    *sorted_columns, reader.lines = zip(*rows, strict=True)
    return {"sectors": weibull_sectors(*sorted_columns)}


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


def _put_local_wind(named: NamedFile) -> None:
    named.refuse_beside("file", _GIVEN_HERE)
    try:
        found = readers().local_wind_file(named.path)
    except CampaignError:
        raise
    except VindebyError as error:
        named.refuse_key("file", str(error), "name a netCDF-4 file with the local wind")
    named.note(found.notes)
    named.put(found.data)
