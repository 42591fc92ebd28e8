"""Text tables with a header: wind series and roses, turbine curves, vertices of a boundary, positions.

One reader splits all of them into cells: by commas, semicolons or tabs, or by what a first line ``sep=;`` says, with
comments, blank lines, a preamble above the header, and decimal commas. What is refused is described, not shown: a
campaign file may come from elsewhere and name any file of this machine.

A transposed boundary, or one in degrees, is a valid polygon of the wrong farm, so nothing is guessed about vertices:
columns are found by their names, and what can be read in two ways is refused with its line. Only a table of two columns
without a header is taken as x, y.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, NoReturn

from vindeby.campaign.reading.columns import (
    METRES_WANTED,
    Column,
    Pair,
    find_columns,
    find_pair,
    named_columns,
    names_a_pair,
    type_column,
    unit_text,
)
from vindeby.campaign.reading.yaml_text import Document, Origin
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem
from vindeby.text import plural

_SEPARATORS = (";", "\t", ",")
_SEPARATOR_LINE = re.compile(r"sep=([;,\t|])")
_DECIMAL_COMMA = re.compile(r"[-+]?(\d+),(\d+)([eE][-+]?\d+)?")
_LONGEST_PREAMBLE = 100
_GAPS = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
_SHOWN = 8
_LARGEST_LONGITUDE, _LARGEST_LATITUDE = 360.0, 90.0
_TWO_COLUMNS = Pair(0, 1, 2, False, ())


class TableLine(NamedTuple):
    """A line of a table, without the empty cells at its end."""

    line: int
    cells: list[str]

    def cell(self, index: int) -> str:
        """One of the cells; empty where the line ends before it."""
        return self.cells[index] if index < len(self.cells) else ""

    @property
    def is_comment(self) -> bool:
        """Whether it begins with ``#``."""
        return self.cells[0].startswith("#")


class Header(NamedTuple):
    """A header: the line it stands on, its cells, what separates them, and how many rows stand above it."""

    line: int
    cells: list[str]
    separator: str
    above: int


class NumberTable(NamedTuple):
    """The columns that were found, by quantity, and the line of each row."""

    columns: dict[str, list[float]]
    times: list[str] | None
    lines: list[int]
    header_line: int


