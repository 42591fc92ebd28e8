"""Wind series, wind states and turbine curves in files of their own: read once and put into the campaign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.column_finder import Quantity
from vindeby.campaign.reading.neighbour_files import neighbour_groups
from vindeby.campaign.reading.number_table import NumberTable, TableReader
from vindeby.campaign.reading.times import find_time_problem
from vindeby.campaign.reading.yaml_text import Document, Origin, field_name
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem

_WIND = {
    "wind direction": Quantity("deg", "winddirection", "direction", "wd", "dir", "winddir", "wdir"),
    "wind speed": Quantity("m/s", "windspeed", "speed", "ws", "wspd", "wsp", "u"),
    "turbulence intensity": Quantity("-", "turbulenceintensity", "ti", "turbulence", "turb"),
}
_WEIGHT = Quantity("", "weight", "weights", "w")
_TIME = Quantity("", "time", "times", "timestamp", "date", "datetime", "timeutc", "utc")
_PROBABILITY = Quantity("-", "probability", "probabilities", "p", "frequency", "freq", "freqval")
_CURVE = {
    "wind speed": _WIND["wind speed"],
    "power": Quantity("kW", "power", "p", "powerkw", "electricalpower"),
    "ct": Quantity("-", "ct", "thrustcoefficient", "thrust", "thrustct"),
    "cp": Quantity("-", "cp", "powercoefficient"),
}

ReadText = Callable[[Path, str, str], str]
"""The text of a file, for the field that names it, which stands in a named place."""


def with_wind_files(document: Document, folder: Path, read_text: ReadText) -> Document:
    """Put the tables that stand in files of their own into the document."""
    site = document.data.get("site")
    for key, reader in (("time_series", _time_series), ("states", _states)):
        if isinstance(site, dict):
            _resolve(document, site.get(key), ("site", key), folder, read_text, reader)
    for holder, place in [(document.data, ()), *neighbour_groups(document.data)]:
        turbines = holder.get("turbines")
        for index, turbine in enumerate(turbines if isinstance(turbines, list) else []):
            if isinstance(turbine, dict):
                at: DataPath = (*place, "turbines", index, "table")
                _resolve(document, turbine.get("table"), at, folder, read_text, _curve)
    return document


def _resolve(
    document: Document,
    section: Any,
    at: DataPath,
    folder: Path,
    read_text: ReadText,
    reader: Callable[[str, TableReader], dict[str, Any]],
) -> None:
    if not isinstance(section, dict) or not isinstance(section.get("file"), str):
        return
    origin = document.origin((*at, "file"))
    path = folder / section["file"]
    text = read_text(path, field_name((*at, "file")), f"{origin.source}:{origin.line}")
    read = reader(text, TableReader(str(path), field_name(at)))
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


def _time_series(text: str, reader: TableReader) -> dict[str, Any]:
    wanted = {**_WIND, "weight": _WEIGHT, "time": _TIME}
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
    wanted = {**_WIND, "probability": _PROBABILITY}
    table = reader.read(text, wanted, ("wind direction", "wind speed", "probability"))
    reader.check_range(table, "probability", 0.0, 1.0, "give probabilities as fractions of the year")
    return _wind(table, reader) | {"probability": table.columns["probability"]}


def _wind(table: NumberTable, reader: TableReader) -> dict[str, Any]:
    reader.check_range(table, "wind direction", 0.0, 360.0, "give it in degrees, clockwise from north")
    reader.check_range(table, "wind speed", 0.0, 100.0, "give it in m/s")
    reader.check_range(
        table,
        "turbulence intensity",
        1e-9,
        1.0 - 1e-9,
        "give it as a fraction between 0 and 1, not in percent",
    )
    names = {
        "wind direction": "wind_direction",
        "wind speed": "wind_speed",
        "turbulence intensity": "turbulence_intensity",
    }
    return {key: table.columns[name] for name, key in names.items() if name in table.columns}


def _curve(text: str, reader: TableReader) -> dict[str, Any]:
    table = reader.read(text, _CURVE, ("wind speed", "ct"))
    names = {"wind speed": "wind_speed", "power": "power_kw", "cp": "cp", "ct": "ct"}
    return {key: table.columns[name] for name, key in names.items() if name in table.columns}
