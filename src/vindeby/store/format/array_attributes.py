"""What is written beside each array for those who read the file through HDF5: its units, its long name.

The store knows nothing of what the arrays mean: whoever merges says it, and the root attribute ``array_attributes``
keeps it, so that later merges write it again. It is no part of the records, and their checksums do not cover it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from vindeby.store.format.record import Attribute
from vindeby.text import parse_json

ArrayAttributes = Mapping[str, Mapping[str, str]]
"""For each name of an array, the attributes of its dataset: ``{"aep": {"units": "GWh/year"}}``."""

ARRAY_ATTRIBUTES = "array_attributes"
"""The root attribute that keeps them, as JSON."""


def array_attributes(root: Mapping[str, Attribute]) -> dict[str, dict[str, str]]:
    """Those that the root states; nothing where it states none that make sense."""
    try:
        stated = parse_json(str(root.get(ARRAY_ATTRIBUTES, "{}")))
    except ValueError:
        return {}
    if not isinstance(stated, dict):
        return {}
    return {
        array: {name: text for name, text in texts.items() if _is_text(name) and name and _is_text(text)}
        for array, texts in stated.items()
        if isinstance(texts, dict)
    }


def stated(root: Mapping[str, Attribute], added: ArrayAttributes) -> dict[str, Attribute]:
    """The root with these attributes of arrays added to those that it states already."""
    if not added:
        return dict(root)
    every: dict[str, Mapping[str, str]] = dict(array_attributes(root))
    for array, texts in added.items():
        every[array] = {**every.get(array, {}), **texts}
    return {**root, ARRAY_ATTRIBUTES: json.dumps(every, sort_keys=True)}


def _is_text(value: object) -> bool:
    """Can HDF5 keep this as a text?"""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        return len(value.encode()) < 1 << 15
    except UnicodeEncodeError:
        return False
