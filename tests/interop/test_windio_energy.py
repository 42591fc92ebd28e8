"""Energies of what is read from windIO files, with PyWake as the judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from py_wake.literature.gaussian_models import Bastankhah_PorteAgel_2014
from py_wake.site import XRSite
from py_wake.wind_turbines import WindTurbine
from py_wake.wind_turbines.power_ct_functions import PowerCtTabular

from tests.interop.windio_examples import (
    ROSE,
    SERIES,
    SYSTEM,
    TURBINE,
    WEIBULL,
    with_resource,
    write,
)
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.interop.windio.system import read_system

pytestmark = pytest.mark.oracle

X, Y = (SYSTEM["wind_farm"]["layouts"][0]["coordinates"][axis] for axis in "xy")
K = 0.0324555


def energy(folder: Path, data: dict[str, Any]) -> float:
    system = read_system(write(folder / "system.yaml", data), check_schema=False)
    (layout,) = system.layouts
    farm = wind_farm(Campaign.from_data({**system.data, "wake": {"bastankhah-2014": {"k": K}}}), 0)
    return farm.aep(layout.x, layout.y)


def turbine() -> WindTurbine:
    performance = TURBINE["performance"]
    power, ct = performance["power_curve"], performance["Ct_curve"]
    speeds = np.unique([*power["power_wind_speeds"], *ct["Ct_wind_speeds"]]).astype(float)
    watts = np.interp(speeds, power["power_wind_speeds"], power["power_values"])
    thrust = np.interp(speeds, ct["Ct_wind_speeds"], ct["Ct_values"])
    return WindTurbine("three", 100.0, 90.0, PowerCtTabular(speeds, watts, "W", thrust))


def pywake(site: XRSite, **flow: Any) -> float:
    model = Bastankhah_PorteAgel_2014(site, turbine(), k=K)
    return float(model(X, Y, **flow).aep().sum())


def test_sectors_with_0_and_360_and_turbulence_by_speed(tmp_path: Path) -> None:
    def closed(name: str) -> list[float]:
        values: list[float] = WEIBULL[name]["data"]
        return [*values, values[0]]

    resource = {
        "wind_direction": [*WEIBULL["wind_direction"], 360],
        "wind_speed": [3, 10, 25],
        "turbulence_intensity": {"data": [0.15, 0.08, 0.05], "dims": ["wind_speed"]},
    }
    for name in ("sector_probability", "weibull_a", "weibull_k"):
        resource[name] = {"data": closed(name), "dims": ["wind_direction"]}
    site = XRSite(
        xarray.Dataset(
            {
                "Sector_frequency": ("wd", WEIBULL["sector_probability"]["data"]),
                "Weibull_A": ("wd", WEIBULL["weibull_a"]["data"]),
                "Weibull_k": ("wd", WEIBULL["weibull_k"]["data"]),
                "TI": 0.08,
            },
            coords={"wd": WEIBULL["wind_direction"]},
        ),
        interp_method="linear",
    )
    expected = pywake(site, wd=np.arange(360), ws=np.arange(3, 26))
    assert energy(tmp_path, with_resource(resource)) == pytest.approx(expected, rel=1e-10)


def test_probabilities_within_sectors(tmp_path: Path) -> None:
    rows = np.array(ROSE["probability"]["data"])
    shares = rows.sum(axis=1)
    conditional = {
        **ROSE,
        "sector_probability": {"data": shares.tolist(), "dims": ["wind_direction"]},
        "probability": {
            "data": (rows / shares[:, None]).T.tolist(),
            "dims": ["wind_speed", "wind_direction"],
        },
    }
    coordinates = {"wd": ROSE["wind_direction"], "ws": ROSE["wind_speed"]}
    site = XRSite(xarray.Dataset({"P": (("wd", "ws"), rows), "TI": 0.07}, coords=coordinates))
    expected = pywake(site, wd=ROSE["wind_direction"], ws=ROSE["wind_speed"])
    assert energy(tmp_path, with_resource(conditional)) == pytest.approx(expected, rel=1e-10)


def test_a_time_series(tmp_path: Path) -> None:
    site = XRSite(xarray.Dataset({"P": 1.0, "TI": 0.08}))
    flow = {"wd": SERIES["wind_direction"], "ws": SERIES["wind_speed"], "time": True}
    expected = pywake(site, **flow)
    assert energy(tmp_path, with_resource(SERIES)) == pytest.approx(expected, rel=1e-10)
