"""Many records of one schema as one structured array, and their checksums, thousands at a time.

Shards, merged files and everything between move records in this form: nothing in the store loops over
attributes record by record. A row is laid out in one fixed order (key, fingerprint, attributes by name,
arrays by name), which makes the bytes of a row also the bytes that its checksum covers.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import BoolArray
from vindeby.errors import ArgumentError, DataError
from vindeby.store.format.record import MAXIMUM_DIMENSIONS, SUCCESS, Attribute, Record

CHECKSUM_WIDTH = 64
KINDS: dict[str, str] = {"int": "<i8", "float": "<f8", "bool": "|b1"}
_NUMERIC = re.compile(r"[<|][biuf][1248]")
_MOST_ELEMENTS = 1 << 60
"""Times the 8 bytes of the largest type, more than numpy can address; dimensions of 0 do not count for it."""
_DOMAIN = b"vindeby record 1\n"


@dataclass(frozen=True, order=True)
class Schema:
    """The names, types and shapes that the records of a segment share."""

    arrays: tuple[tuple[str, str, tuple[int, ...]], ...]
    attributes: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, record: Record) -> Schema:
        """Return the schema of a record."""
        return cls(
            tuple((name, value.dtype.str, value.shape) for name, value in record.arrays.items()),
            tuple((name, type(value).__name__) for name, value in record.attributes.items()),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain lists, for the directory of a sealed file."""
        return {"arrays": self.arrays, "attributes": self.attributes}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Schema:
        """Return the schema in plain lists; ValueError or TypeError if they do not describe a record."""
        if not all(isinstance(name, str) for name, *_ in (*data["arrays"], *data["attributes"])):
            raise TypeError("a name is not a text")
        if any(kind != "str" and kind not in KINDS for _, kind in data["attributes"]):
            raise ValueError("an attribute is of an unknown kind")
        for name, dtype, shape in data["arrays"]:
            check_array(name, dtype, shape)
        return cls(
            tuple((name, dtype, tuple(shape)) for name, dtype, shape in data["arrays"]),
            tuple((name, kind) for name, kind in data["attributes"]),
        )

    @property
    def array_names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(name for name, _, _ in self.arrays)

    @property
    def text_fields(self) -> tuple[str, ...]:
        """The fields of a row that hold text, in row order."""
        texts = (attribute_field(name) for name, kind in self.attributes if kind == "str")
        return ("key", "fingerprint", "status", *texts)

    def row_type(self, widths: Mapping[str, int]) -> np.dtype[Any]:
        """Return the packed type of a row whose text fields have these widths in bytes; the checksum is last."""
        return _row_type(self, *(widths[name] for name in self.text_fields))


def check_array(name: str, dtype: str, shape: Sequence[int]) -> None:
    """Raise ValueError unless this is an array of numbers or booleans that numpy can make."""
    if not _NUMERIC.fullmatch(dtype):
        raise ValueError(f"{name!r:.60} has type {dtype!r:.60}")
    if len(shape) > MAXIMUM_DIMENSIONS or math.prod(filter(None, shape)) >= _MOST_ELEMENTS:
        raise ValueError(f"{name!r:.60} has shape {shape!r:.60}")


@lru_cache(maxsize=256)  # making a type takes longer than reading a small shard
def _row_type(schema: Schema, *widths: int) -> np.dtype[Any]:
    if min(widths) < 1:
        raise ValueError(f"the widths of texts are {widths!r:.200}")
    texts = {name: f"S{width}" for name, width in zip(schema.text_fields, widths, strict=True)}
    fields: list[tuple[Any, ...]] = [(name, texts[name]) for name in ("key", "fingerprint", "status")]
    for name, kind in schema.attributes:
        place = attribute_field(name)
        fields.append((place, texts[place] if kind == "str" else KINDS[kind]))
    fields += [(array_field(name), dtype, shape) for name, dtype, shape in schema.arrays if 0 not in shape]
    return np.dtype([*fields, ("checksum", f"S{CHECKSUM_WIDTH}")])


def attribute_field(name: str) -> str:
    """Return the name of the row field that holds an attribute."""
    return f"attribute:{name}"


