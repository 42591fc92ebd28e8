"""Sites of vindeby as PyWake's ``XRSite``, with the same wind: values at sector centres, interpolated alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr
from py_wake.site import XRSite
from py_wake.site.distance import StraightDistance

from vindeby.assembly.wind import TurnedSite
from vindeby.errors import ArgumentError
from vindeby.wake import (
    GriddedSite,
    Site,
    TableSite,
    TimeSeriesSite,
    TurbulenceTable,
    UniformSite,
    WeibullSite,
)

_WEIBULL = {"Weibull_A": "weibull_a", "Weibull_k": "weibull_k", "Sector_frequency": "sector_frequency"}
_LOCAL = {"Speedup": "speedup", "Turning": "turning", **_WEIBULL, "TI": "turbulence_intensity"}
_KNOWN = {*_LOCAL, "P"}
_CHANGES = {"Speedup": 1.0, "Turning": 0.0}
"""What changes the wind, and the value that does not."""
_AXES = {"x": "x", "y": "y", "h": "height", "wd": "wind_directions"}


def site_section(site: Any, turbulence_intensity: float | None = None) -> dict[str, Any]:
    """The section; ``turbulence_intensity`` for sites without one. ArgumentError says what cannot be converted."""
    if not isinstance(site, XRSite):
        raise _not_converted(f"a {type(site).__name__} is not an XRSite")
    _refuse_others(site)
    data = _without_360(site.ds)
    local_names = [name for name in _LOCAL if name in data and "x" in data[name].dims]
    turbulence = _turbulence_section(data, turbulence_intensity, local="TI" in local_names)
    local = _local_section(site, data, local_names) if local_names else {}
    rose = (
        _weibull_section(site, data, turbulence, local_names)
        if "P" not in data
        else _table_section(site, data, turbulence)
    )
    return {**rose, **({"local": local} if local else {})}


def _not_converted(why: str) -> ArgumentError:
    return ArgumentError(f"this PyWake site cannot be converted: {why}")


def _refuse_others(site: XRSite) -> None:
    """Refuse what would change energies and a campaign cannot describe."""
    if site.shear is not None:
        raise _not_converted(
            "it has a shear; a campaign's wind is that at the hubs: give the site at hub height"
        )
    if type(site.distance) is not StraightDistance:
        raise _not_converted(
            f"it has distances by {type(site.distance).__name__}; those of a campaign are straight: make the site with "
            "distance=StraightDistance(), and compare energies with that site's"
        )
    unknown = [str(name) for name in site.ds.data_vars if name not in (*_KNOWN, "Elevation")]
    if unknown:
        raise _not_converted(f"it holds {', '.join(unknown)}; a campaign knows {', '.join(sorted(_KNOWN))}")
    for name, array in site.ds.data_vars.items():
        odd = [axis for axis in array.dims if axis not in (*_AXES, "ws")]
        if odd:
            raise _not_converted(
                f"{name} depends on {odd[0]!r}; give it over x and y, or the same everywhere"
            )
        if ("h" in array.dims or "y" in array.dims) and "x" not in array.dims:
            raise _not_converted(f"{name} depends on height or y, but not on x")
    for name, neutral in _CHANGES.items():
        if name in site.ds and "x" not in site.ds[name].dims and (site.ds[name] != neutral).any():
            raise _not_converted(f"{name} is not over x and y; put it into the wind itself")
    if not np.array_equal(np.diff(site.default_ws) > 0, np.ones(np.size(site.default_ws) - 1, bool)):
        raise _not_converted("default_ws does not increase")


def _without_360(data: Any) -> Any:
    """Without the direction 360 that repeats 0; sectors must begin there."""
    if "wd" not in data.dims:
        return data
    if data.sizes["wd"] > 1 and float(data.wd[-1]) == 360.0:
        data = data.isel(wd=slice(0, -1))
    count = data.sizes["wd"]
    if not np.allclose(data.wd.values, np.arange(count) * 360.0 / count, rtol=0, atol=1e-9):
        raise _not_converted("its sectors are not even ones beginning with 0 degrees")
    return data


def _turbulence_section(data: Any, given: float | None, *, local: bool) -> Any:
    if given is not None and local:
        raise _not_converted("it has TI over x and y, so that turbulence_intensity would count for nothing")
    if given is not None:
        return float(given)
    if local:  # the grid has it at each place; this stands for it where a number must
        return float(data.TI.mean())
    if "TI" not in data:
        raise _not_converted("it has no turbulence intensity; give turbulence_intensity=0.1, for example")
    array = data.TI
    if not array.dims:
        return float(array)
    own = [axis for axis in ("wd", "ws") if axis in array.dims]
    names = {"wd": "wind_directions", "ws": "wind_speeds"}
    points = {names[axis]: data[axis].values.astype(float).tolist() for axis in own}
    return {"values": array.transpose(*own).values.astype(float).tolist(), **points}


def _step(site: XRSite) -> float:
    """The width of the direction bins, which must go round from 0."""
    directions = np.atleast_1d(np.asarray(site.default_wd, np.float64))
    count = len(directions)
    if not np.allclose(directions, np.arange(count) * 360.0 / count, rtol=0, atol=1e-9):
        raise _not_converted("default_wd does not go round from 0 in even steps")
    return 360.0 / count


def _method(site: XRSite, axis: str) -> str:
    return str(site.interp_method[axis] if isinstance(site.interp_method, dict) else site.interp_method)


def _weibull_section(site: XRSite, data: Any, turbulence: Any, local: list[str]) -> dict[str, Any]:
    section: dict[str, Any] = {
        "turbulence_intensity": turbulence,
        "wind_speeds": np.asarray(site.default_ws, np.float64).tolist(),
        "direction_step": _step(site),
        "interpolation": _method(site, "wd"),
    }
    if not any(name in local for name in _WEIBULL):
        columns = [np.broadcast_to(data[name].values, data.sizes.get("wd", 1)) for name in _WEIBULL]
        centres = data.wd.values if "wd" in data.dims else np.zeros(1)
        section["sectors"] = [
            {"direction": float(wd), "a": float(a), "k": float(k), "frequency": float(share)}
            for wd, a, k, share in zip(centres, *columns, strict=True)
        ]
    return {"weibull": section}


def _table_section(site: XRSite, data: Any, turbulence: Any) -> dict[str, Any]:
    """Probabilities in the bins that PyWake evaluates the site in by default."""
    if "x" in data.P.dims:
        raise _not_converted("P depends on the place; give Weibull_A, Weibull_k and Sector_frequency instead")
    speeds = np.atleast_1d(np.asarray(site.default_ws, np.float64))
    if "ws" not in data.P.dims and len(speeds) > 1:
        raise _not_converted(
            "P does not depend on the wind speed, but default_ws has several: each would count fully"
        )
    count = round(360.0 / _step(site))
    centre = {axis: [float(data[axis].mean())] if axis in data.dims else [0.0] for axis in ("x", "y", "h")}
    wind = site.local_wind(**centre, wd=site.default_wd, ws=speeds)
    probability = np.broadcast_to(wind.P_ilk, (1, count, len(speeds)))[0]
    return {
        "table": {
            "turbulence_intensity": turbulence,
            "wind_directions": (np.arange(count) * 360.0 / count).tolist(),
            "wind_speeds": speeds.tolist(),
            "probability": probability.astype(float).tolist(),
            "interpolation": _method(site, "wd"),
        }
    }


def _local_section(site: XRSite, data: Any, names: list[str]) -> dict[str, Any]:
    """What differs from place to place, over x, y and, where it depends on them, height and direction."""
    used = [axis for axis in _AXES if any(axis in data[name].dims for name in names)]
    section: dict[str, Any] = {_AXES[axis]: data[axis].values.astype(float).tolist() for axis in used}
    weibull = [name for name in _WEIBULL if name in data] if any(name in names for name in _WEIBULL) else []
    for name in dict.fromkeys([*names, *weibull]):
        own = [axis for axis in _AXES if axis in data[name].dims]
        if "ws" in data[name].dims:
            raise _not_converted(f"{name} depends on the place and on the wind speed")
        values = data[name].transpose(*own).values.astype(float).ravel().tolist()
        section[_LOCAL[name]] = {"axes": [_AXES[axis] for axis in own], "values": values}
    section["interpolation"] = _method(site, "wd")
    section["position_interpolation"] = _method(site, "x")
    if site.distance.wind_direction == "WD_i":
        section["turned_wakes"] = True
    return section


FloatArray = npt.NDArray[np.float64]
_GRIDDED = {
    "speedup": "Speedup",
    "turning": "Turning",
    "weibull_a": "Weibull_A",
    "weibull_k": "Weibull_k",
    "sector_frequency": "Sector_frequency",
    "turbulence_intensity": "TI",
}


def pywake_site(site: Site) -> XRSite:
    """The site as PyWake has it, turbulence included; ArgumentError where PyWake has no such site."""
    return _made(site, with_turbulence=True)


def engine_site(site: Site) -> XRSite:
    """The same for an engine, which is given direction, probability and turbulence state by state."""
    return _made(site.rose if isinstance(site, TurnedSite) else site, with_turbulence=False)


def _made(site: Site, *, with_turbulence: bool) -> XRSite:
    if isinstance(site, GriddedSite):
        return _gridded(site, with_turbulence=with_turbulence)
    data, interpolation = _rose(site)
    if with_turbulence and not isinstance(site, TimeSeriesSite):
        _add_turbulence(data, site)
    return _with_states(XRSite(data, interp_method=interpolation), site)


def _rose(site: Site) -> tuple[xr.Dataset, str]:
    """Probabilities over direction and, in a table, speed."""
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
    if isinstance(site, TurnedSite):
        raise ArgumentError(
            f"site.grid_convergence_deg is {site.convergence_deg:g}: sectors of a PyWake site cannot be turned; "
            "convert the campaign without it, and turn the layout clockwise by this angle"
        )
    raise ArgumentError(f"a {type(site).__name__} cannot be converted to a PyWake site; make one in PyWake")


def _over_sectors(columns: dict[str, Any]) -> xr.Dataset:
    arrays = {name: np.atleast_1d(np.array(values, np.float64)) for name, values in columns.items()}
    sectors = len(next(iter(arrays.values())))
    return xr.Dataset({name: ("wd", array) for name, array in arrays.items()}, {"wd": _centres(sectors)})


def _centres(sectors: int) -> FloatArray:
    return np.asarray(np.linspace(0.0, 360.0, sectors, endpoint=False))


def _add_turbulence(data: xr.Dataset, site: Any) -> None:
    """Turbulence as a number, or over the directions and speeds of the site."""
    given = site.turbulence_intensity
    if not isinstance(given, TurbulenceTable):
        values = np.asarray(given, np.float64)
        data["TI"] = values if values.ndim == 0 else ("wd", values)
        return
    points = np.array([] if given.wind_directions is None else given.wind_directions, np.float64)
    if not np.isin(points, data.wd.values).all():
        raise ArgumentError(
            f"the turbulence intensity is given for {len(points)} directions, the wind for {data.sizes['wd']} "
            "sectors: a PyWake site has one list of directions; give both for the same"
        )
    if given.wind_speeds is not None and "ws" not in data.sizes:
        data.coords["ws"] = np.array(given.wind_speeds, np.float64)
    # It is linear between its points, which are all there.
    directions = data.wd.values if len(points) else np.zeros(1)
    speeds = np.zeros(1) if given.wind_speeds is None else data.ws.values
    values = given.at(directions, speeds)
    axes = [name for name, used in (("wd", len(points)), ("ws", given.wind_speeds is not None)) if used]
    data["TI"] = (axes, values.reshape([data.sizes[axis] for axis in axes]))


def _with_states(made: XRSite, site: Site) -> XRSite:
    """The directions and speeds that the site is evaluated in when a call says none."""
    states = site.states()
    if states.step is None:
        made.default_wd = states.direction
        made.default_ws = states.speed[: states.shape[1]]
    return made


def _gridded(site: GriddedSite, *, with_turbulence: bool) -> XRSite:
    """Local wind over x, y, height and direction; the rose, where there is one, over direction alone."""
    grid = site.grid
    data, _ = (xr.Dataset(), "linear") if site.rose is None or grid.has_weibull else _rose(site.rose)
    axes: dict[str, Any] = {"x": grid.x, "y": grid.y, "h": grid.height, "wd": grid.direction}
    for name, called in _GRIDDED.items():
        if getattr(grid, name) is not None:
            array = grid.over_all_axes(name)
            own = [axis for axis, length in zip(axes, array.shape, strict=True) if length > 1]
            data = _with_axes(data, own, axes)
            data[called] = (own, array.reshape([len(axes[axis]) for axis in own]))
    if grid.turbulence_intensity is None and with_turbulence:
        data["TI"] = _one_turbulence(site)
    way = {
        "x": site.position_interpolation,
        "y": site.position_interpolation,
        "h": site.position_interpolation,
        "wd": site.interpolation,
        "ws": "linear",
    }
    distance = StraightDistance(wind_direction="WD_i" if site.turned_wakes else "wd")
    return _with_states(XRSite(data, interp_method=way, distance=distance), site)


def _with_axes(data: xr.Dataset, own: list[str], axes: dict[str, Any]) -> xr.Dataset:
    for axis in own:
        if axis not in data.coords:
            data.coords[axis] = axes[axis]
        elif not np.array_equal(data.coords[axis].values, axes[axis]):
            raise ArgumentError(
                f"the local wind is given for {len(axes[axis])} directions, the rose for {data.sizes[axis]} sectors: a "
                "PyWake site has one list of directions; give both for the same"
            )
    return data


def _one_turbulence(site: GriddedSite) -> float:
    if site.rose is None:
        return site.turbulence_intensity
    given = getattr(site.rose, "turbulence_intensity", None)
    if given is None or isinstance(given, TurbulenceTable) or np.ndim(given):
        raise ArgumentError(
            "turbulence that depends on the wind, with a wind that differs from place to place, cannot be converted to "
            "a PyWake site; give one number, or turbulence on the grid"
        )
    return float(np.asarray(given))
