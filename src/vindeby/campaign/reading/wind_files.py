"""Wind series, wind states and turbine curves in files of their own: read once and put into the campaign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.column_finder import CURVE, FREQUENCY, SECTORS, TIME, WEIGHT, WIND
from vindeby.campaign.reading.neighbour_files import neighbour_groups
from vindeby.campaign.reading.number_table import NumberTable, TableReader
from vindeby.campaign.reading.times import find_time_problem
from vindeby.campaign.reading.yaml_text import Document, Origin, field_name, not_used
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem

ReadText = Callable[[Path, str, str], str]
"""The text of a file, for the field that names it, which stands in a named place."""


def with_wind_files(document: Document, folder: Path, read_text: ReadText) -> Document:
    """Put the tables that stand in files of their own into the document."""
    site = document.data.get("site")
    for key, reader in (("weibull", _sectors), ("time_series", time_series), ("states", _states)):
        if isinstance(site, dict):
            _resolve(document, site, ("site", key), folder, read_text, reader)
    for holder, place in [(document.data, ()), *neighbour_groups(document.data)]:
        turbines = holder.get("turbines")
        for index, turbine in enumerate(turbines if isinstance(turbines, list) else []):
            if isinstance(turbine, dict):
                at: DataPath = (*place, "turbines", index, "table")
                _resolve(document, turbine, at, folder, read_text, _curve)
    return document


def _resolve(
    document: Document,
    holder: dict[str, Any],
    at: DataPath,
    folder: Path,
    read_text: ReadText,
    reader: Callable[[str, TableReader], dict[str, Any]],
) -> None:
    section = holder.get(str(at[-1]))
    if not isinstance(section, dict) or not isinstance(section.get("file"), str):
        return
    origin = document.origin((*at, "file"))
    path = folder / section["file"]
    text = read_text(path, field_name((*at, "file")), f"{origin.source}:{origin.line}")
    gaps = section.pop("gaps", "") if at[-1] == "time_series" else None
    table = TableReader(str(path), field_name(at), gaps=gaps)
    read = reader(text, table)
    if table.notes:
        holder["source"] = {"file": path.name, "format": "csv", "notes": table.notes}
    document.notes += [f"{path.name}: {note}" for note in not_used(table.unused)]
    both = [key for key in read if key in section]
    if both:
        told = f"is given here and by a column of {section['file']}"
        place = document.origin((*at, both[0]))
        remedy = "remove it here, or rename the column"
        raise CampaignError(
            [Problem(place.source, field_name((*at, both[0])), told, None, remedy, place.line)]
        )
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
        told = (
            f"sectors are counted from {first:g}: the first is centred on north, the others follow clockwise"
        )
        reader.notes.append(told)
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
