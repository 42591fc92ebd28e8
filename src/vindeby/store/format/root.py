"""The checksum of a database's root attributes, for readers that have no seal to go by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from vindeby.store.format.own_fields import described
from vindeby.store.format.record import Attribute

KNOWN = frozenset(
    {
        "campaign",
        "format_version",
        "grid_size",
        "layout",
        "random_pct",
        "root_checksum",
        "successful_configs",
        "total_configs",
        "version",
    }
)
"""The root attributes that a database of vindeby always or often has."""


def root_checksum(root: Mapping[str, Attribute]) -> str:
    """SHA-256 over names and values, in hex."""
    covered = {name: value for name, value in root.items() if name != "root_checksum"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()


def root_is_intact(root: Mapping[str, Attribute]) -> bool:
    """Do the attributes have their checksum, if they state one?"""
    return root.get("root_checksum") in {None, root_checksum(root)}


def own_root(root: Mapping[str, Attribute]) -> dict[str, Attribute] | None:
    """The attributes that the checksum covers, where others may have been added; None when it is not met."""
    for names in _candidates(root):
        own = {name: value for name, value in root.items() if name in names}
        if root_is_intact(own):
            return own
    return None


def _candidates(root: Mapping[str, Attribute]) -> Iterator[frozenset[str]]:
    yield frozenset(root)
    if (stated := described(root)) is not None:
        yield stated[0] | {"root_checksum"}
