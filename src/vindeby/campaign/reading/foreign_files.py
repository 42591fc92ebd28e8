"""Sites and turbines in files of other tools: read once and put into the campaign.

``site: {file: NAME, ...}`` and ``turbines: [{name: ..., file: NAME}]``; the keys beside ``file`` are options of its
reader. What the file holds becomes ordinary sections, so that the checks, the stored campaign and the fingerprint know
its content and not the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vindeby.campaign.reading.farm_files import turbine_entries
from vindeby.campaign.reading.files import NamedFile, UnreadableError
from vindeby.campaign.reading.readers import FileContent, readers
from vindeby.campaign.reading.yaml_text import Document, field_name, not_used, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.wake_model import is_labelled_4, replaced_part
from vindeby.errors import CampaignError, Problem, VindebyError

_SITE_FORMS = ("weibull", "table", "time_series", "states", "local")
_OWN = ("file", "name", "grid_convergence_deg")
"""Keys of a section that are not about the file, and stay."""
_TURBINE_FORMS = ("generic", "table", "cubic")


def with_foreign_files(document: Document, folder: Path) -> Document:
    """Put the site and the turbines that stand in files of other tools into the document."""
    site = document.data.get("site")
    if isinstance(site, dict) and "file" in site:
        _resolve(NamedFile(document, site, ("site",), folder), _SITE_FORMS, readers().site_file)
    for turbine, at in turbine_entries(document.data):
        if "file" in turbine:
            _resolve(NamedFile(document, turbine, at, folder), _TURBINE_FORMS, readers().turbine_file)
    return document


def _resolve(
    named: NamedFile, forms: Sequence[str], reader: Callable[[Path, dict[str, Any]], FileContent]
) -> None:
    named.refuse_beside("file", (*forms, "source"))
    section, document = named.data, named.document
    options = {key: value for key, value in section.items() if key not in _OWN}
    try:
        found = reader(named.path, options)
    except UnreadableError as error:
        named.refuse_key("file", error.problems[0].message, error.problems[0].remedy or "")
    except CampaignError as error:
        raise CampaignError([_placed(document, named.at, problem) for problem in error.problems]) from None
    except VindebyError as error:
        named.refuse_key("file", str(error), "name a file that can be read")
    for key in options:
        del section[key]
    named.put({key: value for key, value in found.data.items() if key not in section})
    section["source"] = {"file": named.path.name, "format": found.format} | (
        {"notes": list(found.notes)} if found.notes else {}
    )


def _placed(document: Document, at: DataPath, problem: Problem) -> Problem:
    """A problem with an option, which a reader knows by name only, with the place where the option is written."""
    if problem.source:
        return problem
    path = (*at, problem.field)
    origin = document.origin(path)
    return Problem(
        origin.source, field_name(path), problem.message, problem.value, problem.remedy, origin.line
    )


def with_engine_file(document: Document, folder: Path) -> Document:
    """Put a FLORIS configuration that stands in a file of its own into the document."""
    wake = document.data.get("wake")
    if not isinstance(wake, dict) or not isinstance(wake.get("floris"), str):
        return document
    named = NamedFile(document, wake, ("wake",), folder, "floris")
    path = named.path
    content = read(named.text(), str(path), includes=True)
    if not isinstance(content.data, dict):
        message = "this is not a FLORIS configuration: it must be a mapping"
        raise CampaignError([Problem(str(path), "", message, None, "give the file that FlorisModel reads")])
    document.notes += [f"{path.name}: {note}" for note in not_used(replaced_part(content.data))]
    content.data.pop("farm", None)  # the campaign has its own; this one may include turbines
    wake["floris"] = {"configuration": content.data}
    if not is_labelled_4(version := content.data.get("floris_version", "v4")):
        document.notes.append(f"{path.name}: floris_version is {version}; it is read as version 4")
    document.put(("wake", "floris", "configuration"), content)
    return document
