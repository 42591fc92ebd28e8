"""GeoJSON, and by pyogrio (GDAL) shapefiles, GeoPackages, KML and file geodatabases, to features.

GDAL opens what the content looks like, whatever the name says, and some of its formats refer to other files or to the
network. So the first bytes are checked here, and GDAL sees a copy in a folder of its own. GeoJSON (RFC 7946) is read
here: GDAL drops a hole with a wrong position without a word. Its coordinates are longitude and latitude on WGS 84,
unless the older ``crs`` member, which GDAL still writes, names another system.
"""

import io
import json
import math
import re
import tempfile
import warnings
import zipfile
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from vindeby.errors import CampaignError, library
from vindeby.interop.geo.crs import LONGITUDE_LATITUDE, crs_from_text
from vindeby.interop.geo.features import MOST_FEATURES, Feature, Layer, Named
from vindeby.text import listed

MAX_BYTES = 64_000_000
"""Of all files of one name together; and of what comes out of an archive."""
_MOST_MEMBERS = 1000
_ENCRYPTED = 0x1
_TABLE = re.compile(r"a[0-9a-f]{8}\.gdb(?:table|tablx)")
_SHAPEFILE_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
_SHAPEFILE_BEGINS = (9994).to_bytes(4, "big")
_SQLITE_BEGINS = b"SQLite format 3\0"
_APPLICATIONS = (b"GPKG", b"GP10", b"GP11")
"""The application identifiers of GeoPackage, at byte 68 of a SQLite file; 1.0 and 1.1 had their own."""
_KML_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?>(?:<\?[^>]*>|<!--.*?-->)\s*)*+<(?:\w+:)?kml[\s>]", re.DOTALL
)
_FALLBACK_ENCODING = "ISO-8859-1"
_GEOMETRIES = ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon")
_RIGHT_FILE = "is it the right file?"
_WRITE_AGAIN = "write it again, with QGIS for example"


def read_layer(named: Named) -> Layer:
    """The features of a file, or of the layer of it that ``layer`` names."""
    match named.path.suffix.lower():
        case ".shp" | ".zip":
            return _read_by_gdal(_shapefile(named), named)
        case ".gpkg":
            return _read_by_gdal({"area.gpkg": _geopackage(named)}, named, "a GeoPackage")
        case ".kml":
            return _read_by_gdal({"area.kml": _kml(named)}, named, "KML")
        case ".gdb":
            return _read_by_gdal(_geodatabase(named), named, "a file geodatabase")
        case _:
            return _read_geojson(named)


def _read_geojson(named: Named) -> Layer:
    if "layer" in named.data:
        named.refuse_key("layer", "GeoJSON has no layers", "remove it")
    try:
        data = json.loads(named.content(MAX_BYTES).decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        named.refuse(f"the file is not text: byte {error.start} is not UTF-8", _RIGHT_FILE)
    except json.JSONDecodeError as error:
        named.refuse(f"is not valid JSON in line {error.lineno}", "write it again, or name another file")
    except (ValueError, RecursionError):
        named.refuse("holds what JSON does not have", "write it again, or name another file")
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str):
        named.refuse("is not GeoJSON: it has no type", _RIGHT_FILE)
    entries = data.get("features") if kind == "FeatureCollection" else [data]
    if not isinstance(entries, list):
        named.refuse("has no list of features", _RIGHT_FILE)
    _refuse_counts(len(entries), named)
    heights: list[Any] = []
    features = [_geojson_feature(number, entry, heights, named) for number, entry in enumerate(entries)]
    crs = crs_from_text(LONGITUDE_LATITUDE) if named.option("crs") is None else None
    if (member := data.get("crs")) is not None:
        properties = member.get("properties") if isinstance(member, dict) else None
        crs = crs_from_text(str(properties.get("name"))) if isinstance(properties, dict) else None
        if crs is None:
            named.refuse(
                "its crs member names no known coordinate reference system", "write crs as EPSG:CODE"
            )
    return Layer(features, crs, bool(heights))


def _no_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


def _geojson_feature(number: int, entry: Any, heights: list[Any], named: Named) -> Feature:
    if not isinstance(entry, dict):
        named.refuse(f"feature {number} is not a GeoJSON object", "correct it, or name another file")
    feature = entry if entry.get("type") == "Feature" else {"geometry": entry}
    given, properties = feature.get("geometry"), feature.get("properties") or {}
    if not isinstance(properties, dict):
        named.refuse(f"feature {number} has properties that are not a mapping", _RIGHT_FILE)
    if given is None:
        return Feature(number, None, properties)
    try:
        return Feature(number, _geojson_geometry(given, heights), properties)
    except RecursionError:
        return Feature(number, None, properties, "has a geometry with too many levels")
    except ValueError as error:
        return Feature(number, None, properties, str(error))


