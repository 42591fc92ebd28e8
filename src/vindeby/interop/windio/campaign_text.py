"""A windIO system as a commented campaign file, with files beside it for what is long."""

from __future__ import annotations

import copy
import csv
import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.packed_lists import LONGEST_PLAIN, pack
from vindeby.campaign.reading.yaml_text import write
from vindeby.interop.windio.system import System
from vindeby.text import one_line

_WIDTH = 110
_SERIES = ("times", "wind_direction", "wind_speed", "turbulence_intensity", "weight")
_COMMENTS = {
    "farms": "Where turbines may stand, in the metres of the file, and how many.",
    "turbines": "Lengths in metres, wind speeds in m/s, power in kW.",
    "min_spacing": "The least distance between two turbines, in rotor diameters. windIO has no such field.",
    "site": "The wind.",
    "wake": "The nearest wake model to the one that the file names, if it names one.",
    "method": "How layouts are searched.",
    "seeds": "How many searches, each with random numbers of its own.",
}


def campaign_files(system: System, file: Path) -> dict[str, str]:
    """The campaign file of this name, and the files beside it: texts by the name of the file."""
    data = copy.deepcopy(system.data)
    texts = {file.name: ""}
    series = data.get("site", {}).get("time_series")
    if series is not None and len(series["wind_speed"]) > LONGEST_PLAIN:
        name = f"{file.stem}-wind.csv"
        columns = {key: series.pop(key) for key in _SERIES if isinstance(series.get(key), list)}
        header = [key.replace("times", "time") for key in columns]
        texts[name] = _table(header, zip(*columns.values(), strict=True))
        data["site"]["time_series"] = {"file": name, **series}
    if system.layouts:
        rows = [
            (one.farm, one.name, one.types[index] if one.types else "", x, y)
            for one in system.layouts
            for index, (x, y) in enumerate(zip(one.x, one.y, strict=True))
        ]
        texts[f"{file.stem}-layouts.csv"] = _table(["farm", "layout", "type", "x", "y"], rows)
    for value in data.get("site", {}).get("local", {}).values():
        if isinstance(value, dict) and len(value["values"]) > LONGEST_PLAIN:
            value["values"] = pack(tuple(value["values"]))
    texts[file.name] = _text(system, data, file)
    return texts


def _text(system: System, data: dict[str, Any], file: Path) -> str:
    notes = system.notes
    said = [("Chosen", one) for one in notes.chosen] + [("Warning", one) for one in notes.doubtful]
    said += [("MISSING", f"{one.field}: {one.message}; {one.remedy}.") for one in notes.missing]
    lines = [f"Written from the windIO file {system.path}.", "", f"Check it:  vindeby check {file.name}", ""]
    lines += [f"{word}: {text}" for word, text in dict.fromkeys(said)]
    if system.layouts:
        table = f"{file.stem}-layouts.csv"
        lines += ["", f"The layouts of the file are in {table}; a search does not start from them."]
    # Sections begin at the margin. They are written as a whole, so that all of them are in block style.
    sections = re.sub(
        r"^(\w+):",
        lambda key: f"\n{_comment(_COMMENTS.get(key[1]))}{key[0]}",
        write(data),
        flags=re.MULTILINE,
    )
    return "".join(map(_comment, lines)) + sections


def _comment(text: str | None) -> str:
    """The text as lines of comment; an empty one where it is empty, and none where there is no text."""
    if not text:
        return "" if text is None else "#\n"
    lines = textwrap.wrap(one_line(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def _table(header: list[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
