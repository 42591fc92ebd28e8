"""Shapefiles, GeoPackages, KML and file geodatabases to features, by pyogrio (GDAL).

GDAL opens what the content looks like, whatever the name says, and some of its formats refer to other files or to the
network. So the first bytes are checked here, and GDAL sees a copy in a folder of its own.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from vindeby.errors import ArgumentError
from vindeby.interop.geo.bounded_files import (
    geodatabase_parts,
    read_bytes,
    shapefile_parts,
    zipped_shapefile_parts,
)
from vindeby.interop.geo.crs import crs_from_text
from vindeby.interop.geo.layer import MOST_FEATURES, Feature, Layer
from vindeby.interop.geo.naming import Named
from vindeby.text import listed, plural

_SHAPEFILE_BEGINS = (9994).to_bytes(4, "big")
_SQLITE_BEGINS = b"SQLite format 3\0"
_APPLICATIONS = (b"GPKG", b"GP10", b"GP11")
"""The application identifiers of GeoPackage, at byte 68 of a SQLite file; 1.0 and 1.1 had their own."""
_KML_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?>(?:<\?[^>]*>|<!--.*?-->)\s*)*+<(?:\w+:)?kml[\s>]", re.DOTALL
)
_FALLBACK_ENCODING = "ISO-8859-1"


def read_shapefile(named: Named) -> Layer:
    """The features of a shapefile, by itself or in a .zip."""
    zipped = named.path.suffix.lower() == ".zip"
    if not zipped and "layer" in named.data:
        named.refuse_key("layer", "a shapefile has no layers", "remove it")
    parts = zipped_shapefile_parts(named) if zipped else shapefile_parts(named)
    if not parts.get(".shp", b"").startswith(_SHAPEFILE_BEGINS):
        named.refuse("is not a shapefile", "is it the right file?")
    if ".shx" not in parts:
        named.refuse("its .shx is missing", "keep .shp, .shx, .dbf and .prj together")
    with tempfile.TemporaryDirectory() as folder:
        for suffix, content in parts.items():
            (Path(folder) / f"area{suffix}").write_bytes(content)
        return _features(Path(folder) / "area.shp", None, named)


def read_geopackage(named: Named) -> Layer:
    """The features of the one layer of a GeoPackage, or of the one that ``layer`` names."""
    content = read_bytes(named)
    if not content.startswith(_SQLITE_BEGINS) or content[68:72] not in _APPLICATIONS:
        named.refuse("is not a GeoPackage", "is it the right file?")
    journal = named.path.with_name(named.path.name + "-wal")
    if journal.is_file() and journal.stat().st_size:
        named.refuse(
            "is open in another program", "close it there, so that everything is written to the file"
        )
    return _layer_of({"area.gpkg": content}, named, "a GeoPackage")


def read_kml(named: Named) -> Layer:
    """The features of the one folder of a KML file, or of the one that ``layer`` names."""
    content = read_bytes(named)
    # A DOCTYPE may name files and grow without end.
    if not _KML_BEGINS.match(content) or b"<!DOCTYPE" in content:
        named.refuse("is not KML", "is it the right file?")
    return _layer_of({"area.kml": content}, named, "KML")


def read_file_geodatabase(named: Named) -> Layer:
    """The features of the one layer of a .gdb folder, or of the one that ``layer`` names."""
    parts = {f"area.gdb/{name}": content for name, content in geodatabase_parts(named).items()}
    return _layer_of(parts, named, "a file geodatabase")


def _layer_of(parts: dict[str, bytes], named: Named, what: str) -> Layer:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in parts.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_bytes(content)
        copy = Path(folder) / Path(next(iter(parts))).parts[0]
        return _features(copy, _layer_name(copy, named, what), named)


def _layer_name(path: Path, named: Named, what: str) -> str:
    pyogrio = _pyogrio()
    try:
        layers = pyogrio.list_layers(path)
    except Exception:  # noqa: BLE001  whatever GDAL raises, the file is not what it should be
        named.refuse(f"cannot be read as {what}", "write it again, with QGIS for example")
    names = [str(name) for name, kind in layers if kind is not None]
    wanted = named.text("layer")
    if not names:
        named.refuse("holds no layer with geometries", "is it the right file?")
    if wanted is None and len(names) > 1:
        named.refuse(f"holds {len(names)} layers", f"say which with layer: {listed(names)}")
    if wanted is not None and wanted not in names:
        named.refuse_key("layer", "is no layer of the file", f"there are: {listed(names)}")
    return wanted or names[0]


def _features(path: Path, layer: str | None, named: Named) -> Layer:
    read = partial(_pyogrio().raw.read, path, layer=layer, max_features=MOST_FEATURES + 1)
    notes = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what is lost; what is needed is checked below
            try:
                meta, _, geometries, values = read()
            except UnicodeDecodeError:
                meta, _, geometries, values = read(encoding=_FALLBACK_ENCODING)
                told = "its fields are not in the encoding that it states; they are read as"
                notes.append(f"{named.path.name}: {told} {_FALLBACK_ENCODING}")
        shapes = shapely.from_wkb(geometries)
    except Exception:  # noqa: BLE001  whatever GDAL raises, the file is not what it should be
        named.refuse("cannot be read: damaged, or with curves", "write it again, with QGIS for example")
    if not len(shapes):
        named.refuse("holds no features", "is it the right file?")
    if len(shapes) > MOST_FEATURES:
        named.refuse(f"holds more than {MOST_FEATURES:,} features", "is it the right file?")
    fields = [str(name) for name in meta["fields"]]
    features = [
        Feature(
            number, shape, {name: _plain(column[number]) for name, column in zip(fields, values, strict=True)}
        )
        for number, shape in enumerate(shapes)
    ]
    return Layer(features, crs_from_text(meta.get("crs") or ""), [*notes, *_heights(shapes, named)])


def _heights(shapes: Any, named: Named) -> list[str]:
    count = int(np.count_nonzero(shapely.has_z(shapes)))
    return [f"{named.path.name}: heights of {plural(count, 'feature')} are ignored"] if count else []


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and plain != plain else plain


def _pyogrio() -> Any:
    try:
        import pyogrio
        import pyogrio.raw
    except ImportError:
        raise ArgumentError("files that are not GeoJSON need pyogrio: pip install 'vindeby[geo]'") from None
    return pyogrio
