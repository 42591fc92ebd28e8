"""The bytes of files that a campaign names, each read once and none without a limit.

A shapefile is several files; in a .zip they come compressed. Nothing is extracted under a name that the archive
chooses, and no more bytes are taken from it than from files that stand by themselves.
"""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from vindeby.errors import CampaignError, Problem
from vindeby.interop.geo.naming import Named

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


def read_bytes(named: Named, path: Path | None = None) -> bytes:
    """The content of the file that the campaign names, or of one beside it; refuses what is no regular file."""
    path = named.path if path is None else path
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a named pipe would wait for a writer
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if stat.S_ISDIR(status.st_mode):
                raise _not_read(named, path, "this is a folder", "name the file in it")
            if not stat.S_ISREG(status.st_mode):
                raise _not_read(named, path, "this is not a regular file", "name a file")
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _not_read(named, path, "no such file", "check the path") from None
    except IsADirectoryError:
        raise _not_read(named, path, "this is a folder", "name the file in it") from None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise _not_read(
            named, path, f"cannot be read: {told}", "check the path and its permissions"
        ) from None
    if len(content) > MAX_BYTES:
        told = f"the file has more than the {MAX_BYTES:,} bytes that are read"
        raise _not_read(named, path, told, "is it the right file?")
    return content


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
            told = f"its parts have more than the {MAX_BYTES:,} bytes that are read"
            named.refuse(told, "is it the right file?")
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


def _not_read(named: Named, path: Path, message: str, remedy: str) -> CampaignError:
    origin = named.document.origin((*named.at, "file"))
    return CampaignError(
        [Problem(origin.source, f"{named.field}.file", message, str(path), remedy, origin.line)]
    )
