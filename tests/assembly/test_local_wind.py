"""A campaign with local wind from a file that PyWake writes, against PyWake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.physics.oracle import needs_pywake, pywake_generic, pywake_model, turbine_aep
from vindeby.assembly.physics import physics_checks
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.store.format.record import Record

pytestmark = [pytest.mark.oracle, needs_pywake]
pytest.importorskip("h5netcdf", reason="h5netcdf writes the files of these tests")

X, Y, SECTORS = np.linspace(0.0, 4000.0, 4), np.linspace(0.0, 3000.0, 5), np.arange(0.0, 360.0, 90.0)
OWN, THEIRS = (10, 195, 121), (2, 80, 70)
LAYOUT = np.array([[200.0, 1200.0, 2400.0, 3300.0], [300.0, 2300.0, 500.0, 1900.0]])
BESIDE = [[1500.0, 1200.0], [3900.0, 2900.0]]

CAMPAIGN = """\
name: hills
farms: [{name: here, boundary: [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]}]
turbines: [{name: own, generic: {rated_power_mw: 10, rotor_diameter_m: 195, hub_height_m: 121}}]
neighbours:
  turbines: [{name: theirs, generic: {rated_power_mw: 2, rotor_diameter_m: 80, hub_height_m: 70}}]
  positions: [[1500, 1200], [3900, 2900]]
n_turbines: 4
min_spacing: 3 D
site: {file: grid.nc, interpolation: linear, direction_step: 30}
wake: bastankhah-2014
method: random-start
seeds: 1
"""


def over(*axes: str, low: float, high: float, seed: int) -> tuple[tuple[str, ...], Any]:
    lengths = {"x": 4, "y": 5, "h": 2, "wd": 4}
    values = np.random.default_rng(seed).uniform(low, high, [lengths[axis] for axis in axes])
    return axes, values


def rose() -> dict[str, Any]:
    return {
        "Weibull_A": ("wd", [9.0, 9.5, 10.0, 11.0]),
        "Weibull_k": ("wd", [2.0, 2.1, 2.2, 2.3]),
        "Sector_frequency": ("wd", [0.2, 0.2, 0.3, 0.3]),
        "TI": 0.1,
    }


def gridded_weibull() -> dict[str, Any]:
    axes, frequency = over("x", "y", "h", "wd", low=0.5, high=1.0, seed=3)
    return {
        "Weibull_A": over("x", "y", "h", "wd", low=8.0, high=11.0, seed=1),
        "Weibull_k": over("x", "y", "h", "wd", low=1.8, high=2.4, seed=2),
        "Sector_frequency": (axes, frequency / frequency.sum(axis=-1, keepdims=True)),
        "TI": 0.1,
    }


CASES = {
    "speedup by direction": lambda: {**rose(), "Speedup": over("x", "y", "wd", low=0.8, high=1.2, seed=4)},
    "speedup by height": lambda: {**rose(), "Speedup": over("x", "y", "h", low=0.8, high=1.2, seed=5)},
    "Weibull by place": gridded_weibull,
}


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_xrsite_gives_the_energies_of_pywake(case: str, tmp_path: Path) -> None:
    import xarray as xr
    from py_wake.site import XRSite
    from py_wake.wind_turbines import WindTurbines

    variables = CASES[case]()
    used = {
        axis for given in variables.values() if isinstance(given, tuple) for axis in np.atleast_1d(given[0])
    }
    coordinates = {"x": X, "y": Y, "h": np.array([60.0, 130.0]), "wd": SECTORS}
    grid = xr.Dataset(variables, coords={axis: at for axis, at in coordinates.items() if axis in used})
    site = XRSite(grid, interp_method="linear")
    site.save(tmp_path / "grid.nc")
    (tmp_path / "c.yaml").write_text(CAMPAIGN)

    asked = Campaign.load(tmp_path / "c.yaml")
    farm = wind_farm(asked, 0, 0)
    searched = wind_farm(asked, 0, 0, searched=True)

    both = WindTurbines.from_WindTurbine_lst([pywake_generic(*OWN), pywake_generic(*THEIRS)])
    x, y = np.hstack([LAYOUT, np.array(BESIDE).T])
    oracle = pywake_model("bastankhah-2014", site, both)
    for ours, step in ((farm, 1.0), (searched, 30.0)):
        theirs = turbine_aep(oracle, x, y, type=[0] * 4 + [1] * 2, wd=np.arange(0.0, 360.0, step))[:4]
        assert ours.aep(*LAYOUT) == pytest.approx(theirs.sum(), rel=1e-10)
    record = Record("farm0_t0_s0", "", {"layout": LAYOUT, "aep": np.array(farm.aep(*LAYOUT))}, {})
    assert [text for check in physics_checks(asked, deep=True) for text in check(record)] == []
    free = Record(
        "farm0_t0_s0", "", {"layout": LAYOUT, "aep": np.array(farm.free_aep_at(*LAYOUT) * 1.001)}, {}
    )
    (wrong, _) = [text for check in physics_checks(asked, deep=True) for text in check(free)]
    assert "but without any wakes it would be" in wrong
