"""Folders of YAML files, for windIO and FLORIS: how a file is written, and how an earlier export is recognised."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vindeby._version import __version__
from vindeby.campaign.reading.yaml_text import write
from vindeby.campaign.tasks import task_key
from vindeby.interop.export.chosen import Chosen, Result


def write_yaml(path: Path, data: Any) -> None:
    """Write plain data, in the order in which it is given, lists of numbers on few lines."""
    path.write_text(write(data), encoding="utf-8")


def result_folder(path: Path, chosen: Chosen, result: Result) -> tuple[Path, str]:
    """Where the files of a result are written, and the way from there to those that all results share."""
    if len(chosen) == 1:
        return path, ""
    # Not by the key itself: that of a record from elsewhere may be any text.
    folder = path / task_key(*result.place)
    folder.mkdir()
    return folder, "../"


def write_turbines(path: Path, chosen: Chosen, describe: Callable[[int], dict[str, Any]]) -> None:
    """Write the turbine types that stand in the results, a file for each."""
    for type_ in sorted({type_ for result in chosen.results for type_ in result.types}):
        write_yaml(path / f"turbine_t{type_}.yaml", describe(type_))


NAME = "vindeby-export.json"


def write_mark(folder: Path, file_format: str, chosen: Chosen, **more: Any) -> None:
    """Say what the folder holds."""
    data = {
        "format": file_format,
        "vindeby": __version__,
        "database": chosen.database.name,
        "campaign": None if chosen.campaign is None else chosen.campaign.name,
        "results": {result.key: {"aep_gwh": result.aep_gwh} for result in chosen.results},
        "notes": chosen.notes,
        **more,
    }
    (folder / NAME).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def is_marked(folder: Path, file_format: str) -> bool:
    """Whether a folder is an earlier export of this format; older ones of Zarr say so in their attributes only."""
    name, key, begin = NAME, "format", file_format
    if file_format == "zarr" and not (folder / NAME).exists():
        name, key, begin = ".zattrs", "source", "vindeby "
    try:
        data = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and str(data.get(key)).startswith(begin)
