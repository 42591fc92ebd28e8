"""The bytes and the text of files that a campaign names: regular files only, with a limit on their size."""

from __future__ import annotations

import gzip
import io
import stat
import zlib
from pathlib import Path

from vindeby.campaign.reading.yaml_text import MAX_BYTES, Document, field_name
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem


class UnreadableError(Exception):
    """A file cannot be read; ``message`` says why, ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


def read_bounded(path: Path, most: int) -> bytes:
    """The bytes of a regular file of at most ``most`` bytes; raises UnreadableError."""
    try:
        status = path.stat()
        mode, size = status.st_mode, status.st_size
        if stat.S_ISDIR(mode):
            raise UnreadableError("this is a folder", "name the file in it")
        if not stat.S_ISREG(mode):
            raise UnreadableError("this is not a regular file", "name a file")
        if size > most:
            message = f"the file has {size:,} bytes, more than the {most:,} that are read"
            raise UnreadableError(message, "is it the right file?")
        with path.open("rb") as file:
            return file.read(size)
    except FileNotFoundError:
        raise UnreadableError("no such file", "check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"cannot be read: {reason}", "check the path and its permissions") from None


def read_bounded_text(path: Path, most: int, *, latin: bool = False) -> str:
    """The text of a file, which may be compressed with gzip: UTF-8 or, with ``latin``, Latin-1 where it is not."""
    data = _decompressed(read_bounded(path, most), most)
    if latin and b"\0" in data[:10_000]:
        raise UnreadableError("this is not a text file", "is it the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if latin:
            return data.decode("latin-1")
        raise UnreadableError(
            f"the file is not text: byte {error.start} is not UTF-8", "is it the right file?"
        ) from None


def named_text(document: Document, at: DataPath, path: Path, *, latin: bool = False) -> str:
    """The text of a file that a campaign file names at ``at``; what is wrong is reported there."""
    try:
        return read_bounded_text(path, MAX_BYTES, latin=latin)
    except UnreadableError as error:
        origin = document.origin(at)
        problem = Problem(origin.source, field_name(at), error.message, str(path), error.remedy, origin.line)
        raise CampaignError([problem]) from None


def suffix_of(path: Path) -> str:
    """How a name ends, in lower case: ``.csv`` for ``wind.csv.gz``, too."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def _decompressed(data: bytes, most: int) -> bytes:
    """What a gzip file holds; other data as they are."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise UnreadableError("the compressed file is damaged", "write it again") from None
    if len(content) > most:
        raise UnreadableError(
            f"the compressed file holds more than the {most:,} bytes that are read", "is it the right file?"
        )
    return content
