"""What the values of axes (``vary``) set, in a campaign file as it was read; and the files that they name."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from vindeby.campaign.reading.yaml_text import Document, Origin, Path, field_name
from vindeby.errors import CampaignError, Problem

_AROUND = ("crs", "farms", "turbines")
"""What a file may be read with: a map is cropped to the farms, and neighbours are of known types."""


def parts_of(axis: str, value: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a value sets by path, such as ``wake`` or ``site.weibull``; ``fields`` are those of a campaign."""
    return {axis: value} if axis in fields else value if isinstance(value, dict) else {}


def values_in(data: Any, fields: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give the axis, the name and the parts of every value of a campaign file, as far as it has such."""
    axes = data.get("vary") if isinstance(data, dict) else None
    for axis, values in axes.items() if isinstance(axes, dict) else ():
        for name, value in values.items() if isinstance(values, dict) else ():
            yield axis, name, parts_of(axis, value, fields)


def set_whole(data: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that axes set as a whole, each with its first value."""
    found: dict[str, Any] = {}
    for _, _, parts in values_in(data, fields):
        whole = {path: or_none(path, value, fields) for path, value in parts.items() if path in fields}
        found = {**whole, **found}
    return found


def or_none(field: str, value: Any, fields: Mapping[str, Any]) -> Any:
    """Return the value of a field; None for the word ``none``, where the field may be left out."""
    return None if value == "none" and not fields[field].is_required() else value


def with_values_read(
    document: Document, fields: Mapping[str, Any], read: Callable[[Document], Document]
) -> Iterator[Document]:
    """Put what the files hold that the values of axes name into a document, value by value.

    Each is read as a campaign with the fields that it sets, which is given before its data are put back.
    """
    origins = defaultdict[Path, list[tuple[Path, Origin]]](list)
    for path, origin in document.origins.items():
        if path[:1] == ("vary",):
            origins[path[1:3]].append((path[3:], origin))
    for axis, name, parts in values_in(document.data, fields):
        # Each part with its path in a campaign, and where it is written; not one inside another part.
        places: dict[str, tuple[Path, Path]] = {
            path: (tuple(path.split(".")), ("vary", axis, name, *(() if axis in fields else (path,))))
            for path, value in parts.items()
            if isinstance(value, dict | list | str)
            and not any(path.startswith(f"{other}.") for other in parts)
        }
        if not places:
            continue
        data = {key: document.data[key] for key in _AROUND if key in document.data}
        inner = Document(data, {(): document.origin(("vary", axis, name))})
        for own, (steps, _) in places.items():
            holder = data
            for step in steps[:-1]:
                holder = holder.setdefault(str(step), {})
            holder[str(steps[-1])] = parts[own]
        for written, origin in origins[axis, name]:
            own = axis if axis in fields else str(written[0]) if written else ""
            if own in places:
                steps, at = places[own]
                inner.origins[(*steps, *written[len(at) - 3 :])] = origin
        try:
            inner = read(inner)
        except CampaignError as error:
            raise CampaignError([_placed(problem, places.values()) for problem in error.problems]) from None
        yield inner
        for steps, at in places.values():
            _put(document, inner, steps, at)
        document.notes += [note for note in inner.notes if note not in document.notes]


def _placed(problem: Problem, places: Iterable[tuple[Path, Path]]) -> Problem:
    """Return a problem of a value with the field where it is written."""
    for steps, at in places:
        name = field_name(steps)
        if problem.field == name or problem.field.startswith((f"{name}.", f"{name}[")):
            return replace(problem, field=f"{field_name(at)}{problem.field.removeprefix(name)}")
    return problem


def _put(document: Document, inner: Document, steps: Path, at: Path) -> None:
    found, holder = inner.data, document.data
    for step in steps:
        found = found[step]
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = found
    for path, origin in inner.origins.items():
        if path[: len(steps)] == steps:
            document.origins[(*at, *path[len(steps) :])] = origin