class TableReader:
    """Reads tables; ``source`` and ``field`` are used in messages, and ``notes`` collects what must be reported.

    ``names`` are the names of columns that the user gives, by quantity. ``gaps`` is what the user says about rows with
    gaps: "drop" or nothing; None where they cannot be dropped.
    """

    def __init__(
        self, source: str, field: str, names: Mapping[str, str] | None = None, gaps: object = None
    ) -> None:
        self.source, self.field, self.names, self.gaps = source, field, names or {}, gaps
        self.notes: list[str] = []
        self.unused: list[str] = []
        """The columns of the last table that are not among the wanted ones."""
        if gaps not in ("drop", "", None):
            raise CampaignError(
                [Problem(source, f"{field}.gaps".lstrip("."), "is not drop", None, "write gaps: drop")]
            )

    def refuse(self, line: int, message: str, remedy: str) -> NoReturn:
        """Raise with the file and line."""
        raise CampaignError([Problem(self.source, self.field, message, None, remedy, line)]) from None

    def find_header(self, text: str, fit: Callable[[Sequence[str]], int]) -> Header:
        """Of the first rows, the one with the best ``fit``, the first of them where several have it."""
        lines = _first_lines(text)
        said = _SEPARATOR_LINE.fullmatch(
            lines[0].strip(" \n") if lines else ""
        )  # as spreadsheets may write it
        first = 1 if said else 0
        found: list[tuple[tuple[int, int, bool], Header]] = []
        for mark in said[1] if said else _SEPARATORS:
            above = 0
            for row in self._rows(lines[first:], mark, first + 1):
                score = (fit(row.cells), -row.line, len(row.cells) > 1)
                found.append((score, Header(row.line, row.cells, mark, above)))
                above += not row.is_comment
        if not found:
            self.refuse(1, "has no rows of numbers below a header", "is it the right file?")
        return max(found, key=lambda one: one[0])[1]

    def rows(self, text: str, header: Header) -> list[TableLine]:
        """The rows below a header, without comments."""
        rows = self._rows(list(io.StringIO(text, newline=None)), header.separator, 1)
        return [row for row in rows if row.line > header.line and not row.is_comment]

    def _rows(self, lines: list[str], separator: str, line: int) -> list[TableLine]:
        """Lines, the first of them with this number, as cells; without blank ones."""
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        rows, first = [], line
        try:
            for cells in reader:
                stripped = [cell.strip() for cell in cells]
                while stripped and not stripped[-1]:
                    stripped.pop()  # what a separator at the end of the line makes
                if stripped:
                    rows.append(TableLine(line, stripped))
                if first + reader.line_num > line + 1:
                    self.refuse(line, "a quotation mark is not closed on its line", "close it or remove it")
                line = first + reader.line_num
        except csv.Error:
            self.refuse(line, "cannot be split into columns", "is it the right file?")
        return rows

    def refuse_doubtful_commas(self, rows: Sequence[TableLine], places: Sequence[int]) -> None:
        """Refuse commas in the cells of these columns that may separate thousands instead of decimals."""
        cells = [(row.line, row.cell(place)) for row in rows for place in places]
        found = [(line, cell) for line, cell in cells if "," in cell]
        remedy = "write decimal points, and no separators of thousands"
        for line, cell in found:
            if not _DECIMAL_COMMA.fullmatch(cell):
                self.refuse(line, "a number has a comma that is not a decimal comma", remedy)
        if found and not any(_is_surely_decimal(cell) for _, cell in found):
            message = "a comma before three digits may be a decimal comma or separate thousands"
            self.refuse(found[0][0], message, remedy)
        if found and any("." in cell for _, cell in cells):
            self.refuse(found[0][0], "decimal commas and decimal points are mixed in one file", remedy)

    def header(self, text: str, wanted: Mapping[str, Column], required: Sequence[str]) -> Header:
        """The row that names most of what is required."""

        def fit(cells: Sequence[str]) -> int:
            named = named_columns(cells, wanted, self.names)
            return -1 if cells[0].startswith("#") else sum(quantity in named for quantity in required)

        return self.find_header(text, fit)

    def read(self, text: str, wanted: Mapping[str, Column], required: tuple[str, ...]) -> NumberTable:
        """The wanted columns; each of those in ``required`` must be there. Times are text."""
        header = self.header(text, wanted, required)
        rows = self.rows(text, header)
        if not rows:
            self.refuse(1, "has no rows of numbers below a header", "is it the right file?")
        if header.above:
            self.notes.append(f"not used: {plural(header.above, 'line')} above the header")
        places = self._places(header, wanted, required)
        self.unused = [
            cell or f"column {index + 1}, which has no name"
            for index, cell in enumerate(header.cells)
            if index not in places.values()
        ]
        rows = self._without_gaps(rows, places)
        numbers = [place for quantity, place in places.items() if quantity != "time"]
        if header.separator == ",":
            self.refuse_longer_rows(rows, len(header.cells))
        self.refuse_doubtful_commas(rows, numbers)
        columns: dict[str, list[float]] = {}
        for quantity, place in places.items():
            if quantity == "time":
                continue
            columns[quantity] = self.column(rows, place, quantity)
            if conversion := wanted[quantity].conversion(header.cells[place]):
                unit, divisor = conversion
                columns[quantity] = [value / divisor for value in columns[quantity]]
                into = unit_text(wanted[quantity].unit)
                self.notes.append(f"the {quantity} is converted from {unit} to {into}")
        times = [row.cell(places["time"]) for row in rows] if "time" in places else None
        return NumberTable(columns, times, [row.line for row in rows], header.line)

    def refuse_longer_rows(self, rows: Sequence[TableLine], width: int) -> None:
        """Refuse rows with more cells than there are columns, as decimal commas between commas make them."""
        for row in rows:
            if len(row.cells) > width:
                self.refuse(
                    row.line,
                    f"has {len(row.cells)} columns instead of {width}",
                    "give one value for each column; with decimal commas, separate columns by semicolons",
                )

    def column(self, rows: Sequence[TableLine], place: int, quantity: str) -> list[float]:
        """The numbers of a column."""
        numbers = []
        for row in rows:
            value = _parsed(row.cells[place])
            if value is None:
                remedy = "write a number, with a decimal point"
                self.refuse(row.line, f"the {quantity} is not a number", remedy)
            if not math.isfinite(value):
                remedy = "fill the gap, or remove the line"
                self.refuse(row.line, f"the {quantity} is not a finite number", remedy)
            numbers.append(value)
        return numbers

    def _places(
        self, header: Header, wanted: Mapping[str, Column], required: tuple[str, ...]
    ) -> dict[str, int]:
        if any(_parsed(cell) is not None for cell in header.cells):
            remedy = f"name the columns, e.g. {','.join(required)}"
            self.refuse(header.line, "has no header that says which column is what", remedy)
        places = find_columns(header.cells, wanted, self.names, partial(self.refuse, header.line))
        for quantity in required:
            if quantity not in places:
                remedy = f"name one of the columns {quantity.replace(' ', '_')}"
                self.refuse(header.line, f"names no column of {quantity}", remedy)
        return places

    def _without_gaps(self, rows: list[TableLine], places: Mapping[str, int]) -> list[TableLine]:
        """The rows that have all they should have; rows with gaps are dropped or refused, all of them together."""
        gaps: dict[int, tuple[str, str]] = {}
        for row in rows:
            for quantity, place in places.items():
                if (cell := row.cell(place)).lower() in _GAPS:
                    gaps.setdefault(row.line, (quantity, cell))
        if not gaps:
            return rows
        if self.gaps != "drop":
            self._refuse_gaps(gaps, len(rows))
        if len(gaps) == len(rows):
            self.refuse(rows[0].line, "is the first, and every line has a gap", "is it the right file?")
        months = {row.line: _month(row, places.get("time")) for row in rows}
        total, lost = Counter(months.values()), Counter(months[line] for line in gaps)
        by_month = "; ".join(
            f"in month {month}, {lost[month]} of {total[month]} ({lost[month] / total[month]:.1%})"
            for month in sorted(filter(None, lost))
        )
        note = f"dropped for gaps: {len(gaps):,} of {len(rows):,} steps ({len(gaps) / len(rows):.1%})"
        self.notes.append(f"{note}; {by_month}" if by_month else note)
        return [row for row in rows if row.line not in gaps]

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

    def check_range(self, table: NumberTable, quantity: str, low: float, high: float, remedy: str) -> None:
        """Refuse the first value of a column that is not from ``low`` to ``high``."""
        for line, value in zip(table.lines, table.columns.get(quantity, ()), strict=False):
            if not low <= value <= high:
                self.refuse(line, f"the {quantity} {value:g} is not from {low:g} to {high:g}", remedy)

    def check_wind(self, table: NumberTable) -> None:
        """Refuse directions, speeds and turbulence intensities that cannot be."""
        self.check_range(table, "wind direction", 0.0, 360.0, "give it in degrees, clockwise from north")
        self.check_range(table, "wind speed", 0.0, 100.0, "give it in m/s")
        remedy = "give it as a fraction between 0 and 1, not in percent"
        self.check_range(table, "turbulence intensity", 1e-9, 1.0 - 1e-9, remedy)


