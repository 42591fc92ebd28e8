"""Records in batches of so many bytes: as many as memory allows, however large one record is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vindeby.store.record import Record
from vindeby.store.rows import CHECKSUM_WIDTH, Schema, Segment, attribute_field

BATCH_BYTES = 64 << 20
BATCH_RECORDS = 1000


class Padded:
    """How many bytes records take as rows, where the texts of a segment are padded to the longest."""

    def __init__(self) -> None:
        self._widths: dict[Schema, dict[str, int]] = {}
        self._counts: dict[Schema, int] = {}
        self._fixed: dict[Schema, int] = {}

    def with_record(self, record: Record) -> int:
        """The bytes of all records so far and this one."""
        schema = Schema.of(record)
        widths = self._widths.setdefault(schema, {})
        for field, length in _lengths(record):
            widths[field] = max(length, widths.get(field, 1))
        self._counts[schema] = self._counts.get(schema, 0) + 1
        self._fixed[schema] = CHECKSUM_WIDTH + sum(
            [value.nbytes for value in record.arrays.values()] + [8] * len(record.attributes)
        )
        return sum(
            count * (self._fixed[schema] + sum(self._widths[schema].values()))
            for schema, count in self._counts.items()
        )


def _lengths(record: Record) -> Iterator[tuple[str, int]]:
    yield "key", len(record.key.encode())
    yield "fingerprint", len(record.fingerprint.encode())
    for name, value in record.attributes.items():
        if isinstance(value, str):
            yield attribute_field(name), len(value.encode())


def batches(
    records: Iterable[Record], limit: int = BATCH_BYTES, most: int = BATCH_RECORDS
) -> Iterator[list[Record]]:
    """The records, in lists that take at most ``limit`` bytes as rows; one that is larger comes alone."""
    batch: list[Record] = []
    padded = Padded()
    for record in records:
        if batch and (padded.with_record(record) > limit or len(batch) >= most):
            yield batch
            batch, padded = [], Padded()
        if not batch:
            padded.with_record(record)
        batch.append(record)
    if batch:
        yield batch


def pieces(segment: Segment, limit: int = BATCH_BYTES) -> Iterator[Segment]:
    """A segment in runs of rows of at most ``limit`` bytes."""
    step = max(1, limit // max(1, segment.rows.dtype.itemsize))
    for start in range(0, len(segment), step):
        yield segment.take(slice(start, start + step))