def array_field(name: str) -> str:
    """Return the name of the row field that holds an array."""
    return f"array:{name}"


@dataclass(frozen=True)
class Segment:
    """Records of one schema; ``rows`` has the fields of ``Schema.row_type``."""

    schema: Schema
    rows: NDArray[Any]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, selection: Any) -> Segment:
        """Return the selected rows as a segment."""
        return Segment(self.schema, self.rows[selection])

    def record(self, index: int) -> Record:
        """Return one row as a record."""
        return next(self.take(slice(index, index + 1)).records())

    def records(self) -> Iterator[Record]:
        """Yield every row as a record."""
        for row in self.rows:
            try:
                yield Record(
                    key=row["key"].decode(),
                    fingerprint=row["fingerprint"].decode(),
                    arrays={
                        name: self._array(row, name, dtype, shape)
                        for name, dtype, shape in self.schema.arrays
                    },
                    attributes={name: _attribute(row, name) for name, _ in self.schema.attributes},
                )
            except UnicodeDecodeError as error:
                raise DataError(f"a record's text is not valid UTF-8: {error}") from None
            except ArgumentError as error:
                raise DataError(f"a stored record is not one that can be stored: {error}") from None

    @staticmethod
    def _array(row: Any, name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.empty(shape, dtype) if 0 in shape else np.asarray(row[array_field(name)], dtype)

    def computed_checksums(self) -> NDArray[np.bytes_]:
        """Return the checksum of every row, computed from its content."""
        result = np.empty(len(self.rows), f"S{CHECKSUM_WIDTH}")
        names = self.schema.text_fields
        widths = np.stack([np.char.str_len(self.rows[name]) for name in names], axis=1)
        for exact, members in _groups(widths):
            by_name = dict(zip(names, (int(width) for width in exact), strict=True))
            result[members] = self._checksums_of(members, by_name)
        return result

    def _checksums_of(self, members: NDArray[np.intp], widths: dict[str, int]) -> NDArray[np.bytes_]:
        exact = self.schema.row_type({name: max(width, 1) for name, width in widths.items()})
        body = exact.itemsize - CHECKSUM_WIDTH
        if exact == self.rows.dtype and len(members) == len(self.rows):
            packed = np.ascontiguousarray(self.rows)
        else:
            packed = np.empty(len(members), exact)
            for name in exact.names or ():
                packed[name] = self.rows[name][members]
        prefix = hashlib.sha256(
            _DOMAIN + json.dumps([self.schema.to_json(), widths], sort_keys=True).encode()
        )
        view = memoryview(packed.view(np.uint8).reshape(-1))  # type: ignore[arg-type]
        digests = []
        for start in range(0, len(view), exact.itemsize):
            digest = prefix.copy()
            digest.update(view[start : start + body])
            digests.append(digest.digest())
        return np.frombuffer(b"".join(digests).hex().encode(), f"S{CHECKSUM_WIDTH}")

    def intact(self) -> BoolArray:
        """Return, for each row, whether it matches its checksum."""
        return np.asarray(self.rows["checksum"] == self.computed_checksums())

    def marked(self) -> BoolArray:
        """Return, for each row, whether it carries the success mark."""
        return np.asarray(self.rows["status"] == SUCCESS.encode())


def _attribute(row: Any, name: str) -> Attribute:
    value = row[attribute_field(name)].item()
    result: Attribute = value.decode() if isinstance(value, bytes) else value
    return result


def _groups(widths: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[np.intp]]]:
    if (widths == widths[:1]).all():
        if len(widths):
            yield widths[0], np.arange(len(widths))
        return
    distinct, inverse = np.unique(widths, axis=0, return_inverse=True)
    for number, exact in enumerate(distinct):
        yield exact, np.flatnonzero(inverse.reshape(-1) == number)


def segments_of(records: Iterable[Record]) -> list[Segment]:
    """Return the records as segments, one per schema, in the order in which each schema first appears."""
    by_schema: dict[Schema, list[Record]] = {}
    for record in records:
        by_schema.setdefault(Schema.of(record), []).append(record)
    return [_segment(schema, members) for schema, members in by_schema.items()]


