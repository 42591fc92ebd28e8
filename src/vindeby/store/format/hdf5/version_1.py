"""Where the classic format of format version 1 keeps what a record holds; such files are read and never written.

Its groups had version 2 object headers that were encoded here, and lacked the Attribute Info message, so that
the HDF5 library did not count their attributes and did not copy them. The values are all there.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.store.format.hdf5.heaps import REFERENCE
from vindeby.store.format.rows import Schema, array_field, attribute_field

_TYPE_SIZES = {"str": 20, "float": 20, "int": 12, "bool": 38}
_VALUE_SIZES = {"str": 16, "float": 8, "int": 8, "bool": 1}
_ARRAY_TYPE_SIZES = {"f": 20, "i": 12, "u": 12, "b": 38}


def offsets_of_schema(schema: Schema) -> dict[str, Any]:
    """The length of a row, and where in it each value and each reference to a text stands."""
    values: dict[str, int] = {}
    texts: dict[str, int] = {}
    at = 10 + (4 + 18) + (4 + 2)
    for name, _, _ in schema.arrays:
        length = len(name.encode())
        at += 4 + (4 if length < 256 else 5) + length + 8
    fields = [(mark, mark, "str") for mark in ("status", "checksum", "fingerprint")]
    fields += [(name, attribute_field(name), kind) for name, kind in schema.attributes]
    for name, field, kind in fields:
        at += 4 + 9 + len(name.encode()) + 1 + _TYPE_SIZES[kind] + 4
        (texts if kind == "str" else values)[field] = at
        at += _VALUE_SIZES[kind]
    at = _padded(at + 4)
    for name, dtype, shape in schema.arrays:
        at += 10 + (8 + 8 * len(shape)) + (4 + _ARRAY_TYPE_SIZES[np.dtype(dtype).kind]) + (4 + 2) + (4 + 18)
        at = _padded(at + 4)
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if size:
            values[array_field(name)] = at
            at = _padded(at + size)
    return {"stride": at, "values": list(values.items()), "texts": list(texts.items())}


def _padded(length: int) -> int:
    return -(-length // 8) * 8


class Texts:
    """The texts of a chunk, each of them once; a reference leads to one by its number."""

    def __init__(self, data: bytes) -> None:
        self._texts = np.array([b"", *_collection_texts(data)])
        self._lengths = np.char.str_len(self._texts)

    def column(self, data: bytes, offset: int, count: int, stride: int) -> tuple[NDArray[np.bytes_], int]:
        """The texts that the references at this offset of each row lead to, and the length of the longest."""
        index = np.ndarray((count,), REFERENCE, data, offset, (stride,))["index"]
        longest = int(np.take(self._lengths, index, mode="clip").max(initial=1))
        return np.take(self._texts, index, mode="clip"), max(1, longest)


def _collection_texts(data: bytes) -> list[bytes]:
    texts, at = [], 16
    while at + 16 <= len(data):
        index, _, _, length = struct.unpack_from("<HHIQ", data, at)
        if index == 0:
            break
        texts.append(data[at + 16 : at + 16 + length])
        at += 16 + _padded(length)
    return texts
