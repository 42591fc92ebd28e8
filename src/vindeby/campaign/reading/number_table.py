"""A text table of numbers under named columns, such as a wind series or a power curve.

What is refused is described, not shown: a campaign file may come from elsewhere and name any file of this machine.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, NoReturn

from vindeby.campaign.reading.column_finder import Quantity, find_columns, named_columns, unit_text
from vindeby.campaign.reading.column_names import HeaderError
from vindeby.errors import CampaignError, Problem
from vindeby.text import plural

_SEPARATORS = (";", "\t", ",")
_SEPARATOR_SAID = re.compile(r"sep=([;,\t|])")
_LONGEST_PREAMBLE = 100
_GAPS = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
_SHOWN = 8

_Rows = list[tuple[int, list[str]]]
"""Lines with their cells."""


def suffix_of(path: Path) -> str:
    """How a name ends, in lower case: ``.csv`` for ``wind.csv.gz``, too."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def decompressed(data: bytes, most: int) -> bytes:
    """What a gzip file holds; other data as they are. ValueError where it is damaged or longer than ``most`` bytes."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise ValueError("the compressed file is damaged") from None
    if len(content) > most:
        raise ValueError(f"the compressed file holds more than the {most:,} bytes that are read")
    return content


class NumberTable(NamedTuple):
    """The columns that were found, by quantity, and the line of each row."""

    columns: dict[str, list[float]]
    texts: dict[str, list[str]]
    lines: list[int]
    header_line: int


class Header(NamedTuple):
    """A header: the line it stands on, its cells, what separates them, and how many rows stand above it."""

    line: int
    cells: list[str]
    separator: str
    above: int


class TableReader:
    """Reads a table; ``source`` and ``field`` are used in messages, and ``notes`` collects what must be reported.

    ``told`` are the names of columns that the user gives, by quantity. ``gaps`` is what the user says about rows with
    gaps: "drop" or nothing; None where they cannot be dropped.
    """

    def __init__(
        self, source: str, field: str, told: Mapping[str, str] | None = None, gaps: object = None
    ) -> None:
        self.source, self.field, self.told, self.gaps = source, field, told or {}, gaps
        self.notes: list[str] = []
        self.unused: list[str] = []
        """The columns of the last table that are not among the wanted ones."""
        if gaps not in ("drop", "", None):
            raise CampaignError(
                [Problem(source, f"{field}.gaps".lstrip("."), "is not drop", None, "write gaps: drop")]
            )

    def read(
        self,
        text: str,
        wanted: Mapping[str, Quantity],
        required: tuple[str, ...],
        as_text: tuple[str, ...] = (),
    ) -> NumberTable:
        """The wanted columns; each of those in ``required`` must be there."""
        header = self.header(text, wanted, required)
        lines = list(io.StringIO(text, newline=""))[header.line - 1 :]
        rows = self._rows(lines, header.separator, header.line)[1:]
        if not rows:
            self.refuse(1, "has no rows of numbers below a header", "is it the right file?")
        if header.above:
            self.notes.append(f"not used: {plural(header.above, 'line')} above the header")
        places = self._places(header, wanted, required)
        self.unused = [
            cell.strip() or f"column {index + 1}, which has no name"
            for index, cell in enumerate(header.cells)
            if index not in places.values()
        ]
        rows = self._without_gaps(rows, places)
        columns: dict[str, list[float]] = {}
        texts: dict[str, list[str]] = {}
        for quantity, place in places.items():
            if quantity in as_text:
                texts[quantity] = [cells[place].strip() for _, cells in rows]
                continue
            columns[quantity] = self._column(rows, place, quantity)
            if conversion := wanted[quantity].conversion(header.cells[place]):
                unit, divisor = conversion
                columns[quantity] = [value / divisor for value in columns[quantity]]
                into = unit_text(wanted[quantity].unit)
                self.notes.append(f"the {quantity} is converted from {unit} to {into}")
        return NumberTable(columns, texts, [line for line, _ in rows], header.line)

    def header(self, text: str, wanted: Mapping[str, Quantity], required: Sequence[str]) -> Header:
        """Of the first rows, the one that names most of what is required: a preamble may stand above it."""
        lines = list(itertools.islice(io.StringIO(text, newline=""), _LONGEST_PREAMBLE))
        said = _SEPARATOR_SAID.fullmatch(
            lines[0].strip(" \r\n") if lines else ""
        )  # as spreadsheets may say it
        found: list[tuple[tuple[int, int, bool], Header]] = []
        for mark in said[1] if said else _SEPARATORS:
            rows = self._rows(lines[1:], mark, 2) if said else self._rows(lines, mark, 1)
            for above, (line, cells) in enumerate(rows):
                named = named_columns(cells, wanted, self.told)
                fit = (sum(quantity in named for quantity in required), -line, len(cells) > 1)
                found.append((fit, Header(line, cells, mark, above)))
        if not found:
            self.refuse(1, "has no rows of numbers below a header", "is it the right file?")
        return max(found, key=lambda one: one[0])[1]

    def _column(self, rows: _Rows, place: int, quantity: str) -> list[float]:
        try:
            numbers = [float(cells[place]) for _, cells in rows]
            if math.isfinite(math.fsum(numbers)):
                return numbers
        except (ValueError, OverflowError):
            pass  # some cell is no plain number: look at each
        return [self._number(line, cells[place].strip(), quantity) for line, cells in rows]

    def _rows(self, lines: list[str], separator: str, line: int) -> _Rows:
        """Lines, the first of them with this number, as cells; without blank ones and comments."""
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        rows, first = [], line
        try:
            for cells in reader:
                if any(map(str.strip, cells)) and not cells[0].lstrip().startswith("#"):
                    rows.append((line, cells))
                line = first + reader.line_num
        except csv.Error:
            self.refuse(line, "cannot be split into columns", "is it the right file?")
        return rows

    def _places(
        self, header: Header, wanted: Mapping[str, Quantity], required: tuple[str, ...]
    ) -> dict[str, int]:
        if any(_parsed(cell) is not None for cell in header.cells):
            remedy = f"name the columns, e.g. {','.join(required)}"
            self.refuse(header.line, "has no header: which column is what is not said", remedy)
        try:
            places = find_columns(header.cells, wanted, self.told)
        except HeaderError as error:
            self.refuse(header.line, error.message, error.remedy)
        for quantity in required:
            if quantity not in places:
                remedy = f"name one of the columns {quantity.replace(' ', '_')}"
                self.refuse(header.line, f"names no column of {quantity}", remedy)
        return places

    def _without_gaps(self, rows: _Rows, places: Mapping[str, int]) -> _Rows:
        """The rows that have all they should have; rows with gaps are dropped or refused, all of them together."""
        gaps: dict[int, tuple[str, str]] = {}
        for line, cells in rows:
            for quantity, place in places.items():
                cell = cells[place].strip() if place < len(cells) else ""
                if cell.lower() in _GAPS:
                    gaps.setdefault(line, (quantity, cell))
        if not gaps:
            return rows
        if self.gaps != "drop":
            self._refuse_gaps(gaps, len(rows))
        if len(gaps) == len(rows):
            self.refuse(rows[0][0], "is the first, and every line has a gap", "is it the right file?")
        months = {line: _month(cells, places.get("time")) for line, cells in rows}
        total, lost = Counter(months.values()), Counter(months[line] for line in gaps)
        by_month = "; ".join(
            f"in month {month}, {lost[month]} of {total[month]} ({lost[month] / total[month]:.1%})"
            for month in sorted(filter(None, lost))
        )
        told = f"dropped for gaps: {len(gaps):,} of {len(rows):,} steps ({len(gaps) / len(rows):.1%})"
        self.notes.append(f"{told}; {by_month}" if by_month else told)
        return [row for row in rows if row[0] not in gaps]

    def _refuse_gaps(self, gaps: Mapping[int, tuple[str, str]], count: int) -> NoReturn:
        lines = list(gaps)
        quantity, cell = gaps[lines[0]]
        wrong = "a number" if _parsed(cell) is None else "a finite number"
        message = f"the {quantity} is not {wrong}" if cell else f"has no {quantity}"
        if len(gaps) > 1:
            shown = ", ".join(map(str, lines[:_SHOWN])) + (", ..." if len(gaps) > _SHOWN else "")
            message += f"; {len(gaps):,} of {count:,} lines have gaps: {shown}"
        drop = ", or write gaps: drop" if self.gaps is not None else ""
        self.refuse(lines[0], message, f"fill the gap, or remove the line{drop}")

    def _number(self, line: int, cell: str, quantity: str) -> float:
        value = _parsed(cell)
        if value is None:
            self.refuse(line, f"the {quantity} is not a number", "write a number, with a decimal point")
        if not math.isfinite(value):
            self.refuse(line, f"the {quantity} is not a finite number", "fill the gap, or remove the line")
        return value

    def check_range(self, table: NumberTable, quantity: str, low: float, high: float, remedy: str) -> None:
        """Refuse the first value of a column that is not from ``low`` to ``high``."""
        values = table.columns.get(quantity, [])
        if not values or low <= min(values) <= max(values) <= high:
            return
        for line, value in zip(table.lines, values, strict=True):
            if not low <= value <= high:
                self.refuse(line, f"the {quantity} {value:g} is not from {low:g} to {high:g}", remedy)

    def check_wind(self, table: NumberTable) -> None:
        """Refuse directions, speeds and turbulence intensities that cannot be."""
        self.check_range(table, "wind direction", 0.0, 360.0, "give it in degrees, clockwise from north")
        self.check_range(table, "wind speed", 0.0, 100.0, "give it in m/s")
        remedy = "give it as a fraction between 0 and 1, not in percent"
        self.check_range(table, "turbulence intensity", 1e-9, 1.0 - 1e-9, remedy)

    def refuse(self, line: int, message: str, remedy: str) -> NoReturn:
        """Raise with the file and line."""
        raise CampaignError([Problem(self.source, self.field, message, None, remedy, line)]) from None


def _parsed(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        pass
    try:  # where columns are separated by semicolons, numbers may have decimal commas
        return float(cell.replace(",", ".")) if cell.count(",") == 1 and "." not in cell else None
    except ValueError:
        return None


def _month(cells: list[str], place: int | None) -> int | None:
    """The month of a row; None where it has no time."""
    try:
        return None if place is None else datetime.fromisoformat(cells[place].strip()).month
    except (ValueError, IndexError):
        return None
