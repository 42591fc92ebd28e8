"""Where a campaign file may name other files: places by patterns, also in the values of axes.

In a pattern such as ``farms[].zones[].boundary``, ``[]`` stands for every entry of a list, and ``*`` for those of a
list or a single one that is not in a list. What an axis sets is found at its place: ``vary.AXIS.NAME`` where the axis
is a field, else ``vary.AXIS.NAME`` and the path that the value has there, such as ``site.weibull``.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from vindeby.campaign.reading.yaml_text import Path as DataPath

NEIGHBOURS = ("neighbours*", "farms[].neighbours*", "scenarios[].neighbours*")
STARTS = ("start", "farms[].start")
SITES = ("site", "scenarios[].site")
TURBINES = ("turbines[]", *(f"{one}.turbines[]" for one in NEIGHBOURS))
WITH_BOUNDARY = ("farms[]", "farms[].zones[]")
EXCLUSIONS = "exclusions*"
"""Below a boundary."""
Place = tuple[Any, Any, DataPath]
"""A list or mapping, an index or key of it, and the path of what stands there."""


def places(data: Any, *patterns: str) -> Iterator[Place]:
    """Yield every place that fits one of the patterns and where something stands."""
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
            elif isinstance(parts := values[name], dict):
                for length in range(1, len(steps) + 1):
                    path = ".".join(map(_name, steps[:length]))
                    if path in parts:
                        at: DataPath = ("vary", axis, name, path)
                        yield from _expanded((parts, path, at), steps[length - 1 :])


def mappings(data: Any, *patterns: str) -> Iterator[tuple[dict[str, Any], DataPath]]:
    """Yield every mapping at a place that fits one of the patterns, with its path."""
    for holder, key, at in places(data, *patterns):
        if isinstance(holder[key], dict):
            yield holder[key], at


def type_names(data: Any, group: dict[str, Any]) -> list[str]:
    """The names of the turbine types that a group of neighbours, or another table of turbines, may use."""
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
