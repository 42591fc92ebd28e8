"""Shapefiles, GeoPackages, KML and file geodatabases to features, by pyogrio (GDAL).

GDAL opens what the content looks like, whatever the name says, and some of its formats refer to other files or to the
network. So the first bytes are checked here, and GDAL sees a copy in a folder of its own.
"""

from __future__ import annotations

import io
import re
import tempfile
import warnings
import zipfile
import zlib
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import shapely

from vindeby.campaign.reading.files import UnreadableError, read_bounded
from vindeby.errors import ArgumentError, CampaignError, Problem
from vindeby.interop.geo.crs import crs_from_text
from vindeby.interop.geo.features import MOST_FEATURES, Feature, Layer, Named
from vindeby.text import listed, plural

MAX_BYTES = 64_000_000
"""Of all files of one name together; and of what comes out of an archive."""
_MOST_MEMBERS = 1000
_UNREADABLE_ZIP = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    NotImplementedError,
    EOFError,
    OSError,
    ValueError,
)
_TABLE = re.compile(r"a[0-9a-f]{8}\.gdb(?:table|tablx)")
SHAPEFILE_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
_SHAPEFILE_BEGINS = (9994).to_bytes(4, "big")
_SQLITE_BEGINS = b"SQLite format 3\0"
_APPLICATIONS = (b"GPKG", b"GP10", b"GP11")
"""The application identifiers of GeoPackage, at byte 68 of a SQLite file; 1.0 and 1.1 had their own."""
_KML_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?>(?:<\?[^>]*>|<!--.*?-->)\s*)*+<(?:\w+:)?kml[\s>]", re.DOTALL
)
_FALLBACK_ENCODING = "ISO-8859-1"


def read_bytes(named: Named, path: Path | None = None) -> bytes:
    """The content of the file that the campaign names, or of one beside it."""
    path = named.path if path is None else path
    try:
        return read_bounded(path, MAX_BYTES)
    except UnreadableError as error:
        origin = named.document.origin((*named.at, "file"))
        field, value = f"{named.field}.file", str(path)
        problem = Problem(origin.source, field, error.message, value, error.remedy, origin.line)
        raise CampaignError([problem]) from None


def shapefile_parts(named: Named) -> dict[str, bytes]:
    """The parts of a shapefile by their suffix, from its folder."""
    stem, parts = named.path.stem, {".shp": named.path}
    for beside in sorted(named.path.parent.glob("*")):
        if beside.stem == stem and beside.suffix.lower() in SHAPEFILE_PARTS:
            parts.setdefault(beside.suffix.lower(), beside)
    return _read_together(named, parts)


def geodatabase_parts(named: Named) -> dict[str, bytes]:
    """The tables of a file geodatabase, which is a folder, by their names."""
    tables = {one.name: one for one in sorted(named.path.glob("*")) if _TABLE.fullmatch(one.name)}
    if not tables or len(tables) > _MOST_MEMBERS:
        named.refuse("is not a file geodatabase: a folder of tables", "is it the right one?")
    return _read_together(named, tables)


def _read_together(named: Named, paths: dict[str, Path]) -> dict[str, bytes]:
    parts: dict[str, bytes] = {}
    for key, path in paths.items():
        parts[key] = read_bytes(named, path)
        if sum(map(len, parts.values())) > MAX_BYTES:
            message = f"its parts have more than the {MAX_BYTES:,} bytes that are read"
            named.refuse(message, "is it the right file?")
    return parts


def zipped_shapefile_parts(named: Named) -> dict[str, bytes]:
    """The parts of the one shapefile in an archive, or of the one that ``layer`` names."""
    content = read_bytes(named)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _members(archive, named)
            return _inflated(archive, _one_shapefile(members, named), named)
    except _UNREADABLE_ZIP:
        named.refuse("is not a zip file that can be read", "write the archive again")
    except RuntimeError:  # what zipfile raises for a password
        named.refuse("is encrypted", "write the archive without a password")


def _members(archive: zipfile.ZipFile, named: Named) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    if len(members) > _MOST_MEMBERS:
        named.refuse(
            f"holds {len(members):,} files", f"a shapefile has about five; at most {_MOST_MEMBERS:,}"
        )
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in "".join(path.parts[:1]):
            named.refuse("holds a file whose path leads out of the archive", "write the archive again")
    kept = [member for member in members if not member.is_dir() and "__MACOSX" not in member.filename]
    if sum(member.file_size for member in kept) > MAX_BYTES:
        named.refuse(f"unpacks to more than the {MAX_BYTES:,} bytes that are read", "is it the right file?")
    return kept


def _one_shapefile(members: list[zipfile.ZipInfo], named: Named) -> dict[str, zipfile.ZipInfo]:
    found = [member for member in members if member.filename.lower().endswith(".shp")]
    if (layer := named.text("layer")) is not None:
        stems = {PurePosixPath(member.filename).stem: member for member in found}
        if layer not in stems:
            named.refuse_key("layer", "no shapefile of this name is in it", "name another")
        found = [stems[layer]]
    if not found:
        named.refuse("holds no shapefile", "put the .shp, .shx, .dbf and .prj into the archive")
    if len(found) > 1:
        named.refuse(f"holds {len(found)} shapefiles", "say which with layer: its name without .shp")
    stem = found[0].filename[:-4]
    parts = {}
    for member in members:
        path = PurePosixPath(member.filename)
        if member.filename[: -len(path.suffix)] == stem and path.suffix.lower() in SHAPEFILE_PARTS:
            parts[path.suffix.lower()] = member
    return parts


def _inflated(archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], named: Named) -> dict[str, bytes]:
    """What the archive says about sizes may be wrong, so that each part is read up to what is left."""
    left, inflated = MAX_BYTES, {}
    for suffix, member in parts.items():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            named.refuse("is compressed in an unusual way", "write the archive again, with deflate")
        with archive.open(member) as file:
            inflated[suffix] = file.read(left + 1)
        left -= len(inflated[suffix])
        if left < 0:
            named.refuse(
                f"unpacks to more than the {MAX_BYTES:,} bytes that are read", "is it the right file?"
            )
    return inflated


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
