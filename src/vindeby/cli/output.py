"""How commands write to the terminal and to files: nothing unprintable gets through."""

import json
import sys
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
