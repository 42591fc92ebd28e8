"""A windIO system as a commented campaign file, with files beside it for what is long."""

from __future__ import annotations

import copy
import csv
import io
import re
import textwrap
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.packed_lists import LONGEST_PLAIN, pack
from vindeby.campaign.reading.yaml_text import write
from vindeby.interop.windio.farm import Layout
from vindeby.interop.windio.nodes import Missing
from vindeby.interop.windio.system import System
from vindeby.text import one_line

_WIDTH = 110
_LARGEST_WHOLE = 1e15
_COMMENTS = {
    "farms": "Where turbines may stand, in the metres of the file, and how many.",
    "turbines": "Lengths in metres, wind speeds in m/s, power in kW.",
    "min_spacing": "The least distance between two turbines, in rotor diameters. windIO has no such field.",
    "site": "The wind.",
    "wake": "The nearest wake model to the one that the file names, if it names one.",
    "method": "How layouts are searched.",
    "seeds": "How many searches, each with random numbers of its own.",
}
_ORDER = (
    "name",
    "description",
    "farms",
    "turbines",
    "n_turbines",
    "min_spacing",
    "site",
    "wake",
    "method",
    "seeds",
)


def campaign_files(system: System, file: Path) -> dict[str, str]:
    """The campaign file of this name, and the files beside it: texts by the name of the file."""
    data = copy.deepcopy(system.data)
    texts = {file.name: ""}
    series = data.get("site", {}).get("time_series")
    if series is not None and len(series["wind_speed"]) > LONGEST_PLAIN:
        name = f"{file.stem}-wind.csv"
        texts[name] = _series_table(series)
        data["site"]["time_series"] = {"file": name, **series}
    if system.layouts:
        texts[f"{file.stem}-layouts.csv"] = _layouts_table(system.layouts)
    _pack_grids(data.get("site", {}).get("local"))
    texts[file.name] = _text(system, data, file)
    return texts


def _text(system: System, data: dict[str, Any], file: Path) -> str:
    notes = system.notes
    parts = [
        _comment(f"Written from the windIO file {system.path}."),
        "#\n",
        _comment(f"Check it:  vindeby check {file.name}"),
        "#\n",
        *(_comment(f"{word}: {entry}") for word, entries in (("Chosen", notes.chosen), ("Warning", notes.doubtful))
          for entry in dict.fromkeys(entries)),
    ]  # fmt: skip
    if system.layouts:
        parts.append("#\n")
        parts.append(
            _comment(
                f"The layouts of the file are in {file.stem}-layouts.csv; a search does not start from them."
            )
        )
    sections = _sections(data)
    text = "".join(parts) + "\n"
    for key in _ORDER:
        missing = [one for one in notes.missing if one.field.split(".")[0] == key]
        if key not in data and not missing:
            continue
        text += _comment(_COMMENTS[key]) if key in _COMMENTS else ""
        text += "".join(_missing(one) for one in missing)
        text += sections.get(key, "") + "\n"
    return text.rstrip("\n") + "\n"


def _sections(data: dict[str, Any]) -> dict[str, str]:
    """The YAML text of each section; written as a whole, so that all of them are in block style."""
    whole = write(_tidy(data))
    found = {part[1]: part[0] for part in re.finditer(r"^(\w+):.*\n(?:[ -].*\n|\n)*", whole, re.MULTILINE)}
    assert found.keys() == data.keys(), "every section begins at the margin"
    return found


def _tidy(value: Any) -> Any:
    """The same with whole numbers written as such."""
    if isinstance(value, dict):
        return {key: _tidy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_tidy(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return int(value)
    return value


def _missing(one: Missing) -> str:
    return _comment(f"MISSING: {one.field}: {one.why}; {one.remedy}.")


def _comment(text: str) -> str:
    lines = textwrap.wrap(one_line(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def _series_table(series: dict[str, Any]) -> str:
    """The columns of a long series, which are taken out of it."""
    names = {"times": "time", "wind_direction": "wind_direction", "wind_speed": "wind_speed",
             "turbulence_intensity": "turbulence_intensity", "weight": "weight"}  # fmt: skip
    columns = {title: series.pop(key) for key, title in names.items() if isinstance(series.get(key), list)}
    return _table(list(columns), list(zip(*columns.values(), strict=True)))


def _layouts_table(layouts: list[Layout]) -> str:
    rows = [
        (one.farm, one.name, one.types[index] if one.types else "", x, y)
        for one in layouts
        for index, (x, y) in enumerate(zip(one.x, one.y, strict=True))
    ]
    return _table(["farm", "layout", "type", "x", "y"], rows)


def _table(header: list[str], rows: list[Any]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _pack_grids(local: dict[str, Any] | None) -> None:
    """Long lists of a grid as packed text."""
    for value in (local or {}).values():
        if isinstance(value, dict) and len(value["values"]) > LONGEST_PLAIN:
            value["values"] = pack(tuple(value["values"]))
