"""From a file, a preset's name or text to data: reading, parts in files of their own, overrides."""

import copy
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vindeby.campaign import presets
from vindeby.campaign.reading.cost_files import with_cost_files
from vindeby.campaign.reading.extending import extended
from vindeby.campaign.reading.farm_files import (
    names_geographic_files,
    sites,
    turbine_entries,
    with_boundary_files,
    with_neighbour_files,
)
from vindeby.campaign.reading.files import NamedFile, UnreadableError, read_bounded_text
from vindeby.campaign.reading.problems import value_at
from vindeby.campaign.reading.readers import FileContent, readers
from vindeby.campaign.reading.wind_files import with_local_wind, with_wind_files
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Origin, field_name, not_used, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.sections.site import WindChanges
from vindeby.campaign.sections.wake_model import is_labelled_4, replaced_part
from vindeby.errors import CampaignError, Problem, VindebyError


def load(path: str | Path) -> Document:
    """Read a campaign file or, where no such file is, the preset or case of that name; a windIO system, too."""
    name = str(path)
    if name in presets.known() and not Path(path).exists():
        kind = "" if name.startswith(presets.CASE) else "preset "
        return read(presets.text(name), f"{kind}{name}")
    if re.fullmatch(rf"({presets.CASE})?[\w-]{{1,100}}", name) and not Path(path).exists():
        kind = "a case" if name.startswith(presets.CASE) else "a preset"
        raise _refused(name, f"there is neither a file nor {kind} of this name", presets.remedy(name))
    text = read_bounded_text(Path(path), MAX_BYTES)
    if is_windio(text):
        system: Document = readers().windio_document(Path(path))
        return system
    return with_files(extended(from_text(text, name), Path(path)), Path(path).parent)


def load_study(path: Path) -> Document:
    """Read a study file, which names other files as a campaign file does."""
    return with_files(from_text(read_bounded_text(path, MAX_BYTES), str(path)), path.parent)


def with_files(document: Document, folder: Path) -> Document:
    """The document with what the files that it names hold; they are read once, here."""
    document = with_foreign_files(document, folder)  # first: whether the wind is turned depends on its kind
    if names_geographic_files(document.data, folder):
        document = readers().with_geographic_files(document, folder)
    document = with_boundary_files(document, folder)
    document = with_neighbour_files(document, folder)
    document = with_engine_file(document, folder)
    document = with_local_wind(with_wind_files(document, folder), folder)
    return with_cost_files(document, folder)


def from_text(text: str, name: str) -> Document:
    """Read a campaign from YAML text."""
    document = read(text, name)
    if not isinstance(document.data, dict):
        raise _refused(name, "this is not a campaign: it must be a mapping", "start it with `name: ...`")
    return document


def _refused(source: str, message: str, remedy: str) -> CampaignError:
    return CampaignError([Problem(source, "", message, None, remedy)])


def override(document: Document, assignments: Sequence[str]) -> None:
    """Put ``a.b.c=value`` into the document, so that it goes through the same checks as the rest.

    Refuses a document that still lacks what it says is missing.
    """
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
        if steps[-1] == "file" and "source" not in steps:
            message = "cannot be overridden: files have been read already"
            raise _refused(option, message, "write the name of the file in the campaign file")
        value = read(text, option, has_lines=False).data if text.strip() else None
        holder, path = _descend(document.data, steps, option)
        holder[path[-1]] = value
        for length in range(1, len(path)):
            document.origins.setdefault(path[:length], Origin(option))
        document.origins[path] = Origin(option)
    holders = {path: value_at(document.data, path[:-1]) for path in document.missing}
    lacking = [
        path for path, holder in holders.items() if isinstance(holder, dict) and path[-1] not in holder
    ]
    if lacking:
        raise CampaignError([document.missing[path] for path in lacking])


def _descend(data: Any, steps: Sequence[str], option: str) -> tuple[Any, DataPath]:
    """The container and the path of what ``steps`` name, opening up short forms on the way."""
    path: DataPath = ()
    for position, step in enumerate(steps):
        if isinstance(data, list):
            index = _index(data, step)
            if index is None:
                known = ", ".join(_labels(data)) or "nothing"
                message = f"{field_name(path) or 'the campaign'} has no entry {step!r}"
                raise _refused(option, message, f"it has: {known}")
            path = (*path, index)
            if isinstance(data[index], str):
                data[index] = {data[index]: {}}
            if not (isinstance(data[index], dict) and step in data[index]):
                if position == len(steps) - 1:
                    return data, path
                data = data[index]
                continue
            data = data[index]
        if not isinstance(data, dict):
            raise _refused(option, f"{field_name(path)} has no fields of its own", "check the path")
        path = (*path, step)
        if position == len(steps) - 1:
            return data, path
        inner = data.get(step)
        if isinstance(inner, str):
            data[step] = {inner: {}}
        elif inner is None:
            data[step] = {}
        data = data[step]
    raise AssertionError("steps is never empty")


def _index(entries: list[Any], step: str) -> int | None:
    """Which entry of a list ``step`` names: by number, by its name, or by a key it has."""
    if step.isdecimal():
        return int(step) if int(step) < len(entries) else None
    for index, entry in enumerate(entries):
        if entry == step or (isinstance(entry, dict) and (entry.get("name") == step or step in entry)):
            return index
    return None


def _labels(entries: list[Any]) -> list[str]:
    names = [entry.get("name") or "/".join(entry) if isinstance(entry, dict) else entry for entry in entries]
    return [str(name) for name in names if isinstance(name, str)]


_TOP_LEVEL = re.compile(r"^[\"']?(\w+)[\"']?[ \t]*:", re.MULTILINE)
_OF_WINDIO = {"wind_farm", "energy_resource", "wind_resource", "boundaries", "performance", "layouts"}
_OF_OURS = {"farms", "wake", "method", "seeds", "neighbours", "internal_wakes", "output"}
"""Of campaigns and studies; a study has ``layouts``, too."""
_INCLUDE = re.compile(r"^[^#\n]*:[ \t]*!include[ \t]", re.MULTILINE)


def is_windio(text: str) -> bool:
    """Whether the keys at the margin are those of windIO; no ``!include`` stands in a file of our own."""
    keys = set(_TOP_LEVEL.findall(text))
    if keys & _OF_OURS:
        return False
    return bool(keys & _OF_WINDIO) or ("site" in keys and bool(_INCLUDE.search(text)))


_SITE_FORMS = ("weibull", "table", "time_series", "states", "local")
_OWN = ("file", "name", "grid_convergence_deg", *WindChanges.model_fields)
"""Keys of a section that are not about the file, and stay."""
_TURBINE_FORMS = ("generic", "table", "cubic")


def with_foreign_files(document: Document, folder: Path) -> Document:
    """Put the site and the turbines that stand in files of other tools into the document."""
    for site, at in sites(document.data):
        if "file" in site:
            _resolve(NamedFile(document, site, at, folder), _SITE_FORMS, readers().site_file)
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
