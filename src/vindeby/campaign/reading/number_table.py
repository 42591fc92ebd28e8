"""A text table of numbers under named columns, such as a wind series or a power curve.

What is refused is described, not shown: a campaign file may come from elsewhere and name any file of this machine.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from vindeby.campaign.reading.column_finder import Quantity, find_columns
from vindeby.campaign.reading.column_names import HeaderError
from vindeby.errors import CampaignError, Problem

_SEPARATORS = (";", "\t", ",")


class NumberTable(NamedTuple):
    """The columns that were found, by quantity, and the line of each row."""

    columns: dict[str, list[float]]
    texts: dict[str, list[str]]
    lines: list[int]
    header_line: int


class TableReader:
    """Reads a table; ``source`` and ``field`` are used in messages."""

    def __init__(self, source: str, field: str) -> None:
        self.source, self.field = source, field

    def read(
        self,
        text: str,
        wanted: Mapping[str, Quantity],
        required: tuple[str, ...],
        as_text: tuple[str, ...] = (),
    ) -> NumberTable:
        """The wanted columns; each of those in ``required`` must be there."""
        rows = self._rows(text)
        if len(rows) < 2:
            self.refuse(1, "has no rows of numbers below a header", "is it the right file?")
        header_line, header = rows[0]
        places = self._places(header_line, header, wanted, required)
        lines = [line for line, _ in rows[1:]]
        columns: dict[str, list[float]] = {}
        texts: dict[str, list[str]] = {}
        for quantity, place in places.items():
            if quantity in as_text:
                texts[quantity] = [self._cell(line, cells, place, quantity) for line, cells in rows[1:]]
            else:
                columns[quantity] = self._column(rows[1:], place, quantity)
        return NumberTable(columns, texts, lines, header_line)

    def _column(self, rows: list[tuple[int, list[str]]], place: int, quantity: str) -> list[float]:
        try:
            numbers = [float(cells[place]) for _, cells in rows]
            if math.isfinite(math.fsum(numbers)):
                return numbers
        except (ValueError, IndexError, OverflowError):
            pass  # some cell is no plain number: look at each
        return [
            self._number(line, self._cell(line, cells, place, quantity), quantity) for line, cells in rows
        ]

    def _rows(self, text: str) -> list[tuple[int, list[str]]]:
        lines = text.splitlines()
        first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
        separator = next((mark for mark in _SEPARATORS if mark in first), ",")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        rows, line = [], 1
        try:
            for cells in reader:
                if any(map(str.strip, cells)) and not cells[0].lstrip().startswith("#"):
                    rows.append((line, cells))
                line = reader.line_num + 1
        except csv.Error:
            self.refuse(line, "cannot be split into columns", "is it the right file?")
        return rows

    def _places(
        self, line: int, header: list[str], wanted: Mapping[str, Quantity], required: tuple[str, ...]
    ) -> dict[str, int]:
        if any(_parsed(cell) is not None for cell in header):
            self.refuse(
                line,
                "has no header: which column is what is not said",
                f"name the columns, e.g. {','.join(required)}",
            )
        try:
            places = find_columns(header, wanted)
        except HeaderError as error:
            self.refuse(line, error.message, error.remedy)
        for quantity in required:
            if quantity not in places:
                self.refuse(
                    line,
                    f"names no column of {quantity}",
                    f"name one of the columns {quantity.replace(' ', '_')}",
                )
        return places

    def _cell(self, line: int, cells: list[str], place: int, quantity: str) -> str:
        cell = cells[place].strip() if place < len(cells) else ""
        if not cell:
            self.refuse(line, f"has no {quantity}", "fill the gap, or remove the line")
        return cell

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
