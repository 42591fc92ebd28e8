"""Read the features of a geographic file: GeoJSON by shapely, all other formats by pyogrio (GDAL).

GDAL opens what the content looks like, whatever the name says, and some of its formats refer to other files or to the
network. So the first bytes are checked here, and GDAL sees a copy in a folder of its own. In GeoJSON (RFC 7946), GDAL
drops a hole with a wrong position, or an entry that is not a feature, without a word.
"""

import io
import json
import math
import re
import tempfile
import warnings
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.errors import CampaignError, library
from vindeby.interop.geo.crs import LONGITUDE_LATITUDE, crs_from_text
from vindeby.interop.geo.features import NO_GEOMETRY, NOT_NUMBERS, Layer, Named
from vindeby.text import listed

MAX_BYTES = 64_000_000
"""Of all files of one name together; and of what comes out of an archive."""
_MOST_MEMBERS = 1000
_MOST_FEATURES = 10_000
_GEOMETRIES = ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon")
_RIGHT_FILE = "is it the right file?"
_WRITE_AGAIN = "write it again, with QGIS for example"


def read_layer(named: Named) -> Layer:
    """The features of a file, or of the layer of it that ``layer`` names; refuses none, and too many."""
    suffix = named.path.suffix.lower()
    if "layer" in named.data and (title := _WITHOUT_LAYERS.get(suffix)):
        named.refuse_key("layer", f"{title} has no layers", "remove it")
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
    except UnicodeDecodeError as error:
        named.refuse(f"the file is not text: byte {error.start} is not UTF-8", _RIGHT_FILE)
    except json.JSONDecodeError as error:
        named.refuse(f"is not valid JSON in line {error.lineno}", "write it again, or name another file")
    except (ValueError, RecursionError):
        named.refuse("holds what JSON does not have", "write it again, or name another file")
    kind = data.get("type") if isinstance(data, dict) else None
    named.require(isinstance(kind, str), "is not GeoJSON: it has no type", _RIGHT_FILE)
    entries = data.get("features") if kind == "FeatureCollection" else [data]
    named.require(isinstance(entries, list), "has no list of features", _RIGHT_FILE)
    layer, heights = Layer([]), list[Any]()
    for number, entry in enumerate(entries[: _MOST_FEATURES + 1]):
        message = f"feature {number} is not a GeoJSON object"
        named.require(isinstance(entry, dict), message, "correct it, or name another file")
        feature = entry if entry.get("type") == "Feature" else {"geometry": entry}
        layer.rows.append(feature.get("properties") or {})
        message = f"feature {number} has properties that are not a mapping"
        named.require(isinstance(layer.rows[-1], dict), message, _RIGHT_FILE)
        layer.shapes.append(_geometry(feature.get("geometry"), heights))
    layer.has_heights = bool(heights)
    if (member := data.get("crs")) is not None:
        properties = member.get("properties") if isinstance(member, dict) else None
        layer.crs = crs_from_text(str(properties.get("name"))) if isinstance(properties, dict) else None
        message = "its crs member names no known coordinate reference system"
        named.require(layer.crs is not None, message, "write crs as EPSG:CODE")
    elif named.option("crs") is None:
        layer.crs = crs_from_text(LONGITUDE_LATITUDE)
    return layer


def _geometry(given: Any, heights: list[Any]) -> BaseGeometry | str:
    """The geometry without its heights, which go into the list; or why there is none."""
    kind = given.get("type") if isinstance(given, dict) else None
    if kind not in (*_GEOMETRIES, "GeometryCollection"):
        return NO_GEOMETRY if given is None else "has a geometry of an unknown kind"
    try:
        given = _flat(given, heights)
    except (ValueError, RecursionError):
        return NOT_NUMBERS
    try:
        return shapely.geometry.shape(given)
    except Exception:  # noqa: BLE001  whatever shapely raises, the geometry is not what it should be
        return f"has a geometry that cannot be read: its coordinates do not make a {kind}"


def _flat(given: Any, heights: list[Any]) -> Any:
    """Return coordinates, or a geometry with its coordinates, with every position cut to two finite numbers."""
    if isinstance(given, dict):
        return {key: _flat(one, heights) if isinstance(one, list) else one for key, one in given.items()}
    if given and isinstance(given[0], list | dict):
        return [_flat(one, heights) for one in given]
    if len(given) < 2 or not all(type(one) in (int, float) and abs(one) < math.inf for one in given):
        raise ValueError
    heights += given[2:]
    return given[:2]


