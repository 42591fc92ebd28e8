"""PyWake objects become sections of a campaign, and a campaign PyWake objects, with the same energies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from py_wake.literature import Bastankhah_PorteAgel_2014
from py_wake.site import UniformSite, UniformWeibullSite, XRSite
from py_wake.site.distance import StraightDistance, TerrainFollowingDistance
from py_wake.site.shear import PowerShear
from py_wake.wind_turbines import WindTurbine, WindTurbines
from py_wake.wind_turbines.power_ct_functions import (
    CubePowerSimpleCt,
    PowerCtFunctionList,
    PowerCtTabular,
    SmoothCutIn,
)

from tests.interop.engine_campaigns import CT, POWER_KW, SPEED, X, Y, campaign, data, turbine
from vindeby.assembly.wind import site_of, turbine_of, wind_farm
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop import from_pywake, to_pywake

pytestmark = pytest.mark.oracle

TABULAR = PowerCtTabular(SPEED, POWER_KW, "kW", CT)
FIVE = WindTurbine("five", 126.0, 90.0, TABULAR)
OWN = {"bastankhah-2014": {"k": 0.0324555}}


def few_directions(site: XRSite, count: int = 12) -> XRSite:
    site.default_wd = np.arange(count) * 360.0 / count
    return site


def gridded(*, turning: bool = False, elevation: list[float] | None = None, **options: Any) -> XRSite:
    """Weibull over place and direction, turbulence over place, with 360 given too."""
    rng, wd, x, y = np.random.default_rng(0), [0.0, 120.0, 240.0], [-500.0, 1000.0, 2500.0], [-500.0, 2500.0]
    share = rng.uniform(0.8, 1.2, (3, 2, 3))
    cube = ("x", "y", "wd")
    arrays = {
        "Weibull_A": (cube, rng.uniform(8.0, 11.0, (3, 2, 3))),
        "Weibull_k": (cube, rng.uniform(1.8, 2.3, (3, 2, 3))),
        "Sector_frequency": (cube, share / share.sum(axis=2, keepdims=True)),
        "TI": (("x", "y"), rng.uniform(0.05, 0.1, (3, 2))),
    }
    if turning:
        arrays["Turning"] = (cube, rng.uniform(-6.0, 6.0, (3, 2, 3)))
    if elevation is not None:
        arrays["Elevation"] = (("x", "y"), np.repeat(np.array(elevation)[:, None], 2, axis=1))
    made = xr.Dataset(arrays, {"x": x, "y": y, "wd": wd})
    return few_directions(XRSite(made, default_ws=np.array([6.0, 9.0, 12.0]), **options))


SITES: dict[str, Callable[[], Any]] = {
    "UniformWeibullSite": lambda: few_directions(
        UniformWeibullSite([0.2, 0.3, 0.5], [9.0, 10.0, 8.0], [2.0, 2.1, 1.9], 0.08)
    ),
    "linear": lambda: few_directions(
        UniformWeibullSite([0.2, 0.3, 0.5], [9.0, 10.0, 8.0], [2.0, 2.1, 1.9], 0.08, interp_method="linear")
    ),
    "UniformSite": lambda: few_directions(UniformSite([0.2, 0.3, 0.5], ti=0.07, ws=9.0), 3),
    "P over finer directions": lambda: few_directions(UniformSite([0.2, 0.3, 0.5], ti=0.07, ws=9.0), 12),
    "P over direction and speed": lambda: few_directions(
        XRSite(
            xr.Dataset(
                {
                    "P": (("wd", "ws"), [[0.1, 0.2], [0.3, 0.4]]),
                    "TI": (("wd", "ws"), [[0.05, 0.06], [0.08, 0.1]]),
                },
                {"wd": [0.0, 180.0], "ws": [7.0, 10.0]},
            ),
            interp_method="nearest",
        ),
        6,
    ),
    "gridded": gridded,
    "gridded nearest": lambda: gridded(interp_method="nearest"),
    "hills that distances do not follow": lambda: gridded(elevation=[0.0, 300.0, 100.0]),
    "turned": lambda: gridded(turning=True, distance=StraightDistance(wind_direction="WD_i")),
}


def energies(site: Any, turbines: Any, **wind: Any) -> Any:
    model = Bastankhah_PorteAgel_2014(site, turbines, k=0.0324555)
    return model(X, Y, **wind).aep().sum(["wd", "ws"]).values


@pytest.mark.parametrize("name", SITES)
def test_there_and_back_energies_are_the_same(name: str) -> None:
    site = SITES[name]()
    given = Campaign.from_data(data(OWN, **from_pywake(site, FIVE), method=["random-start"]))
    stated = {} if given.site.weibull is None else {"wd": np.arange(360.0), "ws": np.arange(3.0, 26.0)}
    expected = energies(site, FIVE, **stated)
    back = to_pywake(given)
    np.testing.assert_allclose(energies(*back[:2], **back.arguments), expected, rtol=1e-10)
    on_pywake = Campaign.from_data(
        {
            **given.to_data(),
            "wake": {"pywake": "py_wake.literature:Bastankhah_PorteAgel_2014", "options": {"k": 0.0324555}},
        }
    )
    np.testing.assert_allclose(wind_farm(on_pywake, 0).turbine_aep(X, Y), expected, rtol=1e-10)
    if given.site.local is None:
        np.testing.assert_allclose(wind_farm(given, 0).turbine_aep(X, Y), expected, rtol=1e-10)


CUBIC = WindTurbine("cubic", 130.0, 110.0, CubePowerSimpleCt(4.0, 25.0, 9.8, 3350.0, "kW", 8 / 9, None))


@pytest.mark.parametrize(
    "made",
    [FIVE, CUBIC, WindTurbines(["a", "b"], [126.0, 130.0], [90.0, 110.0], [TABULAR, CUBIC.powerCtFunction])],
)
def test_turbines_keep_their_curves_both_ways(made: Any) -> None:
    sections = from_pywake(wind_turbines=made)["turbines"]
    given = campaign(OWN, turbines=sections)
    back = to_pywake(given).wind_turbines
    speed = np.array([0.0, 2.0, 3.0, 4.0, 6.3, 9.8, 12.0, 24.9, 25.0, 25.1, 40.0])
    for kind in made.types():
        named = {"type": kind} if len(made.types()) > 1 else {}
        own = turbine_of(given.turbines[kind])
        for watts in (own.power_at(speed), back.power(speed, **named)):
            np.testing.assert_allclose(watts, made.power(speed, **named), rtol=1e-12, atol=1e-6)
        for ct in (own.thrust_coefficient_at(speed), back.ct(speed, **named)):
            np.testing.assert_allclose(ct, made.ct(speed, **named), rtol=1e-12, atol=1e-15)


def test_a_curve_that_is_zero_outside_its_table_stays_so() -> None:
    short = turbine()
    short["table"] |= {"outside": "zero", "wind_speed": [3.0, 5.0, 8.0, 11.0, 13.0, 20.0]}
    given = campaign(OWN, turbines=[short])
    made = to_pywake(given).wind_turbines
    speed = np.array([2.0, 3.0, 12.0, 20.0, 20.1, 30.0])
    expected = turbine_of(given.turbines[0]).power_at(speed)
    assert expected[-2:].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(made.power(speed), expected, rtol=1e-12)
    with pytest.raises(ArgumentError, match="PieceCurves, a function and not a table"):
        from_pywake(wind_turbines=made)


def changed(**more: Any) -> XRSite:
    site = SITES["UniformWeibullSite"]()
    for name, value in more.items():
        site.ds[name] = value
    return site


@pytest.mark.parametrize(
    ("site", "words"),
    [
        (lambda: "Horns Rev", "a str is not an XRSite"),
        (lambda: UniformWeibullSite([1.0], [9.0], [2.0], 0.1, shear=PowerShear(70, 0.1)), "it has a shear"),
        (
            lambda: UniformWeibullSite([1.0], [9.0], [2.0]),
            "no turbulence intensity; give turbulence_intensity=0.1",
        ),
        (lambda: changed(Air_density=1.2), "it holds Air_density"),
        (
            lambda: gridded(elevation=[0.0, 300.0, 100.0], distance=TerrainFollowingDistance()),
            r"distances by TerrainFollowingDistance; .*make the site with distance=StraightDistance\(\)",
        ),
        (lambda: changed(TI=("i", [0.1, 0.2])), "values by the number of a turbine"),
        (lambda: changed(Speedup=("h", [1.0, 1.1])), "depends on height, but not on x"),
        (
            lambda: XRSite(xr.Dataset({"P": ("wd", [1.0]), "TI": 0.1}, {"wd": [0.0]})),
            "wind_speeds must be one",
        ),
    ],
)
def test_a_site_that_a_campaign_cannot_say_is_refused(site: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        from_pywake(site())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (PowerCtTabular(SPEED, POWER_KW, "kW", CT, method="pchip"), "interpolated by pchip"),
        (CubePowerSimpleCt(), "is a CubePowerSimpleCt, a function and not a table"),
        (PowerCtFunctionList("mode", [TABULAR, TABULAR], 0), "depends on 'mode'"),
        (PowerCtTabular(SPEED, POWER_KW, "kW", CT, additional_models=[SmoothCutIn(2, 3)]), "SmoothCutIn"),
    ],
)
def test_a_curve_that_a_campaign_cannot_say_is_refused(function: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        from_pywake(wind_turbines=WindTurbine("odd", 126.0, 90.0, function))


def test_turbulence_may_be_given_for_a_site_without() -> None:
    site = few_directions(UniformWeibullSite([1.0], [9.0], [2.0]))
    assert from_pywake(site, turbulence_intensity=0.09)["site"]["weibull"]["turbulence_intensity"] == 0.09


def test_turbulence_that_is_given_replaces_that_of_the_site() -> None:
    site = few_directions(UniformWeibullSite([1.0], [9.0], [2.0], 0.1))
    assert from_pywake(site, turbulence_intensity=0.08)["site"]["weibull"]["turbulence_intensity"] == 0.08


def test_turbulence_on_other_sectors_than_the_wind_is_handed_over_with_the_states() -> None:
    odd = {"values": [0.05, 0.06], "wind_directions": [0.0, 200.0]}
    given = campaign(OWN)
    told = Campaign.from_data(
        {
            **given.to_data(),
            "site": {"weibull": {**given.to_data()["site"]["weibull"], "turbulence_intensity": odd}},
        }
    )
    assert to_pywake(told).arguments["TI"].shape == (1, 360, 23)
    with pytest.raises(ArgumentError, match="needs a Campaign, or a site and turbines"):
        to_pywake(site_of(given))
