"""A table of combinations in a CSV file of its own: combination, farm, type, seed, from; read once.

Messages name the line of a cell and do not quote it: a study file may come from elsewhere and name any file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vindeby.campaign.reading.files import named_text
from vindeby.campaign.reading.tables import Header, Row, TableReader
from vindeby.campaign.reading.yaml_text import Document, Origin, field_name

COLUMNS = ("combination", "farm", "type", "seed", "from")
_AT = ("neighbours", "table")


def with_combination_file(document: Document, folder: Path) -> Document:
    """Put the rows of a table that stands in a file of its own into the document."""
    neighbours = document.data.get("neighbours")
    table = neighbours.get("table") if isinstance(neighbours, dict) else None
    if not isinstance(table, dict):
        return document
    if set(table) != {"file"} or not isinstance(table["file"], str):
        message, remedy = "is neither a list of rows nor a file", "write file: COMBINATIONS.csv, or a list"
        document.refuse(_AT, message, remedy)
    path = folder / table["file"]
    field = field_name((*_AT, "file"))
    reader = TableReader(str(path), field)
    text = named_text(document, (*_AT, "file"), path, latin=True)
    header = reader.find_header(text, lambda cells: not cells[0].startswith("#"))
    names = _names(reader, header)
    rows = [(row.line, _row(reader, names, row)) for row in reader.rows(text, header)]
    if not rows:
        reader.refuse(1, "has no rows below a header", "is it the right file?")
    neighbours["table"] = [row for _, row in rows]
    document.origins.update({(*_AT, index): Origin(str(path), line) for index, (line, _) in enumerate(rows)})
    return document


def _names(reader: TableReader, header: Header) -> list[str]:
    names = [cell.lower() for cell in header.cells]
    for needed in ("combination", "farm"):
        if needed not in names:
            reader.refuse(header.line, f"names no column {needed}", f"name the columns {','.join(COLUMNS)}")
    twice = len(set(names)) < len(names)
    if twice or any(name not in COLUMNS for name in names):
        message = "names a column twice" if twice else "names a column that is not known"
        remedy = f"name the columns {','.join(COLUMNS)}; type, seed and from may be left out"
        reader.refuse(header.line, message, remedy)
    return names


def _row(reader: TableReader, names: list[str], given: Row) -> dict[str, Any]:
    if len(given.cells) > len(names):
        message = f"has {len(given.cells)} cells, but the header has {len(names)}"
        reader.refuse(given.line, message, "remove the rest")
    row: dict[str, Any] = {name: cell for name, cell in zip(names, given.cells, strict=False) if cell}
    if "combination" not in row:
        reader.refuse(given.line, "names no combination", "fill the gap, or remove the line")
    if "seed" in row and row["seed"] != "best":
        if not row["seed"].isdecimal():
            reader.refuse(given.line, "has a seed that is neither best nor a number", "write e.g. best or 12")
        row["seed"] = int(row["seed"])
    return row
