"""The judge of the IEA Wind reference plants: PyWake, with the wake settings of their published energies."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vindeby.errors import library

FloatArray = npt.NDArray[np.float64]


def energy_mwh(document: Mapping[str, Any], x: FloatArray, y: FloatArray) -> float:
    """Return the yearly energy (MWh) of a layout; InputError if PyWake is not installed."""
    library("py_wake", "pywake", "the judge of this case")
    from py_wake.deficit_models.noj import NOJDeficit
    from py_wake.deficit_models.utils import ct2a_mom1d
    from py_wake.literature.turbopark import Nygaard_2022
    from py_wake.superposition_models import SquaredSum
    from py_wake.wind_farm_models import PropagateDownwind
    from py_wake.wind_turbines import WindTurbine
    from py_wake.wind_turbines.power_ct_functions import PowerCtTabular

    weibull, table = document["site"]["weibull"], document["turbines"][0]["table"]
    curve = PowerCtTabular(table["wind_speed"], table["power_kw"], "kW", table["ct"])
    turbine = WindTurbine("turbine", table["rotor_diameter_m"], table["hub_height_m"], curve)
    site, wake = _site(weibull), document["wake"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "jensen" in wake:
            deficit = NOJDeficit(k=wake["jensen"]["k"], ct2a=ct2a_mom1d, rotorAvgModel=None)
            model = PropagateDownwind(site, turbine, deficit, SquaredSum())
        else:
            assert wake == {"nygaard-2022": {"a": 0.04}}
            model = Nygaard_2022(site, turbine)
        energies = model(x, y, wd=np.arange(360), ws=np.array(weibull["wind_speeds"], float)).aep()
    return 1000.0 * float(energies.sum())


def _site(weibull: Mapping[str, Any]) -> Any:
    import xarray as xr
    from py_wake.site import XRSite

    sectors, turbulence = weibull["sectors"], weibull["turbulence_intensity"]
    around = [*sectors, sectors[0]]
    names = {"Sector_frequency": "frequency", "Weibull_A": "a", "Weibull_k": "k"}
    data: dict[str, Any] = {name: ("wd", [one[key] for one in around]) for name, key in names.items()}
    axes: dict[str, Any] = {"wd": np.linspace(0.0, 360.0, len(around))}
    if isinstance(turbulence, Mapping):
        data["TI"], axes["ws"] = ("ws", turbulence["values"]), turbulence["wind_speeds"]
    else:
        data["TI"] = turbulence
    return XRSite(xr.Dataset(data, coords=axes), interp_method=weibull["interpolation"])
