"""The checksum that HDF5 puts on its metadata: Bob Jenkins' lookup3 (public domain, 2006), many rows at once.

Each row of a byte matrix gets its own checksum; the arithmetic runs down the columns, so that a thousand
headers of one length cost little more than one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MIX = ((0, 2, 4), (1, 0, 6), (2, 1, 8), (0, 2, 16), (1, 0, 19), (2, 1, 4))
_FINAL = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))


def _rotate(value: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    return (value << np.uint32(bits)) | (value >> np.uint32(32 - bits))


def lookup3(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The checksum of each row."""
    count, length = rows.shape
    padded = np.zeros((count, -(-max(length, 1) // 12) * 12), np.uint8)
    padded[:, :length] = rows
    words = np.ascontiguousarray(padded.view("<u4").T)
    start = np.uint32((0xDEADBEEF + length) & 0xFFFFFFFF)
    state = [np.full(count, start, np.uint32) for _ in range(3)]
    if length == 0:
        return state[2]
    for at in range(0, len(words), 3):
        for part in range(3):
            state[part] = state[part] + words[at + part]
        if at + 3 < len(words):
            for target, source, bits in _MIX:
                # a -= c; a ^= rot(c, k); c += b, with the three taking turns
                third = 3 - target - source
                state[target] = (state[target] - state[source]) ^ _rotate(state[source], bits)
                state[source] = state[source] + state[third]
    for target, source, bits in _FINAL:
        state[target] = (state[target] ^ state[source]) - _rotate(state[source], bits)
    return state[2]


def lookup3_bytes(data: bytes) -> int:
    """The checksum of one string of bytes."""
    return int(lookup3(np.frombuffer(data, np.uint8).reshape(1, -1))[0])
