"""Sites of PyWake in netCDF, read as PyWake's own ``XRSite.load`` reads them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

from tests.interop import site_examples as examples
from tests.physics.oracle import needs_pywake
from vindeby.errors import CampaignError, InputError
from vindeby.interop import ForeignFileWarning, read_site
from vindeby.interop.formats import read_site_file
from vindeby.wake import Turbine, WindFarm

pytestmark = pytest.mark.oracle

X, Y = np.array([10.0, 730.0, 250.0]), np.array([20.0, 950.0, 600.0])
HUB_M = 80.0


def _by_speed(values: list[list[float]]) -> Any:
    return (("wd", "ws"), values)


SITES: dict[str, tuple[Any, dict[str, Any]]] = {
    "weibull": (examples.dataset, {}),
    "weibull, linear": (examples.dataset, {"interpolation": "linear"}),
    "weibull with 360": (
        lambda: examples.dataset(
            replace={
                name: ("wd", [*values, values[0]])
                for name, values in (
                    ("Sector_frequency", examples.FREQUENCY),
                    ("Weibull_A", examples.WEIBULL_A),
                    ("Weibull_k", examples.WEIBULL_K),
                )
            }
            | {"TI": 0.1},
            coords={"wd": [*examples.WD, 360.0]},
        ),
        {},
    ),
    "turbulence by direction and speed": (
        lambda: examples.dataset(
            TI=_by_speed([[0.14, 0.06, 0.05], [0.12, 0.07, 0.06], [0.15, 0.08, 0.07], [0.13, 0.09, 0.08]]),
            coords={"ws": [4.0, 10.0, 25.0]},
        ),
        {},
    ),
    "turbulence by direction": (lambda: examples.dataset(TI=("wd", [0.06, 0.07, 0.08, 0.09])), {}),
    "P by direction": (
        lambda: examples.dataset(
            replace={"P": ("wd", list(examples.FREQUENCY)), "TI": 0.075}, coords={"ws": [9.8]}
        ),
        {},
    ),
    "P by direction and speed, spread": (
        lambda: examples.dataset(
            replace={"P": _by_speed([[0.1, 0.05], [0.05, 0.2], [0.2, 0.1], [0.1, 0.1981]]), "TI": 0.06},
            coords={"ws": [6.0, 9.0]},
        ),
        {"direction_step": 1.0, "interpolation": "linear"},
    ),
    "gridded": (examples.gridded, {}),
    "gridded, linear": (examples.gridded, {"interpolation": "linear"}),
    "speed-up and turning": (examples.turned, {"interpolation": "linear"}),
    "speed-up and turning, nearest": (examples.turned, {}),
}


@needs_pywake
@pytest.mark.parametrize("name", SITES)
def test_wind_at_turbines_is_that_of_pywake(name: str, tmp_path: Path) -> None:
    from py_wake.site import XRSite

    make, options = SITES[name]
    make().to_netcdf(tmp_path / "site.nc")
    theirs = XRSite.load(str(tmp_path / "site.nc"), options.get("interpolation", "nearest"))

    farm = _farm(read_site(tmp_path / "site.nc", **options))

    states = farm.states
    speeds = states.speed[: states.shape[1]]
    np.testing.assert_array_equal(speeds, theirs.default_ws)
    wind = theirs.local_wind(x=X, y=Y, h=np.full(3, HUB_M), wd=states.direction, ws=speeds)
    shape = (3, *states.shape)
    free = farm.free_wind(X, Y)
    np.testing.assert_allclose(
        free.probability, np.broadcast_to(wind.P_ilk, shape), rtol=1e-12, atol=1e-16
    )  # differences of two numbers near 1
    np.testing.assert_allclose(free.turbulence, np.broadcast_to(wind.TI_ilk, shape), rtol=1e-12)
    np.testing.assert_allclose(free.speed, np.broadcast_to(wind.WS_ilk, shape), rtol=1e-12)
    np.testing.assert_allclose(free.direction, np.broadcast_to(wind.WD_ilk, shape), rtol=1e-11)


def _farm(site: Any) -> WindFarm:
    turbine = Turbine.tabulated("t", 80.0, HUB_M, [3.0, 12.0], [0.0, 2e6], [0.8, 0.4])
    return WindFarm(site, turbine, "bastankhah-2014")


@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", "NETCDF3_64BIT", "NETCDF3_64BIT_DATA"])
def test_a_classic_file_is_refused_with_the_way_to_convert_it(form: Any, tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "site.nc", "w", format=form) as file:
        file.createVariable("TI", "f8", ())[...] = 0.06

    with pytest.raises(InputError, match=r"classic netCDF file.*nccopy -k nc4"):
        read_site_file(tmp_path / "site.nc", {})


def test_packed_numbers_are_unpacked(tmp_path: Path) -> None:
    packed = {"Weibull_A": {"dtype": "int16", "scale_factor": 0.5, "add_offset": 1.0, "_FillValue": -1}}
    examples.dataset().to_netcdf(tmp_path / "site.nc", engine="netcdf4", encoding=packed)

    sectors = read_site_file(tmp_path / "site.nc", {}).data["weibull"]["sectors"]

    assert [sector["a"] for sector in sectors] == [8.0, 9.0, 10.0, 11.5]


def test_a_missing_value_beside_a_fill_value_is_a_gap(tmp_path: Path) -> None:
    examples.dataset().to_netcdf(tmp_path / "site.nc", engine="netcdf4")
    with netCDF4.Dataset(tmp_path / "site.nc", "a") as file:
        variable = file["Weibull_A"]
        variable.missing_value = variable[1]
        assert "_FillValue" in variable.ncattrs()

    with pytest.raises(CampaignError, match="Weibull_A"):
        read_site_file(tmp_path / "site.nc", {})


def test_axes_go_by_name(tmp_path: Path) -> None:
    rows = [[0.1, 0.05], [0.05, 0.2], [0.2, 0.1], [0.1, 0.2]]
    turned_round = examples.dataset(
        replace={"P": (("ws", "wd"), np.array(rows).T), "TI": 0.06}, coords={"ws": [6.0, 9.0]}
    )
    turned_round.to_netcdf(tmp_path / "site.nc")

    found = read_site_file(tmp_path / "site.nc", {})

    assert found.data["table"]["probability"] == rows


@pytest.mark.parametrize("order", [{"y": [3, 2, 1, 0]}, {"x": [1, 0, 2]}, {"wd": [2, 0, 3, 1]}])
def test_axes_are_put_in_order_with_the_values_over_them(tmp_path: Path, order: dict[str, Any]) -> None:
    examples.turned().to_netcdf(tmp_path / "rising.nc")
    examples.turned().isel(order).to_netcdf(tmp_path / "other.nc")

    rising, other = (read_site_file(tmp_path / f"{way}.nc", {}).data for way in ("rising", "other"))

    assert other["local"].pop("source") != rising["local"].pop("source")
    assert other == rising


def test_what_pywake_reads_and_vindeby_does_not_is_said(tmp_path: Path) -> None:
    site = examples.turned()
    site["Elevation"] = (("x", "y"), np.zeros((3, 4)))
    site.to_netcdf(tmp_path / "site.nc")

    with pytest.warns(ForeignFileWarning, match=r"site\.nc: not used: Elevation"):
        read_site(tmp_path / "site.nc")


def test_interpolation_may_differ_between_direction_and_place(tmp_path: Path) -> None:
    examples.turned().to_netcdf(tmp_path / "site.nc")
    how = {"wd": "nearest", "x": "linear", "y": "linear"}

    found = read_site_file(tmp_path / "site.nc", {"interpolation": how}).data

    assert found["weibull"]["interpolation"] == found["local"]["interpolation"] == "nearest"
    assert found["local"]["position_interpolation"] == "linear"


def test_reading_needs_neither_xarray_nor_netcdf4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples.dataset().to_netcdf(tmp_path / "site.nc")
    for name in ("xarray", "netCDF4", "h5netcdf", "py_wake"):
        monkeypatch.setitem(__import__("sys").modules, name, None)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_site_file(tmp_path / "site.nc", {}).data["weibull"]["sectors"]) == 4


def test_a_speedup_in_the_lee_of_a_mountain_is_read(tmp_path: Path) -> None:
    grid = (("x", "y"), [[0.0999956, 1.0], [0.0558, 1.79]])
    examples.dataset(Speedup=grid, coords={"x": [0.0, 1000.0], "y": [0.0, 1000.0]}).to_netcdf(
        tmp_path / "site.nc", engine="h5netcdf"
    )
    local = read_site_file(tmp_path / "site.nc", {}).data["local"]
    assert local["speedup"]["values"] == [0.0999956, 1.0, 0.0558, 1.79]
    read_site(tmp_path / "site.nc")  # within what a campaign takes for plausible


BY_HEIGHT = {
    "Weibull_A": (("h", "wd"), [[8.0, 9.0, 10.0, 11.5], [9.0, 10.0, 11.0, 12.5]]),
    "Weibull_k": (("wd", "h"), [[2.0, 2.2]] * 4),
    "Sector_frequency": (("h", "wd"), [list(examples.FREQUENCY)] * 2),
}


@pytest.mark.parametrize("levels", [[50.0, 100.0], [100.0, 50.0]])
def test_distributions_by_height_are_taken_at_the_height_that_is_given(
    levels: list[float], tmp_path: Path
) -> None:
    import xarray

    rows = xarray.Dataset(BY_HEIGHT, coords={"wd": list(examples.WD), "h": [50.0, 100.0]})
    rows.sel(h=levels).to_netcdf(tmp_path / "newa.nc", engine="h5netcdf")
    with pytest.raises(CampaignError, match=r"height: is missing.*the file has 50 to 100 m"):
        read_site_file(tmp_path / "newa.nc", {"turbulence_intensity": 0.08})
    found = read_site_file(tmp_path / "newa.nc", {"turbulence_intensity": 0.08, "height": 75})
    sectors = found.data["weibull"]["sectors"]
    assert [sector["a"] for sector in sectors] == [8.5, 9.5, 10.5, 12.0]
    assert [sector["k"] for sector in sectors] == pytest.approx([2.1] * 4)
    assert [sector["frequency"] for sector in sectors] == list(examples.FREQUENCY)
    assert "taken at a height of 75 m" in found.notes


def test_a_height_that_a_file_has_no_use_for_is_refused(tmp_path: Path) -> None:
    examples.dataset().to_netcdf(tmp_path / "site.nc", engine="h5netcdf")
    with pytest.raises(CampaignError, match="height: goes with heights"):
        read_site_file(tmp_path / "site.nc", {"height": 90})
