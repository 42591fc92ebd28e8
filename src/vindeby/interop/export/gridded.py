"""The dataset that netCDF and Zarr hold: ``to_xarray`` with status, turbine types, zones and CF attributes."""

import inspect
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from vindeby._version import __version__
from vindeby.errors import StorageError, library
from vindeby.interop.export.chosen import Chosen
from vindeby.interop.export.exporting import ExportOptions, write_mark
from vindeby.results.tables import dataset_by_task
from vindeby.store.format.netcdf import Variable, write_netcdf

NOT_ASKED, MISSING, DONE = 0, 1, 2
_STANDARD_NAMES = {"x": "projection_x_coordinate", "y": "projection_y_coordinate"}
_OF_THE_FILE = {"array_attributes", "format_version", "layout", "own_fields", "root_checksum"}
"""Root attributes that say how OUT.h5 is written, not what it holds."""
_ADDED = (
    *("status", "turbine_type_idx", "zone_idx", "zone_name"),
    *("turbine_name", "rotor_diameter", "hub_height", "rated_power"),
)
"""The variables that are added here; something of the same name in a record gets ``record_`` before it."""
_BLOCK = 1 << 20


def dataset(chosen: Chosen, crs: str | None) -> Any:
    """All chosen results over farm, type, seed and turbine; of a selection, only the farms, types and seeds in it."""
    library("xarray", "interop", "export --to netcdf or zarr")
    attributes = chosen.table.results.source.attributes
    root = {name: value for name, value in attributes.items() if name not in _OF_THE_FILE}
    data = dataset_by_task(chosen.table, root)
    data = data.drop_vars([name for name in ("types", "zone") if name in data])
    data = data.rename({name: f"record_{name}" for name in _ADDED if name in data.variables})
    _add_status_and_turbines(data, chosen)
    _add_names(data, chosen)
    for name, standard in _STANDARD_NAMES.items():
        data[name].attrs["standard_name"] = standard
    if not chosen.whole:
        data = _only_chosen(data, chosen)
    data.attrs = {
        "Conventions": "CF-1.8",
        "title": "wind farm layouts" if chosen.campaign is None else chosen.campaign.name,
        "source": f"vindeby {__version__}, {chosen.database.name}",
        **({"crs": crs} if crs else {}),
        **data.attrs,
        "exported_results": len(chosen),
        "missing_results": len(chosen.missing),
    }
    if chosen.campaign is not None:
        data.attrs["campaign"] = chosen.campaign.dumps()
    return data


def _add_status_and_turbines(data: Any, chosen: Chosen) -> None:
    task = tuple(chosen.table.dimensions)
    shape = tuple(data.sizes[name] for name in (*task, "turbine"))
    status = np.full(shape[:-1], NOT_ASKED, np.int8)
    types, zones = np.full(shape, -1, np.int16), np.full(shape, -1, np.int16)
    for place in chosen.missing.values():
        status[chosen.table.grid_place(place)] = MISSING
    for result in chosen.results:
        here = chosen.table.grid_place(result.place)
        status[here] = DONE
        types[here][: len(result.types)] = result.types
        if result.zones is not None:
            zones[here][: len(result.zones)] = result.zones
    flags = {
        "long_name": "whether there is a valid result",
        "flag_values": np.array([NOT_ASKED, MISSING, DONE], np.int8),
        "flag_meanings": "not_asked missing done",
    }
    data["status"] = (task, status, flags)
    unknown = {"_FillValue": np.int16(-1)}
    about = {"long_name": "turbine type of each turbine, by its number along turbine_type", "units": "1"}
    data["turbine_type_idx"] = ((*task, "turbine"), types, about, unknown)
    if (zones >= 0).any():
        about = {"long_name": "zone of each turbine, by its number in the farm", "units": "1"}
        data["zone_idx"] = ((*task, "turbine"), zones, about, unknown)


def _add_names(data: Any, chosen: Chosen) -> None:
    if chosen.campaign is None:
        return
    for name, field, about, unit in (
        ("turbine_name", "name", "name of the turbine type", ""),
        ("rotor_diameter", "rotor_diameter_m", "rotor diameter", "m"),
        ("hub_height", "hub_height_m", "hub height", "m"),
        ("rated_power", "rated_power_mw", "rated power", "MW"),
    ):
        values = np.array([getattr(turbine, field) for turbine in chosen.campaign.turbines])
        data[name] = ("turbine_type", values, {"long_name": about, **({"units": unit} if unit else {})})
    zones = [[zone.name for zone in farm.zones or ()] for farm in chosen.campaign.farms]
    # Farms that only the results have come after those of the campaign.
    zones += [[] for _ in range(data.sizes["farm"] - len(zones))]
    names = np.array(list(itertools.zip_longest(*zones, fillvalue=""))).T
    if names.size:
        data["zone_name"] = (("farm", "zone"), names, {"long_name": "name of the zone"})


def _only_chosen(data: Any, chosen: Chosen) -> Any:
    places = map(chosen.table.grid_place, [*chosen.places.values(), *chosen.missing.values()])
    chosen_of = dict(zip(chosen.table.dimensions, map(np.unique, zip(*places, strict=True)), strict=True))
    return data.isel(chosen_of)


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
