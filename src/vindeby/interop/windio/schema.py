"""Where a file does not keep to windIO's schema: said, never required, since well-known files do not either."""

from __future__ import annotations

import importlib
import re
from typing import Any

from vindeby.interop.windio.nodes import Node, with_includes

_MOST = 12
_LONGEST = 100
_MOST_VALUES = 100_000
"""windIO's validator takes about half a millisecond for each."""
_ERROR = re.compile(r'^Error \d+: Failed at instance path `(.*?)` with error message: "(.*)"$', re.MULTILINE)
_NOT_INSTALLED = "not checked: the windIO package is not installed (pip install 'vindeby[interop]')"


def schema_notes(root: Node, kind: str = "plant/wind_energy_system") -> list[str]:
    """What windIO's own validator finds, a line each; what lies in includes that were left is not looked at."""
    try:
        windio: Any = importlib.import_module("windIO")
    except ImportError:
        return [_NOT_INSTALLED]
    if len(root.place.file.document.origins) > _MOST_VALUES:
        return [f"not checked: the file holds more than {_MOST_VALUES:,} values"]
    data = with_includes(root.files, root.place.file)
    try:
        windio.validate(data, kind)
    except Exception as error:  # noqa: BLE001  (whatever a validator of another package raises is a finding)
        found = [(path, text) for path, text in _ERROR.findall(str(error)) if not _is_left(data, path)]
        if not found and not _ERROR.search(str(error)):
            return [f"not checked: windIO's validator failed: {_short(str(error))}"]
        lines = [f"{path}: {_short(text)}" for path, text in found[:_MOST]]
        more = len(found) - len(lines)
        return lines + ([f"and {more} more"] if more else [])
    return []


def _is_left(data: Any, path: str) -> bool:
    """Whether a JSON path leads into an include that was not read."""
    for step in re.findall(r"[^.\[\]$']+", path):
        try:
            data = data[int(step)] if isinstance(data, list) else data[step]
        except (KeyError, IndexError, ValueError, TypeError):
            return False
        if data is None:
            return True
    return False


def _short(text: str) -> str:
    """A message without the data that the validator repeats in it."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:20]} ... {text[-_LONGEST + 25 :]}"
