"""From a file, a preset's name or text to data: reading, boundaries in files of their own, overrides."""

from __future__ import annotations

import copy
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vindeby.campaign import presets
from vindeby.campaign.reading.boundary_file import read_boundary
from vindeby.campaign.reading.engine_files import with_engine_file
from vindeby.campaign.reading.foreign_files import with_foreign_files
from vindeby.campaign.reading.geographic_names import boundary_holders, names_geographic_files
from vindeby.campaign.reading.late_readers import windio_document, with_geographic_files
from vindeby.campaign.reading.local_wind_file import with_local_wind
from vindeby.campaign.reading.neighbour_files import with_neighbour_files
from vindeby.campaign.reading.number_table import decompressed
from vindeby.campaign.reading.wind_files import with_wind_files
from vindeby.campaign.reading.windio_recognition import is_windio
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Origin, field_name, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem


def load(path: str | Path, overrides: Sequence[str] = ()) -> Document:
    """Read a campaign file or, where no such file is, the preset of that name; a windIO system, too.

    ``overrides`` are not put in here: they only say what a file of another format need not give.
    """
    name = str(path)
    if name in presets.names() and not Path(path).exists():
        return read(presets.text(name), f"preset {name}")
    if re.fullmatch(r"[\w-]{1,100}", name) and not Path(path).exists():
        raise _refused(name, "there is neither a file nor a preset of this name", presets.remedy(name))
    text = text_of(Path(path))
    if is_windio(text):
        return windio_document(Path(path), overrides)
    return with_files(from_text(text, name), Path(path).parent)


def load_study(path: Path) -> Document:
    """Read a study file, which names other files as a campaign file does."""
    return with_files(from_text(text_of(path), str(path)), path.parent)


def with_files(document: Document, folder: Path) -> Document:
    """The document with what the files that it names hold; they are read once, here."""
    document = with_foreign_files(document, folder)  # first: whether the wind is turned depends on its kind
    if names_geographic_files(document.data, folder):
        document = with_geographic_files(document, folder)
    document = _with_boundary_files(document, folder)
    document = with_neighbour_files(document, folder, text_of)
    document = with_engine_file(document, folder, text_of)
    return with_local_wind(with_wind_files(document, folder, text_of), folder)


def from_text(text: str, name: str) -> Document:
    """Read a campaign from YAML text."""
    document = read(text, name)
    if not isinstance(document.data, dict):
        raise _refused(name, "this is no campaign: it must be a mapping", "start it with `name: ...`")
    return document


def _refused(
    source: str, message: str, remedy: str, field: str = "", value: str | None = None
) -> CampaignError:
    return CampaignError([Problem(source, field, message, value, remedy)])


def text_of(path: Path, field: str = "", named_in: str | None = None) -> str:
    """The text of a file; ``field`` of the file ``named_in`` is what refers to it, if anything does."""
    source = named_in or str(path)
    value = None if named_in is None else str(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise _refused(source, "this is a folder", "name the file in it", field, value)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(source, "this is not a regular file", "name a file", field, value)
        if status.st_size > MAX_BYTES:
            told = f"the file has {status.st_size:,} bytes, more than the {MAX_BYTES:,} that are read"
            raise _refused(source, told, "is it the right file?", field, value)
        return decompressed(path.read_bytes(), MAX_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise _refused(source, "no such file", "check the path", field, value) from None
    except UnicodeDecodeError as error:
        told = f"the file is not text: byte {error.start} is not UTF-8"
        raise _refused(source, told, "is it the right file?", field, value) from None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise _refused(
            source, f"cannot be read: {told}", "check the path and its permissions", field, value
        ) from None


def _with_boundary_files(document: Document, folder: Path) -> Document:
    """Put the boundaries that stand in files of their own into the document."""
    for holder, at in boundary_holders(document.data):
        boundary = holder.get("boundary")
        if not isinstance(boundary, dict) or not isinstance(boundary.get("file"), str):
            continue
        origin = document.origin((*at, "file"))
        if len(boundary) > 1:
            others = ", ".join(key for key in boundary if key != "file")
            raise CampaignError(
                [
                    Problem(
                        origin.source,
                        field_name(at),
                        f"gives file and {others}",
                        None,
                        "give one",
                        origin.line,
                    )
                ]
            )
        path = folder / boundary["file"]
        text = text_of(path, field_name((*at, "file")), named_in=f"{origin.source}:{origin.line}")
        inner = read_boundary(path, text, field_name(at))
        holder["boundary"] = inner.data
        document.origins.update({(*at, *inside): place for inside, place in inner.origins.items()})
    return document


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
            told = "cannot be overridden: coordinates have been read already"
            raise _refused(option, told, "write crs in the campaign file")
        if steps[-1] == "file" and "source" not in steps:
            told = "cannot be overridden: files have been read already"
            raise _refused(option, told, "write the name of the file in the campaign file")
        value = read(text, option, has_lines=False).data if text.strip() else None
        holder, path = _descend(document.data, steps, option)
        holder[path[-1]] = value
        for length in range(1, len(path)):
            document.origins.setdefault(path[:length], Origin(option))
        document.origins[path] = Origin(option)


def _descend(data: Any, steps: Sequence[str], option: str) -> tuple[Any, DataPath]:
    """The container and the path of what ``steps`` name, opening up short forms on the way."""
    path: DataPath = ()
    for position, step in enumerate(steps):
        if isinstance(data, list):
            index = _index(data, step)
            if index is None:
                known = ", ".join(_labels(data)) or "nothing"
                told = f"{field_name(path) or 'the campaign'} has no entry {step!r}"
                raise _refused(option, told, f"it has: {known}")
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
