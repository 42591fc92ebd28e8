"""Readers of binary files that a campaign file may name.

They need HDF5, which this part does without: reading most campaigns must not load it, and imports go one way. So they
stand in the parts that have it, and are loaded by their name when a campaign file first names such a file.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

_GRIDDED_FILE = ("vindeby.store.read.gridded_file", "read_gridded_file")
_STORED_LAYOUT = ("vindeby.assembly.stored_layout", "read_stored_layout")


class StoredLayout(Protocol):
    """A layout that a database holds; ``turbines`` are plain data, as a campaign file has them."""

    key: str
    what: str
    """Farm, type and seed, in words."""
    positions: list[list[float]]
    turbines: list[dict[str, Any]] | None
    type: str | list[str] | None


class GriddedFile(Protocol):
    """Arrays by name, with the names of their axes."""

    arrays: dict[str, tuple[tuple[str, ...], npt.NDArray[np.float64]]]


def gridded_file(path: Path, wanted: tuple[str, ...]) -> GriddedFile:
    """The variables of a netCDF-4 file that are wanted; raises VindebyError in words."""
    found: GriddedFile = _load(_GRIDDED_FILE)(path, wanted)
    return found


def stored_layout(path: Path, key: str | None, farm: str | None, type_: str | None) -> StoredLayout:
    """The result of this key, or without one the best of a farm and type; raises VindebyError in words."""
    found: StoredLayout = _load(_STORED_LAYOUT)(path, key, farm, type_)
    return found


def _load(home: tuple[str, str]) -> Callable[..., Any]:
    module, name = home
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
