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
