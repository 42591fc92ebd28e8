"""The small types that every part of a campaign file is made of."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, model_validator
from pydantic_core import PydanticCustomError

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
            told = f"gives {' and '.join(given)}, which exclude each other" if given else "is not said"
            raise refusal(told, remedy=f"give exactly one of: {keys}")
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
