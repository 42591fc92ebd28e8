"""Careless and hostile values in files and beside them: refused in words, without a traceback or much memory."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.interop.geo_files import AREA, collection, read, refused, write_geojson, write_vector
from tests.interop.site_examples import LIB, ROSE, TAB, wrg_line
from vindeby.errors import CampaignError, VindebyError
from vindeby.interop import read_site, read_turbine

TI = {"turbulence_intensity": 0.08}
HUGE = 10**400
FLORIS = """\
turbine_type: small
hub_height: 90.0
rotor_diameter: 126.0
power_thrust_table:
  wind_speed: [3.0, 12.0, 25.0]
  power: [0.0, 5000.0, 5000.0]
  thrust_coefficient: [0.8, 0.7, 0.1]
"""
WTG = """\
<?xml version="1.0" encoding="UTF-8"?>
<WindTurbineGenerator Description="small" RotorDiameter="80">
  <SuggestedHeights><Height>70</Height></SuggestedHeights>
  <PerformanceTable StationaryThrustCoEfficient="0.05">
    <StartStopStrategy LowSpeedCutIn="4" HighSpeedCutOut="25"/>
    <DataTable>
      <DataPoint WindSpeed="4" PowerOutput="50000" ThrustCoEfficient="0.8"/>
      <DataPoint WindSpeed="25" PowerOutput="2000000" ThrustCoEfficient="0.1"/>
    </DataTable>
  </PerformanceTable>
</WindTurbineGenerator>
"""
AT = TI | {"height": 80.0, "roughness": 0.05}

SITES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "height of 400 digits": ("a.lib", LIB, AT | {"height": HUGE}, "height is outside the file"),
    "turbulence of 400 digits": ("a.csv", ROSE, {"turbulence_intensity": HUGE}, "must be a finite number"),
    "step that divides by 0": ("a.tab", TAB, TI | {"direction_step": 1e-320}, "does not divide 360"),
    "format that is a list": ("a.tab", TAB, TI | {"format": ["tab"]}, "format is not known"),
    "a NUL in the name": ("a\0.tab", "", TI, "file cannot be read"),
    "a name that is too long": ("a" * 5000 + ".nc", "", TI, "file cannot be read"),
}
TURBINES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "hub height of 400 digits": ("a.yaml", FLORIS.replace("90.0", str(HUGE)), {}, "a number of 401 digits"),
    "power of 400 digits": ("a.yaml", FLORIS.replace("[0.0, 5", f"[{HUGE}, 5"), {}, r"power\[0\]: a number of 401"),
    "hub height beside it": ("a.wtg", WTG, {"hub_height_m": HUGE}, "must be a finite number"),
    "unknown encoding": ("a.wtg", WTG.replace("UTF-8", "klingon"), {}, "an encoding that is not read"),
    "encoding of many bytes": ("a.wtg", WTG.replace("UTF-8", "utf-7"), {}, "an encoding that is not read"),
    "format that is a mapping": ("a.wtg", WTG, {"format": {}}, "format is not known"),
    "a NUL in the name": ("a\0.wtg", "", {}, "file cannot be read"),
}  # fmt: skip


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    if text:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.filterwarnings("ignore::vindeby.interop.formats.ForeignFileWarning")
@pytest.mark.parametrize("name", SITES)
def test_a_site_is_refused(tmp_path: Path, name: str) -> None:
    file, text, options, told = SITES[name]
    with pytest.raises(VindebyError, match=told):
        read_site(written(tmp_path, file, text), **options)


@pytest.mark.parametrize("name", TURBINES)
def test_a_turbine_is_refused(tmp_path: Path, name: str) -> None:
    file, text, options, told = TURBINES[name]
    with pytest.raises(VindebyError, match=told):
        read_turbine(written(tmp_path, file, text), **options)


def test_the_counts_of_a_grid_take_no_memory_before_its_points_are_there(tmp_path: Path) -> None:
    lines = ["500 500 0 0 100", wrg_line(0, 0, [(3, 80, 200)] * 360), "end"]
    path = written(tmp_path, "a.wrg", "\n".join(lines))
    tracemalloc.start()
    try:
        with pytest.raises(VindebyError, match=r"a\.wrg:3"):
            read_site(path, **TI)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_damaged_and_unusual_archives_are_refused(tmp_path: Path) -> None:
    path = write_vector(tmp_path / "area.zip", AREA)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        member = next(one for one in archive.infolist() if one.filename.endswith(".shp"))
    begin = member.header_offset + 30 + len(member.filename)
    content[begin : begin + 8] = b"\xff" * 8
    path.write_bytes(content)
    assert "is not a zip file that can be read" in refused(tmp_path, boundary={"file": "area.zip"})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("area.shp", b"x" * 1000)
    assert "is not a shapefile" in refused(tmp_path, boundary={"file": "area.zip"})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(".", b"")
    assert "holds no shapefile" in refused(tmp_path, boundary={"file": "area.zip"})


def refused_farms(folder: Path, farms: dict[str, Any]) -> str:
    with pytest.raises(CampaignError) as caught:
        read(folder, farms)
    return str(caught.value)


def test_numbers_of_400_digits_in_geojson_are_refused(tmp_path: Path) -> None:
    ring = [[8, HUGE], [8.1, 55], [8.1, 55.1], [8, HUGE]]
    data = collection({"type": "Polygon", "coordinates": [ring]})
    (tmp_path / "a.geojson").write_text(json.dumps(data), encoding="utf-8")
    assert "feature 0 has a geometry that is not GeoJSON" in refused(tmp_path, boundary={"file": "a.geojson"})
    write_geojson(tmp_path / "b.geojson", AREA, name=["a"], count=[HUGE])
    farms = {"file": "b.geojson", "n_turbines": "count"}
    assert "n_turbines" in refused_farms(tmp_path, farms)
    boundary = {"file": "b.geojson", "feature": {"count": 1.5}}
    assert "no feature has this count" in refused(tmp_path, boundary=boundary)


def test_features_that_are_no_names_are_refused(tmp_path: Path) -> None:
    write_geojson(tmp_path / "a.geojson", AREA, name=["a"])
    farms = {"file": "a.geojson", "features": [["a"]]}
    assert "no feature has this name, ['a']" in refused_farms(tmp_path, farms)
