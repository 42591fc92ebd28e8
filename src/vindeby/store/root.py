"""The checksum of a database's root attributes, for readers that have no seal to go by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from vindeby.store.record import Attribute


def root_checksum(root: Mapping[str, Attribute]) -> str:
    """SHA-256 over names and values, in hex."""
    covered = {name: value for name, value in root.items() if name != "root_checksum"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()


def root_is_intact(root: Mapping[str, Attribute]) -> bool:
    """Do the attributes have their checksum, if they state one?"""
    return root.get("root_checksum") in {None, root_checksum(root)}


ARRAY_ATTRIBUTES = "array_attributes"
"""The root attribute that keeps, as JSON, what is written beside each array: ``{"aep": {"units": ...}}``."""


def array_attributes(root: Mapping[str, Attribute]) -> dict[str, dict[str, str]]:
    """For each name of an array, the texts that are written beside it; nothing where the root has no valid ones."""
    try:
        stated = json.loads(str(root.get(ARRAY_ATTRIBUTES, "{}")))
    except ValueError:
        return {}
    if not isinstance(stated, dict):
        return {}
    return {
        array: {name: text for name, text in texts.items() if isinstance(text, str) and _is_name(name)}
        for array, texts in stated.items()
        if isinstance(texts, dict)
    }


def _is_name(name: str) -> bool:
    return bool(name) and "\0" not in name