def _geojson_geometry(given: Any, heights: list[Any]) -> BaseGeometry:
    """The geometry without its heights, which go into the list; ValueError with its flaw for what is not one."""
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == "GeometryCollection" and isinstance(given.get("geometries"), list):
        return shapely.GeometryCollection([_geojson_geometry(one, heights) for one in given["geometries"]])
    if kind not in _GEOMETRIES:
        raise ValueError("has a geometry of an unknown kind")
    positions = _positions(given.get("coordinates"), heights)
    try:
        return shapely.geometry.shape({"type": kind, "coordinates": positions})
    except (shapely.errors.ShapelyError, ArithmeticError, LookupError, TypeError, ValueError):
        raise ValueError(
            f"has a geometry that cannot be read: its coordinates do not make a {kind}"
        ) from None


def _positions(given: Any, heights: list[Any]) -> Any:
    """The same lists, every position cut to two finite numbers."""
    if not isinstance(given, list):
        raise ValueError("has coordinates that are not lists of numbers")  # noqa: TRY004  a flaw of the file
    if given and isinstance(given[0], list):
        return [_positions(one, heights) for one in given]
    if len(given) < 2 or not all(type(one) in (int, float) and abs(one) < math.inf for one in given):
        raise ValueError("has a position that is not two numbers")
    heights += given[2:]
    return given[:2]


def _shapefile(named: Named) -> dict[str, bytes]:
    """The parts of a shapefile, by itself or in a .zip."""
    if named.path.suffix.lower() == ".zip":
        parts = _zipped_parts(named)
    elif "layer" in named.data:
        named.refuse_key("layer", "a shapefile has no layers", "remove it")
    else:
        paths = {".shp": named.path}
        for beside in sorted(named.path.parent.glob("*")):
            if beside.stem == named.path.stem and beside.suffix.lower() in _SHAPEFILE_PARTS:
                paths.setdefault(beside.suffix.lower(), beside)
        parts = _read_together(named, paths)
    if not parts.get(".shp", b"").startswith(_SHAPEFILE_BEGINS):
        named.refuse("is not a shapefile", _RIGHT_FILE)
    if ".shx" not in parts:
        named.refuse("its .shx is missing", "keep .shp, .shx, .dbf and .prj together")
    return {f"area{suffix}": parts[suffix] for suffix in _SHAPEFILE_PARTS if suffix in parts}


def _read_together(named: Named, paths: dict[str, Path]) -> dict[str, bytes]:
    parts: dict[str, bytes] = {}
    for key, path in paths.items():
        parts[key] = named.content(MAX_BYTES, path)
        if sum(map(len, parts.values())) > MAX_BYTES:
            named.refuse(f"its parts have more than the {MAX_BYTES:,} bytes that are read", _RIGHT_FILE)
    return parts


