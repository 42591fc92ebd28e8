"""Vertices from a text table: which columns are x and y, and whether they are metres.

A transposed boundary, or one in degrees, is a valid polygon of the wrong farm, so nothing is guessed here: columns
are found by their names, and what can be read in two ways is refused with its line. Only a table of two columns
without a header is taken as x, y. What is refused is described, not shown: any file can be named as a boundary.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from vindeby.campaign.reading.column_names import (
    METRES_WANTED,
    Columns,
    HeaderError,
    find_columns,
    is_header,
    type_column,
)
from vindeby.campaign.reading.hidden import Hidden
from vindeby.campaign.reading.yaml_text import Document, Origin, resolve
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.errors import CampaignError, Problem

_DECIMAL_COMMA = re.compile(r"[-+]?(\d+),(\d+)([eE][-+]?\d+)?")
_LONGEST_SHOWN = 20
_LARGEST_LONGITUDE, _LARGEST_LATITUDE = 360.0, 90.0
_TWO_COLUMNS = Columns(0, 1, 2, False, ())


class Row(NamedTuple):
    """A line of the table that is neither empty nor a comment."""

    line: int
    cells: list[str]


def read_vertices(text: str, source: str, field: str) -> Document:
    """The vertices of a table as data, with the line of each; ``source`` and ``field`` are used in messages."""
    return _Table(text, source, field).document()


def read_places(text: str, source: str, field: str) -> tuple[Document, list[Row] | None]:
    """Positions as ``read_vertices`` reads vertices; and, where a column says it, the type of each with its line."""
    table = _Table(text, source, field)
    return table.document(one_area=False), table.types()


class _Table:
    """A table that is being read; every step refuses what it cannot decide."""

    def __init__(self, text: str, source: str, field: str) -> None:
        self.source, self.field = source, field
        self.header: list[str] = []
        self.rows = list(self._rows(text))
        self.columns = self._columns()

    def document(self, *, one_area: bool = True) -> Document:
        """The vertices; what is no number is left to the campaign's own check, which names the entry."""
        if one_area:
            self._refuse_several_areas()
        pairs = [self._pair(row) for row in self.rows]
        commas = self._has_decimal_commas(pairs)
        values = [[_value(cell, commas) for cell in pair] for pair in pairs]
        self._refuse_what_is_no_table(values)
        self._refuse_degrees(values)
        origins: dict[DataPath, Origin] = {(): Origin(self.source)}
        origins |= {(index,): Origin(self.source, row.line) for index, row in enumerate(self.rows)}
        return Document(values, origins)

    def types(self) -> list[Row] | None:
        """The cell of each row in the column of types; None where there is no such column."""
        try:
            column = type_column(self.header)
        except HeaderError as error:
            self._refuse(1, error.message, error.remedy)
        if column is None:
            return None
        return [Row(row.line, row.cells[column : column + 1]) for row in self.rows]

    def _rows(self, text: str) -> Iterator[Row]:
        delimiter, skipped = _delimiter_of(text)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
        line = 1
        try:
            for cells in reader:
                if line > skipped and any(map(str.strip, cells)):
                    yield self._row(line, cells)
                line = reader.line_num + 1
        except csv.Error:
            self._refuse(line, "cannot be split into columns", "is it the right file?")

    def _row(self, line: int, cells: list[str]) -> Row:
        if any("\n" in cell or "\r" in cell for cell in cells):
            self._refuse(line, "a quotation mark is not closed on its line", "close it or remove it")
        stripped = [cell.strip() for cell in cells]
        while stripped and not stripped[-1]:
            stripped.pop()  # what a separator at the end of the line makes
        return Row(line, stripped)

    def _columns(self) -> Columns:
        """Which columns are x and y; takes the header and comments away."""
        comment: Row | None = None
        while self.rows and self.rows[0].cells[0].startswith("#"):
            comment = self.rows.pop(0)
        self.rows = [row for row in self.rows if not row.cells[0].startswith("#")]
        if not self.rows:
            return _TWO_COLUMNS
        first = self.rows[0]
        if len(first.cells) == 1:
            self._refuse(
                first.line, "has only one column", "separate x and y by a comma, a semicolon or a tab"
            )
        if not any(_is_number(cell) for cell in first.cells):
            del self.rows[0]
            return self._named(first)
        if comment is not None and len(comment.cells) == len(first.cells) and is_header(_names(comment)):
            return self._named(comment)
        if len(first.cells) > 2:
            self._refuse(
                first.line,
                f"has {len(first.cells)} columns and no header: which of them are x and y is not said",
                "add a header line such as id,x,y",
            )
        return _TWO_COLUMNS

    def _named(self, header: Row) -> Columns:
        self.header = _names(header)
        try:
            return find_columns(self.header)
        except HeaderError as error:
            self._refuse(header.line, error.message, error.remedy)

    def _pair(self, row: Row) -> list[str]:
        """The cells of x and y."""
        columns, count = self.columns, len(row.cells)
        if columns is _TWO_COLUMNS:
            return row.cells
        if count > columns.width:
            self._refuse(
                row.line,
                f"has {count} columns, but the header has {columns.width}",
                "give one value for each name; with decimal commas, separate columns by semicolons",
            )
        cells = [*row.cells, *[""] * (columns.width - count)]
        pair = [cells[columns.x], cells[columns.y]]
        if not all(pair):
            self._refuse(row.line, "has no value for x or y", "give both on each line")
        return pair

    def _refuse_several_areas(self) -> None:
        for name, index in self.columns.identifiers:
            values = {row.cells[index] if index < len(row.cells) else "" for row in self.rows}
            if 2 <= len(values) <= len(self.rows) / 2:
                told = f"the column {name!r} has {len(values)} values for {len(self.rows)} vertices"
                remedy = "write one file for each area, or polygons in a YAML file"
                self._refuse(self.rows[0].line, f"{told}: it may hold several areas", remedy)

    def _has_decimal_commas(self, pairs: Sequence[Sequence[str]]) -> bool:
        """Whether commas stand for decimal points; refuses commas that may separate thousands."""
        found = [
            (row, cell) for row, pair in zip(self.rows, pairs, strict=True) for cell in pair if "," in cell
        ]
        if not found:
            return False
        remedy = "write decimal points, and no separators of thousands"
        for row, cell in found:
            if not _DECIMAL_COMMA.fullmatch(cell):
                self._refuse(row.line, "a number has a comma that is no decimal comma", remedy)
        if any("." in cell for pair in pairs for cell in pair):
            self._refuse(found[0][0].line, "decimal commas and decimal points are mixed in one file", remedy)
        if not any(_is_surely_decimal(cell) for _, cell in found):
            self._refuse(
                found[0][0].line,
                "a comma before three digits may be a decimal comma or separate thousands",
                remedy,
            )
        return True

    def _refuse_what_is_no_table(self, values: Sequence[Sequence[object]]) -> None:
        """A file of words is no boundary; a wrong entry in one that is mostly numbers is named later."""
        wrong = [
            row
            for row, pair in zip(self.rows, values, strict=True)
            if any(isinstance(value, str | bool) or value is None for value in pair)
        ]
        if 2 * len(wrong) >= len(values) > 0 and wrong:
            self._refuse(wrong[0].line, "is no vertex: it must have two numbers", "is it the right file?")

    def _refuse_degrees(self, values: Sequence[Sequence[object]]) -> None:
        pairs = [(abs(x), abs(y)) for x, y in map(_numbers, values)]
        if self.columns.in_metres or not pairs:
            return
        low, high = sorted((max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)))
        if low <= _LARGEST_LATITUDE and high <= _LARGEST_LONGITUDE:
            self._refuse(
                self.rows[0].line,
                "the coordinates look like degrees of longitude and latitude; vindeby needs metres",
                f"{METRES_WANTED}; if they are metres, name the columns x [m],y [m]",
            )

    def _refuse(self, line: int, message: str, remedy: str) -> NoReturn:
        raise CampaignError([Problem(self.source, self.field, message, None, remedy, line)]) from None


