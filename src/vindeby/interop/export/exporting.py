"""Export of the requested results in one format, put in place as a whole, a file or a folder."""

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vindeby._version import __version__
from vindeby.campaign.reading.yaml_text import write
from vindeby.errors import ArgumentError
from vindeby.interop.common import EXPORT_MARK
from vindeby.interop.export import FORMATS
from vindeby.interop.export.chosen import Chosen, ExportedResult, choose
from vindeby.interop.geo.crs import Projection
from vindeby.results.result_set import ResultSet
from vindeby.store.disk.output_file import new_file, new_folder


@dataclass(frozen=True)
class ExportOptions:
    """The selection of results, and options of writing."""

    best: bool = False
    """If true, only the result of each farm and type with the most energy, or the best by the objective."""
    crs: str | None = None
    """The coordinate reference system of the metres, e.g. ``EPSG:32631``; that of the campaign if not given."""
    force: bool = False
    """Replace an earlier export."""


@dataclass(frozen=True)
class Exported:
    """The outcome of an export."""

    path: Path
    format: str
    chosen: Chosen


def export(
    results: ResultSet,
    file_format: str,
    path: Path | None = None,
    options: ExportOptions | None = None,
) -> Exported:
    """Write the valid results; without a path, beside the database."""
    options = options or ExportOptions()
    if file_format not in FORMATS:
        raise ArgumentError(f"--to: {file_format!r} is not known; use one of {', '.join(FORMATS)}")
    if options.crs is not None:
        Projection(options.crs)  # refuses a system that is not known
    form = FORMATS[file_format]
    target = path or results.path.with_suffix(form.suffix)
    chosen = choose(results, best=options.best)
    options = replace(options, crs=options.crs or getattr(chosen.campaign, "crs", None))
    if form.is_folder:
        replaceable = partial(is_marked, file_format=file_format)
        place = new_folder(target, replace=options.force, database=results.path, replaceable=replaceable)
    else:
        place = new_file(target, replace=options.force, database=results.path)
    with place as temporary:
        module = importlib.import_module(f"vindeby.interop.export.{form.module}")
        module.write(temporary, file_format, chosen, options)
    return Exported(target, file_format, chosen)


def write_yaml(path: Path, data: Any) -> None:
    """Write plain data, in the order in which it is given, lists of numbers on few lines."""
    path.write_text(write(data), encoding="utf-8")


def result_folder(path: Path, chosen: Chosen, result: ExportedResult) -> tuple[Path, str]:
    """Return the folder for the files of a result, and the path from there to the files that all results share."""
    if len(chosen) == 1:
        return path, ""
    # Not by the key itself: that of a record from elsewhere may be any text.
    folder = path / chosen.table.results.axes.key_of(result.place)
    folder.mkdir()
    return folder, "../"


def write_turbines(path: Path, chosen: Chosen, describe: Callable[[int], dict[str, Any]]) -> None:
    """Write the turbine types that stand in the results, a file for each."""
    for type_ in chosen.types:
        write_yaml(path / f"turbine_t{type_}.yaml", describe(type_))


def write_mark(folder: Path, file_format: str, chosen: Chosen, **more: Any) -> None:
    """Write the file that describes the content of the folder."""
    data = {
        "format": file_format,
        "vindeby": __version__,
        "database": chosen.database.name,
        "campaign": None if chosen.campaign is None else chosen.campaign.name,
        "results": {result.key: {"aep_gwh": result.aep_gwh} for result in chosen.results},
        "notes": chosen.notes,
        **more,
    }
    (folder / EXPORT_MARK).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def is_marked(folder: Path, file_format: str) -> bool:
    """Return whether a folder is an earlier export of this format."""
    try:
        data = json.loads((folder / EXPORT_MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("format") == file_format
