"""The dataset that netCDF and Zarr hold: ``to_xarray`` with status, turbine types, zones and CF attributes."""

import inspect
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from vindeby._version import __version__
from vindeby.errors import StorageError, library
from vindeby.evaluation.as_campaign import by_combination, call_of
from vindeby.interop.export.chosen import Chosen
from vindeby.interop.export.exporting import Options, write_mark
from vindeby.store.read.export import TASK, dataset_by_task

NOT_ASKED, MISSING, DONE = 0, 1, 2
_STANDARD_NAMES = {"x": "projection_x_coordinate", "y": "projection_y_coordinate"}
_OF_THE_FILE = {"array_attributes", "format_version", "layout", "own_fields", "root_checksum"}
"""Root attributes that say how OUT.h5 is written, not what it holds."""
_ADDED = (
    *("status", "turbine_type_idx", "zone_idx", "zone_name"),
    *("turbine_name", "rotor_diameter", "hub_height", "rated_power"),
)
"""The variables that are added here; something of the same name in a record gets ``record_`` before it."""
_PER_TURBINE = (*TASK, "turbine")


def dataset(chosen: Chosen, crs: str | None) -> Any:
    """All chosen results over farm, type, seed and turbine; of a selection, only the farms, types and seeds in it."""
    library("xarray", "interop", "export --to netcdf or zarr")
    root = {name: value for name, value in chosen.attributes.items() if name not in _OF_THE_FILE}
    data = dataset_by_task(chosen.segments, chosen.campaign, root)
    data = data.drop_vars([name for name in ("types", "zone") if name in data])
    data = data.rename({name: f"record_{name}" for name in _ADDED if name in data.variables})
    _add_status_and_turbines(data, chosen)
    _add_names(data, chosen)
    for name, standard in _STANDARD_NAMES.items():
        data[name].attrs["standard_name"] = standard
    if chosen.campaign is not None and call_of(chosen.campaign) is not None:
        data = by_combination(data, chosen.campaign)
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
        data.attrs["campaign"] = chosen.campaign.published_text()
    return data


def _add_status_and_turbines(data: Any, chosen: Chosen) -> None:
    """Whether each result is there; the type and the zone of its turbines, -1 where there is none."""
    axes = [data[name].values.tolist() for name in ("farm_idx", "type_idx", "seed")]
    places = dict(zip(itertools.product(*axes), np.ndindex(*map(len, axes)), strict=True))
    shape = tuple(data.sizes[name] for name in _PER_TURBINE)
    status = np.full(shape[:-1], NOT_ASKED, np.int8)
    types, zones = np.full(shape, -1, np.int16), np.full(shape, -1, np.int16)
    for place in chosen.missing.values():
        status[places[place]] = MISSING
    for result in chosen.results:
        here = places[result.place]
        status[here] = DONE
        types[here][: len(result.types)] = result.types
        if result.zones is not None:
            zones[here][: len(result.zones)] = result.zones
    flags = {
        "long_name": "whether there is a valid result",
        "flag_values": np.array([NOT_ASKED, MISSING, DONE], np.int8),
        "flag_meanings": "not_asked missing done",
    }
    data["status"] = (TASK, status, flags)
    unknown = {"_FillValue": np.int16(-1)}
    about = {"long_name": "turbine type of each turbine, by its number along turbine_type", "units": "1"}
    data["turbine_type_idx"] = (_PER_TURBINE, types, about, unknown)
    if (zones >= 0).any():
        about = {"long_name": "zone of each turbine, by its number in the farm", "units": "1"}
        data["zone_idx"] = (_PER_TURBINE, zones, about, unknown)


def _add_names(data: Any, chosen: Chosen) -> None:
    """The turbine types along an axis of their own, and the names of zones."""
    if chosen.campaign is None:
        return
    described = {
        "turbine_name": ("name", {"long_name": "name of the turbine type"}),
        "rotor_diameter": ("rotor_diameter_m", {"long_name": "rotor diameter", "units": "m"}),
        "hub_height": ("hub_height_m", {"long_name": "hub height", "units": "m"}),
        "rated_power": ("rated_power_mw", {"long_name": "rated power", "units": "MW"}),
    }
    for name, (field, attributes) in described.items():
        values = np.array([getattr(turbine, field) for turbine in chosen.campaign.turbines])
        data[name] = ("turbine_type", values, attributes)
    zones = [[zone.name for zone in farm.zones or ()] for farm in chosen.campaign.farms]
    widest = max(map(len, zones))
    if widest:
        names = [[*mine, *[""] * (widest - len(mine))] for mine in zones]
        # Farms that only the results have come after those of the campaign.
        names += [[""] * widest] * (data.sizes["farm"] - len(names))
        data["zone_name"] = (("farm", "zone"), np.array(names), {"long_name": "name of the zone"})


def _only_chosen(data: Any, chosen: Chosen) -> Any:
    farms, types, seeds = (
        sorted({place[axis] for place in [*chosen.places.values(), *chosen.missing.values()]})
        for axis in range(3)
    )
    if "seed" in data.dims:
        runs = {"seed": np.flatnonzero(np.isin(data["seed"], seeds))}
    else:
        combinations, layouts = np.divmod(seeds, data.sizes["layout"])
        runs = {"combination": np.unique(combinations), "layout": np.unique(layouts)}
    return data.isel(
        farm=np.flatnonzero(np.isin(data["farm_idx"], farms)),
        type=np.flatnonzero(np.isin(data["type_idx"], types)),
        **runs,
    )


def write(path: Path, file_format: str, chosen: Chosen, options: Options) -> None:
    """Write the results as one netCDF-4 file, or as a Zarr folder with consolidated metadata."""
    data = dataset(chosen, options.crs)
    if file_format == "zarr":
        library("zarr", "interop", "export --to zarr")
        # xarray has another name for the option where it knows only the library zarr 2.
        known = inspect.signature(data.to_zarr).parameters
        option = "zarr_format" if "zarr_format" in known else "zarr_version"
        data.to_zarr(path, mode="w", consolidated=True, **{option: 2})
        write_mark(path, "zarr", chosen)
        return
    library("netCDF4", "interop", "export --to netcdf")
    try:
        data.to_netcdf(path, engine="netcdf4", format="NETCDF4")
    except RuntimeError as error:  # of the HDF5 library, which does not say what the system said
        raise StorageError(
            f"{path.parent}: cannot write: {error}; make room there, or choose another place with -o"
        ) from None
