"""Read the features of a geographic file: GeoJSON by shapely, all other formats by pyogrio (GDAL).

GDAL opens what the content looks like, whatever the name says, and some of its formats refer to other files or to the
network. So the first bytes are checked here, and GDAL sees a copy in a folder of its own. In GeoJSON (RFC 7946), GDAL
drops a hole with a wrong position, or an entry that is not a feature, without a word.
"""

import io
import json
import re
import tempfile
import warnings
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import shapely

from vindeby.errors import CampaignError, library
from vindeby.interop.geo.crs import LONGITUDE_LATITUDE, crs_from_text
from vindeby.interop.geo.features import NO_GEOMETRY, Layer, Named
from vindeby.text import listed

MAX_BYTES = 64_000_000
"""Of all files of one name together; and of what comes out of an archive."""
_MOST_TABLES = 1000
_LONGEST_NAME = 60
_MOST_FEATURES = 10_000
_RIGHT_FILE = "is it the right file?"
_WRITE_AGAIN = "write it again, with QGIS for example"


def read_layer(named: Named) -> Layer:
    """The features of a file, or of the layer of it that ``layer`` names; refuses none, and too many."""
    suffix = named.path.suffix.lower()
    if "layer" in named.data and suffix in (".geojson", ".json", ".shp"):
        named.refuse_key("layer", f"a {suffix} file has no layers", "remove it")
    layer = _by_gdal(named, suffix) if suffix in _BEGINS else _geojson(named)
    named.require(layer.shapes, "holds no features", _RIGHT_FILE)
    is_small = len(layer.shapes) <= _MOST_FEATURES
    named.require(is_small, f"holds more than {_MOST_FEATURES:,} features", _RIGHT_FILE)
    return layer


def _geojson(named: Named) -> Layer:
    """Longitude and latitude on WGS 84, unless the older ``crs`` member, which GDAL still writes, says otherwise."""
    try:
        # ``int`` refuses NaN and Infinity, which are not JSON.
        data = json.loads(named.content(MAX_BYTES).decode("utf-8-sig"), parse_constant=int)
    except (ValueError, RecursionError) as error:
        line = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        named.refuse(f"is not valid JSON{line}", "write it again, or name another file")
    kind = data.get("type") if isinstance(data, dict) else None
    entries = data.get("features") if kind == "FeatureCollection" else [data]
    is_right = isinstance(kind, str) and isinstance(entries, list)
    named.require(is_right, "is not GeoJSON: it has no type, or no list of features", _RIGHT_FILE)
    layer = Layer([])
    for number, entry in enumerate(entries[: _MOST_FEATURES + 1]):
        is_feature = isinstance(entry, dict) and entry.get("type") == "Feature"
        feature = entry if is_feature else {"geometry": entry}
        row, given = feature.get("properties") or {}, feature.get("geometry")
        is_right = all(isinstance(one, dict) for one in (entry, row))
        named.require(is_right, f"feature {number} is not a GeoJSON object", _RIGHT_FILE)
        layer.rows.append(row)
        try:
            layer.shapes.append(NO_GEOMETRY if given is None else shapely.from_geojson(json.dumps(given)))
        except shapely.GEOSException:
            layer.shapes.append(
                "has a geometry that is not GeoJSON: positions are numbers, and rings are closed"
            )
    layer.has_heights = any(not isinstance(one, str) and one.has_z for one in layer.shapes)
    if (member := data.get("crs")) is not None:
        properties = member.get("properties") if isinstance(member, dict) else None
        layer.crs = crs_from_text(str(properties.get("name"))) if isinstance(properties, dict) else None
        message = "its crs member names no known coordinate reference system"
        named.require(layer.crs is not None, message, "write crs as EPSG:CODE")
    elif named.option("crs") is None:
        layer.crs = crs_from_text(LONGITUDE_LATITUDE)
    return layer


_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
_TABLE = re.compile(r"a[0-9a-f]{8}\.gdb(?:table|tablx)")
_BEGINS = {
    ".shp": ("a shapefile", rb"\0\0\x27\x0a"),
    ".zip": ("a shapefile", rb"\0\0\x27\x0a"),
    # At byte 68 of a SQLite file, the application: GeoPackage 1.0 and 1.1 had identifiers of their own.
    ".gpkg": ("a GeoPackage", rb"SQLite format 3\0.{52}GP(?:KG|10|11)"),
    # A DOCTYPE may name files and grow without end.
    ".kml": ("KML", rb"(?!.*<!DOCTYPE)(?:\xef\xbb\xbf)?\s*(?>(?:<\?[^>]*>|<!--.*?-->)\s*)*+<(?:\w+:)?kml[\s>]"),
    ".gdb": ("a file geodatabase", b""),
}  # fmt: skip
"""What each kind of file is called, and how its first file begins."""


