"""The files of a windIO system: each is read only where something in it is asked for.

A system refers to its parts by ``!include FILE``, relative to the file that includes. Files are untrusted: paths are
relative, kinds, number and size are limited, and nothing includes itself. Includes that nobody asks for are not
followed, since they may be large or not there; they are listed at the end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NoReturn

from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Include, Origin, field_name, read
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem, VindebyError
from vindeby.store.read.gridded_file import GriddedFile, read_gridded_file

MOST_INCLUDES = 200
MOST_BYTES = 64_000_000
_TEXTS = (".yaml", ".yml", ".json")
_NETCDF = ".nc"

VARIABLES = (
    "time", "wind_direction", "wind_speed", "wind_turbine", "x", "y", "height", "operating", "probability",
    "weibull_a", "weibull_k", "sector_probability", "turbulence_intensity", "lmo", "z0", "k", "epsilon",
    "potential_temperature", "friction_velocity", "ground_temperature", "stability", "abl_height",
    "capping_inversion_thickness", "capping_inversion_strength", "capping_inversion_height", "lapse_rate", "fc",
    "tau_x", "tau_y", "density", "reference_height",
)  # fmt: skip
"""What windIO's schema knows of a resource; these are looked for in a netCDF file."""


@dataclass
class OpenFile:
    """A file that was read, and which parts of it were used."""

    path: Path
    document: Document
    netcdf: GriddedFile | None = None
    used: set[DataPath] = field(default_factory=set)


@dataclass(frozen=True)
class Place:
    """Which part of which file; ``chain`` are the files that included it."""

    file: OpenFile
    path: DataPath
    chain: tuple[Path, ...]

    def refuse(self, message: str, remedy: str, value: object = None) -> NoReturn:
        """Raise an error that names this place."""
        origin = self.file.document.origin(self.path)
        shown = repr(value) if isinstance(value, str | int | float) else None
        raise CampaignError(
            [Problem(origin.source, field_name(self.path), message, shown, remedy, origin.line)]
        ) from None


class Files:
    """All files of one system, each read once."""

    def __init__(self) -> None:
        self._open: dict[Path, OpenFile] = {}
        self._includes = 0
        self._bytes = 0

    def root(self, path: Path) -> tuple[Any, Place]:
        """The data of the file that everything starts from."""
        if path.suffix.lower() == _NETCDF:
            raise _refused(str(path), "is no YAML file", "name the YAML file that includes it")
        opened = self._text_file(path, str(path), "")
        return opened.document.data, Place(opened, (), (_real(path),))

    def follow(self, include: Include, place: Place) -> tuple[Any, Place]:
        """The data of a file that is included, and where they stand."""
        path = self._path_of(include, place)
        real = _real(path)
        if real in place.chain:
            place.refuse("includes itself", "remove the include, or name another file", include.file)
        self._includes += 1
        if self._includes > MOST_INCLUDES:
            place.refuse(
                f"there are more than {MOST_INCLUDES} includes", "write parts of the system into one file"
            )
        if real not in self._open:
            origin = place.file.document.origin(place.path)
            where = origin.source if origin.line is None else f"{origin.source}:{origin.line}"
            if path.suffix.lower() == _NETCDF:
                self._open[real] = _netcdf_file(path, place)
            else:
                self._open[real] = self._text_file(path, where, field_name(place.path))
        opened = self._open[real]
        data = opened.netcdf if opened.netcdf is not None else opened.document.data
        return data, Place(opened, (), (*place.chain, real))

    def all_files(self) -> Iterator[OpenFile]:
        """Every file that was read."""
        yield from self._open.values()

    def _path_of(self, include: Include, place: Place) -> Path:
        name = include.file
        if not name or "\0" in name or PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive:
            place.refuse("is no relative path of a file", "include a file by its path from this one", name)
        if name.startswith("~") or "://" in name:
            place.refuse("is no relative path of a file", "include a file by its path from this one", name)
        if not name.lower().endswith((*_TEXTS, _NETCDF)):
            kinds = ", ".join((*_TEXTS, _NETCDF))
            place.refuse("is not a kind of file that is included", f"include one of {kinds}", name)
        return place.file.path.parent / name

    def _text_file(self, path: Path, named_in: str, field_: str) -> OpenFile:
        text = self._text(path, named_in, field_)
        opened = OpenFile(path, read(text, os.path.normpath(path), includes=True))
        self._open[_real(path)] = opened
        return opened

    def _text(self, path: Path, named_in: str, field_: str) -> str:
        value = None if named_in == str(path) else os.path.normpath(path)
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise _refused(named_in, "this is not a regular file", "name a file", field_, value)
            self._bytes += status.st_size
            if status.st_size > MAX_BYTES or self._bytes > MOST_BYTES:
                told = f"the file has {status.st_size:,} bytes; {MAX_BYTES:,} are read of a file, {MOST_BYTES:,} in all"
                raise _refused(named_in, told, "is it the right file?", field_, value)
            return path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            raise _refused(named_in, "no such file", "check the path", field_, value) from None
        except UnicodeDecodeError as error:
            told = f"the file is not text: byte {error.start} is not UTF-8"
            raise _refused(named_in, told, "is it the right file?", field_, value) from None
        except (OSError, ValueError) as error:
            told = getattr(error, "strerror", None) or str(error)
            remedy = "check the path and its permissions"
            raise _refused(named_in, f"cannot be read: {told}", remedy, field_, value) from None


def _netcdf_file(path: Path, place: Place) -> OpenFile:
    try:
        found = read_gridded_file(path, VARIABLES)
    except VindebyError as error:
        told = str(error).replace(str(path), os.path.normpath(path))
        place.refuse(told, "correct it, or include another file with the wind resource")
    names = dict.fromkeys((*found.arrays, *found.others), True)
    return OpenFile(path, Document(names, {(): Origin(os.path.normpath(path))}), found)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _refused(
    source: str, message: str, remedy: str, field_: str = "", value: str | None = None
) -> CampaignError:
    return CampaignError([Problem(source, field_, message, value, remedy)])
