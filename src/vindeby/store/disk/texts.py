"""Texts that come from anywhere, such as the message of an exception, made fit to be kept in a log."""

from __future__ import annotations

LONGEST_TEXT = 1 << 16
"""Bytes of a text that are kept, in UTF-8."""


def bounded(text: str) -> str:
    """The text in valid Unicode and at most ``LONGEST_TEXT`` bytes; one that is cut says so at its end."""
    if len(text) > LONGEST_TEXT:
        return _cut(text)
    data = text.encode("utf-8", "backslashreplace")
    return data.decode() if len(data) <= LONGEST_TEXT else _cut(text)


def _cut(text: str) -> str:
    note = f" ... (cut; the whole text has {len(text):,} characters)"
    room = LONGEST_TEXT - len(note)
    return text[:room].encode("utf-8", "backslashreplace")[:room].decode(errors="ignore") + note


def shortened(text: str, longest: int) -> str:
    """The beginning and the end of a longer text, with a note in between of how much is left out."""
    text = text if len(text) <= longest else _without_middle(text, longest)
    return text.encode("utf-8", "backslashreplace").decode()


def _without_middle(text: str, longest: int) -> str:
    half = longest // 2
    return f"{text[:half]}\n... ({len(text) - 2 * half:,} characters left out) ...\n{text[-half:]}"
