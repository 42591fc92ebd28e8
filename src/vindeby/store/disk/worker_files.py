"""The files that a script's workers left in a folder."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = frozenset({".h5", ".hdf5", ".he5"})


def hdf5_files(folder: Path) -> list[Path]:
    """Everything below a folder that is named like an HDF5 file, in a fixed order."""
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
