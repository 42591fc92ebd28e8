"""Zarr, format 2, which the zarr libraries 2 and 3 both read."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

from vindeby.interop.export.libraries import library


def write_zarr(path: Path, data: Any) -> None:
    """Write a dataset as a folder with consolidated metadata."""
    library("zarr", "interop", "export --to zarr")
    # xarray has another name for the option where it knows only the library zarr 2.
    known = inspect.signature(data.to_zarr).parameters
    option = "zarr_format" if "zarr_format" in known else "zarr_version"
    data.to_zarr(path, mode="w", consolidated=True, **{option: 2})


def is_zarr_export(path: Path) -> bool:
    """Whether a folder is a Zarr store that vindeby wrote."""
    try:
        attributes = json.loads((path / ".zattrs").read_text())
    except (OSError, ValueError):
        return False
    return isinstance(attributes, dict) and str(attributes.get("source", "")).startswith("vindeby ")
