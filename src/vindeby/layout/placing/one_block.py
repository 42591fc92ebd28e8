"""Arrays that lie together: NumPy asks for large pages, which save looking up addresses, only for large blocks."""

from __future__ import annotations

from math import prod

import numpy as np

from vindeby.layout.arrays import FloatArray

_LINE = 8
"""Numbers in a cache line."""


def zeros_in_one_block(*shapes: tuple[int, ...]) -> list[FloatArray]:
    """Arrays of zeros with these shapes, each from a cache line on."""
    starts = np.cumsum([0, *(-(-prod(shape) // _LINE) * _LINE for shape in shapes)])
    block = np.zeros(starts[-1] + _LINE)
    block = block[-(block.ctypes.data // block.itemsize) % _LINE :]
    return [
        block[start : start + prod(shape)].reshape(shape)
        for start, shape in zip(starts, shapes, strict=False)
    ]
