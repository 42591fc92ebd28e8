"""Where text leaves for the terminal: every command writes through these, and nothing unprintable gets through."""

from __future__ import annotations

import sys

from vindeby.printable import one_line, printable


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text, with what is not printable escaped; on stdout, or on stderr."""
    stream = sys.stderr if err else sys.stdout
    stream.write(printable(text) + ("\n" if nl else ""))
    stream.flush()


def say(message: str) -> None:
    """A message of one line, on stderr; no name in it can begin another."""
    echo(f"vindeby: {one_line(message)}", err=True)
