"""The small types that every part of a campaign file is made of: numbers, names, long lists, names of Python code."""

import itertools
import json
import re
import reprlib
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, ClassVar, Self, get_args

import numpy as np
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
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from vindeby.campaign.reading.packed_lists import LONGEST_PLAIN, PackedListError, is_packed, pack, unpack
from vindeby.campaign.reading.yaml_text import Path
from vindeby.parameters import PLUS_ZERO as PLUS_ZERO
from vindeby.parameters import Count as Count
from vindeby.parameters import NotNegative as NotNegative
from vindeby.parameters import Number as Number
from vindeby.parameters import Positive as Positive
from vindeby.units import count_sectors, first_uneven

FARTHEST_M = 1e8


class Section(BaseModel):
    """A frozen part of a campaign file; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)
    may_be_in_a_file: ClassVar[bool] = False
    """True if a file that holds the section may be named instead."""
    keys_of_reading: ClassVar[tuple[str, ...]] = ()
    """Keys beside ``file`` that say what is read from a file or database, and are gone once it is read."""
    bare: ClassVar[tuple[str, tuple[type, ...]]] = ("", ())
    """The key whose value may be written alone, without the mapping, and the types of such a value."""
    short_form: ClassVar[dict[str, Any] | None] = None
    """The JSON schema of the short form that may be written instead of the mapping, if any."""

    @model_validator(mode="before")
    @classmethod
    def _under_its_key(cls, data: Any) -> Any:
        key, types = cls.bare
        return {key: data} if isinstance(data, types) else data

    def identity(self) -> dict[str, Any]:
        """Return the data of this section that decide a result, as plain data for fingerprints."""
        return self.model_dump(by_alias=True, exclude_none=True)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in self if value is not None)
        return f"<{type(self).__name__.removesuffix('Section')}: {given}>"

    def __str__(self) -> str:
        return repr(self)


class OneOf(Section):
    """A part that has exactly one of several alternatives, each under a key of its own."""

    beside: ClassVar[tuple[str, ...]] = ()
    """The fields that may be given beside any of the alternatives, which are all others."""

    @classmethod
    def alternative_keys(cls) -> dict[str, str]:
        """Return the keys that people write, by field name."""
        fields = cls.model_fields.items()
        return {name: field.alias or name for name, field in fields if name not in cls.beside}

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
        keys = ", ".join(self.alternative_keys().values())
        wrong = f"gives {' and '.join(given)}, which exclude each other" if given else "is missing"
        require(len(given) == 1, wrong, f"give exactly one of: {keys}")
        return self


class NamedOneOf(OneOf):
    """A part whose alternatives may be given by their bare name, which takes the defaults."""

    @classmethod
    def bare_names(cls) -> list[str]:
        """Return the names of the alternatives that need no parameters."""
        return [key for name, key in cls.alternative_keys().items() if not _needs(cls, name)]

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {data: {}}
        if not isinstance(data, dict):
            return data
        named = [key for key in data if key not in cls.beside]
        return {**data, named[0]: {}} if len(named) == 1 and data[named[0]] is None else data


def section_of(part: type[Section], name: str) -> Any:
    """Return the section, or the class of parameters, that a field holds; None if it holds neither."""
    annotation = part.model_fields[name].annotation
    found = [getattr(kind, "__origin__", kind) for kind in (annotation, *get_args(annotation))]
    kinds = [kind for kind in found if isinstance(kind, type)]
    return next((kind for kind in kinds if is_dataclass(kind) or issubclass(kind, Section)), None)


def _needs(part: type[Section], name: str) -> bool:
    section = section_of(part, name)
    fields = getattr(section, "model_fields", {}).values()  # parameters all have defaults
    return any(field.is_required() for field in fields)


def refusal(message: str, *, remedy: str, at: Path = (), value: object = None) -> PydanticCustomError:
    """Return an error for a validator to raise; ``at`` is the path of the error from the validated value on."""
    context: dict[str, Any] = {"message": message, "remedy": remedy, "at": at, "shown": value}
    return PydanticCustomError("refused", "{message}", context)


def require(holds: object, message: str, remedy: str, *at: str | int) -> None:
    """Raise an error about the value at the path ``at``, from the validated value on, unless a condition holds."""
    if not holds:
        raise refusal(message, remedy=remedy, at=at)


def matching(pattern: str, wrong: str, remedy: str) -> AfterValidator:
    """Return a validator that requires a text to match a pattern."""

    def check(text: str) -> str:
        require(re.fullmatch(pattern, text), wrong, remedy)
        return text

    return AfterValidator(check)


def _date(text: str) -> str:
    with suppress(ValueError):
        datetime.fromisoformat(text)
        return text
    raise refusal("is not a date", remedy="write it like 2015-01-31 or 2015-01-31T13:00")


Date = Annotated[str, Strict(), AfterValidator(_date)]
"""A date, or a date and time, by ISO 8601."""
Day = Annotated[
    Date,
    matching(r"\d{4}-\d\d-\d\d", "is not a date without a time of day", "write it like 2015-01-31"),
    WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"}),
]
"""A date by ISO 8601, without a time of day."""


def one_is_a_list(value: Any) -> Any:
    """Return a single entry, a mapping or a name, as a tuple of one; any other value unchanged."""
    return (value,) if isinstance(value, str | dict) else value


def require_length(count: int, axis: str, wanted: int, *at: str | int) -> None:
    """Refuse a list that does not have one entry for each of those of an axis."""
    require(count == wanted, f"has {count} entries, but {axis} has {wanted:,}", "give one for each", *at)


def each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse a list with an entry that it has already."""
    seen = set[Any]()
    for index, value in enumerate(values if len({*values}) < len(values) else ()):
        require(value not in seen, "is listed twice", "list it once", index)
        seen.add(value)
    return values


