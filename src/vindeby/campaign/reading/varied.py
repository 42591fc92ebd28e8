"""What the values of axes (``vary``) set, in a campaign file as it was read."""

from collections.abc import Iterator, Mapping
from typing import Any


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
