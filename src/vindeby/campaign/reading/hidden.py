"""Text of a file that messages must not show: any file can be named as a boundary, and messages travel."""

from __future__ import annotations


class Hidden(str):
    """Text that a message describes by its length."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"text of {len(self)} characters"
