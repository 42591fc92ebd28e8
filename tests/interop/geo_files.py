"""Small geographic files in each format, written by the libraries of the formats, and a campaign that names them."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio.raw
import pytest
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.campaign import Campaign
from vindeby.campaign.reading import source
from vindeby.errors import CampaignError

CAMPAIGN: dict[str, Any] = {
    "name": "geographic",
    "n_turbines": 3,
    "turbines": [
        {"name": "v80", "generic": {"rated_power_mw": 2, "rotor_diameter_m": 80, "hub_height_m": 70}}
    ],
    "min_spacing": "2 D",
    "site": {
        "weibull": {
            "turbulence_intensity": 0.1,
            "direction_step": 90,
            "sectors": [{"direction": 90 * i, "a": 9, "k": 2, "frequency": 0.25} for i in range(4)],
        }
    },
    "wake": "bastankhah-2014",
    "method": "random-start",
    "seeds": 1,
}

CORNERS = ((8.1, 55.0), (8.35, 55.02), (8.33, 55.2), (8.12, 55.17))
HOLE = ((8.2, 55.08), (8.2, 55.1), (8.23, 55.1), (8.22, 55.08))
AREA = shapely.Polygon(CORNERS, [HOLE])
_DRIVERS = {".gpkg": "GPKG", ".kml": "KML", ".gdb": "OpenFileGDB"}


def collection(*geometries: BaseGeometry | dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A FeatureCollection; ``fields`` have one value per geometry."""
    features = []
    for index, geometry in enumerate(geometries):
        given = geometry if isinstance(geometry, dict) else shapely.geometry.mapping(geometry)
        properties = {key: values[index] for key, values in fields.items()}
        features.append({"type": "Feature", "properties": properties, "geometry": given})
    return {"type": "FeatureCollection", "features": features}


def write_geojson(path: Path, *geometries: BaseGeometry, crs: str | None = None, **fields: Any) -> Path:
    data = collection(*geometries, **fields)
    if crs is not None:
        data["crs"] = {"type": "name", "properties": {"name": crs}}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def write_vector(
    path: Path,
    *geometries: BaseGeometry,
    crs: str | None = "EPSG:4326",
    layer: str | None = None,
    append: bool = False,
    **fields: Any,
) -> Path:
    """A file in the format of the suffix; a .zip has the shapefile ``area.shp`` in it."""
    if path.suffix == ".zip":
        inner = path.parent / "inner"
        inner.mkdir(exist_ok=True)
        write_vector(inner / "area.shp", *geometries, crs=crs, **fields)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in sorted(inner.iterdir()):
                archive.write(part, f"folder/{part.name}")
        return path
    kinds = {geometry.geom_type for geometry in geometries}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'crs' was not provided")  # on purpose
        pyogrio.raw.write(
            path,
            shapely.to_wkb(np.array(geometries, object), include_srid=False),
            [np.array(values) for values in fields.values()],
            list(fields),
            geometry_type=kinds.pop() if len(kinds) == 1 else "Unknown",
            crs=crs,
            layer=layer,
            append=append,
            driver=_DRIVERS.get(path.suffix, "ESRI Shapefile"),
        )
    return path


def write_any(path: Path, *geometries: BaseGeometry, **fields: Any) -> Path:
    """In longitude and latitude, in the format of the suffix."""
    write = write_geojson if path.suffix in (".geojson", ".json") else write_vector
    return write(path, *geometries, **fields)


def read(folder: Path, farms: Any, **changes: Any) -> tuple[Campaign, list[str]]:
    """The campaign with these farms, and what is said while it is read."""
    data = {**CAMPAIGN, "farms": farms, **changes}
    (folder / "c.yaml").write_text(json.dumps(data), encoding="utf-8")
    document = source.load(folder / "c.yaml")
    return Campaign.from_document(document), document.notes


def loaded(folder: Path, boundary: Any, **changes: Any) -> Campaign:
    """The campaign with a farm of this boundary."""
    return read(folder, [{"name": "a", "boundary": boundary}], **changes)[0]


def refused(folder: Path, boundary: Any, **changes: Any) -> str:
    """The one line with which a boundary is refused."""
    with pytest.raises(CampaignError) as caught:
        loaded(folder, boundary, **changes)
    told = str(caught.value)
    assert len(told.splitlines()) == 1, told
    assert caught.value.problems[0].field, told
    return told
