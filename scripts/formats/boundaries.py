"""Boundaries: the area of Borssele as GeoJSON in degrees, and as a zipped shapefile that is in metres already."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from formats.check import Check, number, same
from shapely import LineString, Polygon

from vindeby.campaign import Campaign
from vindeby.interop.geo.crs import TOLERANCE_M

GEOJSON, SHAPEFILE = "boundary_borssele.geojson", "boundary_borssele_shp.zip"
CAMPAIGN = """\
name: boundaries
n_turbines: 10
turbines: [{name: v80, generic: {rated_power_mw: 2, rotor_diameter_m: 80, hub_height_m: 70}}]
min_spacing: 2 D
site: {weibull: {turbulence_intensity: 0.1, sectors: [{direction: 0, a: 9, k: 2, frequency: 1}]}}
wake: bastankhah-2014
method: random-start
seeds: 1
"""


def checks(folder: Path) -> Iterator[Check]:
    formats = folder / "formats"
    expected = json.loads((formats / "expected.json").read_text())
    yield from _geojson(formats / GEOJSON, expected[GEOJSON])
    yield from _shapefile(formats / SHAPEFILE, expected[SHAPEFILE])


def _geojson(path: Path, expected: dict[str, Any]) -> Iterator[Check]:
    wanted, tolerance_m = expected["feature 0"], expected["tolerance_m"]
    corners = list(zip(wanted["x"], wanted["y"], strict=True))
    campaign = _loaded({"file": str(path), "feature": 0})
    yield same(path.name, "crs", expected["crs"].split()[0], campaign.crs)
    bent = campaign.farms[0].boundary.rings[0]
    found = [min(bent, key=lambda vertex: math.dist(vertex, corner)) for corner in corners]
    yield _apart("corners, m", path, corners, found, tolerance_m)
    # A vertex that is off by 1 mm moves the area by 1 mm times its edges.
    yield number(path.name, "area of the corners", wanted["area_km2"], Polygon(found).area / 1e6, 1e-8)
    # An edge of 16 km that is straight in degrees bends by some 6 m here; the area grows and shrinks by that.
    off = Polygon(corners).exterior.hausdorff_distance(LineString([*bent, bent[0]]))
    yield Check(path.name, "edges straight in degrees bend, m", "1 to 10", off, abs(off - 5.5), 4.5)

    holed = _loaded({"file": str(path), "feature": "with a hole (made)"}).farms[0].boundary
    yield same(path.name, "a hole is one exclusion", 1, len(holed.exclusions))
    yield number(path.name, "area of the hole, km2", 0.8, holed.exclusions[0].shape().area / 1e6, 1e-5)
    one, other = Polygon(bent).area, holed.area_km2 * 1e6
    yield number(path.name, "area without the hole, m2", one - 0.8e6, other, TOLERANCE_M * 1e-6)


def _shapefile(path: Path, expected: dict[str, Any]) -> Iterator[Check]:
    campaign = _loaded({"file": str(path)})
    yield same(path.name, "crs", expected["crs in .prj"], campaign.crs)
    corners = list(zip(expected["x"], expected["y"], strict=True))
    yield _apart("corners, m", path, corners, campaign.farms[0].boundary.rings[0], 1e-3)


def _apart(what: str, path: Path, expected: Any, found: Any, tolerance_m: float) -> Check:
    """The largest distance of corners that belong together; one too many or too few is infinitely far."""
    far = math.inf
    if len(expected) == len(found):
        far = max(math.dist(one, other) for one, other in zip(expected, found, strict=True))
    return Check(path.name, what, expected, found, far, tolerance_m)


def _loaded(boundary: dict[str, Any]) -> Campaign:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "campaign.yaml"
        farms = json.dumps([{"name": "borssele", "boundary": boundary}])
        file.write_text(f"{CAMPAIGN}farms: {farms}\n", encoding="utf-8")
        return Campaign.load(file)