def require_shape(values: Any, axes: Mapping[str, int], *at: str | int) -> None:
    """Refuse nested lists without one number for each point of the axes, whose names and lengths are given."""
    wanted = f"but ({', '.join(axes)}) has {' x '.join(map(str, axes.values()))}"
    remedy = "give one number for each point, nested in the order of the axes"
    try:
        shape = np.shape(values)
    except ValueError:
        raise refusal(f"has rows of different lengths, {wanted}", remedy=remedy, at=at) from None
    wrong = f"has {' x '.join(map(str, shape))} entries, {wanted}"
    require(shape == tuple(axes.values()), wrong, remedy, *at)


def flattened(rows: Any, lengths: Mapping[str, int | None], *at: str | int) -> Any:
    """Return nested lists over some axes as one list; what is not nested is returned as it is.

    The shape is not checked where a length is None, of an axis that is wrong itself.
    """
    if not (isinstance(rows, list | tuple) and rows and isinstance(rows[0], list | tuple)):
        return rows
    axes = {axis: length for axis, length in lengths.items() if length is not None}
    if len(axes) == len(lengths):
        require_shape(rows, axes, *at)
    while isinstance(rows[0], list | tuple):
        rows = [entry for row in rows for entry in (row if isinstance(row, list | tuple) else (row,))]
    return rows


def length_of(axis: Any) -> int | None:
    """Return the length of an axis in data that are not checked yet; None if there is no such list."""
    return len(axis) if isinstance(axis, list | tuple) else None


