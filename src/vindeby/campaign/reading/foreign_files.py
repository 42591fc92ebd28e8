"""Sites and turbines in files of other tools: read once and put into the campaign.

``site: {file: NAME, ...}`` and ``turbines: [{name: ..., file: NAME}]``; the keys beside ``file`` are options of its
reader. What the file holds becomes ordinary sections, so that the checks, the stored campaign and the fingerprint know
its content and not the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.late_readers import ForeignFile, site_file, turbine_file
from vindeby.campaign.reading.neighbour_files import neighbour_groups
from vindeby.campaign.reading.yaml_text import Document, Origin, field_name
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem, VindebyError

_SITE_FORMS = ("weibull", "table", "time_series", "states", "local")
_OWN = ("file", "name", "grid_convergence_deg")
"""Keys of a section that are not about the file, and stay."""
_TURBINE_FORMS = ("generic", "table", "cubic")


def with_foreign_files(document: Document, folder: Path) -> Document:
    """Put the site and the turbines that stand in files of other tools into the document."""
    site = document.data.get("site")
    if isinstance(site, dict) and "file" in site:
        _resolve(document, site, ("site",), folder, _SITE_FORMS, site_file)
    for holder, place in [(document.data, ()), *neighbour_groups(document.data)]:
        turbines = holder.get("turbines")
        for index, turbine in enumerate(turbines if isinstance(turbines, list) else []):
            if isinstance(turbine, dict) and "file" in turbine:
                _resolve(document, turbine, (*place, "turbines", index), folder, _TURBINE_FORMS, turbine_file)
    return document


def _resolve(
    document: Document,
    section: dict[str, Any],
    at: DataPath,
    folder: Path,
    forms: Sequence[str],
    reader: Callable[[Path, dict[str, Any]], ForeignFile],
) -> None:
    name = section["file"]
    if not isinstance(name, str) or not name:
        raise _problem(document, (*at, "file"), "must be the path of a file", "write it as text", name)
    for key in (*forms, "source"):
        if key in section:
            raise _problem(document, (*at, key), "is given beside file", "give one of them")
    options = {key: value for key, value in section.items() if key not in _OWN}
    try:
        found = reader(folder / name, options)
    except CampaignError as error:
        raise CampaignError([_placed(document, at, problem) for problem in error.problems]) from None
    except VindebyError as error:
        raise _problem(document, (*at, "file"), str(error), "name a file that can be read", name) from None
    for key in ("file", *options):
        del section[key]
    for key, value in found.data.items():
        section.setdefault(key, value)
    section["source"] = {"file": Path(name).name, "format": found.format} | (
        {"notes": list(found.notes)} if found.notes else {}
    )
    origin = document.origin((*at, "file"))
    document.origins.update({(*at, key): Origin(origin.source, origin.line) for key in found.data})


def _placed(document: Document, at: DataPath, problem: Problem) -> Problem:
    """A problem with an option, which a reader knows by name only, with the place where the option is written."""
    if problem.source:
        return problem
    path = (*at, problem.field)
    origin = document.origin(path)
    return Problem(
        origin.source, field_name(path), problem.message, problem.value, problem.remedy, origin.line
    )


def _problem(
    document: Document, path: DataPath, message: str, remedy: str, value: Any = None
) -> CampaignError:
    origin = document.origin(path)
    shown = repr(value) if isinstance(value, str | int | float) else None
    return CampaignError([Problem(origin.source, field_name(path), message, shown, remedy, origin.line)])
