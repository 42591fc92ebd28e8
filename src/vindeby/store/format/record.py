"""A record: a key, the fingerprint of its task, named arrays, and attributes.

A record is a success by definition; a task that failed leaves none. What is stored with it beyond this, its
success mark and its checksum, is the store's business (``rows``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import ArgumentError
from vindeby.text import one_line, plural

Attribute: TypeAlias = str | int | float | bool
"""The types of an attribute; an int must fit 64 bits."""

RESERVED = frozenset({"checksum", "fingerprint", "key", "status"})
"""Names that the store itself writes beside the attributes."""

SUCCESS = "success"
"""The status of every record that is kept."""

MAXIMUM_DIMENSIONS = 16
"""Axes that an array of a record may have: every form of a database, and every reader, can hold as many."""

_NUMERIC_KINDS = "biuf"


@dataclass(frozen=True, eq=False)
class Record:
    """A finished result; arrays and attributes can also be reached as ``record.name``."""

    key: str
    fingerprint: str
    arrays: Mapping[str, NDArray[Any]]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_text(self.key, "key", self.key)
        if not self.key or "/" in self.key or self.key in {".", ".."}:
            raise ArgumentError(f"record {self.key!r}: a key must be a non-empty name without '/'")
        _check_text(self.key, "fingerprint", self.fingerprint)
        arrays = {name: _checked_array(self.key, name, self.arrays[name]) for name in sorted(self.arrays)}
        attributes = {
            name: _checked_attribute(self.key, name, self.attributes[name])
            for name in sorted(self.attributes)
        }
        clash = arrays.keys() & attributes.keys()
        if clash:
            raise ArgumentError(f"record {self.key}: {min(clash)!r} is both an array and an attribute")
        object.__setattr__(self, "arrays", arrays)
        object.__setattr__(self, "attributes", attributes)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in {"arrays", "attributes"}:
            raise AttributeError(name)
        if name in self.arrays:
            value = self.arrays[name]
            return value if value.ndim else value[()]
        if name in self.attributes:
            return self.attributes[name]
        known = ", ".join([*self.arrays, *self.attributes])
        raise AttributeError(f"record {self.key} has no {name!r}; it has: {known}")

    def __repr__(self) -> str:
        sizes = [
            f"{name} {value.dtype}{list(value.shape)}" for name, value in self.arrays.items() if value.ndim
        ]
        numbers = [f"{name} {value.item():.6g}" for name, value in self.arrays.items() if not value.ndim]
        parts = [one_line(part) for part in (*numbers, *sizes)]
        return f"<Record {self.key!r}: {', '.join([*parts, plural(len(self.attributes), 'attribute')])}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self.key)

    def _content(self) -> tuple[object, ...]:
        arrays = [
            (name, value.dtype.str, value.shape, value.tobytes()) for name, value in self.arrays.items()
        ]
        attributes = [(name, type(value), repr(value)) for name, value in self.attributes.items()]
        return self.key, self.fingerprint, arrays, attributes


def _check_text(key: str, name: str, text: str) -> None:
    if not isinstance(text, str):
        raise ArgumentError(f"record {key!r}: {name} must be text (got {type(text).__name__})")
    if "\0" in text:
        raise ArgumentError(f"record {key!r}: {name} must not hold a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"record {key!r}: {name} is not valid Unicode ({error.reason})") from None


def _check_name(key: str, name: str) -> None:
    _check_text(key, "a name", name)
    if not name or "/" in name or name == "." or name in RESERVED:
        raise ArgumentError(f"record {key}: {name!r} cannot be the name of an array or attribute")


def _checked_array(key: str, name: str, value: object) -> NDArray[Any]:
    _check_name(key, name)
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(
            f"record {key}: array {name!r} is a masked array, and a mask is not stored; give a plain array, "
            "e.g. value.filled(numpy.nan)"
        )
    array = np.asarray(value)
    if array.ndim > MAXIMUM_DIMENSIONS:
        raise ArgumentError(
            f"record {key}: array {name!r} has {array.ndim} dimensions; at most {MAXIMUM_DIMENSIONS} are stored, "
            "reshape it"
        )
    if array.dtype.kind not in _NUMERIC_KINDS or array.dtype.itemsize > 8:
        raise ArgumentError(
            f"record {key}: array {name!r} has type {array.dtype}; numbers and booleans are kept"
        )
    array = np.array(array, dtype=array.dtype.newbyteorder("<"), order="C")
    array.flags.writeable = False
    return array


def _checked_attribute(key: str, name: str, value: object) -> Attribute:
    _check_name(key, name)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        _check_text(key, f"attribute {name!r}", value)
    elif isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise ArgumentError(f"record {key}: attribute {name!r} = {value} does not fit 64 bits")
    elif not isinstance(value, bool | float):
        kind = type(value).__name__
        raise ArgumentError(f"record {key}: attribute {name!r} must be text, a number or a bool (got {kind})")
    return value
