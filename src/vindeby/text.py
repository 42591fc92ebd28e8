"""Small helpers for texts that people read."""

from __future__ import annotations


def plural(number: int, thing: str) -> str:
    """For example ``1 farm`` and ``2,000 farms``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