def _segment(schema: Schema, records: Sequence[Record]) -> Segment:
    texts: dict[str, list[bytes]] = {
        "key": [record.key.encode() for record in records],
        "fingerprint": [record.fingerprint.encode() for record in records],
        "status": [SUCCESS.encode()] * len(records),
    }
    for name, kind in schema.attributes:
        if kind == "str":
            texts[attribute_field(name)] = [str(record.attributes[name]).encode() for record in records]
    widths = {name: max(1, max(map(len, values))) for name, values in texts.items()}
    rows = np.zeros(len(records), schema.row_type(widths))
    for name, values in texts.items():
        rows[name] = values
    for name, kind in schema.attributes:
        if kind != "str":
            rows[attribute_field(name)] = [record.attributes[name] for record in records]
    for name, _, shape in schema.arrays:
        if 0 not in shape:
            rows[array_field(name)] = [record.arrays[name] for record in records]
    segment = Segment(schema, rows)
    rows["checksum"] = segment.computed_checksums()
    return segment


def checksum_of(record: Record) -> str:
    """Return the checksum of one record, in hex."""
    (segment,) = segments_of([record])
    return str(segment.rows["checksum"][0].decode())


BATCH_BYTES = 64 << 20
BATCH_RECORDS = 1000


def batches(
    records: Iterable[Record], limit: int = BATCH_BYTES, most: int = BATCH_RECORDS
) -> Iterator[list[Record]]:
    """Yield lists of records that take at most ``limit`` bytes as rows; a larger record comes alone.

    In rows, the texts of each field are padded to the longest.
    """
    batch: list[Record] = []
    widths: dict[str, int] = {}
    for record in records:
        widths = _wider(widths, record)
        if batch and ((len(batch) + 1) * sum(widths.values()) > limit or len(batch) >= most):
            yield batch
            batch, widths = [], _wider({}, record)
        batch.append(record)
    if batch:
        yield batch


def _wider(widths: dict[str, int], record: Record) -> dict[str, int]:
    """Return the widths in bytes, of each text and of all numbers together, widened for another record."""
    numbers = CHECKSUM_WIDTH + 8 * len(record.attributes) + sum(one.nbytes for one in record.arrays.values())
    found = {"": numbers, "key": len(record.key.encode()), "fingerprint": len(record.fingerprint.encode())}
    for name, value in record.attributes.items():
        if isinstance(value, str):
            found[attribute_field(name)] = len(value.encode())
    return widths | {field: max(width, widths.get(field, 1)) for field, width in found.items()}


def gathered(segments: Iterable[Segment], limit: int = 4 << 20) -> Iterator[Segment]:
    """Yield the same records in fewer segments: rows of one schema are joined, up to ``limit`` bytes in memory."""
    waiting: dict[Schema, list[Segment]] = {}
    size = 0
    for segment in segments:
        waiting.setdefault(segment.schema, []).append(segment)
        size += segment.rows.nbytes
        if size > limit:
            yield from map(_joined, waiting.values())
            waiting, size = {}, 0
    yield from map(_joined, waiting.values())


def _joined(segments: Sequence[Segment]) -> Segment:
    """Return segments of one schema as one segment, with text fields as wide as the widest."""
    if len(segments) == 1:
        return segments[0]
    schema, types = segments[0].schema, [one.rows.dtype for one in segments]
    widths = {name: max(one[name].itemsize for one in types) for name in schema.text_fields}
    rows = np.empty(sum(map(len, segments)), schema.row_type(widths))
    for name in rows.dtype.names or ():
        np.concatenate([one.rows[name] for one in segments], out=rows[name])
    return Segment(schema, rows)


def pieces(segment: Segment, limit: int = BATCH_BYTES) -> Iterator[Segment]:
    """Yield a segment in runs of rows of at most ``limit`` bytes."""
    step = max(1, limit // max(1, segment.rows.dtype.itemsize))
    for start in range(0, len(segment), step):
        yield segment.take(slice(start, start + step))
