"""The root attributes of a database: their checksum, and which fields are vindeby's own.

A checksum covers own fields only. The root attribute ``own_fields`` names them, so that a file which another program
has written to can still be told apart from what was added to it. Only a checksum that is met decides.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from vindeby.errors import VindebyError
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.rows import Schema, checksum_of
from vindeby.text import parse_json

OWN_FIELDS = "own_fields"
"""The root attribute that names the own fields, as JSON."""

MARKS = ("status", "checksum", "fingerprint")
"""The attributes of a record's group that the store itself writes beside those of the record."""


Names = tuple[frozenset[str], frozenset[str]]
"""The names of the arrays and of the attributes of one kind of record."""


def description(root: Iterable[str], schemas: Iterable[Schema]) -> str:
    """Return the value of ``own_fields`` for a file with these root attributes and records."""
    kinds = {
        (tuple(name for name, _, _ in schema.arrays), tuple(name for name, _ in schema.attributes))
        for schema in schemas
    }
    records = [{"arrays": arrays, "attributes": attributes} for arrays, attributes in sorted(kinds)]
    return json.dumps({"root": sorted({*root, OWN_FIELDS}), "records": records})


def described(root: Mapping[str, Attribute]) -> tuple[frozenset[str], list[Names]] | None:
    """Return the root's names and the kinds of records that ``own_fields`` states; None if it states none."""
    try:
        data = parse_json(str(root[OWN_FIELDS]))
        kinds = [(frozenset(kind["arrays"]), frozenset(kind["attributes"])) for kind in data["records"]]
        return frozenset(data["root"]), kinds
    except (KeyError, TypeError, ValueError):
        return None


def own_record(
    kinds: Iterable[Names],
    key: str,
    fingerprint: str,
    arrays: Mapping[str, NDArray[Any]],
    attributes: Mapping[str, Attribute],
    checksum: str,
) -> Record | None:
    """Return the record with this checksum, with the fields of one of these kinds or all fields; else None."""
    for some, others in [*kinds, (frozenset(arrays), frozenset(attributes))]:
        if some <= arrays.keys() and others <= attributes.keys():
            with contextlib.suppress(VindebyError):
                record = Record(
                    key,
                    fingerprint,
                    {name: arrays[name] for name in some},
                    {name: attributes[name] for name in others},
                )
                if checksum_of(record) == checksum:
                    return record
    return None


def root_checksum(root: Mapping[str, Attribute]) -> str:
    """Return the SHA-256 of the names and values, in hex."""
    covered = {name: value for name, value in root.items() if name != "root_checksum"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()


def root_is_intact(root: Mapping[str, Attribute]) -> bool:
    """Return whether the attributes match their checksum; True if they state none."""
    return root.get("root_checksum") in {None, root_checksum(root)}


def own_root(root: Mapping[str, Attribute]) -> dict[str, Attribute] | None:
    """Return the attributes that the checksum covers, without any added later; None if it does not match."""
    stated = described(root)
    for names in [frozenset(root), *([stated[0] | {"root_checksum"}] if stated else [])]:
        own = {name: value for name, value in root.items() if name in names}
        if root_is_intact(own):
            return own
    return None