_WITHOUT_LAYERS = {".geojson": "GeoJSON", ".json": "GeoJSON", ".shp": "a shapefile"}
_SHAPEFILE = re.compile(r".*\.(?:shp|shx|dbf|prj|cpg)", re.IGNORECASE | re.DOTALL)
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
    """The features of a copy, which stands in a folder of its own."""
    title, begins = _BEGINS[suffix]
    parts = _unzipped(named) if suffix == ".zip" else _parts(named, suffix)
    shapefiles = [name for name in parts if name.endswith(".shp")]
    is_right = all(re.match(begins, parts[name], re.DOTALL) for name in shapefiles or [*parts][:1])
    named.require(is_right, f"is not {title}", _RIGHT_FILE)
    indexed = {name[:-4] for name in parts if name.endswith(".shx")}
    is_whole = indexed.issuperset(name[:-4] for name in shapefiles)
    named.require(is_whole, "its .shx is missing", "keep .shp, .shx, .dbf and .prj together")
    folder_suffix = suffix if suffix == ".gdb" else ""
    with tempfile.TemporaryDirectory(suffix=folder_suffix) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is lost; what is needed is checked
        for name, content in parts.items():
            (Path(folder) / name).write_bytes(content)
        is_single = suffix in (".gpkg", ".kml")
        return _features(Path(folder) / (next(iter(parts)) if is_single else ""), named, title)


def _parts(named: Named, suffix: str) -> dict[str, bytes]:
    """The files that belong together, by their names in the copy."""
    path, paths = named.path, {f"area{suffix}": named.path}
    if suffix == ".shp":
        beside = sorted((one for one in path.parent.glob("*") if one.stem == path.stem), reverse=True)
        named_so = {f"area{one.suffix.lower()}": one for one in beside if _SHAPEFILE.fullmatch(one.name)}
        paths = named_so | paths
    elif suffix == ".gdb":
        paths = {one.name: one for one in path.glob("*") if _TABLE.fullmatch(one.name)}
        is_right = 0 < len(paths) <= _MOST_MEMBERS
        named.require(is_right, "is not a file geodatabase: a folder of tables", _RIGHT_FILE)
    elif (journal := path.with_name(path.name + "-wal")).is_file() and journal.stat().st_size:
        remedy = "close it there, so that everything is written to the file"
        named.refuse("is open in another program", remedy)
    parts: dict[str, bytes] = {}
    message = f"its parts have more than the {MAX_BYTES:,} bytes that are read"
    for name, one in paths.items():
        parts[name] = named.content(MAX_BYTES, one)
        named.require(sum(map(len, parts.values())) <= MAX_BYTES, message, _RIGHT_FILE)
    return parts


def _unzipped(named: Named) -> dict[str, bytes]:
    """The parts of the shapefiles in an archive; what is read of each is at most the size that it states."""
    content = named.content(MAX_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            _refuse_hostile(members, named)
            wanted = [one for one in members if _SHAPEFILE.fullmatch(one.filename)]
            wanted = [one for one in wanted if "__MACOSX" not in one.filename]
            names = [_path_in(one) for one in wanted]
            contents = map(archive.read, wanted)
            parts = {
                one.stem + one.suffix.lower(): content for one, content in zip(names, contents, strict=True)
            }
    except CampaignError:
        raise
    except Exception:  # noqa: BLE001  whatever zipfile raises, the file is not what it should be
        named.refuse("is not a zip file that can be read", "write the archive again")
    same = "holds two files of one name, in different folders"
    named.require(len(parts) == len(wanted), same, "put only one of the folders into the archive")
    is_there = any(name.endswith(".shp") for name in parts)
    remedy = "put the .shp, .shx, .dbf and .prj into the archive"
    named.require(is_there, "holds no shapefile", remedy)
    return parts


def _path_in(member: zipfile.ZipInfo) -> PurePosixPath:
    return PurePosixPath(member.filename.replace("\\", "/"))


def _refuse_hostile(members: list[zipfile.ZipInfo], named: Named) -> None:
    again, only = "write the archive again", "put only the shapefile into the archive"
    named.require(len(members) <= _MOST_MEMBERS, f"holds more than {_MOST_MEMBERS:,} files", only)
    for one in members:
        path = _path_in(one)
        named.require(not one.flag_bits & 0x1, "is encrypted", f"{again} without a password")
        leads_out = path.is_absolute() or ".." in path.parts or ":" in "".join(path.parts[:1])
        named.require(not leads_out, "holds a file whose path leads out of the archive", again)
        named.require(len(path.name.encode()) < 256, "holds a file with too long a name", again)
        is_usual = one.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        named.require(is_usual, "is compressed in an unusual way", f"{again}, with deflate")
    size = sum(one.file_size for one in members)
    named.require(
        size <= MAX_BYTES, f"unpacks to more than the {MAX_BYTES:,} bytes that are read", _RIGHT_FILE
    )


def _features(path: Path, named: Named, title: str) -> Layer:
    """The features of the layer that is asked for, or of the only one, as GDAL reads them."""
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
