"""Geographic files that are refused, each with its reason, and nothing of their content where they hold no area."""

from __future__ import annotations

import json
import os
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shapely

from tests.campaign.test_boundary_privacy import CONTENTS, SECRET
from tests.interop.geo_files import (
    AREA,
    collection,
    loaded,
    read,
    refused,
    write_any,
    write_geojson,
    write_vector,
)
from vindeby.errors import CampaignError, InputError
from vindeby.interop.geo import vector_files

BOW_TIE = shapely.Polygon([(8.0, 55.0), (8.1, 55.1), (8.1, 55.0), (8.0, 55.1)])
METRES = shapely.box(5e5, 57e5, 5.1e5, 57.1e5)
ISLAND = shapely.box(8, 55, 8.3, 55.3).difference(shapely.box(8.1, 55.1, 8.2, 55.2)) | shapely.box(
    8.14, 55.14, 8.16, 55.16
)


def polygon(*positions: Any) -> dict[str, Any]:
    return collection({"type": "Polygon", "coordinates": [list(positions)]})


NOT_GEOJSON = "feature 0 has a geometry that is not GeoJSON"
OUTER, WRONG_HOLE = [[8, 55], [9, 55], [9, 56], [8, 55]], [[8.7, 55.2], [8.8], [8.8, 55.3], [8.7, 55.2]]
GEOJSON: dict[str, tuple[Any, str]] = {
    "not JSON": (f"{{{SECRET}", "is not valid JSON in line 1"),
    "no GeoJSON": ({SECRET: 1}, "is not GeoJSON: it has no type"),
    "a list": ([[1, 2]], "is not GeoJSON"),
    "no features": ({"type": "FeatureCollection", "features": []}, "holds no features"),
    "features of another kind": ({"type": "FeatureCollection", "features": SECRET}, "or no list of features"),
    "no object": ({"type": "FeatureCollection", "features": [SECRET]}, "feature 0 is not a GeoJSON object"),
    "unknown kind": (collection({"type": SECRET}), NOT_GEOJSON),
    "properties": (
        {"type": "Feature", "properties": SECRET, "geometry": None},
        "feature 0 is not a GeoJSON object",
    ),
    "null geometry": ({"type": "Feature", "properties": {}, "geometry": None}, "feature 0 has no geometry;"),
    "line": (collection(shapely.LineString([(8, 55), (8.1, 55)])), "feature 0 is a LineString"),
    "point": (collection(shapely.Point(8, 55)), "feature 0 is a Point, and an area needs polygons"),
    "self-crossing": (collection(BOW_TIE), "not a valid polygon: Self-intersection[8.05 55.05]"),
    "part in a hole": (collection(ISLAND), "a part that lies in the hole of another part"),
    "text": (polygon([8, 55], [8.1, SECRET], [8.1, 55.1], [8, 55]), NOT_GEOJSON),
    "one number": (polygon([8], [8.1, 55], [8.1, 55.1], [8]), NOT_GEOJSON),
    "true": (polygon([8, True], [8.1, 55], [8.1, 55.1], [8, True]), NOT_GEOJSON),
    "hole": (collection({"type": "Polygon", "coordinates": [OUTER, WRONG_HOLE]}), NOT_GEOJSON),
    "two vertices": (polygon([8, 55], [8.1, 55]), NOT_GEOJSON),
    "not nested": (collection({"type": "Polygon", "coordinates": [8, 55]}), NOT_GEOJSON),
    "NaN": ('{"type": "Feature", "geometry": NaN}', "is not valid JSON"),
    "infinite": (polygon([8, 1e999], [8.1, 55], [8.1, 55.1], [8, 55]), "is not valid JSON"),
    "deep": ('{"type": "Feature", "geometry": ' + "[" * 100_000, "JSON"),
    "metres": (collection(METRES), "feature 0 has a position that is not a longitude and latitude"),
    "past 180": (collection(shapely.box(185, 55, 186, 56)), "feature 0 has a position that is not a longitude"),
    "across the antimeridian": (
        polygon([179.8, -16], [-179.8, -16], [-179.8, -15.8], [179.8, -15.8], [179.8, -16]),
        "feature 0 has an edge from longitude 179.8 to -179.8, around the Earth",
    ),
    "swapped": (
        polygon([55, 108], [55.1, 108], [55.1, 108.1], [55, 108]),
        "feature 0 has a position that is not a longitude and latitude",
    ),
    "unknown crs": (
        {**collection(AREA), "crs": {"type": "name", "properties": {"name": SECRET}}},
        "its crs member names no known coordinate reference system",
    ),
    "linked crs": (
        {**collection(AREA), "crs": {"type": "link", "properties": {"href": SECRET}}},
        "its crs member names no known coordinate reference system",
    ),
    "several": (collection(AREA, AREA), "holds 2 features; the campaign does not say which of them is meant"),
    "pole": (collection(shapely.box(8, 85, 9, 86)), "does not lie in a UTM zone"),
    "a sixth of the globe": (
        collection(shapely.box(8, 55, 68, 56)),
        "EPSG:32637 is not true to scale where the data are",
    ),
    "binary": (b"\xff\xfe\x00", "is not valid JSON"),
}  # fmt: skip


