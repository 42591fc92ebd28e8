"""Long lists as compact text, so that a campaign with ten years of hourly wind stays a campaign file.

``packed:float64:COUNT:TEXT`` is base64 of zlib of little-endian float64 numbers; ``packed:text:COUNT:TEXT`` the same
of UTF-8 lines. Only lists of more than ``LONGEST_PLAIN`` entries are written in this way, and every number is kept
to the last bit.
"""

import base64
import binascii
import functools
import hashlib
import re
import zlib
from collections.abc import Sequence

import numpy as np

LONGEST_PLAIN = 500
_LONGEST = 20_000_000
_PREFIX = "packed:"
PACKED_WORD = re.compile(r"(packed:(?:float64|text):\d+:)[A-Za-z0-9+/=]+")


class PackedListError(ValueError):
    """Text that claims to be a packed list and is not."""


@functools.lru_cache(maxsize=32)
def pack(entries: tuple[float, ...] | tuple[str, ...]) -> str:
    """A list of numbers, or of lines of text, as one word of text."""
    if entries and isinstance(entries[0], str):
        kind, plain = "text", "\n".join(map(str, entries)).encode()
    else:
        kind, plain = "float64", number_bytes(entries)  # type: ignore[arg-type]
    packed = base64.b64encode(zlib.compress(plain)).decode("ascii")
    return f"{_PREFIX}{kind}:{len(entries)}:{packed}"


def unpack(text: str) -> list[float] | list[str]:
    """The list that was packed; raises PackedListError where the text is not one."""
    parts = re.fullmatch(r"packed:(float64|text):(\d{1,8}):(.*)", text, re.DOTALL)
    if parts is None or int(parts[2]) > _LONGEST:
        raise PackedListError("is not of the form packed:float64:COUNT:TEXT")
    is_text, count, inflater = parts[1] == "text", int(parts[2]), zlib.decompressobj()
    try:
        packed = base64.b64decode(parts[3], validate=True)
        plain = inflater.decompress(packed, count * (100 if is_text else 8) + 1)
    except (binascii.Error, zlib.error):
        raise PackedListError("is damaged: it cannot be unpacked") from None
    lines = plain.decode(errors="replace").split("\n") if is_text else []
    if not inflater.eof or (len(lines) if is_text else len(plain) / 8) != count:
        raise PackedListError(f"is damaged: it does not hold {count:,} entries")
    numbers: list[float] = [] if is_text else np.frombuffer(plain, "<f8").tolist()
    return lines or numbers


def abridged(text: str) -> str:
    """A text with its packed lists cut short, for people to read."""
    return PACKED_WORD.sub(r"\1...", text)


def is_packed(value: object) -> bool:
    """Return whether a value is a packed list, or claims to be one."""
    return isinstance(value, str) and value.startswith(_PREFIX)


def number_bytes(numbers: Sequence[float]) -> bytes:
    """Little-endian float64."""
    return np.asarray(numbers, "<f8").tobytes()


def digest_of_numbers(numbers: Sequence[float]) -> str:
    """Return a digest of a list of numbers, for fingerprints."""
    return f"{len(numbers)}:{hashlib.sha256(number_bytes(numbers)).hexdigest()}"