def _by_gdal(named: Named, suffix: str) -> Layer:
    """Return the features that GDAL reads from a copy in a folder of its own."""
    title, begins = _BEGINS[suffix]
    parts = _unzipped(named) if suffix == ".zip" else _parts(named, suffix)
    shapefiles = [name for name in parts if name.endswith(".shp")]
    is_right = all(re.match(begins, parts[name], re.DOTALL) for name in shapefiles or [*parts][:1])
    named.require(is_right, f"is not {title}", _RIGHT_FILE)
    is_whole = all(name[:-4] + ".shx" in parts for name in shapefiles)
    named.require(is_whole, "its .shx is missing", "keep .shp, .shx, .dbf and .prj together")
    with tempfile.TemporaryDirectory(suffix=suffix * (suffix == ".gdb")) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is lost; what is needed is checked
        for name, content in parts.items():
            (Path(folder) / name).write_bytes(content)
        is_single = suffix in (".gpkg", ".kml")
        return _features(Path(folder) / (next(iter(parts)) if is_single else ""), named, title)


def _parts(named: Named, suffix: str) -> dict[str, bytes]:
    """Return the content of the files that belong together, by their names in the copy."""
    path, paths = named.path, {f"area{suffix}": named.path}
    if suffix == ".shp":
        beside = [one for one in path.parent.glob("*") if one.stem == path.stem]
        paths |= {f"area{end}": one for one in beside if (end := one.suffix.lower()) in _PARTS[1:]}
    elif suffix == ".gdb":
        paths = {one.name: one for one in path.glob("*") if _TABLE.fullmatch(one.name)}
        is_right = 0 < len(paths) <= _MOST_TABLES
        named.require(is_right, "is not a file geodatabase: a folder of tables", _RIGHT_FILE)
    elif (journal := path.with_name(path.name + "-wal")).is_file() and journal.stat().st_size:
        named.refuse("is open in another program", "close it there, so that everything is in the file")
    parts: dict[str, bytes] = {}
    for name, one in paths.items():
        parts[name] = named.content(MAX_BYTES, one)
        _refuse_large(sum(map(len, parts.values())), named)
    return parts


def _unzipped(named: Named) -> dict[str, bytes]:
    """Return the parts of the shapefiles in an archive, by their names without folders."""
    parts: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(named.content(MAX_BYTES))) as archive:
            # zipfile reads no more of a member than the size that it states.
            _refuse_large(sum(one.file_size for one in archive.infolist()), named)
            for member in archive.infolist():
                path = PurePosixPath(member.filename.replace("\\", "/"))
                end = path.suffix.lower()
                if end in _PARTS and "__MACOSX" not in path.parts and len(path.stem) <= _LONGEST_NAME:
                    is_new = path.stem + end not in parts
                    same = "holds two files of one name, in different folders"
                    named.require(is_new, same, "put only one of the folders into the archive")
                    parts[path.stem + end] = archive.read(member)
    except CampaignError:
        raise
    except Exception:  # noqa: BLE001  whatever zipfile raises, the file is not what it should be
        named.refuse("is not a zip file that can be read", "write the archive again")
    is_there = any(name.endswith(".shp") for name in parts)
    named.require(is_there, "holds no shapefile", "put the .shp, .shx, .dbf and .prj into the archive")
    return parts


def _refuse_large(size: int, named: Named) -> None:
    named.require(size <= MAX_BYTES, f"has more than the {MAX_BYTES:,} bytes that are read", _RIGHT_FILE)


def _features(path: Path, named: Named, title: str) -> Layer:
    """Return the features of the layer that is asked for, or of the only one."""
    pyogrio = library("pyogrio", "geo", "a geographic file that is not GeoJSON")
    wanted = named.option("layer")
    try:
        names = sorted(str(name) for name, kind in pyogrio.list_layers(path) if kind is not None)
    except Exception:  # noqa: BLE001  whatever GDAL raises, the file is not what it should be
        named.refuse(f"cannot be read as {title}", _WRITE_AGAIN)
    named.require(names, "holds no layer with geometries", _RIGHT_FILE)
    if wanted is None:
        remedy = f"say which with layer: {listed(names)}"
        named.require(len(names) == 1, f"holds {len(names)} layers", remedy)
    elif wanted not in names:
        named.refuse_key("layer", "is not a layer of the file", f"there are: {listed(names)}")
    how, notes = {"layer": wanted or names[0], "max_features": _MOST_FEATURES + 1}, []
    try:
        try:
            meta, _, geometries, values = pyogrio.raw.read(path, **how)
        except UnicodeDecodeError:
            meta, _, geometries, values = pyogrio.raw.read(path, encoding="ISO-8859-1", **how)
            message = "its fields are not in the encoding that it states; they are read as ISO-8859-1"
            notes.append(f"{named.path.name}: {message}")
        shapes = shapely.from_wkb(geometries)
    except Exception:  # noqa: BLE001
        named.refuse("cannot be read: damaged, or with curves", _WRITE_AGAIN)
    names = [str(name) for name in meta["fields"]]
    rows = [
        {name: _plain(column[number]) for name, column in zip(names, values, strict=True)}
        for number in range(len(shapes))
    ]
    found = [NO_GEOMETRY if shape is None else shape for shape in shapes]
    crs, has_heights = crs_from_text(meta.get("crs") or ""), bool(shapely.has_z(shapes).any())
    return Layer(found, rows, crs, has_heights, notes)


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and plain != plain else plain
