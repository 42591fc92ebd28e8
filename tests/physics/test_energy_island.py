"""The preset energy-island is the campaign it stands for: PyWake with the site's file gives the same energies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.physics.oracle import needs_pywake, pywake_generic, pywake_model, spread_out, turbine_aep
from vindeby import wake
from vindeby.assembly.wind import site_of, wind_farm
from vindeby.campaign import Campaign

pytestmark = pytest.mark.oracle

CAMPAIGN = Campaign.load("energy-island")
FIFTEEN_MW = 5

BY_XRSITE_LOAD_GWH = 5043.731932219585
"""AEP by PyWake 2.6.20 of ``spread_out(0, 66, 720, 14000)``: ``Nygaard_2022(XRSite.load(FILE), turbine)(x, y).aep()``
with FILE the site of the original campaign and turbine a GenericWindTurbine of 15 MW, 240 m, hub at 150 m; all 360
directions and 23 speeds."""


def pywake_site(campaign: Campaign) -> Any:
    """The campaign's sectors as ``XRSite.load`` has them, which takes the nearest unless told otherwise."""
    import xarray as xr
    from py_wake.site import XRSite

    weibull = campaign.site.weibull
    assert weibull is not None
    around = [*weibull.sectors, weibull.sectors[0]]
    data = {
        "Sector_frequency": ("wd", [sector.frequency for sector in around]),
        "Weibull_A": ("wd", [sector.a for sector in around]),
        "Weibull_k": ("wd", [sector.k for sector in around]),
        "TI": weibull.turbulence_intensity,
    }
    return XRSite(xr.Dataset(data, coords={"wd": np.linspace(0, 360, 13)}), interp_method="nearest")


def test_a_layout_of_66_turbines_has_the_energy_that_pywake_gives_it() -> None:
    x, y = spread_out(0, 66, 720, 14000)
    assert wind_farm(CAMPAIGN, FIFTEEN_MW).aep(x, y) == pytest.approx(BY_XRSITE_LOAD_GWH, rel=1e-6)


@needs_pywake
def test_every_turbine_has_the_energy_that_pywake_gives_it() -> None:
    directions = np.arange(0.0, 360.0, 15.0)  # half of them are borders of sectors
    x, y = spread_out(0, 66, 720, 14000)
    turbine = CAMPAIGN.turbines[FIFTEEN_MW]
    model = pywake_model(
        "nygaard-2022",
        pywake_site(CAMPAIGN),
        pywake_generic(turbine.rated_power_mw, turbine.rotor_diameter_m, turbine.hub_height_m),
    )
    theirs = turbine_aep(model, x, y, wd=directions)
    plain = wind_farm(CAMPAIGN, FIFTEEN_MW)
    ours = wake.WindFarm(plain.site, plain.turbines, wake=plain.model, directions=directions)
    assert ours.aep(x, y) == pytest.approx(theirs.sum(), rel=1e-6)
    np.testing.assert_allclose(ours.turbine_aep(x, y), theirs, rtol=1e-5)


@needs_pywake
def test_every_wind_state_is_as_likely_as_pywake_says() -> None:
    states = site_of(CAMPAIGN).states()
    theirs = pywake_site(CAMPAIGN).local_wind(x=[0], y=[0], h=[150])
    probability = states.probability.reshape(states.shape)
    np.testing.assert_allclose(probability, theirs.P_ilk[0], rtol=1e-11, atol=1e-18)
