"""Overrides of what was read from files, and areas that would be made of too many points."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shapely

from tests.interop.geo_files import CAMPAIGN, refused, write_geojson
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError
from vindeby.interop.geo import crs


@pytest.mark.parametrize("field", ["site.file", "turbines.0.file", "farms.0.boundary.file"])
def test_a_file_cannot_be_overridden(tmp_path: Path, field: str) -> None:
    farms = [{"name": "a", "boundary": [[0, 0], [3000, 0], [3000, 3000]]}]
    (tmp_path / "c.yaml").write_text(json.dumps({**CAMPAIGN, "farms": farms}), encoding="utf-8")
    with pytest.raises(CampaignError, match=r"files have been read already; write the name of the file in"):
        Campaign.load(tmp_path / "c.yaml", [f"{field}=other.lib"])


def test_edges_that_need_too_many_points_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crs, "_MOST_IN_A_RING", 20)
    write_geojson(tmp_path / "a.geojson", shapely.box(8.0, 55.0, 9.0, 55.5))
    assert "its edges would need more than 20 points" in refused(tmp_path, boundary={"file": "a.geojson"})
