"""Rows as text: in columns for a terminal, and as CSV, Markdown or LaTeX for spreadsheets and papers."""

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]
"""Every row has the same names, in the same order."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The characters that a spreadsheet takes for the beginning of a formula."""
_LATEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def csv_field(value: Any) -> Any:
    """Return a value for a CSV file; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isnan(value):
        return None
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _csv(rows: Rows, titles: Sequence[str] = ()) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles or rows[0])
    writer.writerows(map(csv_field, row.values()) for row in rows)
    return text.getvalue()


def in_words(value: object) -> str:
    """Return a value for a table that people read."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.3f}" if abs(value) >= 1.0 else f"{value:.4f}"


def _cells(rows: Rows) -> tuple[list[list[str]], list[bool]]:
    """Return the header and the rows as texts, and which columns are numbers."""
    is_number = [isinstance(value, int | float) for value in rows[0].values()]
    lines = [["" if value != value else in_words(value) for value in row.values()] for row in rows]
    return [list(rows[0]), *lines], is_number


def _text(rows: Rows) -> str:
    lines = [list(rows[0]), *([in_words(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
    return "".join(f"{line.rstrip()}\n" for line in padded)


def _markdown(rows: Rows) -> str:
    (header, *lines), is_number = _cells(rows)
    rule = ["---:" if right else "---" for right in is_number]
    escaped = [[re.sub(r"([\\|<*`\[])", r"\\\1", cell) for cell in line] for line in (header, *lines)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (escaped[0], rule, *escaped[1:]))


def _latex(rows: Rows) -> str:
    """Return the rows as a LaTeX table for the package booktabs."""
    (header, *lines), is_number = _cells(rows)
    first, *others = (
        " & ".join("".join(_LATEX.get(letter, letter) for letter in cell) for cell in line) + r" \\"
        for line in (header, *lines)
    )
    columns = "".join("r" if right else "l" for right in is_number)
    top, middle, end = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"], [r"\midrule"], [r"\bottomrule"]
    return "\n".join([*top, first, *middle, *others, *end, r"\end{tabular}", ""])


FORMS: Mapping[str, Callable[..., str]] = {"text": _text, "csv": _csv, "markdown": _markdown, "latex": _latex}
"""Each writes rows; there is at least one, or ``csv`` has the titles."""
