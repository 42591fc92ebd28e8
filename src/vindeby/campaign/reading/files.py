"""The bytes and the text of files that a campaign names: regular files only, with a limit on their size."""

import gzip
import io
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from vindeby.campaign.reading.places import places
from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, Origin, field_name
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem

_Read = TypeVar("_Read")


class UnreadableError(CampaignError):
    """A file cannot be read; its only problem says why and what to do."""


def _unreadable(path: Path, message: str, remedy: str) -> UnreadableError:
    return UnreadableError([Problem(str(path), "", message, None, remedy)])


def read_bounded(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file of at most ``most`` bytes; raise UnreadableError otherwise."""
    try:
        status = path.stat()
        mode, size = status.st_mode, status.st_size
        if stat.S_ISDIR(mode):
            raise _unreadable(path, "this is a folder", "name the file in it")
        if not stat.S_ISREG(mode):
            raise _unreadable(path, "this is not a regular file", "name a file")
        if size > most:
            message = f"the file has {size:,} bytes, more than the {most:,} that are read"
            raise _unreadable(path, message, "is it the right file?")
        with path.open("rb") as file:
            return file.read(size)
    except FileNotFoundError:
        raise _unreadable(path, "no such file", "check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _unreadable(path, f"cannot be read: {reason}", "check the path and its permissions") from None


def read_bounded_text(path: Path, most: int, *, latin: bool = False) -> str:
    """Return the text of a file, perhaps compressed with gzip: UTF-8, or with ``latin`` Latin-1 if it is not UTF-8."""
    data = _decompressed(path, most)
    if latin and b"\0" in data[:10_000]:
        raise _unreadable(path, "this is not a text file", "is it the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if latin:
            return data.decode("latin-1")
        message = f"the file is not text: byte {error.start} is not UTF-8"
        raise _unreadable(path, message, "is it the right file?") from None


class NamedFile:
    """A mapping of a campaign file that names a file under ``key``, its path in the document, and the file's path."""

    def __init__(
        self,
        document: Document,
        data: dict[str, Any],
        at: DataPath,
        folder: Path,
        key: str = "file",
        holder: dict[str, Any] | None = None,
    ) -> None:
        self.document, self.data, self.at, self.key = document, data, at, key
        self.holder = holder
        """The mapping in which ``data`` stands; None in a list, and where an axis sets nothing else of that mapping."""
        name = data[key]
        if not isinstance(name, str) or not name.strip():
            self.refuse_key(key, "must be the path of a file", "write it as text")
        self.path = folder / name

    @property
    def field(self) -> str:
        """The field in words, such as ``farms[0].boundary``."""
        return field_name(self.at)

    def refuse(self, message: str, remedy: str, value: object = None, line: int | None = None) -> NoReturn:
        """Raise for something that is wrong in the file itself."""
        shown = None if value is None else str(value)
        raise CampaignError([Problem(str(self.path), self.field, message, shown, remedy, line)]) from None

    def refuse_key(self, key: str, message: str, remedy: str) -> NoReturn:
        """Raise for something that is wrong with what the campaign file says about it."""
        self.document.refuse((*self.at, key), message, remedy, self.data.get(key))

    def refuse_beside(self, what: str, keys: Iterable[str], instead: str = "") -> None:
        """Refuse keys that repeat or contradict the file; ``instead`` is the alternative to propose."""
        for key in keys:
            if key in self.data:
                self.refuse_key(key, f"is given beside {what}", f"give {key} or {what}, not both{instead}")

    def content(self, most: int, path: Path | None = None) -> bytes:
        """Return the bytes of the file, or of one that belongs to it."""
        return self._read(path or self.path, lambda one: read_bounded(one, most))

    def text(self, *, latin: bool = False) -> str:
        """Return the text of the file."""
        return self._read(self.path, lambda one: read_bounded_text(one, MAX_BYTES, latin=latin))

    def note(self, notes: Iterable[str]) -> None:
        """Record remarks about the file, to be reported."""
        self.document.notes += [f"{self.path.name}: {note}" for note in notes]

    def put(self, values: Mapping[str, Any], origin: Origin | None = None) -> None:
        """Replace the name of the file by its content; by default, the content's origin is the place of the name."""
        origin = origin or self.document.origin((*self.at, self.key))
        self.data.pop(self.key, None)
        self.data.update(values)
        self.document.origins.update({(*self.at, key): origin for key in values})

    def _read(self, path: Path, read: Callable[[Path], _Read]) -> _Read:
        try:
            return read(path)
        except UnreadableError as error:
            problem = error.problems[0]
            at = (*self.at, self.key)
            self.document.refuse(at, problem.message, problem.remedy or "", str(path))


def named_files(
    document: Document, folder: Path, *patterns: str, key: str = "file", may_be_text: bool = False
) -> Iterator[NamedFile]:
    """Yield every mapping at a place that fits a pattern and names a file; text is such a mapping where it may be."""
    for holder, name, at in places(document.data, *patterns):
        if may_be_text and isinstance(holder[name], str):
            document.origins[(*at, key)] = document.origin(at)
            holder[name] = {key: holder[name]}
        if isinstance(holder[name], dict) and key in holder[name]:
            is_plain = isinstance(holder, dict) and "." not in name
            yield NamedFile(document, holder[name], at, folder, key, holder if is_plain else None)


def suffix_of(path: Path) -> str:
    """Return the suffix of a name in lower case; ``.csv`` for ``wind.csv.gz``, too."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def _decompressed(path: Path, most: int) -> bytes:
    data = read_bounded(path, most)
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise _unreadable(path, "the compressed file is damaged", "write it again") from None
    if len(content) > most:
        message = f"the compressed file holds more than the {most:,} bytes that are read"
        raise _unreadable(path, message, "is it the right file?")
    return content
