"""Dotted paths such as ``site.weibull.turbulence_intensity``, with which an option or an axis sets one value."""

from collections.abc import Sequence
from typing import Any

from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.reading.yaml_text import field_name


class PathError(ValueError):
    """A path names nothing; what is wrong, and what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


def descend(data: Any, steps: Sequence[str]) -> tuple[Any, DataPath]:
    """Return the container and the path of what ``steps`` name; short forms on the way are opened up in the data."""
    path: DataPath = ()
    for position, step in enumerate(steps):
        if isinstance(data, list):
            index = _index(data, step)
            if index is None:
                known = ", ".join(_labels(data)) or "nothing"
                raise PathError(
                    f"{field_name(path) or 'the campaign'} has no entry {step!r}", f"it has: {known}"
                )
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
            raise PathError(f"{field_name(path)} has no fields of its own", "check the path")
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
