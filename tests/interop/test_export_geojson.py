"""GeoJSON, read back by GDAL and pyproj."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pyproj
import pytest
import shapely

from tests.interop.exports import AWKWARD, CRS, SOUTH, WEST, campaign, database, positions
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop.export.exporting import ExportOptions, export
from vindeby.results.result_set import ResultSet


@pytest.fixture(scope="module")
def asked() -> Campaign:
    return campaign()


@pytest.fixture(scope="module")
def results(asked: Campaign, tmp_path_factory: pytest.TempPathFactory) -> ResultSet:
    return ResultSet(database(tmp_path_factory.mktemp("db") / "layouts.h5", asked))


def read(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """The reference system that GDAL sees, and the features with their geometries."""
    meta, _, geometry, columns = pyogrio.raw.read(path)
    names = list(meta["fields"])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    shapes = shapely.from_wkb(geometry)
    return meta["crs"], [
        {**dict(zip(names, row, strict=True)), "geometry": shape}
        for row, shape in zip(rows, shapes, strict=True)
    ]


def in_metres(shape: Any) -> Any:
    back = pyproj.Transformer.from_crs("EPSG:4326", CRS, always_xy=True)
    return shapely.transform(shape, lambda xy: np.column_stack(back.transform(xy[:, 0], xy[:, 1])))


def test_turbines_are_where_they_were_within_a_millimetre(
    results: ResultSet, asked: Campaign, tmp_path: Path
) -> None:
    done = export(results, "geojson", tmp_path / "out.geojson", options=ExportOptions(crs=CRS))
    assert done.chosen.notes == []
    crs, features = read(done.path)
    assert crs == "EPSG:4326"
    for task in asked.tasks():
        mine = [one for one in features if one["kind"] == "turbine" and one["key"] == task.key]
        assert [one["turbine"] for one in mine] == list(range(task.n_turbines))
        found = np.array([in_metres(one["geometry"]).coords[0] for one in mine]).T
        assert np.abs(found - positions(asked, task)).max() < 1e-3
        assert [(one["x_m"], one["y_m"]) for one in mine] == list(
            map(tuple, positions(asked, task).T.tolist())
        )
        assert {one["farm"] for one in mine} == {asked.farms[task.farm_idx].name}
    mixed = [one for one in features if one["kind"] == "turbine" and one["key"] == "farm2_t0_s0"]
    assert [one["turbine_type"] for one in mixed] == ["table"] * 3 + ["cubic"] * 2
    assert [one["rotor_diameter_m"] for one in mixed] == [80.0] * 3 + [130.0] * 2


def test_areas_are_the_same_in_metres(results: ResultSet, asked: Campaign, tmp_path: Path) -> None:
    """Edges are straight in metres: the 9 km ones need points between their ends to be so in degrees too."""
    done = export(results, "geojson", tmp_path / "out.geojson", options=ExportOptions(crs=CRS))
    _, features = read(done.path)
    areas = [one for one in features if one["kind"] in ("boundary", "zone", "exclusion", "neighbour")]
    assert [one["kind"] for one in areas] == [
        *("boundary", "exclusion", "exclusion"),
        *("zone", "zone"),
        *("boundary", "neighbour"),
    ]
    outer = in_metres(areas[0]["geometry"])
    (ring,) = asked.farms[0].boundary.rings
    assert shapely.hausdorff_distance(outer, shapely.Polygon(ring)) < 0.11
    corners = shapely.MultiPoint(outer.exterior.coords)
    assert max(corners.distance(shapely.Point(corner)) for corner in ring) < 1e-3
    assert len(outer.exterior.coords) > 5
    hole = in_metres(areas[1]["geometry"])
    assert abs(hole.symmetric_difference(asked.farms[0].boundary.exclusions[0].shape()).area) < 1.0
    assert (areas[2]["radius_m"], areas[2]["center_x_m"]) == (250.0, WEST + 7000)
    assert [one["zone_name"] for one in areas[3:5]] == ["west", "east"]
    circle = in_metres(areas[5]["geometry"])
    assert circle.area == pytest.approx(np.pi * 2500**2, rel=2e-4)
    neighbour = in_metres(areas[6]["geometry"]).coords[0]
    assert np.hypot(neighbour[0] - WEST + 6000, neighbour[1] - SOUTH + 9000) < 1e-3


def test_the_file_is_geojson_by_rfc_7946(results: ResultSet, tmp_path: Path) -> None:
    done = export(results, "geojson", tmp_path / "out.geojson", ExportOptions(best=True, crs=CRS))
    data = json.loads(done.path.read_text(encoding="utf-8"))
    assert data["type"] == "FeatureCollection"
    assert "crs" not in data
    assert data["vindeby"]["campaign_crs"] == CRS
    assert data["features"][0]["properties"]["farm"] == AWKWARD
    for feature in data["features"]:
        shape: Any = shapely.geometry.shape(feature["geometry"])
        assert shape.is_valid
        assert feature["geometry"]["type"] == "Point" or shape.exterior.is_ccw
        west, south, east, north = shape.bounds
        assert 2.8 < west <= east < 3.2
        assert 52.2 < south <= north < 52.5


def test_metres_without_a_reference_system_are_refused(results: ResultSet, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"coordinate reference system.*--crs EPSG:32631"):
        export(results, "geojson", tmp_path / "out.geojson")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("crs", "told"),
    [
        ("EPSG:4326", "not a projection in metres"),
        ("EPSG:2276", "not a projection in metres"),
        ("EPSG:99999999", "not a known coordinate"),
        ("local", "not a known coordinate"),
        ("+proj=utm +zone=31", "not a known coordinate"),
    ],
)
def test_a_reference_system_that_is_not_metres_is_refused(
    results: ResultSet, tmp_path: Path, crs: str, told: str
) -> None:
    with pytest.raises(ArgumentError, match=told):
        export(results, "geojson", tmp_path / "out.geojson", options=ExportOptions(crs=crs))


def test_a_reference_system_made_for_another_area_is_told(results: ResultSet, tmp_path: Path) -> None:
    done = export(results, "geojson", tmp_path / "out.geojson", options=ExportOptions(crs="EPSG:27700"))
    assert any("outside the area that EPSG:27700 is made for" in note for note in done.chosen.notes)