def _printable(text: str) -> str:
    require(text == text.strip(), "starts or ends with a blank", "remove the blank")
    bad = [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cs", "Cn", "Co", "Zl", "Zp")]
    require(not bad, f"holds the character {''.join(bad[:1])!a}", "use printable characters only")
    return text


def _names_differ(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    first: dict[str, int] = {}
    for index, name in enumerate(part.name for part in parts):
        same = first.setdefault(name, index)
        require(same == index, f"entry {same} has the same name", "names must differ", index, "name")
    return parts


def increasing(values: tuple[float, ...], remedy: str) -> tuple[float, ...]:
    """Refuse numbers that do not increase."""
    for index, (before, value) in enumerate(itertools.pairwise(values), 1):
        require(value > before, f"must increase, but {value:.10g} follows {before:.10g}", remedy, index)
    return values


def _rising(remedy: str) -> AfterValidator:
    return AfterValidator(partial(increasing, remedy=remedy))


_FROM_NORTH = "list the sectors from north clockwise, at even distances"


def evenly_around(directions: tuple[float, ...], *inner: str, remedy: str = _FROM_NORTH) -> tuple[float, ...]:
    """Refuse directions that are not those of evenly spaced sectors, the first of them north; 360 may repeat 0.

    ``inner`` is the path from a sector to its direction.
    """
    sectors, index = count_sectors(directions), first_uneven(directions)
    if index is not None:
        wrong = f"with {sectors} sectors, sector {index} must be at {index * 360.0 / sectors:g} degrees"
        raise refusal(wrong, remedy=remedy, at=(index, *inner))
    return directions


def _on_a_map(value: float) -> float:
    far = f"is farther than {FARTHEST_M:g} m from the origin"
    require(abs(value) <= FARTHEST_M, far, "give coordinates in metres, UTM for example")
    return value + 0.0


_LIMITS = {"type": "number", "minimum": -FARTHEST_M, "maximum": FARTHEST_M}
Metres = Annotated[float, Strict(), AfterValidator(_on_a_map), WithJsonSchema(_LIMITS)]
"""A coordinate on a map."""
Fraction = Annotated[Number, Field(ge=0.0, le=1.0), PLUS_ZERO]
Text = Annotated[str, Strict(), Field(max_length=10_000)]
Line = Annotated[str, Strict(), Field(min_length=1, max_length=10_000), AfterValidator(_printable)]
"""A line of text, without blanks around it."""
Name = Annotated[Line, Field(max_length=120)]
Increasing = Annotated[tuple[NotNegative, ...], Field(min_length=1), _rising("sort it and remove duplicates")]
"""A list of numbers, none negative, each above the one before."""
_AXIS = _rising("sort the axis together with the values over it")
Coordinates = Annotated[tuple[Metres, ...], Field(min_length=2), _AXIS]
"""An axis of a grid, in metres."""
Heights = Annotated[tuple[Metres, ...], Field(min_length=1), _AXIS]
Direction = Annotated[Number, Field(ge=0.0, lt=360.0), PLUS_ZERO]
Sectors = Annotated[
    tuple[Annotated[Number, PLUS_ZERO], ...],
    Field(min_length=1),
    AfterValidator(partial(evenly_around, remedy=f"{_FROM_NORTH}; 360 may repeat 0")),
]
"""Wind directions in degrees, evenly spaced from north on; a last one of 360 is the first."""
RisingDirections = Annotated[
    tuple[Direction, ...],
    Field(min_length=1),
    _rising("list the directions from north clockwise, each once; 360 is 0"),
]
ThrustCoefficient = Annotated[Number, Field(ge=0.0, lt=1.5), PLUS_ZERO]
NAMED = (Field(min_length=1), AfterValidator(_names_differ))
"""Constraints of a list whose entries have names: the list is not empty, and no name stands twice."""


def _only_finite(parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        json.dumps(parameters, allow_nan=False)
    except ValueError:
        raise refusal(
            "holds a number that is not finite", remedy="write it as text, or leave it out"
        ) from None
    return parameters


_DOTTED = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
ImportedName = Annotated[
    str,
    Strict(),
    matching(
        f"{_DOTTED}:{_DOTTED}",
        "is not of the form package.module:function",
        'write it like "mypackage.module:function"',
    ),
]
"""``package.module:name``."""
Parameters = Annotated[dict[str, JsonValue], AfterValidator(_only_finite)]
"""Plain data that code is called with."""


_SYSTEM = r"[A-Za-z]{2,12}:[0-9A-Za-z]{1,12}|[A-Za-z]{3,20}\[.*\]"
CoordinateSystem = Annotated[
    Text, matching(_SYSTEM, "is not the name of a coordinate reference system", "write e.g. EPSG:32631")
]
"""AUTHORITY:CODE, or well-known text (WKT) on one line where no authority has given a code."""


class FileSource(Section):
    """The name of the file, its format, and remarks on its reading."""

    file: Text
    """The name of the file."""
    format: Text
    """The format of the file."""
    notes: tuple[Text, ...] | None = None
    """Remarks on what was ignored or converted."""


SUM_TOLERANCE = 0.01
"""Rounded figures sum to 1 within this; a sum further off is a mistake."""

Normalise = Annotated[bool, Strict()]
"""True if probabilities are divided by their sum."""


def refuse_bad_sum(total: float, what: str, at: str, normalise: bool) -> None:
    """Refuse probabilities far from 1 in sum, or ones that cannot be divided by their sum."""
    remedy = "divide each of them by their sum, or write normalise: true"
    if total <= 0.0:
        remedy = "give some of them above 0"
    is_one = abs(total - 1.0) <= SUM_TOLERANCE or (normalise and total > 0.0)
    require(is_one, f"the {what} sum to {total:.6g}, not to 1", remedy, at)


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
    if not isinstance(entries, tuple):
        return entries
    long = len(entries) > LONGEST_PLAIN and isinstance(info.context, dict) and info.context.get(PACKED)
    return pack(entries) if long else list(entries)


class _FirstProblem(FailFast):
    """Stop at the first entry that is wrong: a series in other units would be a message of thousands of lines."""

    def __hash__(self) -> int:  # alternatives of a union must be hashable
        return hash(self.fail_fast)


_LIST = (
    Field(min_length=1),
    _FirstProblem(),
    BeforeValidator(_unpacked),
    PlainSerializer(_written),
    AfterValidator(_each_plus_zero),
)

Numbers = Annotated[tuple[Annotated[float, Strict()], ...], *_LIST]
Directions = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0, le=360.0)], ...], *_LIST]
"""Wind directions in degrees; 360 is north, as 0 is."""
Speeds = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0, le=100.0)], ...], *_LIST]
"""Wind speeds in m/s."""
Depths = Annotated[tuple[Annotated[float, Strict(), Field(ge=-12_000.0, le=12_000.0)], ...], *_LIST]
"""Water depths in metres; no sea is deeper."""
Weights = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0)], ...], *_LIST]
Probabilities = Annotated[tuple[Annotated[float, Strict(), Field(ge=0.0, le=1.0)], ...], *_LIST]
Intensities = Annotated[tuple[Annotated[float, Strict(), Field(gt=0.0, lt=1.0)], ...], *_LIST]
Times = Annotated[
    tuple[Annotated[str, Strict(), Field(max_length=40)], ...],
    Field(min_length=1),
    BeforeValidator(_unpacked),
    PlainSerializer(_written),
]