def _names(header: Row) -> list[str]:
    """The names in a header, which may be a comment: NumPy's ``savetxt`` writes ``# x,y``."""
    return [cell.lstrip("# ") for cell in header.cells]


def _delimiter_of(text: str) -> tuple[str, int]:
    """What separates columns, from the first line that is not a comment; and how many lines are no data.

    Spreadsheets may say it on a first line of its own, ``sep=;``.
    """
    lines = text.splitlines()
    if lines and (said := re.fullmatch(r"sep=([;,\t|])", lines[0].strip(" "))):
        return said[1], 1
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return next((mark for mark in (";", "\t") if mark in first), ","), 0


def _value(cell: str, decimal_commas: bool) -> object:
    if decimal_commas and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    try:
        value = resolve(cell)
    except ValueError:
        value = cell
    return Hidden(value) if isinstance(value, str) and len(value) > _LONGEST_SHOWN else value


def _is_number(cell: str) -> bool:
    value = _value(cell, True)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(values: Sequence[object]) -> tuple[float, float]:
    """Two numbers; infinite where there are not two."""
    if len(values) != 2:
        return math.inf, math.inf
    x, y = (value if isinstance(value, int | float) else math.inf for value in values)
    return x, y


def _is_surely_decimal(cell: str) -> bool:
    """Thousands are separated in groups of three digits, the first of one to three that does not begin with 0."""
    match = _DECIMAL_COMMA.fullmatch(cell)
    assert match is not None, "cells that are none were refused"
    whole, rest = match[1], match[2]
    return len(rest) != 3 or len(whole) > 3 or whole.startswith("0")
