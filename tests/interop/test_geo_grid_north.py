"""Wind directions are relative to true north, coordinates to grid north: what lies between is taken into account."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import shapely

from tests.interop.geo_files import CAMPAIGN, read, write_geojson
from vindeby.assembly.wind import site_of
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError
from vindeby.interop.geo.crs import crs_from_text, local_frame

SQUARE = [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]


def campaign_of(**changes: Any) -> Campaign:
    return Campaign.from_data({**CAMPAIGN, "farms": [{"name": "a", "boundary": SQUARE}], **changes})


def with_convergence(degrees: float | None) -> dict[str, Any]:
    extra = {} if degrees is None else {"grid_convergence_deg": degrees}
    return {**CAMPAIGN["site"], **extra}


@pytest.mark.parametrize(
    ("crs", "longitude", "latitude"),
    [("EPSG:32632", 7.0, 55.0), ("EPSG:32632", 11.5, 55.0), ("EPSG:32733", 18.0, -34.0), ("EPSG:25831", 2.9, 51.7),
     ("EPSG:3035", 2.9, 51.7), ("EPSG:2157", -6.0, 53.0), ("EPSG:2154", -2.0, 47.0)],
)  # fmt: skip
def test_convergence_and_scale_are_those_of_pyproj(crs: str, longitude: float, latitude: float) -> None:
    system = crs_from_text(crs)
    assert system is not None
    frame = local_frame(system, longitude, latitude)
    oracle = pyproj.Proj(system).get_factors(longitude, latitude)
    assert frame.convergence_deg == pytest.approx(oracle.meridian_convergence, abs=1e-5)
    assert frame.scale == pytest.approx((oracle.meridional_scale, oracle.parallel_scale), abs=1e-7)


@pytest.mark.parametrize(
    ("crs", "longitude", "latitude", "known"),
    [
        # A conformal cone at 52 grads from the meridian of Paris: the sine of its latitude times the longitude there.
        ("EPSG:27572", 0.4, 46.5, math.sin(math.radians(46.8)) * (0.4 - 2.33722917)),
        ("EPSG:27700", -3.0, 52.0, -0.78824),  # -0.78799 without the shift of the datum
    ],
)
def test_prime_meridian_and_datum_are_taken_into_account(
    crs: str, longitude: float, latitude: float, known: float
) -> None:
    system = crs_from_text(crs)
    assert system is not None
    assert local_frame(system, longitude, latitude).convergence_deg == pytest.approx(known, abs=1e-4)


def test_a_zone_whose_prime_meridian_makes_it_lie_elsewhere_is_refused(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", shapely.box(9.2, 42.0, 9.3, 42.1))
    with pytest.raises(
        CampaignError, match=r"EPSG:26591 is not true to scale where the data are: lengths are 1\.012"
    ):
        read(tmp_path, [{"name": "a", "boundary": {"file": "a.geojson"}}], crs="EPSG:26591")


def test_grid_north_is_east_of_true_north_east_of_the_meridian() -> None:
    zone = crs_from_text("EPSG:32632")
    assert zone is not None
    known = math.degrees(math.atan(math.tan(math.radians(2.5)) * math.sin(math.radians(55.0))))  # on a sphere
    assert local_frame(zone, 11.5, 55.0).convergence_deg == pytest.approx(known, abs=0.01)


def test_a_wind_from_true_north_blows_along_a_meridian(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", shapely.box(11.4, 54.95, 11.6, 55.05))
    campaign, notes = read(tmp_path, [{"name": "a", "boundary": {"file": "a.geojson"}}])
    to_utm = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32632", always_xy=True)
    (x0, x1), (y0, y1) = to_utm.transform([11.5, 11.5], [54.99, 55.01])
    meridian = math.degrees(math.atan2(x1 - x0, y1 - y0)) % 360.0
    turned = site_of(campaign, searched=True).states()
    unturned = Campaign.from_data({**campaign.to_data(), "site": CAMPAIGN["site"]})
    plain = site_of(unturned, searched=True).states()
    assert plain.direction.tolist() == [0.0, 90.0, 180.0, 270.0]
    assert turned.direction[0] == pytest.approx(meridian, abs=2e-4)
    assert np.allclose(np.diff(turned.direction), -270.0 * (np.arange(3) == 0) + 90.0 * (np.arange(3) > 0))
    assert np.array_equal(turned.probability, plain.probability)
    assert any("grid north is 2.048 degrees east of true north" in note for note in notes)


def test_time_series_are_turned_too() -> None:
    series = {"wind_direction": [0.5, 350.0, 90.0], "wind_speed": [8, 9, 10], "turbulence_intensity": 0.1}
    site = {"time_series": series, "grid_convergence_deg": 2.0}
    states = site_of(campaign_of(site=site)).states()
    assert states.step is not None
    by_step = np.empty(3)
    by_step[states.step] = np.repeat(states.direction, np.diff(states.first))
    assert by_step == pytest.approx([358.5, 348.0, 88.0])


def test_a_campaign_that_says_the_convergence_keeps_it(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", shapely.box(11.4, 54.95, 11.6, 55.05))
    farms = [{"name": "a", "boundary": {"file": "a.geojson"}}]
    campaign, notes = read(tmp_path, farms, site=with_convergence(0.0))
    assert campaign.site.grid_convergence_deg == 0.0
    assert any("says grid_convergence_deg itself" in note for note in notes)


def test_only_a_convergence_other_than_zero_changes_fingerprints() -> None:
    before = campaign_of().fingerprints()
    assert campaign_of(site=with_convergence(0.0)).fingerprints() == before
    assert campaign_of(crs="EPSG:32632").fingerprints() == before
    assert campaign_of(site=with_convergence(1.0)).fingerprints() != before


def test_local_wind_and_convergence_are_refused_together() -> None:
    speedup = {"axes": ["x", "y"], "values": [[1.0, 1.0], [1.0, 1.0]]}
    local = {"x": [-1e4, 1e4], "y": [-1e4, 1e4], "speedup": speedup}
    campaign_of(site={**CAMPAIGN["site"], "local": local})
    with pytest.raises(CampaignError, match="cannot be used where the wind differs from place to place"):
        campaign_of(site={**with_convergence(1.0), "local": local})


@pytest.mark.parametrize("text", ["32632", "EPSG", "+proj=utm +zone=32", "EPSG:32632; rm", 32632])
def test_a_system_without_a_name_is_refused(text: Any) -> None:
    with pytest.raises(CampaignError, match="crs"):
        campaign_of(crs=text)
