"""Functions that readers and writers of other tools' files share: the text of a file, its lines, refusals.

Files are untrusted: sizes are limited, and messages describe what is wrong without showing text of the file, because a
campaign file from elsewhere may name any file of this machine.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from vindeby.campaign.reading.files import read_bounded, read_bounded_text
from vindeby.campaign.reading.readers import FileContent
from vindeby.errors import CampaignError, Problem

MAX_BYTES = 64_000_000
EXPORT_MARK = "vindeby-export.json"
"""The name of the file that says what the folder of an export holds."""

Options = Mapping[str, Any]
"""The options of a file beside its path, by name."""


@dataclass(frozen=True)
class ForeignFormat:
    """A format: how its files are named, what is said beside the path, and the reader."""

    suffixes: tuple[str, ...]
    options: frozenset[str]
    read: Callable[[Path, Options], FileContent]


def refuse(path: Path, message: str, remedy: str, line: int | None = None) -> NoReturn:
    """Raise for a file, or a line of it, that is wrong."""
    raise CampaignError([Problem(str(path), "", message, None, remedy, line)]) from None


def refuse_option(option: str, message: str, remedy: str, value: Any = None) -> NoReturn:
    """Raise for an option that is wrong or missing; who asked for the file says where the option is written."""
    shown = None if value is None or len(repr(value)) > 80 else repr(value)
    raise CampaignError([Problem("", option, message, shown, remedy)]) from None


def refuse_unreachable(path: Path) -> None:
    """Raise for a name that no file can have, e.g. one with a NUL or of thousands of letters."""
    try:
        path.lstat()
    except FileNotFoundError:
        pass  # whoever reads it says so
    except (OSError, ValueError) as error:
        message = getattr(error, "strerror", None) or str(error)
        refuse_option("file", f"cannot be read: {message}", "check the path")


def given_number(options: Options, name: str) -> float | None:
    """Return the numeric value of an option, infinite if it has hundreds of digits; None without the option."""
    value = options.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse_option(name, "must be a number", "write a number, without quotes", value)
    try:
        return float(value)
    except OverflowError:
        return math.inf


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file that is not too large."""
    return read_bounded(path, MAX_BYTES)


def read_text(path: Path) -> str:
    """Return the text of a file: UTF-8, or Latin-1, which older programs write in descriptions and comments."""
    return read_bounded_text(path, MAX_BYTES, latin=True)


class Lines:
    """The lines of a text file of numbers, taken one after the other."""

    def __init__(self, path: Path) -> None:
        self.path, self.lines, self.number = path, read_text(path).splitlines(), 0
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()

    @property
    def left(self) -> int:
        """The number of lines left."""
        return len(self.lines) - self.number

    def text(self, what: str, *, blank: bool = False) -> str:
        """Return the next line, which should hold ``what``; refuse a blank line unless ``blank``."""
        if not self.left:
            refuse(self.path, f"ends before {what}", "is the file complete?", self.number)
        line = self.lines[self.number]
        self.number += 1
        if not blank and not line.strip():
            self.refuse(f"is blank where {what} should be", "remove blank lines")
        return line

    def numbers(self, what: str, count: int | None = None) -> list[float]:
        """Return the numbers of the next line; refuse if they are not ``count``."""
        cells = self.text(what).split()
        if count is not None and len(cells) != count:
            self.refuse(
                f"has {len(cells)} entries, but {what} needs {count}", "correct the line or the counts"
            )
        return [self.number_in(cell, what) for cell in cells]

    def number_in(self, cell: str, what: str) -> float:
        """Return a cell of the current line as a number."""
        try:
            value = float(cell)
        except ValueError:
            self.refuse(f"has an entry of {what} that is not a number", "write numbers with a decimal point")
        if not math.isfinite(value):
            self.refuse(f"has an entry of {what} that is not finite", "fill the gap")
        return value

    def whole_number(self, value: float, what: str, low: int, high: int) -> int:
        """Return a number of the current line as a count between two limits."""
        if value != int(value) or not low <= value <= high:
            self.refuse(
                f"has {value:g} as {what}, which is not a whole number from {low} to {high}", "correct it"
            )
        return int(value)

    def refuse(self, message: str, remedy: str) -> NoReturn:
        """Raise for the current line."""
        refuse(self.path, message, remedy, self.number)

    def refuse_more(self) -> None:
        """Raise where lines are left."""
        if self.left:
            refuse(
                self.path, f"has {self.left} lines more than its header says", "correct it", self.number + 1
            )
