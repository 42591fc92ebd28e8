"""A PyWake site as the ``site`` of a campaign."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from py_wake.site import XRSite
from py_wake.site.distance import StraightDistance

from vindeby.errors import ArgumentError

FloatArray = npt.NDArray[np.float64]

_WEIBULL = {"Weibull_A": "weibull_a", "Weibull_k": "weibull_k", "Sector_frequency": "sector_frequency"}
_LOCAL = {"Speedup": "speedup", "Turning": "turning", **_WEIBULL, "TI": "turbulence_intensity"}
_KNOWN = {*_LOCAL, "P"}
_CHANGES = {"Speedup": 1.0, "Turning": 0.0}
"""What changes the wind, and the value that does not."""
_AXES = {"x": "x", "y": "y", "h": "height", "wd": "wind_directions"}


def site_section(site: Any, turbulence_intensity: float | None = None) -> dict[str, Any]:
    """The section; ``turbulence_intensity`` for sites without one. ArgumentError says what cannot be converted."""
    if not isinstance(site, XRSite):
        raise _refused(f"a {type(site).__name__} is no XRSite")
    _refuse_others(site)
    data = _without_360(site.ds)
    local_names = [name for name in _LOCAL if name in data and "x" in data[name].dims]
    turbulence = _turbulence(data, turbulence_intensity, local="TI" in local_names)
    local = _local(site, data, local_names) if local_names else {}
    rose = (
        _weibull(site, data, turbulence, local_names) if "P" not in data else _table(site, data, turbulence)
    )
    return {**rose, **({"local": local} if local else {})}


def _refused(why: str) -> ArgumentError:
    return ArgumentError(f"this PyWake site cannot be converted: {why}")


def _refuse_others(site: XRSite) -> None:
    """Refuse what would change energies and a campaign has no words for."""
    if site.shear is not None:
        raise _refused("it has a shear; a campaign's wind is that at the hubs: give the site at hub height")
    if type(site.distance) is not StraightDistance:
        raise _refused(
            f"it has distances by {type(site.distance).__name__}; those of a campaign are straight: make the site with "
            "distance=StraightDistance(), and compare energies with that site's"
        )
    unknown = [str(name) for name in site.ds.data_vars if name not in (*_KNOWN, "Elevation")]
    if unknown:
        raise _refused(f"it holds {', '.join(unknown)}; a campaign knows {', '.join(sorted(_KNOWN))}")
    for name, array in site.ds.data_vars.items():
        odd = [axis for axis in array.dims if axis not in (*_AXES, "ws")]
        if odd:
            raise _refused(f"{name} depends on {odd[0]!r}; give it over x and y, or the same everywhere")
        if ("h" in array.dims or "y" in array.dims) and "x" not in array.dims:
            raise _refused(f"{name} depends on height or y, but not on x")
    for name, neutral in _CHANGES.items():
        if name in site.ds and "x" not in site.ds[name].dims and (site.ds[name] != neutral).any():
            raise _refused(f"{name} is not over x and y; put it into the wind itself")
    if not np.array_equal(np.diff(site.default_ws) > 0, np.ones(np.size(site.default_ws) - 1, bool)):
        raise _refused("default_ws does not increase")


def _without_360(data: Any) -> Any:
    """Without the direction 360 that repeats 0; sectors must begin there."""
    if "wd" not in data.dims:
        return data
    if data.sizes["wd"] > 1 and float(data.wd[-1]) == 360.0:
        data = data.isel(wd=slice(0, -1))
    count = data.sizes["wd"]
    if not np.allclose(data.wd.values, np.arange(count) * 360.0 / count, rtol=0, atol=1e-9):
        raise _refused("its sectors are not even ones beginning with 0 degrees")
    return data


def _turbulence(data: Any, given: float | None, *, local: bool) -> Any:
    if given is not None and local:
        raise _refused("it has TI over x and y, so that turbulence_intensity would count for nothing")
    if given is not None:
        return float(given)
    if local:  # the grid has it at each place; this stands for it where a number must
        return float(data.TI.mean())
    if "TI" not in data:
        raise _refused("it has no turbulence intensity; give turbulence_intensity=0.1, for example")
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
        raise _refused("default_wd does not go round from 0 in even steps")
    return 360.0 / count


def _method(site: XRSite, axis: str) -> str:
    return str(site.interp_method[axis] if isinstance(site.interp_method, dict) else site.interp_method)


def _weibull(site: XRSite, data: Any, turbulence: Any, local: list[str]) -> dict[str, Any]:
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


def _table(site: XRSite, data: Any, turbulence: Any) -> dict[str, Any]:
    """Probabilities in the bins that PyWake evaluates the site in by default."""
    if "x" in data.P.dims:
        raise _refused("P depends on the place; give Weibull_A, Weibull_k and Sector_frequency instead")
    speeds = np.atleast_1d(np.asarray(site.default_ws, np.float64))
    if "ws" not in data.P.dims and len(speeds) > 1:
        raise _refused(
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


def _local(site: XRSite, data: Any, names: list[str]) -> dict[str, Any]:
    """What differs from place to place, over x, y and, where it depends on them, height and direction."""
    used = [axis for axis in _AXES if any(axis in data[name].dims for name in names)]
    section: dict[str, Any] = {_AXES[axis]: data[axis].values.astype(float).tolist() for axis in used}
    weibull = [name for name in _WEIBULL if name in data] if any(name in names for name in _WEIBULL) else []
    for name in dict.fromkeys([*names, *weibull]):
        own = [axis for axis in _AXES if axis in data[name].dims]
        if "ws" in data[name].dims:
            raise _refused(f"{name} depends on the place and on the wind speed")
        values = data[name].transpose(*own).values.astype(float).ravel().tolist()
        section[_LOCAL[name]] = {"axes": [_AXES[axis] for axis in own], "values": values}
    section["interpolation"] = _method(site, "wd")
    section["position_interpolation"] = _method(site, "x")
    if site.distance.wind_direction == "WD_i":
        section["turned_wakes"] = True
    return section
