"""The combinations of a campaign's axes, and the campaign that it is in each of them.

A section that several combinations share is validated once and is one object in all of them, so that whoever prepares
something for it can do so once.
"""

import copy
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, to_jsonable_python

from vindeby.campaign.reading.places import descend, or_none, parts_of
from vindeby.campaign.reading.problems import keys_at, nearest
from vindeby.campaign.reading.yaml_text import Path
from vindeby.campaign.sections.values import refusal, require
from vindeby.campaign.sections.vary import Values

_MOST_PROBLEMS = 100
_TAG_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Combination:
    """One value of every axis; ``values`` has its name by axis, in the order of the file."""

    index: int = 0
    values: Mapping[str, str] = field(default_factory=dict, hash=False)
    tag: str = ""
    """By which keys tell combinations apart: it does not depend on the order, or on other values."""

    def __str__(self) -> str:
        return ", ".join(f"{axis} {name}" for axis, name in self.values.items())


def combinations_of(axes: Mapping[str, Values], fields: Mapping[str, Any]) -> tuple[Combination, ...]:
    """Return every combination, those that differ only in their method next to each other."""
    order = sorted(
        axes, key=lambda axis: {*parts_of(axis, next(iter(axes[axis].values())), fields)} == {"method"}
    )
    found, seen = [], dict[str, Combination]()
    for index, names in enumerate(itertools.product(*(axes[axis] for axis in order))):
        named = dict(zip(order, names, strict=True))
        text = json.dumps(sorted(named.items()), ensure_ascii=True)
        tag = hashlib.sha256(text.encode("ascii")).hexdigest()[:_TAG_DIGITS]
        one = Combination(index, {axis: named[axis] for axis in axes}, tag)
        same = f"{one} and {seen.setdefault(tag, one)} have the same tag {tag}"
        require(seen[tag] is one, same, "call one of their values otherwise")
        found.append(one)
    return tuple(found)


