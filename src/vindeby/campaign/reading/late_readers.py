"""Readers of files that a campaign file may name and that take more than text.

They need HDF5 or libraries of other formats, which this part does without: reading most campaigns must not load them,
and imports go one way. So they stand in the parts that have them, and are loaded by their name when a campaign file
first names such a file.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from vindeby.campaign.reading.yaml_text import Document

_GRIDDED_FILE = ("vindeby.store.read.gridded_file", "read_gridded_file")
_GEOGRAPHIC_FILES = ("vindeby.interop.geo.campaign_files", "with_geographic_files")
_STORED_LAYOUT = ("vindeby.assembly.stored_layout", "read_stored_layout")
_SITE_FILE = ("vindeby.interop.formats", "read_site_file")
_TURBINE_FILE = ("vindeby.interop.formats", "read_turbine_file")
_WINDIO = ("vindeby.interop.windio.system", "windio_document")


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
    others: tuple[str, ...]


class ForeignFile(Protocol):
    """A file of another tool as a section of a campaign."""

    data: dict[str, Any]
    format: str
    notes: tuple[str, ...]


def gridded_file(path: Path, wanted: tuple[str, ...]) -> GriddedFile:
    """The variables of a netCDF-4 file that are wanted; raises VindebyError in words."""
    found: GriddedFile = _load(_GRIDDED_FILE)(path, wanted)
    return found


def stored_layout(path: Path, key: str | None, farm: str | None, type_: str | None) -> StoredLayout:
    """The result of this key, or without one the best of a farm and type; raises VindebyError in words."""
    found: StoredLayout = _load(_STORED_LAYOUT)(path, key, farm, type_)
    return found


def site_file(path: Path, options: dict[str, Any]) -> ForeignFile:
    """A site file of another tool; raises CampaignError, for an option with its name as field and no source."""
    found: ForeignFile = _load(_SITE_FILE)(path, options)
    return found


def turbine_file(path: Path, options: dict[str, Any]) -> ForeignFile:
    """A turbine file of another tool; raises in the same way."""
    found: ForeignFile = _load(_TURBINE_FILE)(path, options)
    return found


def with_geographic_files(document: Document, folder: Path) -> Document:
    """The document with what its geographic files hold, in metres of one system; raises CampaignError."""
    read: Document = _load(_GEOGRAPHIC_FILES)(document, folder)
    return read


def windio_document(path: Path, overrides: Sequence[str]) -> Document:
    """A windIO system as the data of a campaign; raises CampaignError where it says too little."""
    found: Document = _load(_WINDIO)(path, overrides)
    return found


def _load(home: tuple[str, str]) -> Callable[..., Any]:
    module, name = home
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
