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
from typing import Annotated, Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, to_jsonable_python

from vindeby.campaign.reading.places import descend, or_none, parts_of
from vindeby.campaign.reading.problems import keys_at, nearest
from vindeby.campaign.reading.yaml_text import Path
from vindeby.campaign.sections.values import refusal, require
from vindeby.campaign.sections.vary import Values

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
    known, problems = fields.model_fields, list[InitErrorDetails]()

    def written(at: Path, path: str, given: Any) -> Any:
        if path not in known:
            return to_jsonable_python(given)
        try:
            return _written(fields, path, change(path, _read(fields, path, given)), context)
        except ValidationError as error:
            problems.extend({**one, "loc": (*at, *one["loc"])} for one in _details(error))
            return None

    found: dict[str, dict[str, Any]] = {axis: {} for axis in axes}
    for axis, values in axes.items():
        for name, value in values.items():
            if axis in known:
                found[axis][name] = written((axis, name), axis, value)
            else:
                parts = value.items()
                found[axis][name] = {path: written((axis, name, path), path, given) for path, given in parts}
    _refuse(fields, problems)
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
    """Yield the errors again, as they are needed to raise them from another place."""
    for one in error.errors(include_url=False):
        kind, context = one["type"], one.get("ctx", {})
        again = PydanticCustomError("refused", "{message}", context) if kind == "refused" else kind
        yield InitErrorDetails(type=again, loc=one["loc"], input=one["input"], ctx=context)


def _refuse(fields: Any, problems: Iterable[InitErrorDetails]) -> None:
    """Raise ValidationError if there are problems, each once, whatever the number of combinations that have it."""
    each = {(one["loc"], str(one["type"])): one for one in problems}
    if each:
        raise ValidationError.from_exception_data(fields.__name__, [*each.values()])


class _Part(NamedTuple):
    """What one value of an axis sets: the place where it is written, and its path in complete plain data."""

    at: Path
    steps: Path


_Setters = tuple[tuple[str, str, str], ...]
"""The axis, the name of the value, and the path of everything that sets a field or a part of it."""


def variants_of(campaign: Any, check: Callable[[Any], object] = lambda _: None) -> tuple[Any, ...]:
    """Return the campaign of every combination, without axes; ValidationError has what is wrong with any of them.

    ``check`` is called with each.
    """
    fields, problems = type(campaign), list[InitErrorDetails]()
    base = cache(lambda field: _written(fields, field, getattr(campaign, field)))
    sections: dict[tuple[str, _Setters], tuple[list[_Part], Any]] = {}
    combined = [
        (one, _setters(campaign.vary, one, fields.model_fields))
        for one in combinations_of(campaign.vary, fields.model_fields)
    ]
    for pair in dict.fromkeys(pair for _, by_field in combined for pair in by_field.items()):
        sections[pair] = _section(campaign, base(pair[0]), *pair, problems)
    _refuse(fields, problems)
    variants = []
    for combination, by_field in combined:
        found = {pair[0]: sections[pair] for pair in by_field.items()}
        changed = {name: section for name, (_, section) in found.items()}
        variant = campaign.model_copy(update={"vary": None, **changed})
        variant.set_combination(combination)
        try:
            check(variant)
        except PydanticCustomError as error:
            every = [part for parts, _ in found.values() for part in parts]
            problems.append(_placed(error, every, combination))
        variants.append(variant)
    _refuse(fields, problems)
    return tuple(variants)


def _setters(
    axes: Mapping[str, Values], combination: Combination, known: Mapping[str, Any]
) -> dict[str, _Setters]:
    """Return what a combination sets, by field."""
    found: dict[str, _Setters] = {}
    for axis, name in combination.values.items():
        for path in parts_of(axis, axes[axis][name], known):
            field = path.partition(".")[0]
            found[field] = (*found.get(field, ()), (axis, name, path))
    return found


def _section(
    campaign: Any, base: Any, field: str, setters: _Setters, problems: list[InitErrorDetails]
) -> tuple[list[_Part], Any]:
    """Return what sets a section, and the section; where it is wrong, note that in ``problems``."""
    fields, data, parts = type(campaign), {field: copy.deepcopy(base)}, list[_Part]()
    # Whole fields first, then what is set in them.
    for axis, name, path in sorted(setters, key=lambda one: one[2].count(".")):
        value = parts_of(axis, campaign.vary[axis][name], fields.model_fields)[path]
        steps: Path
        at: Path = ("vary", axis, name, *(() if path == axis else (path,)))
        if path == field:
            data[field], steps = copy.deepcopy(value), (field,)
        else:
            try:
                holder, steps = descend(data, path.split("."))
            except PydanticCustomError as error:
                problems.append(InitErrorDetails(type=error, loc=at, input=value))
                return parts, None
            holder[steps[-1]] = value
        parts.append(_Part(at, steps))
    try:
        return parts, _read(fields, field, data[field])
    except ValidationError as error:
        problems += [_blamed(fields, one, field, parts) for one in _details(error)]
        return parts, None


def _blamed(fields: Any, detail: InitErrorDetails, field: str, parts: Sequence[_Part]) -> InitErrorDetails:
    """Return an error at the value that causes it: the one that holds its place, or else the last."""
    at = (field, *detail["loc"])
    if written := _written_at(at, parts):
        return {**detail, "loc": written}
    if detail["type"] == "extra_forbidden":
        remedy = nearest(str(at[-1]), sorted({*keys_at(fields, at[:-1])}))
        error = refusal(f"names {at[-1]!r}, which is not a known key", remedy=remedy)
        return {**detail, "type": error, "loc": parts[-1].at}
    return {**detail, "loc": parts[-1].at}


def _placed(error: PydanticCustomError, parts: Sequence[_Part], combination: Combination) -> InitErrorDetails:
    """Return a refusal at the value that it is about; or where it is, with the combination in words."""
    context = dict(error.context or {})
    at = tuple(context["at"])
    if (written := _written_at(at, parts)) is None:
        context["message"] = f"{context['message']} (with {combination})"
    again = PydanticCustomError("refused", "{message}", {**context, "at": ()})
    return InitErrorDetails(type=again, loc=written or at, input=None)


def _written_at(at: Path, parts: Sequence[_Part]) -> Path | None:
    """Return where in an axis the value at a path of the campaign is written; None where no part sets it."""
    around = [part for part in parts if at[: len(part.steps)] == part.steps]
    part = max(around, key=lambda part: len(part.steps), default=None)
    return None if part is None else (*part.at, *at[len(part.steps) :])