@pytest.mark.parametrize("case", GEOJSON)
def test_broken_geojson_is_refused(tmp_path: Path, case: str) -> None:
    content, words = GEOJSON[case]
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    (tmp_path / "a.geojson").write_bytes(text.encode() if isinstance(text, str) else text)
    told = refused(tmp_path, {"file": "a.geojson"})
    assert words in told
    assert SECRET not in told
    assert "a.geojson: farms[0].boundary" in told or "c.yaml: farms" in told


def _without(suffix: str) -> Callable[[Path], object]:
    return lambda path: path.with_suffix(suffix).unlink()


def _overwrite(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def _without_tables(path: Path) -> None:
    for part in path.glob("*.gdbtabl*"):
        part.unlink()


VECTOR: dict[str, tuple[str, Any, Callable[[Path], object] | None, str]] = {
    "no shapefile": ("a.shp", AREA, _overwrite(SECRET.encode()), "is not a shapefile"),
    "no .shx": ("a.shp", AREA, _without(".shx"), "its .shx is missing"),
    "no .prj": (
        "a.shp",
        AREA,
        _without(".prj"),
        "names no coordinate reference system (a shapefile has it in its .prj)",
    ),
    "cut": ("a.shp", AREA, _cut, "cannot be read: damaged"),
    "crossing": ("a.shp", BOW_TIE, None, "Self-intersection[8.05 55.05]"),
    "lines": ("a.shp", shapely.LineString([(8, 55), (8.1, 55)]), None, "is a LineString"),
    "points": ("a.shp", shapely.Point(8, 55), None, "feature 0 is a Point"),
    "no zip": ("a.zip", AREA, _overwrite(SECRET.encode()), "is not a zip file"),
    "zip that is cut": ("a.zip", AREA, _cut, "is not a zip file"),
    "no GeoPackage": ("a.gpkg", AREA, _overwrite(b"SQLite format 3\0" + b"\0" * 100), "is not a GeoPackage"),
    "VRT": ("a.gpkg", AREA, _overwrite(b"<OGRVRTDataSource/>"), "is not a GeoPackage"),
    "damaged": (
        "a.gpkg",
        AREA,
        lambda path: _overwrite(path.read_bytes()[:4096])(path),
        "cannot be read",
    ),
    "no KML": ("a.kml", AREA, _overwrite(f"<gpx>{SECRET}</gpx>".encode()), "is not KML"),
    "KML with entities": (
        "a.kml",
        AREA,
        lambda path: path.write_text('<!DOCTYPE kml [<!ENTITY a "b">]>' + path.read_text()[40:]),
        "is not KML",
    ),
    "KML that is cut": ("a.kml", AREA, _cut, "cannot be read as KML"),
    "no geodatabase": ("a.gdb", AREA, _without_tables, "is not a file geodatabase"),
    "geodatabase that is cut": (
        "a.gdb",
        AREA,
        lambda path: _overwrite(SECRET.encode())(path / "a00000001.gdbtable"),
        "cannot be read as a file geodatabase",
    ),
    "crossing polygon": ("a.gpkg", BOW_TIE, None, "Self-intersection[8.05 55.05]"),
    "a line": ("a.gpkg", shapely.LineString([(8, 55), (8.1, 55)]), None, "is a LineString"),
    "open elsewhere": (
        "a.gpkg",
        AREA,
        lambda path: path.with_name("a.gpkg-wal").write_text("x"),
        "is open in another program",
    ),
}


@pytest.mark.parametrize("case", VECTOR)
def test_broken_files_of_gdal_are_refused(tmp_path: Path, case: str) -> None:
    name, geometry, harm, words = VECTOR[case]
    write_vector(tmp_path / name, geometry)
    if harm is not None:
        harm(tmp_path / name)
    told = refused(tmp_path, {"file": name})
    assert words in told
    assert SECRET not in told
    assert f"{name}: farms[0].boundary" in told


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"file": "none.geojson"}, "boundary.file: no such file"),
        ({"file": "a.geojson", "polygon": [[0, 0], [1, 0], [1, 1]]}, "has no meaning beside a geographic file"),
        ({"file": "a.geojson", "crs": "EPSG:25832"}, "the file says EPSG:4326 itself"),
        ({"file": "a.geojson", "crs": "+proj=utm +zone=32"}, "is not a known coordinate reference system"),
        ({"file": "a.geojson", "crs": 4326}, "must be text"),
        ({"file": "a.geojson", "layer": "a"}, "a .geojson file has no layers"),
        ({"file": "a.geojson", "feature": 5}, "the last is 0, counted from 0"),
        ({"file": "a.geojson", "feature": "x"}, "no feature has this name"),
        ({"file": "a.geojson", "feature": {"kind": 1}}, "the features have no field 'kind'; there are: name"),
        ({"file": "a.geojson", "feature": [1]}, "is not a way to choose a feature"),
        ({"file": "a.gpkg"}, "holds 2 layers; say which with layer: one, two"),
        ({"file": "a.gpkg", "layer": "three"}, "is not a layer of the file (got 'three'); there are: one, two"),
        ({"file": "a.gpkg", "layer": "two", "exclusions": {"file": "holed.geojson"}}, "an exclusion has a hole"),
    ],
)  # fmt: skip
def test_what_is_asked_of_a_file_must_make_sense(tmp_path: Path, named: dict[str, Any], words: str) -> None:
    write_geojson(tmp_path / "a.geojson", shapely.box(8, 55, 8.1, 55.1), crs="EPSG:4326", name=["n"])
    write_geojson(tmp_path / "holed.geojson", AREA)
    write_vector(tmp_path / "a.gpkg", AREA, layer="one")
    write_vector(tmp_path / "a.gpkg", AREA, layer="two", append=True)
    assert words in refused(tmp_path, named)