def read_vertices(text: str, source: str, field: str) -> Document:
    """The vertices of a table as data, with the line of each; ``source`` and ``field`` are used in messages."""
    reader = TableReader(source, field)
    rows, _, pair = _position_rows(text, reader)
    for name, index in pair.identifiers:
        values = {row.cell(index) for row in rows}
        if 2 <= len(values) <= len(rows) / 2:
            message = f"the column {name!r} has {len(values)} values for {len(rows)} vertices"
            remedy = "write one file for each area, or polygons in a YAML file"
            reader.refuse(rows[0].line, f"{message}: it may hold several areas", remedy)
    return _in_metres(reader, rows, pair)


def read_positions(
    text: str, source: str, field: str, known: Sequence[str] | None
) -> tuple[Document, list[str] | None]:
    """Positions as ``read_vertices`` reads vertices; and, where a column has it, the type of each, a known one.

    Without known types, a column of types is passed over.
    """
    reader = TableReader(source, field)
    rows, names, pair = _position_rows(text, reader)
    document = _in_metres(reader, rows, pair)
    column = None if known is None else type_column(names, partial(reader.refuse, 1))
    if column is None or known is None:
        return document, None
    remedy = f"known: {', '.join(known)}; describe others under turbines: of this entry"
    for row in rows:
        if (name := row.cell(column)) not in known:
            reader.refuse(row.line, "names a type that is not described" if name else "names no type", remedy)
    return document, [row.cell(column) for row in rows]


def _position_rows(text: str, reader: TableReader) -> tuple[list[TableLine], list[str], Pair]:
    """The rows of a table of x and y, the names in its header, and where x and y stand."""
    if not text.strip():
        return [], [], _TWO_COLUMNS
    named = reader.find_header(text, _names_a_pair)
    first = reader.find_header(text, lambda cells: not cells[0].startswith("#"))
    has_pair = names_a_pair(_without_mark(named.cells))
    above = [row for row in reader.rows(text, named._replace(line=0)) if row.line < named.line]
    if has_pair and not any(_parsed(cell) is not None for row in above for cell in row.cells):
        first = named
    rows = reader.rows(text, first)
    if (first is named and has_pair) or _is_header(first, reader):
        names = _without_mark(first.cells)
        return rows, names, find_pair(names, partial(reader.refuse, first.line))
    is_comment = first.cells[0].startswith("#")
    return rows if is_comment else [TableLine(first.line, first.cells), *rows], [], _TWO_COLUMNS


