"""What a check of a file of another tool finds: a value, what was expected, and how far apart they may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and by how much it is off."""

    file: str
    what: str
    expected: object
    found: object
    error: float = 0.0
    tolerance: float = 0.0

    @property
    def holds(self) -> bool:
        return self.error <= self.tolerance  # NaN does not hold


def number(file: str, what: str, expected: float, found: float, tolerance: float) -> Check:
    """A number that must be met to a relative tolerance."""
    return Check(file, what, expected, found, abs(found - expected) / max(abs(expected), 1e-300), tolerance)


def same(file: str, what: str, expected: object, found: object) -> Check:
    """Something that must be equal."""
    return Check(file, what, expected, found, 0.0 if expected == found else 1.0)


def refused(file: str, message: str | None, words: str) -> Check:
    """A file that must be refused with these words in the message; None where it was read."""
    found = "read without a word" if message is None else message
    return Check(file, "refused", words, found, 0.0 if message is not None and words in message else 1.0)
