"""Lists of many entries, plain or packed, checked without a call of Python for each entry."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    FailFast,
    Field,
    PlainSerializer,
    SerializationInfo,
    Strict,
)

from vindeby.campaign.reading.packed_lists import LONGEST_PLAIN, PackedListError, is_packed, pack, unpack
from vindeby.campaign.sections.values import refusal

PACKED = "packed"
"""The key of a serialization context under which long lists are written as packed text."""


def _unpacked(value: Any) -> Any:
    if not is_packed(value):
        return value
    try:
        return unpack(value)
    except PackedListError as error:
        raise refusal(str(error), remedy="copy the whole line, or name the file it came from") from None


def _plus_zero(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple([number + 0.0 for number in numbers])  # -0.0 and 0.0 are one number, with one fingerprint


def _written(entries: Any, info: SerializationInfo) -> Any:
    """Packed where that was asked for and the list is long; a plain list otherwise."""
    if not isinstance(entries, tuple):
        return entries
    long = len(entries) > LONGEST_PLAIN and isinstance(info.context, dict) and info.context.get(PACKED)
    return pack(entries) if long else list(entries)


class _FirstProblem(FailFast):
    """Stop at the first entry that is wrong: a series in other units would be a message of thousands of lines."""

    def __hash__(self) -> int:  # alternatives of a union must be hashable
        return hash(self.fail_fast)


_LIST = (
    _FirstProblem(),
    BeforeValidator(_unpacked),
    Field(min_length=1),
    PlainSerializer(_written),
    AfterValidator(_plus_zero),
)

Numbers = Annotated[tuple[Annotated[float, Strict()], ...], *_LIST]
Directions = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0, le=360.0)], ...], *_LIST]
"""Wind directions in degrees; 360 is north, as 0 is."""
Speeds = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0, le=100.0)], ...], *_LIST]
"""Wind speeds in m/s."""
Weights = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0)], ...], *_LIST]
Probabilities = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0, le=1.0)], ...], *_LIST]
Intensities = Annotated[tuple[Annotated[float, Strict(), Field(gt=0.0, lt=1.0)], ...], *_LIST]
Times = Annotated[
    tuple[Annotated[str, Strict(), Field(max_length=40)], ...],
    BeforeValidator(_unpacked),
    Field(min_length=1),
    PlainSerializer(_written),
]
