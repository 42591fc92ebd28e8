"""Small helpers for texts that people read, or may have written."""

import json
from collections.abc import Collection, Iterable
from typing import Any

_MOST_LISTED = 8
_LONGEST_LISTED = 60


def plural(number: int, thing: str, things: str = "") -> str:
    """Return a count in words, e.g. ``1 farm`` or ``2,000 farms``; ``things`` is for an irregular plural."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {things or thing + 's'}"


def part_of(number: int, total: int, thing: str) -> str:
    """Return a share in words, e.g. ``1 of 3 results is``, ``2 of 3 results are`` or ``all 3 results are``."""
    if number == total:
        return f"all {total:,} {thing}s are" if total > 1 else f"the only {thing} is"
    return f"{number:,} of {plural(total, thing)} {'is' if 1 in (number, total) else 'are'}"


def listed(
    values: Collection[object], longest: int | None = _LONGEST_LISTED, most: int = _MOST_LISTED
) -> str:
    """Return the first few values as text, and how many more there are, so that a message stays readable."""
    first = list(values)[:most]
    shown = [(f"{one:g}" if isinstance(one, float) else str(one))[:longest] for one in first]
    more = len(values) - len(first)
    return ", ".join([*shown, f"and {more:,} more"] if more else shown)


def as_ranges(numbers: Iterable[int]) -> str:
    """Return numbers in a short form, as sbatch takes it too: ``1-4,7``."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON from any source; raise ValueError if it cannot be read or is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def printable(text: str, keep: str = "\n\t") -> str:
    r"""Return text from files and other people, safe for a terminal: unprintable characters are escaped.

    Characters of ``keep`` are not.

    Names and keys can hold escape sequences that recolour, retitle or rewrite a terminal, marks that turn the direction
    of writing, and line ends that forge a line of output. They are shown as Python would write them: ``\x1b``.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def one_line(text: str) -> str:
    """Return a name or a reason made printable as part of a line: line ends and tabs are escaped too."""
    return printable(text, keep="")
