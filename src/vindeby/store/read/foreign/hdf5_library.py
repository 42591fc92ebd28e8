"""What the HDF5 library may raise about a file that is damaged or foreign, and its values in plain Python."""

from __future__ import annotations

import json
from typing import Any

import h5py
import numpy as np

from vindeby.store.format.record import Attribute

LIBRARY_ERRORS = (
    OSError,
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    MemoryError,
)


def reason(error: BaseException) -> str:
    """An error of the library in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def plain(value: Any) -> Attribute:
    """An attribute as h5py gives it, as a plain value; what is no scalar becomes JSON text."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, h5py.Empty) and value.dtype.kind in "SO":
        return ""  # how PyTables writes a text of no length
    if isinstance(value, np.ndarray):
        value = value.item() if value.size == 1 else json.dumps(value.tolist(), default=str)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str | int | float | bool) else str(value)
