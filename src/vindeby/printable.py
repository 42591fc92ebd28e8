r"""Text from files and other people, made safe for a terminal.

Names of groups and files, texts of exceptions and keys of YAML can hold escape sequences that recolour, retitle or
rewrite a terminal, marks that turn the direction of writing, and line ends that forge a line of output. Whatever is not
printable is therefore shown as Python would write it: ``\x1b``, ``\u202e``, ``\udc80``.
"""

from __future__ import annotations

__all__ = ["one_line", "printable"]


def printable(text: str, keep: str = "\n\t") -> str:
    """The text with everything that is not printable escaped, except the characters in ``keep``."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def one_line(text: str) -> str:
    """The same for a name or a reason that is part of a line: line ends and tabs are escaped too."""
    return printable(text, keep="")
