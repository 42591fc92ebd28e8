"""Sites of vindeby as PyWake's ``XRSite``, with the same wind: values at sector centres, interpolated alike."""

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from py_wake.site import XRSite
from py_wake.site.distance import StraightDistance

from vindeby.arrays import FloatArray, Labelled
from vindeby.errors import ArgumentError, CampaignError
from vindeby.interop.site_files.options import sector_centres, spread
from vindeby.interop.site_files.xrsite import LOCAL, site_section
from vindeby.store.foreign.gridded_file import GriddedFile
from vindeby.wake import (
    ChangedSite,
    GriddedSite,
    Site,
    TableSite,
    TimeSeriesSite,
    UniformSite,
    WeibullSite,
    WindStates,
)

_KNOWN = {*LOCAL, "P", "Elevation"}
"""The known variables; ``Elevation`` changes nothing if distances are straight."""


def from_xrsite(site: Any, turbulence_intensity: float | None = None) -> dict[str, Any]:
    """Return the section ``site``; raise ArgumentError if anything cannot be converted.

    ``turbulence_intensity`` replaces that of the site.
    """
    if not isinstance(site, XRSite):
        raise _not_converted(f"a {type(site).__name__} is not an XRSite")
    _refuse_others(site)
    arrays = {
        str(name): Labelled(tuple(map(str, array.dims)), np.asarray(array.values, np.float64))
        for name, array in site.ds.variables.items()
    }
    if turbulence_intensity is not None and "TI" in arrays:
        if "x" in arrays.pop("TI").axes:
            raise _not_converted(
                "it has TI over x and y, so that turbulence_intensity would count for nothing"
            )
    elif turbulence_intensity is None and "TI" not in arrays:
        raise _not_converted("it has no turbulence intensity; give turbulence_intensity=0.1, for example")
    speeds = np.atleast_1d(np.asarray(site.default_ws, np.float64))
    options = {
        "interpolation": site.interp_method,
        "turbulence_intensity": turbulence_intensity,
        "turned_wakes": site.distance.wind_direction == "WD_i" or None,
    }
    if "P" not in arrays or "ws" not in arrays["P"].axes:
        options["wind_speeds"] = speeds.tolist()
    elif not np.array_equal(speeds, arrays["ws"].values):
        raise _not_converted("default_ws is not the wind speeds of P")
    try:
        section = site_section(Path("XRSite"), GriddedFile(arrays), options).data
    except CampaignError as error:
        problem = error.problems[0]
        raise _not_converted(f"{problem.field} {problem.message}; {problem.remedy}".strip()) from None
    section.get("local", {}).pop("source", None)
    _take_directions(section, np.atleast_1d(np.asarray(site.default_wd, np.float64)))
    return section


def _not_converted(why: str) -> ArgumentError:
    return ArgumentError(f"this PyWake site cannot be converted: {why}")


def _refuse_others(site: XRSite) -> None:
    """Refuse properties that change energies but that a file cannot hold."""
    if site.shear is not None:
        raise _not_converted(
            "it has a shear; a campaign's wind is that at the hubs: give the site at hub height"
        )
    if type(site.distance) is not StraightDistance:
        raise _not_converted(
            f"it has distances by {type(site.distance).__name__}; those of a campaign are straight: make the site with "
            "distance=StraightDistance(), and compare energies with that site's"
        )
    unknown = [str(name) for name in site.ds.data_vars if name not in _KNOWN]
    if unknown:
        raise _not_converted(f"it holds {', '.join(unknown)}; a campaign knows {', '.join(sorted(_KNOWN))}")
    for name, array in site.ds.data_vars.items():
        if "h" in array.dims and "x" not in array.dims:
            raise _not_converted(f"{name} depends on height, but not on x and y: give the site at hub height")


def _take_directions(section: dict[str, Any], directions: FloatArray) -> None:
    count = len(directions)
    if not np.allclose(directions, np.arange(count) * 360.0 / count, rtol=0, atol=1e-9):
        raise _not_converted("default_wd does not go round from 0 in even steps")
    if "weibull" in section:
        section["weibull"]["direction_step"] = 360.0 / count
        return
    table = section["table"]
    rows = spread(np.array(table["probability"]), table["interpolation"], count)
    table |= {"wind_directions": sector_centres(count), "probability": rows.tolist()}


def pywake_site(site: Site) -> XRSite:
    """Return the site as PyWake's; turbulence that depends on the wind is in ``wind_arguments`` instead."""
    if isinstance(site, GriddedSite):
        return _gridded(site)
    data, interpolation = _rose(site)
    return _with_states(XRSite(data, interp_method=interpolation), site)


