"""Places in a campaign file: by patterns, in the values of axes (``vary``), and by dotted paths of options.

In a pattern such as ``farms[].zones[].boundary``, ``[]`` stands for every entry of a list, and ``*`` for those of a
list or a single one that is not in a list. What an axis sets is found at its place: ``vary.AXIS.NAME`` where the axis
is a field, else ``vary.AXIS.NAME`` and the path that the value has there, such as ``site.weibull``; what a scenario
sets, at ``scenarios.NAME`` and the path.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.reading.yaml_text import field_name
from vindeby.campaign.sections.values import refusal

NEIGHBOURS = ("neighbours*", "farms[].neighbours*")
STARTS = ("start", "farms[].start")
SITES = ("site",)
TURBINES = ("turbines[]", *(f"{one}.turbines[]" for one in NEIGHBOURS))
WITH_BOUNDARY = ("farms[]", "farms[].zones[]")
EXCLUSIONS = "exclusions*"
"""Below a boundary."""
Place = tuple[Any, Any, DataPath]
"""A list or mapping, an index or key in it, and the path of the value there."""


def places(data: Any, *patterns: str) -> Iterator[Place]:
    """Yield every place that fits one of the patterns and holds a value."""
    axes = data.get("vary")
    varied = [
        (axis, values, name)
        for axis, values in (axes.items() if isinstance(axes, dict) else ())
        for name in (values if isinstance(values, dict) else ())
    ]
    for pattern in patterns:
        steps = pattern.split(".")
        yield from _below(data, steps, ())
        for axis, values, name in varied:
            if axis == _name(steps[0]):
                yield from _expanded((values, name, ("vary", axis, name)), steps)
            else:
                yield from _set_in(values[name], steps, ("vary", axis, name))
        scenarios = data.get("scenarios")
        for name in scenarios if isinstance(scenarios, dict) else ():
            yield from _set_in(scenarios[name], steps, ("scenarios", name))


def _set_in(parts: Any, steps: Sequence[str], at: DataPath) -> Iterator[Place]:
    """Yield the settings that a value of an axis, or a scenario, makes at a place."""
    for length in range(1, len(steps) + 1) if isinstance(parts, dict) else ():
        path = ".".join(map(_name, steps[:length]))
        if path in parts:
            yield from _expanded((parts, path, (*at, path)), steps[length - 1 :])


def mappings(data: Any, *patterns: str) -> Iterator[tuple[dict[str, Any], DataPath]]:
    """Yield every mapping at a place that fits one of the patterns, with its path."""
    for holder, key, at in places(data, *patterns):
        if isinstance(holder[key], dict):
            yield holder[key], at


def type_names(data: Any, group: dict[str, Any]) -> list[str]:
    """Return the names of the turbine types that a group of neighbours, or another table of turbines, may use."""
    names = [entry.get("name") for holder in (group, data) for entry, _ in mappings(holder, "turbines[]")]
    return [name for name in names if isinstance(name, str)]


def _name(step: str) -> str:
    return step.rstrip("[]*")


def _below(holder: Any, steps: Sequence[str], at: DataPath) -> Iterator[Place]:
    name = _name(steps[0])
    if isinstance(holder, dict) and name in holder:
        yield from _expanded((holder, name, (*at, name)), steps)


def _expanded(place: Place, steps: Sequence[str]) -> Iterator[Place]:
    """Yield what fits ``steps``, the first of which is that of the place itself."""
    holder, key, at = place
    value, is_plain = holder[key], steps[0] == _name(steps[0])
    if isinstance(value, list) and not is_plain:
        entries: list[Place] = [(value, index, (*at, index)) for index in range(len(value))]
    else:
        entries = [] if steps[0].endswith("[]") else [place]
    for entry in entries:
        if len(steps) == 1:
            yield entry
        else:
            yield from _below(entry[0][entry[1]], steps[1:], entry[2])


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
        known = [path for path in parts if path in fields and path != "vary"]  # an axis sets no axes
        whole = {path: or_none(path, parts[path], fields) for path in known}
        found = {**whole, **found}
    return found


def or_none(field: str, value: Any, fields: Mapping[str, Any]) -> Any:
    """Return the value of a field; None for the word ``none``, where the field may be left out."""
    return None if value == "none" and not fields[field].is_required() else value


def descend(data: Any, steps: Sequence[str]) -> tuple[Any, DataPath]:
    """Return the container and the path of what ``steps`` name; short forms on the way are opened up in the data.

    Raises PydanticCustomError where they name nothing.
    """
    path: DataPath = ()
    for position, step in enumerate(steps):
        if isinstance(data, list):
            index = _index(data, step)
            if index is None:
                known = ", ".join(_labels(data)) or "nothing"
                wrong = f"{field_name(path) or 'the campaign'} has no entry {step!r}"
                raise refusal(wrong, remedy=f"it has: {known}")
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
            raise refusal(f"{field_name(path)} has no fields of its own", remedy="check the path")
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
    if step.isdecimal():
        return int(step) if int(step) < len(entries) else None
    for index, entry in enumerate(entries):
        if entry == step or (isinstance(entry, dict) and (entry.get("name") == step or step in entry)):
            return index
    return None


def _labels(entries: list[Any]) -> list[str]:
    names = [entry.get("name") or "/".join(entry) if isinstance(entry, dict) else entry for entry in entries]
    return [str(name) for name in names if isinstance(name, str)]
