"""netCDF-4, by xarray with netCDF4 or h5netcdf."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from vindeby.errors import StorageError
from vindeby.interop.export.libraries import library

_ENGINES = {"netCDF4": "netcdf4", "h5netcdf": "h5netcdf"}


def write_netcdf(path: Path, data: Any) -> None:
    """Write a dataset as one netCDF-4 file."""
    found = [engine for name, engine in _ENGINES.items() if importlib.util.find_spec(name) is not None]
    if not found:
        library("netCDF4", "interop", "export --to netcdf")
    try:
        data.to_netcdf(path, engine=found[0], format="NETCDF4")
    except RuntimeError as error:  # of the HDF5 library, which does not say what the system said
        raise StorageError(
            f"{path.parent}: cannot write: {error}; make room there, or choose another place with -o"
        ) from None