def wind_arguments(site: Site, states: WindStates, steps: Any = slice(None)) -> dict[str, Any]:
    """Return the wind arguments of a model's call; for a time series, of some of its steps."""
    if states.step is None:
        wind: dict[str, Any] = {"wd": states.direction, "ws": states.speed[: states.shape[1]]}
        turbulence = states.turbulence.reshape(1, *states.shape)
    else:
        direction = np.repeat(states.direction, np.diff(states.first))
        wind = {"wd": direction[steps], "ws": states.speed[steps], "time": True}
        # A plain list would be one for each turbine where there are as many turbines as steps.
        turbulence = states.turbulence[steps].reshape(1, -1, 1)
    if isinstance(site, GriddedSite) and site.grid.turbulence_intensity is not None:
        return wind
    return {**wind, "TI": float(turbulence.flat[0]) if np.ptp(turbulence) == 0.0 else turbulence}


def _rose(site: Site) -> tuple[xr.Dataset, str]:
    """Return the probabilities over direction and, for a table, speed."""
    if isinstance(site, WeibullSite):
        columns = {
            "Sector_frequency": site.frequency,
            "Weibull_A": site.weibull_a,
            "Weibull_k": site.weibull_k,
        }
        return _over_sectors(columns), site.interpolation
    if isinstance(site, TableSite):
        table = np.array(site.probability, np.float64)
        data = xr.Dataset(
            {"P": (("wd", "ws"), table)}, {"wd": _centres(len(table)), "ws": np.array(site.wind_speed)}
        )
        return data, site.interpolation
    if isinstance(site, UniformSite):
        return _over_sectors({"P": site.frequency}), site.interpolation
    if isinstance(site, TimeSeriesSite):  # PyWake is called with its steps
        return _over_sectors({"P": [1.0]}), "nearest"
    if isinstance(site, ChangedSite) and not site.is_only_turned:
        raise ArgumentError(
            "wind_speed_factor and direction_std_deg of a site have no form in PyWake; convert the "
            "campaign without them"
        )
    if isinstance(site, ChangedSite):
        raise ArgumentError(
            f"site.grid_convergence_deg is {-site.turned_deg:g}: sectors of a PyWake site cannot be turned; "
            "convert the campaign without it, and turn the layout clockwise by this angle"
        )
    raise ArgumentError(f"a {type(site).__name__} cannot be converted to a PyWake site; make one in PyWake")


def _over_sectors(columns: dict[str, Any]) -> xr.Dataset:
    arrays = {name: np.atleast_1d(np.array(values, np.float64)) for name, values in columns.items()}
    sectors = len(next(iter(arrays.values())))
    return xr.Dataset({name: ("wd", array) for name, array in arrays.items()}, {"wd": _centres(sectors)})


def _centres(sectors: int) -> FloatArray:
    return np.asarray(np.linspace(0.0, 360.0, sectors, endpoint=False))


def _with_states(made: XRSite, site: Site) -> XRSite:
    """Set the directions, speeds and, if it is one number, turbulence for calls that give none."""
    states = site.states()
    if "TI" not in made.ds and np.ptp(states.turbulence) == 0.0:
        made.ds["TI"] = float(states.turbulence[0])
    if states.step is None:
        made.default_wd = states.direction
        made.default_ws = states.speed[: states.shape[1]]
    return made


def _gridded(site: GriddedSite) -> XRSite:
    """Return local wind over x, y, height and direction; the rose, if there is one, over direction alone."""
    grid = site.grid
    data, _ = (xr.Dataset(), "linear") if grid.has_weibull else _rose(site.rose)
    axes: dict[str, Any] = {"x": grid.x, "y": grid.y, "h": grid.height, "wd": grid.direction}
    for called, name in LOCAL.items():
        if getattr(grid, name) is not None:
            array = getattr(grid, name)
            own = [axis for axis, length in zip(axes, array.shape, strict=True) if length > 1]
            for axis in own:
                if axis not in data.coords:
                    data.coords[axis] = axes[axis]
                elif not np.array_equal(data.coords[axis].values, axes[axis]):
                    raise ArgumentError(
                        f"the local wind is given for {len(axes[axis])} directions, the rose for {data.sizes[axis]} "
                        "sectors: a PyWake site has one list of directions; give both for the same"
                    )
            data[called] = (own, array.reshape([len(axes[axis]) for axis in own]))
    way = dict.fromkeys("xyh", site.position_interpolation) | {"wd": site.interpolation, "ws": "linear"}
    distance = StraightDistance(wind_direction="WD_i" if site.turned_wakes else "wd")
    return _with_states(XRSite(data, interp_method=way, distance=distance), site)
