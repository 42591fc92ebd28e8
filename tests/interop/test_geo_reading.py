"""Areas from GeoJSON, shapefiles and GeoPackages: where they are put, by pyproj's own projection."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
from pyproj.aoi import AreaOfInterest
from pyproj.database import query_utm_crs_info

from tests.command import vindeby
from tests.interop.geo_files import (
    AREA,
    CORNERS,
    HOLE,
    collection,
    loaded,
    read,
    refused,
    write_any,
    write_geojson,
    write_vector,
)
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError
from vindeby.interop.geo.crs import TOLERANCE_M, utm_zone

pytestmark = pytest.mark.slow

FORMATS = ("a.geojson", "a.json", "a.shp", "a.zip", "a.gpkg", "a.kml", "a.gdb")
UTM_32 = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32632", always_xy=True)


def to_utm(points: Any, transformer: pyproj.Transformer = UTM_32) -> np.ndarray:
    return np.column_stack(transformer.transform(*np.array(points, float).T))


def square(longitude: float, latitude: float, size: float = 0.05) -> shapely.Polygon:
    return shapely.box(longitude, latitude, longitude + size, latitude + size)


def same_ring(found: Any, expected: Any, tolerance_m: float = 1e-3) -> bool:
    """Whether every expected corner is a vertex, and the other vertices lie between."""
    distances = np.hypot(*(np.array(found)[:, None] - np.array(expected)[None]).transpose(2, 0, 1))
    return bool((distances.min(axis=0) <= tolerance_m).all())


@pytest.mark.parametrize("name", FORMATS)
def test_an_area_in_degrees_is_put_where_pyproj_projects_it(tmp_path: Path, name: str) -> None:
    write_any(tmp_path / name, AREA, name=["north"])
    campaign, notes = read(tmp_path, [{"name": "a", "boundary": {"file": name}}])
    boundary = campaign.farms[0].boundary
    assert campaign.crs == "EPSG:32632"
    ring = np.array(boundary.rings[0])
    assert same_ring(ring, to_utm(CORNERS))
    assert same_ring(boundary.exclusions[0].polygon, to_utm(HOLE))
    fine = shapely.segmentize(AREA, 1e-4)
    expected = shapely.Polygon(to_utm(fine.exterior.coords), [to_utm(fine.interiors[0].coords)])
    assert abs(boundary.shape().area - expected.area) <= TOLERANCE_M * expected.length
    assert any("EPSG:32632 (WGS 84 / UTM zone 32N)" in note for note in notes)
    assert Campaign.loads(campaign.dumps()) == campaign


@pytest.mark.parametrize("name", FORMATS)
def test_edges_that_are_straight_in_degrees_are_followed_to_a_metre(tmp_path: Path, name: str) -> None:
    write_any(tmp_path / name, AREA)
    ring = shapely.LinearRing(loaded(tmp_path, {"file": name}).farms[0].boundary.rings[0])
    fine = shapely.segmentize(AREA.exterior, 0.0005)
    off = shapely.distance(ring, shapely.points(to_utm(fine.coords)))
    corners_only = shapely.LinearRing(to_utm(CORNERS))
    assert off.max() <= TOLERANCE_M
    assert shapely.distance(corners_only, shapely.points(to_utm(fine.coords))).max() > 5 * TOLERANCE_M
    assert same_ring(ring.coords, to_utm(CORNERS))
    assert len(ring.coords) < 30


@pytest.mark.parametrize("name", ["a.shp", "a.zip", "a.gpkg", "a.geojson"])
def test_metres_are_not_projected_again(tmp_path: Path, name: str) -> None:
    corners = [(484178.55, 5732482.8), (500129.9, 5737534.4), (501266.5, 5715990.05)]
    area = shapely.Polygon(corners)
    if name == "a.geojson":
        write_geojson(tmp_path / name, area, crs="urn:ogc:def:crs:EPSG::25831")
    else:
        write_vector(tmp_path / name, area, crs="EPSG:25831")
    campaign = loaded(tmp_path, {"file": name})
    assert campaign.crs == "EPSG:25831"
    ring = campaign.farms[0].boundary.rings[0]
    assert set(ring) == set(corners)


def test_what_a_file_does_not_say_can_be_stated(tmp_path: Path) -> None:
    write_vector(tmp_path / "a.shp", shapely.box(5e5, 57e5, 5.1e5, 57.1e5), crs=None)
    assert not (tmp_path / "a.prj").exists()
    campaign = loaded(tmp_path, {"file": "a.shp", "crs": "EPSG:25831"})
    assert campaign.crs == "EPSG:25831"
    assert campaign.farms[0].boundary.area_km2 == pytest.approx(100.0)
    write_geojson(tmp_path / "a.geojson", shapely.box(5e5, 57e5, 5.1e5, 57.1e5))
    assert loaded(tmp_path, {"file": "a.geojson", "crs": "EPSG:25831"}).crs == "EPSG:25831"


@pytest.mark.parametrize(
    ("longitude", "latitude"),
    [(2.9, 51.7), (5.97, 53.0), (6.02, 53.0), (-70.5, 40.9), (18.0, -34.3), (179.9, -40.0), (-180.0, 10.0),
     (4.0, 60.5), (8.9, 61.0), (16.0, 78.0), (-0.01, 0.5), (0.01, -0.5)],
)  # fmt: skip
def test_the_zone_is_the_one_that_pyproj_names(longitude: float, latitude: float) -> None:
    point = AreaOfInterest(longitude, latitude, longitude, latitude)
    named = query_utm_crs_info(datum_name="WGS 84", area_of_interest=point)
    zone = utm_zone(longitude, latitude)
    assert zone is not None
    assert zone.to_epsg() in [int(one.code) for one in named]


def test_all_farms_of_a_campaign_are_in_the_zone_of_their_middle(tmp_path: Path) -> None:
    # 5.2 to 6.55 degrees: the border of zones 31 and 32 is at 6, the middle before it.
    write_geojson(tmp_path / "a.geojson", square(5.2, 53.0), square(6.5, 53.0), name=["west", "east"])
    campaign, notes = read(tmp_path, {"file": "a.geojson"})
    assert campaign.crs == "EPSG:32631"
    to_31 = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32631", always_xy=True)
    for farm, west in zip(campaign.farms, (5.2, 6.5), strict=True):
        corners = [(west, 53.0), (west + 0.05, 53.0), (west + 0.05, 53.05), (west, 53.05)]
        assert same_ring(farm.boundary.rings[0], to_utm(corners, to_31))
    assert [farm.name for farm in campaign.farms] == ["west", "east"]
    assert sum("coordinates are metres of EPSG:32631" in note for note in notes) == 1


def test_a_file_names_a_farm_of_each_feature_with_its_amount(tmp_path: Path) -> None:
    areas = [square(8.0 + 0.1 * i, 55.0) for i in range(3)]
    write_vector(tmp_path / "a.gpkg", *areas, TENDER=["N", "S", "W"], mw=[10.0, 20.0, 30.5], layer="tender")
    write_vector(tmp_path / "a.gpkg", shapely.Point(8, 55), layer="points", append=True)
    farms = {
        "file": "a.gpkg",
        "layer": "tender",
        "name": "tender",
        "capacity_mw": "mw",
        "features": ["W", "N"],
    }
    campaign, _ = read(tmp_path, farms)
    assert [(farm.name, farm.capacity_mw) for farm in campaign.farms] == [("W", 30.5), ("N", 10.0)]
    assert campaign.farms[0].boundary.rings[0] != campaign.farms[1].boundary.rings[0]
    named = loaded(tmp_path, {"file": "a.gpkg", "layer": "tender", "feature": {"TENDER": "W"}})
    assert named.farms[0].boundary == campaign.farms[0].boundary


@pytest.mark.parametrize("feature", [1, "south", {"id": 17}, {"ID": 17.0}])
def test_a_feature_is_chosen_by_number_name_or_field(tmp_path: Path, feature: Any) -> None:
    write_geojson(tmp_path / "a.geojson", square(8, 55), square(8.2, 55), name=["north", "south"], id=[3, 17])
    ring = loaded(tmp_path, {"file": "a.geojson", "feature": feature}).farms[0].boundary.rings[0]
    assert same_ring(ring, to_utm([(8.2, 55), (8.25, 55.05)]))


def test_several_polygons_are_several_rings(tmp_path: Path) -> None:
    parts = shapely.MultiPolygon([square(8, 55), square(8.2, 55)])
    write_vector(tmp_path / "a.gpkg", parts)
    one = loaded(tmp_path, {"file": "a.gpkg"}).farms[0].boundary
    write_geojson(tmp_path / "a.geojson", square(8, 55), square(8.2, 55))
    other = loaded(tmp_path, {"file": "a.geojson", "feature": "all"}).farms[0].boundary
    assert len(one.rings) == 2
    assert one.area_km2 == pytest.approx(other.area_km2, rel=1e-9)


def test_different_systems_are_brought_to_one(tmp_path: Path) -> None:
    to_25832 = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:25832", always_xy=True)
    metres = shapely.Polygon(to_utm([(8.2, 55.0), (8.25, 55.0), (8.25, 55.05)], to_25832))
    write_vector(tmp_path / "metres.shp", metres, crs="EPSG:25832")
    write_geojson(tmp_path / "degrees.geojson", square(8.0, 55.0))
    farms = [{"name": name, "boundary": {"file": name}} for name in ("metres.shp", "degrees.geojson")]
    campaign, notes = read(tmp_path, farms)
    assert campaign.crs == "EPSG:25832"  # the one in metres is left as it is
    assert set(campaign.farms[0].boundary.rings[0]) == set(map(tuple, metres.exterior.coords[:-1]))
    assert same_ring(campaign.farms[1].boundary.rings[0], to_utm([(8.0, 55.0), (8.05, 55.05)], to_25832))
    assert any("degrees.geojson: projected from OGC:CRS84 to EPSG:25832" in note for note in notes)
    stated, _ = read(tmp_path, farms, crs="EPSG:32633")
    assert stated.crs == "EPSG:32633"
    to_33 = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32633", always_xy=True)
    for farm, corner in zip(stated.farms, ([8.2, 55.0], [8.0, 55.0]), strict=True):
        assert same_ring(farm.boundary.rings[0], to_utm([corner], to_33))


@pytest.mark.parametrize(
    ("crs", "zone"), [("EPSG:2263", "EPSG:32618"), ("EPSG:3857", "EPSG:32618"), ("EPSG:4269", "EPSG:32618")]
)
def test_feet_and_web_mercator_are_no_metres(tmp_path: Path, crs: str, zone: str) -> None:
    corners = [(-73.9, 40.2), (-73.8, 40.2), (-73.8, 40.3), (-73.9, 40.3)]
    there = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    write_vector(tmp_path / "a.gpkg", shapely.Polygon(to_utm(corners, there)), crs=crs)
    campaign = loaded(tmp_path, {"file": "a.gpkg"})
    assert campaign.crs == zone
    expected = to_utm(corners, pyproj.Transformer.from_crs("EPSG:4326", zone, always_xy=True))
    # Between the datums WGS 84 and NAD83 lie up to 2 m.
    assert same_ring(campaign.farms[0].boundary.rings[0], expected, 2.5)


def test_the_antimeridian_and_the_southern_hemisphere(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", square(179.9, -40.0), square(-179.9, -40.0), name=["w", "e"])
    campaign, _ = read(tmp_path, {"file": "a.geojson"})
    assert campaign.crs == "EPSG:32701"
    x = [np.mean([x for x, _ in farm.boundary.rings[0]]) for farm in campaign.farms]
    assert x[1] - x[0] == pytest.approx(0.2 * 111_320 * np.cos(np.radians(40)), rel=0.01)
    assert min(y for farm in campaign.farms for _, y in farm.boundary.rings[0]) > 5e6


def test_exclusions_and_neighbours_come_from_files_too(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", square(8, 55))
    write_vector(tmp_path / "cables.gpkg", square(8.01, 55.01, 0.005), square(8.03, 55.03, 0.005))
    points = [shapely.Point(8.1, 55.01), shapely.Point(8.11, 55.02)]
    write_vector(tmp_path / "built.shp", *points, type=["v80", "v80"])
    farm = {"name": "a", "boundary": {"file": "a.geojson", "exclusions": [{"file": "cables.gpkg"}]}}
    campaign, _ = read(tmp_path, [farm], neighbours={"file": "built.shp"})
    assert len(campaign.farms[0].boundary.exclusions) == 2
    group = campaign.groups[0]
    assert np.allclose(group.positions, to_utm([(one.x, one.y) for one in points]), rtol=0, atol=1e-3)
    assert (group.source, group.type_names) == ("built.shp", ("v80", "v80"))


def test_neighbours_in_an_axis_are_in_the_system_of_the_campaign(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", square(8.05, 55.05))
    points = [shapely.Point(8.2, 55.01), shapely.Point(8.21, 55.02)]
    write_vector(tmp_path / "built.shp", *points, type=["v80", "v80"])
    area: dict[str, Any] = {"file": "a.geojson"}
    values: dict[str, Any] = {"none": "none", "built": {"file": "built.shp"}}
    built = loaded(tmp_path, area, vary={"neighbours": values}).variants[1].groups[0]
    in_utm = to_utm([(one.x, one.y) for one in points])
    assert np.allclose(built.positions, in_utm, rtol=0, atol=1e-3)
    values["planned"] = {"positions": in_utm.tolist(), "type": "v80"}
    told = refused(tmp_path, area, vary={"neighbours": values})
    assert "vary.neighbours.planned: is in metres" in told
    planned = loaded(tmp_path, area, vary={"neighbours": values}, crs="EPSG:32632").variants[2].groups[0]
    assert planned.positions == tuple(map(tuple, in_utm.tolist()))


def test_the_command_says_the_system_and_grid_north(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", AREA)
    loaded(tmp_path, {"file": "a.geojson"})
    done = vindeby(tmp_path, "check", "c.yaml")
    assert done.returncode == 0, done.stderr
    assert "note: coordinates are metres of EPSG:32632 (WGS 84 / UTM zone 32N)" in done.stderr
    assert "degrees west of true north" in done.stderr


def test_the_command_says_where_the_middle_of_each_farm_is(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", square(8.0, 55.0), square(8.2, 55.0), name=["west", "east"])
    read(tmp_path, {"file": "a.geojson"})
    told = vindeby(tmp_path, "check", "c.yaml").stdout
    assert re.search(r"^west is around 55.025\d N, 8.025\d E \(EPSG:32632\)$", told, re.MULTILINE)
    assert re.search(r"^east is around 55.025\d N, 8.225\d E \(EPSG:32632\)$", told, re.MULTILINE)
    write_geojson(
        tmp_path / "a.geojson", shapely.box(-55.05, -8.05, -55.0, -8.0)
    )  # latitude before longitude
    read(tmp_path, {"file": "a.geojson"})
    assert "a 0 is around 8.0250 S, 55.0250 W (EPSG:32721)" in vindeby(tmp_path, "check", "c.yaml").stdout
    metres = [[5e5, 57e5], [5.1e5, 57e5], [5.1e5, 57.1e5]]
    read(tmp_path, [{"name": "stated", "boundary": metres}], crs="EPSG:25831")
    assert "stated is around 51.49" in vindeby(tmp_path, "check", "c.yaml").stdout
    found = json.loads(vindeby(tmp_path, "check", "--json", "c.yaml").stdout)["middles_deg"]
    assert found == [[pytest.approx(51.49, abs=0.02), pytest.approx(3.07, abs=0.02)]]
    read(tmp_path, [{"name": "nowhere", "boundary": metres}])
    assert "is around" not in vindeby(tmp_path, "check", "c.yaml").stdout


@pytest.mark.parametrize("name", ["a.geojson", "a.kml"])
def test_heights_are_ignored_and_reported(tmp_path: Path, name: str) -> None:
    write_any(tmp_path / name, square(8.2, 55.1))
    assert not any(
        "heights" in note for note in read(tmp_path, [{"name": "a", "boundary": {"file": name}}])[1]
    )
    (tmp_path / name).unlink()
    write_any(tmp_path / name, shapely.force_3d(square(8.2, 55.1), 10.0))
    assert f"{name}: heights are ignored" in read(tmp_path, [{"name": "a", "boundary": {"file": name}}])[1]


@pytest.mark.parametrize("name", ["a.geojson", "a.gpkg"])
def test_a_ring_whose_ends_almost_meet_is_closed_and_reported(tmp_path: Path, name: str) -> None:
    corners = [(5e5, 57e5), (5.1e5, 57e5), (5.1e5, 57.1e5), (5e5, 57.1e5)]
    hole = shapely.box(5.02e5, 57.02e5, 5.03e5, 57.03e5).exterior.coords
    near = shapely.Polygon([*corners, (5e5, 57e5 + 0.3), (5e5, 57e5 + 0.03)], [hole])
    assert near.is_valid
    write_any(tmp_path / name, near, crs="EPSG:25832")
    campaign, notes = read(tmp_path, [{"name": "a", "boundary": {"file": name}}])
    assert set(campaign.farms[0].boundary.rings[0]) == set(corners)
    assert f"{name}: a ring ended 0.3 m before its first vertex; it is closed there" in notes
    assert len(campaign.farms[0].boundary.exclusions) == 1


def test_only_the_features_that_are_used_are_judged(tmp_path: Path) -> None:
    bow_tie = shapely.Polygon([(8.0, 55.0), (8.1, 55.1), (8.1, 55.0), (8.0, 55.1)])
    metres, areas = shapely.box(5e5, 57e5, 5.1e5, 57.1e5), [square(8.0, 55.0), square(8.2, 55.0), bow_tie]
    fields = {"NAME": ["north", None, "tie", "metres", "odd"], "mw": [10, None, "few", 1, 2]}
    data = collection(*areas, metres, {"type": "Polygon", "coordinates": [[[8], [9], [8]]]}, **fields)
    (tmp_path / "a.geojson").write_text(json.dumps(data), encoding="utf-8")
    campaign, _ = read(tmp_path, {"file": "a.geojson", "capacity_mw": "mw", "features": ["north"]})
    assert [(farm.name, farm.capacity_mw) for farm in campaign.farms] == [("north", 10)]
    assert loaded(tmp_path, {"file": "a.geojson", "feature": {"NAME": "north"}}).farms[0].name == "a"
    for wanted, words in (
        ("tie", "Self-intersection"),
        ("metres", "feature 3 has a position that is not a longitude and latitude"),
        ("odd", "feature 4 has a geometry that is not GeoJSON"),
    ):
        assert words in refused(tmp_path, {"file": "a.geojson", "feature": {"NAME": wanted}})
    with pytest.raises(CampaignError, match="feature 1 has no NAME"):
        read(tmp_path, {"file": "a.geojson"})


def test_two_features_of_one_name_are_not_taken_for_one(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", square(8, 55), square(8.2, 55), name=["n", "n"])
    with pytest.raises(CampaignError, match="2 features have this name, 'n'"):
        read(tmp_path, {"file": "a.geojson", "features": ["n"]})


def test_fields_in_latin_1_beside_a_cpg_of_utf_8_are_read_and_reported(tmp_path: Path) -> None:
    write_vector(tmp_path / "a.shp", square(8, 55), NAME=["S\u00f8nder"])
    fields = (tmp_path / "a.dbf").read_bytes()
    assert (tmp_path / "a.cpg").read_text() == "UTF-8"
    latin = "S\u00f8nder".encode("latin-1") + b" "
    (tmp_path / "a.dbf").write_bytes(fields.replace("S\u00f8nder".encode(), latin))
    campaign, notes = read(tmp_path, {"file": "a.shp"})
    assert campaign.farms[0].name == "S\u00f8nder"
    assert "a.shp: its fields are not in the encoding that it states; they are read as ISO-8859-1" in notes


def test_a_stated_system_replaces_one_with_an_unknown_datum(tmp_path: Path) -> None:
    write_vector(tmp_path / "a.shp", square(8, 55))
    (tmp_path / "a.prj").write_text(
        'GEOGCS["Plant",DATUM["D_Plant",SPHEROID["Own",6378200.0,298.3]],PRIMEM["Greenwich",0.0],'
        'UNIT["Degree",0.0174532925199433]]'
    )
    told = refused(tmp_path, {"file": "a.shp"})
    assert (
        "a.shp: farms[0].boundary: its system, Plant, has a datum that is not known; say it with crs:" in told
    )
    campaign, notes = read(tmp_path, [{"name": "a", "boundary": {"file": "a.shp", "crs": "EPSG:4326"}}])
    assert same_ring(campaign.farms[0].boundary.rings[0], to_utm([(8, 55), (8.05, 55.05)]))
    assert "a.shp: its system, Plant, has a datum that is not known; crs: EPSG:4326 is used" in notes


@pytest.mark.parametrize("name", ["a.kml", "a.gdb"])
def test_farms_neighbours_and_layers_come_from_kml_and_file_geodatabases(tmp_path: Path, name: str) -> None:
    areas = [square(8.0, 55.0), square(8.2, 55.0)]
    write_vector(tmp_path / name, *areas, Name=["north", "south"], mw=[10.0, 20.5], layer="tender")
    farms = {"file": name, "capacity_mw": "mw", "features": ["south"]}
    campaign, _ = read(tmp_path, farms)
    assert [(farm.name, farm.capacity_mw) for farm in campaign.farms] == [("south", 20.5)]
    assert same_ring(campaign.farms[0].boundary.rings[0], to_utm([(8.2, 55), (8.25, 55.05)]))
    write_vector(tmp_path / f"built{name}", shapely.Point(8.1, 55.01))
    built, _ = read(tmp_path, farms, neighbours={"file": f"built{name}", "type": "v80"})
    assert np.allclose(built.groups[0].positions, to_utm([(8.1, 55.01)]), rtol=0, atol=1e-3)
    with pytest.raises(CampaignError, match="is not a layer of the file"):
        read(tmp_path, {**farms, "layer": "other"})


def test_one_of_several_shapefiles_in_an_archive_is_a_layer_of_it(tmp_path: Path) -> None:
    for name, longitude in (("north", 8.0), ("south", 8.2)):
        write_vector(tmp_path / f"{name}.shp", square(longitude, 55.0))
    parts = sorted(tmp_path.iterdir())
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for part in parts:
            archive.write(part, f"tender\\{part.stem}{part.suffix.upper()}")
    ring = loaded(tmp_path, {"file": "a.zip", "layer": "south"}).farms[0].boundary.rings[0]
    assert same_ring(ring, to_utm([(8.2, 55), (8.25, 55.05)]))
    assert "holds 2 layers; say which with layer: north, south" in refused(tmp_path, {"file": "a.zip"})
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as archive:
        archive.write(tmp_path / "south.shp", "older/south.shp")
    told = refused(tmp_path, {"file": "a.zip", "layer": "south"})
    assert "holds two files of one name, in different folders" in told
