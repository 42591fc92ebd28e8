"""CSV: UTF-8, a line of names, one line per turbine or per result; numbers in their shortest exact form."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
_NOT_KNOWN = {"zone": -1}
"""Whole numbers that stand for no value."""


def write_csv(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write the columns; an unknown value is an empty field.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(_field_texts(name, column) for name, column in columns.items()), strict=True))


def _field_texts(name: str, column: NDArray[Any]) -> list[str]:
    if column.dtype.kind == "f":
        return ["" if math.isnan(value) else repr(value) for value in column.tolist()]
    if column.dtype.kind == "b":
        return ["true" if value else "false" for value in column.tolist()]
    if np.issubdtype(column.dtype, np.integer):
        return ["" if value == _NOT_KNOWN.get(name) else str(value) for value in column.tolist()]
    return [f"'{text}" if text.startswith(_FORMULA) else text for text in map(str, column.tolist())]