def _is_header(first: Header, reader: TableReader) -> bool:
    """Whether the first row names columns; refuses data that do not show which columns are x and y."""
    if first.cells[0].startswith("#"):
        return False
    if len(first.cells) == 1:
        remedy = "separate x and y by a comma, a semicolon or a tab"
        reader.refuse(first.line, "has only one column", remedy)
    if all(_parsed(cell) is None for cell in first.cells):
        return True
    if len(first.cells) > 2:
        message = f"has {len(first.cells)} columns and no header that says which of them are x and y"
        reader.refuse(first.line, message, "add a header line such as id,x,y")
    return False


def _in_metres(reader: TableReader, rows: Sequence[TableLine], pair: Pair) -> Document:
    """The positions, with the line of each."""
    places = (pair.x, pair.y)
    reader.refuse_longer_rows(rows, pair.width)
    for row in rows:
        if not all(map(row.cell, places)):
            reader.refuse(row.line, "has no value for x or y", "give both on each line")
    reader.refuse_doubtful_commas(rows, places)
    words = [row for row in rows if any(_parsed(row.cell(place)) is None for place in places)]
    if words and 2 * len(words) >= len(rows):
        message = "is not a position: it must have two numbers"
        reader.refuse(words[0].line, message, "is it the right file?")
    x, y = (reader.column(rows, place, name) for place, name in zip(places, "xy", strict=True))
    if rows and not pair.in_metres:
        low, high = sorted(max(map(abs, column)) for column in (x, y))
        if low <= _LARGEST_LATITUDE and high <= _LARGEST_LONGITUDE:
            reader.refuse(
                rows[0].line,
                "the coordinates look like degrees of longitude and latitude; vindeby needs metres",
                f"{METRES_WANTED}; if they are metres, name the columns x [m],y [m]",
            )
    origins: dict[DataPath, Origin] = {(): Origin(reader.source)}
    origins |= {(index,): Origin(reader.source, row.line) for index, row in enumerate(rows)}
    return Document([list(one) for one in zip(x, y, strict=True)], origins)


def _first_lines(text: str) -> list[str]:
    """The lines among which a header is looked for; comments are not counted."""
    lines: list[str] = []
    counted = 0
    for line in io.StringIO(text, newline=None):
        lines.append(line)
        counted += not line.lstrip().startswith("#")
        if counted == _LONGEST_PREAMBLE:
            break
    return lines


def _names_a_pair(cells: Sequence[str]) -> int:
    """How well a row names x and y: a comment only where no other row does."""
    if not names_a_pair(_without_mark(cells)):
        return 0
    return 1 if cells[0].startswith("#") else 2


def _without_mark(cells: Sequence[str]) -> list[str]:
    """The names in a header, which may be a comment: NumPy's ``savetxt`` writes ``# x,y``."""
    return [cell.lstrip("# ") for cell in cells]


def _parsed(cell: str) -> float | None:
    """A number, perhaps with a decimal comma; None for anything else."""
    if "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return float(cell.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(cell) else None


def _is_surely_decimal(cell: str) -> bool:
    """Thousands are separated in groups of three digits, the first of one to three that does not begin with 0."""
    match = _DECIMAL_COMMA.fullmatch(cell)
    assert match is not None, "other cells were refused"
    whole, rest = match[1], match[2]
    return len(rest) != 3 or len(whole) > 3 or whole.startswith("0")


def _month(row: TableLine, place: int | None) -> int | None:
    """The month of a row; None where it has no time."""
    try:
        return None if place is None else datetime.fromisoformat(row.cell(place)).month
    except ValueError:
        return None


def find_time_problem(times: Sequence[str]) -> tuple[int, str, str] | None:
    """Of the first entry that is not a time or not after the one before: which, why, and what to do."""
    before: datetime | None = None
    for index, text in enumerate(times):
        try:
            moment = datetime.fromisoformat(text)
            disorder = before is not None and not moment > before
        except ValueError:
            return index, "is not a time", "write times like 2020-01-31T13:00"
        except TypeError:  # one has a time zone and the other has none
            message = "differs from the one before in having a time zone"
            return index, message, "give it for all times or for none"
        if disorder:
            remedy = "sort the steps; use UTC, since local times repeat an hour each autumn"
            return index, "is not after the one before", remedy
        before = moment
    return None
