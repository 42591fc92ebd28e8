"""The small types that every part of a campaign file is made of: numbers, names, long lists, names of Python code."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    JsonValue,
    PlainSerializer,
    SerializationInfo,
    Strict,
    model_validator,
)
from pydantic_core import PydanticCustomError

from vindeby.campaign.reading.packed_lists import LONGEST_PLAIN, PackedListError, is_packed, pack, unpack
from vindeby.campaign.reading.yaml_text import Path


class Section(BaseModel):
    """A frozen part of a campaign file; keys it does not know are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)
    may_be_in_a_file: ClassVar[bool] = False
    """Whether a file that holds the section may be named instead."""

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """What may be written instead of the mapping, as a JSON schema."""
        return None

    def identity(self) -> dict[str, Any]:
        """What of this section decides a result, as plain data for fingerprints."""
        return self.model_dump(by_alias=True, exclude_none=True)

    def __str__(self) -> str:
        return repr(self)


class OneOf(Section):
    """A part of which exactly one of several alternatives is given, each under a key of its own."""

    alternatives: ClassVar[tuple[str, ...] | None] = None
    """The keys that exclude each other; all fields where it is None."""

    @classmethod
    def alternative_keys(cls) -> dict[str, str]:
        """Field name to the key people write."""
        names = cls.alternatives or tuple(cls.model_fields)
        return {name: cls.model_fields[name].alias or name for name in names}

    @property
    def chosen(self) -> tuple[str, Any]:
        """The key that was given, and its value."""
        for name, key in self.alternative_keys().items():
            if (value := getattr(self, name)) is not None:
                return key, value
        raise AssertionError("the check below lets none through")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [key for name, key in self.alternative_keys().items() if getattr(self, name) is not None]
        if len(given) != 1:
            keys = ", ".join(self.alternative_keys().values())
            wrong = f"gives {' and '.join(given)}, which exclude each other" if given else "is missing"
            raise refusal(wrong, remedy=f"give exactly one of: {keys}")
        return self


class NamedOneOf(OneOf):
    """A part whose alternatives may be given by their bare name, which takes the defaults."""

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """The names of those that need no parameters."""
        return {"enum": [key for name, key in cls.alternative_keys().items() if not _needs(cls, name)]}


def section_of(part: type[Section], name: str) -> type[Section] | None:
    """The section that a field holds, where it holds one."""
    kinds = (part.model_fields[name].annotation, *get_args(part.model_fields[name].annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)), None)


def _needs(part: type[Section], name: str) -> bool:
    section = section_of(part, name)
    return section is not None and any(field.is_required() for field in section.model_fields.values())


def refusal(message: str, *, remedy: str, at: Path = (), value: object = None) -> PydanticCustomError:
    """An error for a validator to raise: ``at`` is the path, from the validated value on, to what is wrong."""
    context: dict[str, Any] = {"message": message, "remedy": remedy, "at": at, "shown": value}
    return PydanticCustomError("refused", "{message}", context)


def _a_name(text: str) -> str:
    if text != text.strip():
        raise refusal("starts or ends with a blank", remedy="remove the blank")
    bad = [
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cs", "Cn", "Co", "Zl", "Zp")
    ]
    if bad:
        raise refusal(f"holds the character {bad[0]!a}", remedy="use printable characters only")
    return text


def increasing(values: Sequence[float]) -> None:
    """Refuse a list that does not increase from each entry to the next."""
    for index in range(1, len(values)):
        if not values[index] > values[index - 1]:
            raise refusal(
                f"must increase, but entry {index} is not above entry {index - 1}",
                remedy="sort it and remove duplicates",
                at=(index,),
                value=values[index],
            )


def _increasing(values: tuple[float, ...]) -> tuple[float, ...]:
    increasing(values)
    return values


def _plus_zero(value: float) -> float:
    return value + 0.0  # -0.0 and 0.0 are one number, with one fingerprint


Number = Annotated[float, Strict(), AfterValidator(_plus_zero)]
"""A finite number; text and true/false are not numbers."""
Positive = Annotated[Number, Field(gt=0.0)]
NotNegative = Annotated[Number, Field(ge=0.0)]
Fraction = Annotated[Number, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Strict(), Field(ge=1)]
Text = Annotated[str, Strict(), Field(max_length=10_000)]
Name = Annotated[str, Strict(), Field(min_length=1, max_length=120), AfterValidator(_a_name)]
Increasing = Annotated[tuple[NotNegative, ...], Field(min_length=1), AfterValidator(_increasing)]
"""A list of numbers, none negative, each above the one before."""


def _module_and_name(text: str) -> str:
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*", text):
        raise refusal(
            "is not of the form package.module:function", remedy='write it like "mypackage.module:function"'
        )
    return text


def _only_finite(parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        json.dumps(parameters, allow_nan=False)
    except ValueError:
        raise refusal(
            "holds a number that is not finite", remedy="write it as text, or leave it out"
        ) from None
    return parameters


ImportedName = Annotated[str, Strict(), AfterValidator(_module_and_name)]
"""``package.module:name``."""
Parameters = Annotated[dict[str, JsonValue], AfterValidator(_only_finite)]
"""Plain data that code is called with."""


_NAME = re.compile(r"[A-Za-z]{2,12}:[0-9A-Za-z]{1,12}")
_WELL_KNOWN_TEXT = re.compile(r"[A-Za-z]{3,20}\[.*\]")


def _a_system(text: str) -> str:
    if not (_NAME.fullmatch(text) or _WELL_KNOWN_TEXT.fullmatch(text)):
        raise refusal(
            "is not the name of a coordinate reference system", remedy="write e.g. EPSG:32631", value=text
        )
    return text


CoordinateSystem = Annotated[Text, AfterValidator(_a_system)]
"""AUTHORITY:CODE, or well-known text (WKT) on one line where no authority has given a code."""


class FileSource(Section):
    """The name of the file, its format, and what had to be said about reading it."""

    file: Text
    """The name of the file."""
    format: Text
    """Its format."""
    notes: tuple[Text, ...] | None = None
    """What was ignored or converted."""


SUM_TOLERANCE = 0.01
"""Rounded figures sum to 1 within this; a sum further off is a mistake."""

Normalise = Annotated[bool, Strict()]
"""Whether probabilities are divided by their sum."""


def refuse_bad_sum(total: float, what: str, at: str, normalise: bool) -> None:
    """Refuse probabilities far from 1 in sum, or ones that cannot be divided by their sum."""
    if normalise and total > 0.0:
        return
    if abs(total - 1.0) > SUM_TOLERANCE:
        remedy = "divide each of them by their sum, or write normalise: true"
        raise refusal(
            f"the {what} sum to {total:.6g}, not to 1",
            remedy=remedy if total > 0.0 else "give some of them above 0",
            at=(at,),
        )


PACKED = "packed"
"""The key of a serialization context under which long lists are written as packed text."""


def _unpacked(value: Any) -> Any:
    if not is_packed(value):
        return value
    try:
        return unpack(value)
    except PackedListError as error:
        raise refusal(str(error), remedy="copy the whole line, or name the file it came from") from None


def _each_plus_zero(numbers: tuple[float, ...]) -> tuple[float, ...]:
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
    AfterValidator(_each_plus_zero),
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