def checked_axes(
    fields: Any,
    axes: Mapping[str, Values],
    change: Callable[[str, Any], Any] = lambda _, section: section,
    context: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the axes as complete plain data, the values of whole fields checked, and changed by ``change``.

    With the context of a serialization, as it is written into a file. Errors are below ``vary``.
    """
    known, problems = fields.model_fields, _Problems()

    def written(axis: str, name: str, path: str, given: Any) -> Any:
        if path not in known:
            return to_jsonable_python(given)
        try:
            section = change(path, _read(fields, path, given))
            return _written(fields, path, section, context)
        except ValidationError as error:
            for one in _details(error):
                at = (axis, name, *(() if axis == path else (path,)))
                problems.note({**one, "loc": (*at, *one["loc"])})
            return None

    found: dict[str, dict[str, Any]] = {}
    for axis, values in axes.items():
        for name, value in values.items():
            parts = {
                path: written(axis, name, path, given) for path, given in parts_of(axis, value, known).items()
            }
            found.setdefault(axis, {})[name] = parts[axis] if axis in known else parts
    problems.refuse(fields)
    return found


@cache
def _adapter(fields: Any, field: str) -> TypeAdapter[Any]:
    info = fields.model_fields[field]
    kind: Any = info.annotation
    for one in info.metadata:
        kind = Annotated[kind, one]
    return TypeAdapter(kind)


def _read(fields: Any, field: str, given: Any) -> Any:
    return _adapter(fields, field).validate_python(or_none(field, given, fields.model_fields))


def _written(fields: Any, field: str, section: Any, context: Mapping[str, Any] | None = None) -> Any:
    return _adapter(fields, field).dump_python(
        section, mode="json", by_alias=True, exclude_none=True, context=dict(context or {})
    )


def _details(error: ValidationError) -> Iterator[InitErrorDetails]:
    """Give the errors again, as they are needed to raise them from another place."""
    for one in error.errors(include_url=False):
        kind, context = one["type"], one.get("ctx", {})
        again = PydanticCustomError("refused", "{message}", context) if kind == "refused" else kind
        yield InitErrorDetails(type=again, loc=one["loc"], input=one["input"], ctx=context)


class _Problems:
    """What is wrong with the values of axes, each problem once, whatever the number of combinations that have it."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], InitErrorDetails] = {}

    def note(self, detail: InitErrorDetails) -> None:
        kind = detail["type"]
        said = (kind.message(), str(kind.context)) if isinstance(kind, PydanticCustomError) else (kind,)
        if len(self._found) < _MOST_PROBLEMS:
            self._found.setdefault((detail["loc"], *said), detail)

    def refuse(self, fields: Any) -> None:
        """Raise ValidationError if there are any."""
        if self._found:
            raise ValidationError.from_exception_data(fields.__name__, [*self._found.values()])


@dataclass(frozen=True, slots=True)
class _Part:
    """What one value of an axis sets."""

    axis: str
    name: str
    path: str
    data: Any
    steps: Path
    """The path in complete plain data."""

    @property
    def at(self) -> Path:
        """Where it is written."""
        return ("vary", self.axis, self.name, *(() if self.path == self.axis else (self.path,)))


def variants_of(campaign: Any, check: Callable[[Any], object] = lambda _: None) -> tuple[Any, ...]:
    """Return the campaign of every combination, without axes; ValidationError has what is wrong with any of them.

    ``check`` is called with each.
    """
    made, problems = _Sections(campaign), _Problems()
    variants = []
    for combination in combinations_of(campaign.vary, made.known):
        try:
            parts, changed = made.changes(combination)
            variant = campaign.model_copy(update={"vary": None, **changed})
            variant.set_combination(combination)
            check(variant)
            variants.append(variant)
        except _WrongSectionError as error:
            for detail in error.details:
                problems.note(detail)
        except PydanticCustomError as error:
            problems.note(_placed(error, parts, combination))
    problems.refuse(made.fields)
    return tuple(variants)


def _placed(error: PydanticCustomError, parts: Sequence[_Part], combination: Combination) -> InitErrorDetails:
    """Return a refusal at the value that it is about; or where it is, with the combination in words."""
    context = dict(error.context or {})
    at = tuple(context["at"])
    if (written := _written_at(at, parts)) is None:
        context["message"] = f"{context['message']} (with {combination})"
    return InitErrorDetails(
        type=PydanticCustomError("refused", "{message}", {**context, "at": ()}), loc=written or at, input=None
    )


def _written_at(at: Path, parts: Sequence[_Part]) -> Path | None:
    """Return where in an axis the value at a path of the campaign is written; None where no part sets it."""
    around = [part for part in parts if at[: len(part.steps)] == part.steps]
    part = max(around, key=lambda part: len(part.steps), default=None)
    return None if part is None else (*part.at, *at[len(part.steps) :])


class _WrongSectionError(Exception):
    def __init__(self, details: list[InitErrorDetails]) -> None:
        self.details = details


class _Sections:
    """The sections that the axes of a campaign set, each made once."""

    def __init__(self, campaign: Any) -> None:
        self.campaign, self.fields = campaign, type(campaign)
        self.known = self.fields.model_fields
        self._made: dict[object, tuple[list[_Part], Any] | _WrongSectionError] = {}
        self._base = cache(lambda field: _written(self.fields, field, getattr(campaign, field)))

    def changes(self, combination: Combination) -> tuple[list[_Part], dict[str, Any]]:
        """Return what a combination sets, and the sections by field."""
        by_field: dict[str, list[tuple[str, str, str]]] = {}
        for axis, name in combination.values.items():
            for path in parts_of(axis, self.campaign.vary[axis][name], self.known):
                by_field.setdefault(path.partition(".")[0], []).append((axis, name, path))
        parts: list[_Part] = []
        changed = {}
        for name, given in by_field.items():
            more, changed[name] = self._section(name, tuple(given))
            parts += more
        return parts, changed

    def _section(self, field: str, given: tuple[tuple[str, str, str], ...]) -> tuple[list[_Part], Any]:
        if given not in self._made:
            try:
                self._made[given] = self._new(field, given)
            except _WrongSectionError as error:
                self._made[given] = error
        found = self._made[given]
        if isinstance(found, _WrongSectionError):
            raise found
        return found

    def _new(self, field: str, given: Iterable[tuple[str, str, str]]) -> tuple[list[_Part], Any]:
        data, parts = {field: copy.deepcopy(self._base(field))}, list[_Part]()
        # Whole fields first, then what is set in them.
        for axis, name, path in sorted(given, key=lambda one: one[2].count(".")):
            value = parts_of(axis, self.campaign.vary[axis][name], self.known)[path]
            part = _Part(axis, name, path, value, (field,))
            if path == field:
                data[field] = copy.deepcopy(value)
            else:
                try:
                    holder, steps = descend(data, path.split("."))
                except PydanticCustomError as error:
                    wrong = InitErrorDetails(type=error, loc=part.at, input=part.data)
                    raise _WrongSectionError([wrong]) from None
                holder[steps[-1]] = value
                part = _Part(axis, name, path, value, steps)
            parts.append(part)
        try:
            return parts, _read(self.fields, field, data[field])
        except ValidationError as error:
            raise _WrongSectionError([self._blamed(one, field, parts) for one in _details(error)]) from None

    def _blamed(self, detail: InitErrorDetails, field: str, parts: Sequence[_Part]) -> InitErrorDetails:
        """Return an error at the value that causes it: the one that holds its place, or else the last."""
        at, part = (field, *detail["loc"]), parts[-1]
        if written := _written_at(at, parts):
            return {**detail, "loc": written}
        if detail["type"] == "extra_forbidden":
            remedy = nearest(str(at[-1]), sorted({*keys_at(self.fields, at[:-1])}))
            error = refusal(f"names {at[-1]!r}, which is not a known key", remedy=remedy)
            return {**detail, "type": error, "loc": part.at}
        return {**detail, "loc": part.at}
