"""The reading of a campaign from a file, a preset's name or text: parts in files of their own, overrides."""

import copy
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from vindeby.campaign import presets
from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.reading.cost_files import with_cost_files
from vindeby.campaign.reading.farm_files import (
    TABLES,
    names_geographic_files,
    with_boundary_files,
    with_layout_files,
)
from vindeby.campaign.reading.files import (
    NamedFile,
    UnreadableError,
    named_files,
    read_bounded_text,
    suffix_of,
)
from vindeby.campaign.reading.places import SITES, TURBINES, descend, mappings, places, set_whole
from vindeby.campaign.reading.readers import FileContent, readers
from vindeby.campaign.reading.stored_rows import with_combination_file
from vindeby.campaign.reading.wind_files import with_wind_files
from vindeby.campaign.reading.yaml_text import (
    MAX_BYTES,
    Document,
    Origin,
    field_name,
    not_used,
    read,
)
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.site import WindChanges
from vindeby.campaign.sections.wake_model import replaced_part
from vindeby.errors import CampaignError, Problem, VindebyError


def load(path: str | Path) -> Document:
    """Read a campaign file or, if there is no such file, the preset or case of that name."""
    name = str(path)
    if name in presets.known() and not Path(path).exists():
        kind = "" if name.startswith(presets.CASE) else "preset "
        return read(presets.text(name), f"{kind}{name}")
    if re.fullmatch(rf"({presets.CASE})?[\w-]{{1,100}}", name) and not Path(path).exists():
        kind = "a case" if name.startswith(presets.CASE) else "a preset"
        raise _refused(name, f"there is neither a file nor {kind} of this name", presets.remedy(name))
    text = read_bounded_text(Path(path), MAX_BYTES)
    return with_files(from_text(text, name), Path(path).parent)


def with_files(document: Document, folder: Path) -> Document:
    """Return the document with the content of the files that it names, also in axes; the files are read once, here."""
    document = with_combination_file(document, folder)
    data, fields = document.data, CampaignFields.model_fields
    without_site = "site" not in data and "site" in set_whole(data, fields)
    if without_site:
        data["site"] = {}  # which a geographic file tells how far grid north is from true north
    with_foreign_files(document, folder)  # first: whether the wind is turned depends on its kind
    if names_geographic_files(document.data, folder):
        document = readers().with_geographic_files(document, folder)
    site = data.pop("site") if without_site else data.get("site")
    convergence = site.get("grid_convergence_deg") if isinstance(site, dict) else None
    for given, at in mappings(data, "site"):
        if convergence is not None and at[0] in ("vary", "scenarios") and "local" not in given:
            given.setdefault("grid_convergence_deg", convergence)
    for insert in (
        with_boundary_files,
        with_layout_files,
        with_engine_file,
        with_wind_files,
        with_cost_files,
    ):
        insert(document, folder)
    document.notes = [*dict.fromkeys(document.notes)]  # two values of an axis may name one file
    return document


def from_text(text: str, name: str) -> Document:
    """Read a campaign from YAML text."""
    document = read(text, name)
    if not isinstance(document.data, dict):
        raise _refused(name, "this is not a campaign: it must be a mapping", "start it with `name: ...`")
    return document


def _refused(source: str, message: str, remedy: str) -> CampaignError:
    return CampaignError([Problem(source, "", message, None, remedy)])


def override(document: Document, assignments: Sequence[str]) -> None:
    """Put ``a.b.c=value`` into the document, so that it goes through the same checks as the rest."""
    if assignments:
        document.data = copy.deepcopy(document.data)
    for assignment in assignments:
        dotted, equals, text = assignment.partition("=")
        steps = [step for step in dotted.split(".") if step]
        option = f"--set {assignment}"
        if not equals or not steps:
            raise _refused(option, "is not of the form field=value", "write it like seeds=2")
        if steps == ["crs"]:
            message = "cannot be overridden: coordinates have been read already"
            raise _refused(option, message, "write crs in the campaign file")
        if steps[-1] in ("file", "database") and "source" not in steps:
            message = "cannot be overridden: files have been read already"
            raise _refused(option, message, "write the name of the file in the campaign file")
        if steps[0] in set_whole(document.data, CampaignFields.model_fields):
            message = f"cannot be overridden: an axis of the campaign sets {steps[0]}"
            raise _refused(option, message, "override a value of the axis, e.g. vary.AXIS.NAME=...")
        value = read(text, option, has_lines=False).data if text.strip() else None
        try:
            holder, path = descend(document.data, steps)
        except PydanticCustomError as error:
            wrong = error.context or {}
            raise _refused(option, wrong["message"], wrong["remedy"]) from None
        holder[path[-1]] = value
        for length in range(1, len(path)):
            document.origins.setdefault(path[:length], Origin(option))
        document.origins[path] = Origin(option)


_SITE_FORMS = ("weibull", "table", "time_series", "states", "local")
_OWN = ("file", "name", "grid_convergence_deg", *WindChanges.model_fields)
"""Keys of a section that are not about the file, and stay."""
_TURBINE_FORMS = ("generic", "table", "cubic")


def with_foreign_files(document: Document, folder: Path) -> None:
    """Replace the names of site and turbine files of other tools in the document by their contents."""
    for holder, key, _ in places(document.data, *SITES):
        if isinstance(site := holder[key], str) and suffix_of(Path(site)) in TABLES:
            holder[key] = {"time_series": {"file": site}}
    for named in named_files(document, folder, *SITES, may_be_text=True):
        _resolve(named, _SITE_FORMS, readers().site_file)
    for named in named_files(document, folder, *TURBINES):
        _resolve(named, _TURBINE_FORMS, readers().turbine_file)


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
    """Return a problem with an option, with the place in the document where the option is written."""
    if problem.source:
        return problem
    path = (*at, problem.field)
    origin = document.origin(path)
    return Problem(
        origin.source, field_name(path), problem.message, problem.value, problem.remedy, origin.line
    )


def with_engine_file(document: Document, folder: Path) -> None:
    """Put a FLORIS configuration that stands in a file of its own into the document."""
    for named in named_files(document, folder, "wake.floris", may_be_text=True):
        content = read(named.text(), str(named.path), includes=True)
        if not isinstance(content.data, dict):
            named.refuse(
                "is not a FLORIS configuration: it must be a mapping", "give the file of FlorisModel"
            )
        named.note(not_used(replaced_part(content.data)))
        content.data.pop("farm", None)  # the campaign has its own; this one may include turbines
        named.put({"configuration": content.data})
        document.put((*named.at, "configuration"), content)
