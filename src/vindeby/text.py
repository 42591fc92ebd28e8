"""Small helpers for texts that people read."""

from __future__ import annotations


def plural(number: int, thing: str) -> str:
    """For example ``1 farm`` and ``2,000 farms``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def printable(text: object) -> str:
    """The text in one line, with the replacement character for whatever cannot be printed."""
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in shown)
