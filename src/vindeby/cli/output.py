"""How commands write to the terminal and to files: nothing unprintable gets through."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from vindeby.errors import ArgumentError, StorageError
from vindeby.text import one_line, printable


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


def count(number: int, noun: str) -> str:
    """A number with its noun: ``1 result``, ``3,000 results``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def first_few(names: Sequence[str], shown: int) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(map(one_line, names[:shown])) + more


def say(message: str) -> None:
    """A message, on stderr."""
    echo(f"vindeby: {message}", err=True)


def write_text(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file that a user edits or names; refuses to overwrite it unless ``replace`` is set."""
    from vindeby.store.disk.output_file import write_file

    try:
        write_file(path, text.encode(), replace=replace)
    except StorageError as error:
        raise ArgumentError(*error.args) from None
