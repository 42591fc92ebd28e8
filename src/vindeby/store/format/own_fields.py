"""Which fields of a record and of the root are vindeby's own; whatever else HDF5 shows was added by others.

A checksum covers own fields only. The root attribute ``own_fields`` names them, so that a file which another
program has written to can still be told apart from what was added to it. Only a checksum that is met decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Names:
    """The names of one kind of record."""

    arrays: tuple[str, ...]
    attributes: tuple[str, ...]

    @classmethod
    def of(cls, record: Record) -> Names:
        """Those of one record."""
        return cls(tuple(record.arrays), tuple(record.attributes))


@dataclass(frozen=True, order=True)
class Addition:
    """An object or attribute that others added to ``owner``, which is one of vindeby's own objects.

    ``owner`` is a path without a leading slash; the empty one is the root.
    """

    owner: str
    name: str
    attribute: bool = False

    def __str__(self) -> str:
        if self.attribute:
            return f"{self.owner}@{self.name}"
        return f"{self.owner}/{self.name}" if self.owner else self.name

    def to_json(self) -> list[Any]:
        """For the directory of a seal and for the guarded child."""
        return [self.owner, self.name, self.attribute]

    @classmethod
    def from_json(cls, data: list[Any]) -> Addition:
        """Back from JSON."""
        owner, name, attribute = data
        return cls(str(owner), str(name), bool(attribute))


def listed(additions: Iterable[Addition], most: int = 10) -> str:
    """Some of the names, and how many more there are."""
    names = [str(addition) for addition in additions]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def description(root: Iterable[str], schemas: Iterable[Schema], counts: Sequence[int] = ()) -> str:
    """The value of ``own_fields`` for a file with these root attributes and records.

    ``counts`` are the numbers of rows that a table had when others added to it, by which their columns are known.
    """
    kinds = {
        (tuple(name for name, _, _ in schema.arrays), tuple(name for name, _ in schema.attributes))
        for schema in schemas
    }
    records = [{"arrays": arrays, "attributes": attributes} for arrays, attributes in sorted(kinds)]
    rows = {"row_counts": sorted(set(counts))} if counts else {}
    return json.dumps({"root": sorted({*root, OWN_FIELDS}), "records": records, **rows})


def row_counts(root: Mapping[str, Attribute]) -> list[int]:
    """How many rows the table had each time when others added to it."""
    try:
        return [int(count) for count in parse_json(str(root[OWN_FIELDS])).get("row_counts", [])]
    except (KeyError, TypeError, ValueError, AttributeError):
        return []


def described(root: Mapping[str, Attribute]) -> tuple[frozenset[str], list[Names]] | None:
    """What a file's ``own_fields`` says: the root's names and the kinds of records; None where it says nothing."""
    try:
        data = parse_json(str(root[OWN_FIELDS]))
        kinds = [
            Names(tuple(map(str, kind["arrays"])), tuple(map(str, kind["attributes"])))
            for kind in data["records"]
        ]
        return frozenset(map(str, data["root"])), kinds
    except (KeyError, TypeError, ValueError):
        return None


class OwnFields:
    """Finds the own fields of the records of one file; what it has found once, it tries first."""

    def __init__(self, root: Mapping[str, Attribute]) -> None:
        stated = described(root)
        self.known: list[Names] = [] if stated is None else stated[1]

    def find(
        self,
        key: str,
        fingerprint: str,
        arrays: Mapping[str, NDArray[Any]],
        attributes: Mapping[str, Attribute],
        stated: str,
    ) -> Record | None:
        """The record among these fields that has the stated checksum; None when there is none."""
        for names in self._candidates(set(arrays), set(attributes)):
            try:
                record = Record(
                    key,
                    fingerprint,
                    {name: arrays[name] for name in names.arrays},
                    {name: attributes[name] for name in names.attributes},
                )
            except VindebyError:
                continue
            if checksum_of(record) == stated:
                self._remember(Names.of(record))
                return record
        return None

    def _candidates(self, arrays: set[str], attributes: set[str]) -> Iterator[Names]:
        for names in list(self.known):
            if arrays.issuperset(names.arrays) and attributes.issuperset(names.attributes):
                yield names
        yield Names(tuple(arrays), tuple(attributes))

    def _remember(self, names: Names) -> None:
        if self.known[:1] != [names]:
            self.known = [names, *(other for other in self.known if other != names)]

    def looks_like_a_record(self, arrays: set[str]) -> bool:
        """Does a group with these datasets hold the arrays of one of the kinds of records that are known?"""
        return not self.known or any(arrays.issuperset(names.arrays) for names in self.known)
