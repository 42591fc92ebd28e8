"""The dataset that netCDF and Zarr hold: that of ``to_xarray`` with CF attributes."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np

from vindeby._version import __version__
from vindeby.errors import StorageError, library
from vindeby.interop.export.chosen import Chosen
from vindeby.interop.export.exporting import ExportOptions, write_mark
from vindeby.results.tables import dataset_by_task
from vindeby.store.format.netcdf import Variable, write_netcdf

_STANDARD_NAMES = {"x": "projection_x_coordinate", "y": "projection_y_coordinate"}
_OF_THE_FILE = {"format_version", "layout", "own_fields", "root_checksum"}
"""Root attributes that say how OUT.h5 is written, not what it holds."""
_BLOCK = 1 << 20


def dataset(chosen: Chosen, crs: str | None) -> Any:
    """Return the chosen results over farm, type, seed and turbine; of a selection, only what it has of each."""
    library("xarray", "interop", "export --to netcdf or zarr")
    attributes = chosen.table.results.source.attributes
    root = {name: value for name, value in attributes.items() if name not in _OF_THE_FILE}
    data = dataset_by_task(chosen.table, root)
    for name, standard in _STANDARD_NAMES.items():
        data[name].attrs["standard_name"] = standard
    if not chosen.whole:
        places = map(chosen.table.grid_place, chosen.places.values())
        chosen_of = zip(chosen.table.dimensions, map(np.unique, zip(*places, strict=True)), strict=True)
        data = data.isel(dict(chosen_of))
    data.attrs = {
        "Conventions": "CF-1.8",
        "title": "wind farm layouts" if chosen.campaign is None else chosen.campaign.name,
        "source": f"vindeby {__version__}, {chosen.database.name}",
        **({"crs": crs} if crs else {}),
        **data.attrs,
        "exported_results": len(chosen),
    }
    if chosen.campaign is not None:
        data.attrs["campaign"] = chosen.campaign.dumps()
    return data


def write(path: Path, file_format: str, chosen: Chosen, options: ExportOptions) -> None:
    """Write the results as one netCDF-4 file, or as a Zarr folder with consolidated metadata."""
    data = dataset(chosen, options.crs)
    if file_format == "netcdf":
        conventions = library("xarray.conventions", "interop", "export --to netcdf")
        variables, attributes = conventions.cf_encoder(*conventions.encode_dataset_coordinates(data))
        arrays = {name: Variable(one.dims, one.values, one.attrs) for name, one in variables.items()}
        write_netcdf(path, arrays, attributes)
        return
    library("zarr", "interop", "export --to zarr")
    # xarray has another name for the option where it knows only the library zarr 2.
    known = inspect.signature(data.to_zarr).parameters
    option = "zarr_format" if "zarr_format" in known else "zarr_version"
    try:
        data.to_zarr(path, mode="w", consolidated=True, **{option: 2})
    except Exception as error:
        # The library does not say what the system said, or calls a full disk a permission: ask the system itself.
        with (path / "probe").open("wb") as file:
            for _ in range(0, data.nbytes, _BLOCK):
                file.write(bytes(_BLOCK))
        if isinstance(error, OSError | RuntimeError):
            raise StorageError(
                f"{path.parent}: cannot write: {error}; choose another place with -o"
            ) from error
        raise
    write_mark(path, "zarr", chosen)