def _zipped_parts(named: Named) -> dict[str, bytes]:
    """The parts of the one shapefile in an archive, or of the one that ``layer`` names."""
    content = named.content(MAX_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = _one_shapefile(_members(archive, named), named)
            return {suffix: archive.read(one) for suffix, one in parts.items()}
    except CampaignError:
        raise
    except Exception:  # noqa: BLE001  whatever zipfile raises, the file is not what it should be
        named.refuse("is not a zip file that can be read", "write the archive again")


def _members(archive: zipfile.ZipFile, named: Named) -> list[zipfile.ZipInfo]:
    """The files of an archive; what is read of each is at most the size that it states."""
    members = archive.infolist()
    if len(members) > _MOST_MEMBERS:
        named.refuse(f"holds more than {_MOST_MEMBERS:,} files", "put only the shapefile into the archive")
    for member in members:
        if member.flag_bits & _ENCRYPTED:
            named.refuse("is encrypted", "write the archive without a password")
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in "".join(path.parts[:1]):
            named.refuse("holds a file whose path leads out of the archive", "write the archive again")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            named.refuse("is compressed in an unusual way", "write the archive again, with deflate")
    kept = [member for member in members if not member.is_dir() and "__MACOSX" not in member.filename]
    if sum(member.file_size for member in kept) > MAX_BYTES:
        named.refuse(f"unpacks to more than the {MAX_BYTES:,} bytes that are read", _RIGHT_FILE)
    return kept


def _one_shapefile(members: list[zipfile.ZipInfo], named: Named) -> dict[str, zipfile.ZipInfo]:
    stems = [member.filename[:-4] for member in members if member.filename.lower().endswith(".shp")]
    if (layer := named.option("layer")) is not None:
        stems = [stem for stem in stems if PurePosixPath(stem).name == layer]
        if not stems:
            named.refuse_key("layer", "no shapefile of this name is in it", "name another")
    if not stems:
        named.refuse("holds no shapefile", "put the .shp, .shx, .dbf and .prj into the archive")
    if len(stems) > 1:
        named.refuse(f"holds {len(stems)} shapefiles", "say which with layer: its name without .shp")
    return {
        member.filename[-4:].lower(): member
        for member in members
        if member.filename[:-4] == stems[0] and member.filename[-4:].lower() in _SHAPEFILE_PARTS
    }


def _geopackage(named: Named) -> bytes:
    content = named.content(MAX_BYTES)
    if not content.startswith(_SQLITE_BEGINS) or content[68:72] not in _APPLICATIONS:
        named.refuse("is not a GeoPackage", _RIGHT_FILE)
    journal = named.path.with_name(named.path.name + "-wal")
    if journal.is_file() and journal.stat().st_size:
        named.refuse(
            "is open in another program", "close it there, so that everything is written to the file"
        )
    return content


def _kml(named: Named) -> bytes:
    content = named.content(MAX_BYTES)
    # A DOCTYPE may name files and grow without end.
    if not _KML_BEGINS.match(content) or b"<!DOCTYPE" in content:
        named.refuse("is not KML", _RIGHT_FILE)
    return content


def _geodatabase(named: Named) -> dict[str, bytes]:
    """The tables of a file geodatabase, which is a folder, by their paths."""
    tables = {f"area.gdb/{one.name}": one for one in named.path.glob("*") if _TABLE.fullmatch(one.name)}
    if not tables or len(tables) > _MOST_MEMBERS:
        named.refuse("is not a file geodatabase: a folder of tables", _RIGHT_FILE)
    return _read_together(named, tables)


def _read_by_gdal(parts: dict[str, bytes], named: Named, what: str = "") -> Layer:
    """The features of a copy of these files, the first of which GDAL opens; ``what`` it is if it has layers."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in parts.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_bytes(content)
        copy = Path(folder) / Path(next(iter(parts))).parts[0]
        return _features(copy, _layer_name(copy, named, what) if what else None, named)


def _layer_name(path: Path, named: Named, what: str) -> str:
    list_layers = _pyogrio().list_layers
    try:
        layers = list_layers(path)
    except Exception:  # noqa: BLE001  whatever GDAL raises, the file is not what it should be
        named.refuse(f"cannot be read as {what}", _WRITE_AGAIN)
    names = [str(name) for name, kind in layers if kind is not None]
    wanted = named.option("layer")
    if not names:
        named.refuse("holds no layer with geometries", _RIGHT_FILE)
    if wanted is None and len(names) > 1:
        named.refuse(f"holds {len(names)} layers", f"say which with layer: {listed(names)}")
    if wanted is not None and wanted not in names:
        named.refuse_key("layer", "is not a layer of the file", f"there are: {listed(names)}")
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
                message = "its fields are not in the encoding that it states; they are read as"
                notes.append(f"{named.path.name}: {message} {_FALLBACK_ENCODING}")
        shapes = shapely.from_wkb(geometries)
    except Exception:  # noqa: BLE001  whatever GDAL raises, the file is not what it should be
        named.refuse("cannot be read: damaged, or with curves", _WRITE_AGAIN)
    _refuse_counts(len(shapes), named)
    fields = [str(name) for name in meta["fields"]]
    features = [
        Feature(
            number, shape, {name: _plain(column[number]) for name, column in zip(fields, values, strict=True)}
        )
        for number, shape in enumerate(shapes)
    ]
    return Layer(features, crs_from_text(meta.get("crs") or ""), bool(shapely.has_z(shapes).any()), notes)


def _refuse_counts(count: int, named: Named) -> None:
    if not count:
        named.refuse("holds no features", _RIGHT_FILE)
    if count > MOST_FEATURES:
        named.refuse(f"holds more than {MOST_FEATURES:,} features", _RIGHT_FILE)


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and plain != plain else plain


def _pyogrio() -> Any:
    return library("pyogrio", "geo", "a geographic file that is not GeoJSON")
