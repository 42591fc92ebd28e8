"""A table of combinations in a CSV file of its own: combination, farm, type, seed, from; read once.

Cells are shown in messages by their line only: a study file may come from elsewhere and name any file.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, NoReturn

from vindeby.campaign.reading.source import text_of
from vindeby.campaign.reading.yaml_text import Document, Origin, field_name
from vindeby.errors import CampaignError, Problem

COLUMNS = ("combination", "farm", "type", "seed", "from")
_SEPARATORS = (";", "\t", ",")
_AT = ("neighbours", "table")


def with_combination_file(document: Document, folder: Path) -> Document:
    """Put the rows of a table that stands in a file of its own into the document."""
    neighbours = document.data.get("neighbours")
    table = neighbours.get("table") if isinstance(neighbours, dict) else None
    if not isinstance(table, dict):
        return document
    origin = document.origin(_AT)
    if set(table) != {"file"} or not isinstance(table["file"], str):
        told, remedy = "is neither a list of rows nor a file", "write file: COMBINATIONS.csv, or a list"
        raise CampaignError([Problem(origin.source, field_name(_AT), told, None, remedy, origin.line)])
    path = folder / table["file"]
    field = field_name((*_AT, "file"))
    rows = _Table(str(path), field).read(text_of(path, field, f"{origin.source}:{origin.line}"))
    neighbours["table"] = [row for _, row in rows]
    document.origins.update({(*_AT, index): Origin(str(path), line) for index, (line, _) in enumerate(rows)})
    return document


class _Table:
    def __init__(self, source: str, field: str) -> None:
        self.source, self.field = source, field

    def refuse(self, line: int, message: str, remedy: str) -> NoReturn:
        raise CampaignError([Problem(self.source, self.field, message, None, remedy, line)]) from None

    def read(self, text: str) -> list[tuple[int, dict[str, Any]]]:
        """Each row with its line."""
        lines = text.splitlines()
        separator = next((mark for mark in _SEPARATORS if lines and mark in lines[0]), ",")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        rows: list[tuple[int, dict[str, Any]]] = []
        header: list[str] = []
        try:
            for cells in reader:
                stripped = [cell.strip() for cell in cells]
                if not any(stripped):
                    continue
                if not header:
                    header = self._header(reader.line_num, stripped)
                else:
                    rows.append((reader.line_num, self._row(reader.line_num, header, stripped)))
        except csv.Error:
            self.refuse(reader.line_num, "cannot be split into columns", "is it the right file?")
        if not rows:
            self.refuse(1, "has no rows below a header", "is it the right file?")
        return rows

    def _header(self, line: int, cells: list[str]) -> list[str]:
        header = [cell.lower() for cell in cells]
        for needed in ("combination", "farm"):
            if needed not in header:
                self.refuse(line, f"names no column {needed}", f"name the columns {','.join(COLUMNS)}")
        twice = [name for index, name in enumerate(header) if name in header[:index]]
        unknown = [name for name in header if name not in COLUMNS]
        if twice or unknown:
            told = "names a column twice" if twice else "names a column that is not known"
            self.refuse(
                line, told, f"name the columns {','.join(COLUMNS)}; type, seed and from may be left out"
            )
        return header

    def _row(self, line: int, header: list[str], cells: list[str]) -> dict[str, Any]:
        if len(cells) > len(header):
            self.refuse(line, f"has {len(cells)} cells, but the header has {len(header)}", "remove the rest")
        row: dict[str, Any] = {name: cell for name, cell in zip(header, cells, strict=False) if cell}
        if "combination" not in row:
            self.refuse(line, "names no combination", "fill the gap, or remove the line")
        if "seed" in row and row["seed"] != "best":
            if not row["seed"].isdecimal():
                self.refuse(line, "has a seed that is neither best nor a number", "write e.g. best or 12")
            row["seed"] = int(row["seed"])
        return row
