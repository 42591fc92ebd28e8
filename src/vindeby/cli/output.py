"""How commands write to the terminal and to files: nothing unprintable gets through."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vindeby.errors import ArgumentError, StorageError
from vindeby.text import one_line, part_of, printable

if TYPE_CHECKING:
    from vindeby.store.states import TaskStatus


def echo(line: str, *, err: bool = False) -> None:
    """Print one line, with what is not printable escaped: no name in it can begin another line."""
    echo_text(one_line(line) + "\n", err=err)


def echo_text(text: str, *, err: bool = False) -> None:
    """Print text with its lines as they are; on stdout, or on stderr."""
    stream = sys.stderr if err else sys.stdout
    stream.write(printable(text))
    stream.flush()


def echo_json(data: object) -> None:
    """Print data as indented JSON."""
    echo_text(json.dumps(data, indent=1) + "\n")


def echo_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, the first of them a header; columns of numbers are aligned to the right.

    A table of Rich takes 1 ms for each row, and cuts rows that are wider than the terminal.
    """
    from rich.cells import cell_len

    columns = []
    for column in zip(*rows, strict=True):
        are_numbers = all(cell[:1] in "+-0123456789" for cell in column[1:])
        gaps = [" " * (max(map(cell_len, column)) - cell_len(cell)) for cell in column]
        columns.append(
            [gap + cell if are_numbers else cell + gap for cell, gap in zip(column, gaps, strict=True)]
        )
    for row in zip(*columns, strict=True):
        echo("  ".join(row).rstrip())


def say(message: str) -> None:
    """Write a message to stderr."""
    echo(f"vindeby: {message}", err=True)


def say_missing(
    missing: Collection[TaskStatus], total: int, output: Path, campaign: object = "CAMPAIGN"
) -> None:
    """Write how many of all results are missing, if any, and which commands list and compute them."""
    if not missing:
        return
    invalid = sum(entry.state.word == "invalid" for entry in missing)
    some = f" ({invalid:,} of them invalid)" if invalid else ""
    say(
        f"{part_of(len(missing), total, 'result')} missing{some}; `vindeby missing {output}` lists them, `vindeby run "
        f"{campaign} -o {output}` computes them"
    )


def write_text(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file that a user edits or names; refuses to overwrite it unless ``replace`` is set."""
    from vindeby.store.disk.output_file import write_file

    try:
        write_file(path, text.encode(), replace=replace)
    except StorageError as error:
        raise ArgumentError(*error.args) from None
