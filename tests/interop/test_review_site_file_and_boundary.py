"""A boundary of a geographic file beside wind of a file: both read, and the wind turned to grid north."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.geo_files import AREA, loaded, write_geojson
from tests.interop.site_examples import TAB, wrg
from vindeby.errors import CampaignError

TI = {"turbulence_intensity": 0.08}
BOUNDARY = {"file": "a.geojson"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_geojson(tmp_path / "a.geojson", AREA)
    (tmp_path / "a.tab").write_text(TAB, encoding="utf-8")
    (tmp_path / "a.wrg").write_text(wrg(), encoding="utf-8")
    return tmp_path


def test_wind_of_a_file_is_turned_to_grid_north(folder: Path) -> None:
    site = loaded(folder, boundary=BOUNDARY, site={"file": "a.tab", **TI}).site
    assert site.table is not None
    assert site.grid_convergence_deg == pytest.approx(-0.635, abs=0.01)


def test_a_stated_turn_stays_beside_a_file(folder: Path) -> None:
    given = {"file": "a.tab", **TI, "grid_convergence_deg": 1.5}
    assert loaded(folder, boundary=BOUNDARY, site=given).site.grid_convergence_deg == 1.5


def test_local_wind_of_a_file_is_not_turned(folder: Path) -> None:
    with pytest.raises(CampaignError, match=r"outside the grid of the local wind"):
        loaded(folder, boundary=BOUNDARY, site={"file": "a.wrg", **TI})