@pytest.mark.parametrize(
    ("farms", "words"),
    [
        ({"file": "a.csv"}, "is not a geographic file"),
        ({"file": 3}, "farms.file: must be the path of a file"),
        ({"file": "a.geojson", "name": "kind"}, "the features have no field 'kind'"),
        ({"file": "a.geojson", "name": "empty"}, "feature 0 has no empty"),
        ({"file": "a.geojson", "features": ["x"]}, "no feature has this name, 'x'"),
        ({"file": "a.geojson", "n_turbines": "name"}, "feature 0: name is not a number"),
        ({"file": "a.geojson", "search": "together"}, "has no meaning beside a geographic file"),
    ],
)
def test_farms_of_a_file_must_make_sense(tmp_path: Path, farms: dict[str, Any], words: str) -> None:
    areas = [shapely.box(8 + i, 55, 8.1 + i, 55.1) for i in (0, 1)]
    write_geojson(tmp_path / "a.geojson", *areas, name=["n", "m"], empty=[None, " "])
    (tmp_path / "a.csv").write_text("x,y\n")
    with pytest.raises(CampaignError) as caught:
        read(tmp_path, farms)
    assert words in str(caught.value)


def test_metres_beside_degrees_need_a_system(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", shapely.box(9, 55, 9.1, 55.1))
    neighbours = {"type": "v80", "positions": [[520_000, 6_100_000]]}
    told = refused(tmp_path, {"file": "a.geojson"}, neighbours=neighbours)
    assert "neighbours: is in metres, and other parts are read from a geographic file" in told
    campaign = loaded(tmp_path, {"file": "a.geojson"}, neighbours=neighbours, crs="EPSG:25832")
    assert campaign.crs == "EPSG:25832"


@pytest.mark.parametrize(
    ("crs", "words"),
    [
        ("EPSG:4326", "is not a system of metres"),
        ("EPSG:3857", "not true to scale"),
        ("EPSG:99999", "is not a known"),
    ],
)
def test_a_campaign_is_in_true_metres(tmp_path: Path, crs: str, words: str) -> None:
    write_geojson(tmp_path / "a.geojson", shapely.box(9, 55, 9.1, 55.1))
    assert words in refused(tmp_path, {"file": "a.geojson"}, crs=crs)


def test_latitude_before_longitude_is_noticed_beside_the_rest(tmp_path: Path) -> None:
    write_geojson(tmp_path / "right.geojson", shapely.box(8, 55, 8.1, 55.1))
    write_geojson(tmp_path / "wrong.geojson", shapely.box(55, 8.2, 55.1, 8.3))
    farms = [{"name": name, "boundary": {"file": f"{name}.geojson"}} for name in ("right", "wrong")]
    write_vector(tmp_path / "points.gpkg", shapely.Point(8.3, 55.2))
    with pytest.raises(CampaignError) as caught:
        read(tmp_path, farms, neighbours={"file": "points.gpkg", "type": "v80"})
    assert "wrong.geojson: farms[1].boundary: lies 66 degrees from the middle" in str(caught.value)
    assert "write longitude before latitude" in str(caught.value)


def test_files_that_are_no_files_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.geojson")
    assert "not a regular file" in refused(tmp_path, {"file": "a.geojson"})
    (tmp_path / "b.gpkg").mkdir()
    assert "this is a folder" in refused(tmp_path, {"file": "b.gpkg"})
    write_vector(tmp_path / "c.shp", AREA)
    (tmp_path / "c.dbf").unlink()
    os.mkfifo(tmp_path / "c.dbf")
    assert "not a regular file" in refused(tmp_path, {"file": "c.shp"})


def test_archives_do_not_lead_out_nor_unpack_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vector(tmp_path / "a.zip", AREA)
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as archive:
        archive.writestr("../../evil.prj", b"")
        archive.writestr(f"{'long' * 200}.prj", b"")
    loaded(tmp_path, {"file": "a.zip"})
    assert not list(tmp_path.parent.rglob("evil*"))
    monkeypatch.setattr(vector_files, "MAX_BYTES", 100_000)
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.shp", bytes(1_000_000))
    assert (tmp_path / "b.zip").stat().st_size < 10_000
    assert "has more than the 100,000 bytes" in refused(tmp_path, {"file": "b.zip"})
    content = bytearray((tmp_path / "b.zip").read_bytes())
    for at in (content.find(b"PK\1\2") + 24, 22):  # an archive that lies about the size
        content[at : at + 4] = (10).to_bytes(4, "little")
    (tmp_path / "c.zip").write_bytes(content)
    assert "zip file" in refused(tmp_path, {"file": "c.zip"})
    (tmp_path / "d.geojson").write_text(" " * 200_000)
    assert "more than the 100,000 that are read" in refused(tmp_path, {"file": "d.geojson"})
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("readme.txt", SECRET)
    told = refused(tmp_path, {"file": "e.zip"})
    assert "holds no shapefile" in told
    assert SECRET not in told
    (tmp_path / "g.gdb").mkdir()
    for number in range(1001):
        (tmp_path / f"g.gdb/a{number:08x}.gdbtable").touch()
    assert "is not a file geodatabase" in refused(tmp_path, {"file": "g.gdb"})


def test_features_with_fields_of_their_own_take_little_memory(tmp_path: Path) -> None:
    features = collection(*[AREA] * 500)["features"]
    for number, feature in enumerate(features):
        feature["properties"] = {f"{number} {one}": 1 for one in range(100)}
    text = json.dumps({"type": "FeatureCollection", "features": features})
    (tmp_path / "a.geojson").write_text(text, encoding="utf-8")
    tracemalloc.start()
    try:
        loaded(tmp_path, {"file": "a.geojson", "feature": 0})
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def test_systems_are_not_overridden_after_reading(tmp_path: Path) -> None:
    from vindeby.campaign import Campaign

    write_geojson(tmp_path / "a.geojson", AREA)
    loaded(tmp_path, {"file": "a.geojson"})
    with pytest.raises(CampaignError, match="coordinates have been read already"):
        Campaign.load(tmp_path / "c.yaml", ["crs=EPSG:25832"])


@pytest.mark.parametrize("suffix", [".geojson", ".shp", ".zip", ".gpkg", ".kml"])
def test_no_message_shows_the_content_of_a_file_that_is_no_boundary(suffix: str, tmp_path: Path) -> None:
    for case, content in CONTENTS.items():
        (tmp_path / f"other{suffix}").write_text(content)
        told = refused(tmp_path, {"file": f"other{suffix}"})
        assert SECRET not in told, case
        assert f"other{suffix}: farms[0].boundary: " in told, case


@pytest.mark.parametrize(
    ("missing", "name"), [("pyproj", "a.geojson"), ("pyogrio", "a.gpkg"), ("pyogrio", "a.shp")]
)
def test_a_library_that_is_not_installed_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, name: str
) -> None:
    write_any(tmp_path / name, AREA)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError, match=rf"needs? {missing}.*: pip install 'vindeby\[geo\]'"):
        loaded(tmp_path, {"file": name})
