"""Texts of any length as HDF5 keeps them: objects in global heap collections, each referred to by its number.

The library writes an object for each text, also for an empty one, and never lets two attributes share one; so does
this, for many rows at once. Section III.E of the HDF5 File Format Specification 3.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

REFERENCE = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])
"""What stands for a text in the attribute itself."""

_SMALLEST = 4096
_HEAD = 16
_WIDE = 512
_SIGNATURE = int.from_bytes(b"GCOL\x01\0\0\0", "little")


@dataclass(frozen=True)
class Texts:
    """Collections of texts: a row of each column after the other.

    ``starts`` has for each row where its first object is; ``addresses`` of the collection, within ``data``, and
    ``numbers``, (rows, columns), make the references.
    """

    data: memoryview
    starts: NDArray[np.uint64]
    lengths: NDArray[np.uint64]
    addresses: NDArray[np.uint64]
    numbers: NDArray[np.uint64]


def pack(columns: Sequence[NDArray[np.bytes_]]) -> Texts:
    """Put texts into collections of at least 4,096 bytes, the library's own measure."""
    count, width = len(columns[0]), len(columns)
    lengths = np.stack([np.char.str_len(column) for column in columns], axis=1).astype(np.uint64)
    slots = _slots(lengths)
    of_row = slots.sum(axis=1)
    rows_each = max(1, -(-(_SMALLEST - _HEAD) * count // int(of_row.sum())))
    firsts = np.arange(0, count, rows_each)
    which = np.arange(count) // rows_each
    bodies = np.add.reduceat(of_row, firsts)
    sizes = np.maximum(_SMALLEST, _HEAD + bodies)
    begins = np.cumsum(sizes) - sizes
    before = np.cumsum(of_row) - of_row
    starts = begins[which] + np.uint64(_HEAD) + before - before[firsts][which]
    numbers = (np.arange(count) % rows_each)[:, None] * width + np.arange(1, width + 1)
    words = np.zeros(int(sizes.sum()) // 8, "<u8")
    words[begins // 8], words[begins // 8 + 1] = _SIGNATURE, sizes
    free = sizes - bodies - np.uint64(_HEAD)
    ends = (begins + bodies + np.uint64(_HEAD)) // 8
    words[ends[free >= _HEAD] + 1] = free[free >= _HEAD]
    places = _places(starts, slots)
    words[places], words[places + 1] = numbers, lengths
    for number, column in enumerate(columns):
        _put(words, places[:, number] + 2, column, lengths[:, number])
    return Texts(words.view(np.uint8).data, starts, lengths, begins[which], numbers.astype(np.uint64))


def _slots(lengths: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bytes that each text takes with its head."""
    return np.asarray(_HEAD + (lengths + np.uint64(7)) // 8 * 8, np.uint64)


def _places(starts: NDArray[np.uint64], slots: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The place of each object, (rows, columns), in words of eight bytes."""
    return np.asarray((starts[:, None] + np.cumsum(slots, axis=1) - slots) // 8, np.int64)


def _put(
    words: NDArray[np.uint64],
    places: NDArray[np.int64],
    column: NDArray[np.bytes_],
    lengths: NDArray[np.uint64],
) -> None:
    longest = int(lengths.max(initial=0))
    if longest > _WIDE:
        data = words.view(np.uint8).data
        for place, text in zip((8 * places).tolist(), column.tolist(), strict=True):
            data[place : place + len(text)] = text
        return
    wide = max(8, -(-longest // 8) * 8)
    values = np.ascontiguousarray(column.astype(f"S{wide}")).view("<u8").reshape(len(column), wide // 8)
    for number in range(wide // 8):
        rows = lengths > 8 * number
        if rows.all():
            words[places + number] = values[:, number]
        else:
            words[places[rows] + number] = values[rows, number]


def unpack(
    data: bytes, starts: NDArray[np.uint64], lengths: NDArray[np.uint64], widths: Sequence[int]
) -> list[NDArray[np.bytes_] | None]:
    """The columns of texts back, each in its width; None where the width is negative: nobody asks for them.

    Lengths and places that cannot be right give other texts, and no error: who reads damaged bytes compares checksums.
    """
    words = np.frombuffer(data, "<u8", len(data) // 8)
    lengths = np.minimum(lengths, np.abs(widths).astype(np.uint64))
    places = _places(starts, _slots(lengths))
    return [
        None if width < 0 else _get(words, places[:, number] + 2, lengths[:, number], width)
        for number, width in enumerate(widths)
    ]


def _get(
    words: NDArray[np.uint64], places: NDArray[np.int64], lengths: NDArray[np.uint64], width: int
) -> NDArray[np.bytes_]:
    if width > _WIDE:
        data = words.view(np.uint8).data
        pairs = zip((8 * places).tolist(), lengths.tolist(), strict=True)
        return np.array([bytes(data[place : place + length]) for place, length in pairs], f"S{width}")
    wide = -(-width // 8)
    values = np.zeros((len(places), wide), "<u8")
    for number in range(wide):
        rows = lengths > 8 * number
        values[rows, number] = words.take(places[rows] + number, mode="clip")
    return values.view(f"S{8 * wide}").reshape(len(places)).astype(f"S{width}")
