"""The combinations of a campaign's axes, its scenarios, and the campaign in each of them.

Both are named sets of fields. A section that several combinations share is validated once and is one object in all of
them, so that whoever prepares something for it can do so once.
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
    """A combination of one value per axis; ``values`` has the value's name by axis, in the order of the file."""

    index: int = 0
    values: Mapping[str, str] = field(default_factory=dict, hash=False)
    tag: str = ""
    """The tag that tells the keys of combinations apart: it does not depend on the order, or on other values."""

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
    known = fields.model_fields
    parts: dict[tuple[str, ...], dict[str, Any]] = {
        (axis, name): parts_of(axis, value, known)
        for axis, values in axes.items()
        for name, value in values.items()
    }
    checked = checked_parts(fields, parts, change, context)
    found: dict[str, dict[str, Any]] = {axis: {} for axis in axes}
    for (axis, name), written in checked.items():
        found[axis][name] = written[axis] if axis in known else written
    return found


def checked_parts(
    fields: Any,
    parts: Mapping[tuple[str, ...], Mapping[str, Any]],
    change: Callable[[str, Any], Any] = lambda _, section: section,
    context: Mapping[str, Any] | None = None,
) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return what values of axes or scenarios set, as ``checked_axes`` does, by their place, at which errors are."""
    problems = list[InitErrorDetails]()

    def written(at: tuple[str, ...], path: str, given: Any) -> Any:
        if path not in fields.model_fields:
            return to_jsonable_python(given)
        try:
            return _written(fields, path, change(path, _read(fields, path, given)), context)
        except ValidationError as error:
            here = at if len(at) > 1 and path == at[0] else (*at, path)
            problems.extend({**one, "loc": (*here, *one["loc"])} for one in _details(error))
            return None

    found = {
        at: {path: written(at, path, given) for path, given in each.items()} for at, each in parts.items()
    }
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


class _Setting(NamedTuple):
    """Something that a combination or a scenario sets."""

    at: Path
    """The place where the setting is written."""
    path: str
    """The path that it sets, such as ``site.weibull``."""
    value: Any

    @property
    def field(self) -> str:
        return self.path.partition(".")[0]


class _Part(NamedTuple):
    """A setting: the place where it is written, and its path in complete plain data."""

    at: Path
    steps: Path


Check = Callable[[Any], object]
"""Raises PydanticCustomError or ValidationError for a campaign that cannot be."""


def variants_of(campaign: Any, check: Check = lambda _: None) -> tuple[Any, ...]:
    """Return the campaign of every combination, without axes; ValidationError has what is wrong with any of them.

    ``check`` is called with each.
    """
    known = type(campaign).model_fields
    each = {
        one: [
            _Setting(("vary", axis, name, *(() if path == axis else (path,))), path, value)
            for axis, name in one.values.items()
            for path, value in parts_of(axis, campaign.vary[axis][name], known).items()
        ]
        for one in combinations_of(campaign.vary, known)
    }

    def checked(combination: Any, variant: Any) -> None:
        variant.set_combination(combination)
        check(variant)

    return _changed(campaign.model_copy(update={"vary": None}), each, checked)


class World(NamedTuple):
    """A scenario, and the campaign in this scenario."""

    name: str
    weight: float
    campaign: Any


def worlds_of(campaign: Any, check: Check = lambda _: None) -> tuple[World, ...]:
    """Return every scenario in the order of the file; ValidationError has what is wrong with any of them.

    ``check`` is called with the campaign in each.
    """
    given = campaign.scenarios or {}
    each = {
        f"scenario {name!r}": [
            _Setting(("scenarios", name, path), path, value) for path, value in one.sets.items()
        ]
        for name, one in given.items()
    }
    objective = campaign.objective and campaign.objective.model_copy(update={"over": None})
    plain = campaign.model_copy(update={"scenarios": None, "objective": objective})
    found = _changed(plain, each, lambda _, one: check(one))
    return tuple(World(name, given[name].weight, one) for name, one in zip(given, found, strict=True))


def _changed(
    campaign: Any, each: Mapping[Any, Sequence[_Setting]], check: Callable[[Any, Any], object]
) -> tuple[Any, ...]:
    """Return the campaign with the settings of each; ValidationError has what is wrong with any of them."""
    fields, problems = type(campaign), list[InitErrorDetails]()
    base = cache(lambda name: _written(fields, name, getattr(campaign, name)))
    sections: dict[tuple[Path, ...], tuple[list[_Part], Any]] = {}
    keys_of = list[dict[str, tuple[Path, ...]]]()
    for settings in each.values():
        by_field: dict[str, list[_Setting]] = {}
        for one in settings:
            by_field.setdefault(one.field, []).append(one)
        keys_of.append({name: tuple(one.at for one in some) for name, some in by_field.items()})
        for name, key in keys_of[-1].items():
            if key not in sections:
                sections[key] = _section(fields, base(name), by_field[name], problems)
    _refuse(fields, problems)
    made = []
    for label, keys in zip(each, keys_of, strict=True):
        one = campaign.model_copy(update={name: sections[key][1] for name, key in keys.items()})
        try:
            check(label, one)
        except (PydanticCustomError, ValidationError) as error:
            every = [part for key in keys.values() for part in sections[key][0]]
            problems += _placed(error, every, label)
        made.append(one)
    _refuse(fields, problems)
    return tuple(made)


def _section(
    fields: Any, base: Any, settings: Sequence[_Setting], problems: list[InitErrorDetails]
) -> tuple[list[_Part], Any]:
    """Return what sets a section, and the section; where it is wrong, note that in ``problems``."""
    field = settings[0].field
    data, parts = {field: copy.deepcopy(base)}, list[_Part]()
    # Whole fields first, then what is set in them.
    for at, path, value in sorted(settings, key=lambda one: one.path.count(".")):
        steps: Path = (field,)
        if path == field:
            data[field] = copy.deepcopy(value)
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


def _placed(
    error: PydanticCustomError | ValidationError, parts: Sequence[_Part], label: object
) -> Iterator[InitErrorDetails]:
    """Yield what is wrong at the value that it is about; or where it is, with the combination or scenario in words."""
    if isinstance(error, ValidationError):
        details = [*_details(error)]
    else:
        details = [InitErrorDetails(type=error, loc=(), input=None)]
    for one in details:
        wrong, at = one["type"], one["loc"]
        if not isinstance(wrong, PydanticCustomError):
            yield {**one, "loc": _written_at(at, parts) or at}
            continue
        context = dict(wrong.context or {})
        at = (*at, *context["at"])
        if (written := _written_at(at, parts)) is None:
            context["message"] = f"{context['message']} (with {label})"
        again = PydanticCustomError("refused", "{message}", {**context, "at": ()})
        yield InitErrorDetails(type=again, loc=written or at, input=None)


def _written_at(at: Path, parts: Sequence[_Part]) -> Path | None:
    """Return the path in an axis of the value at a path of the campaign; None if no part sets it."""
    around = [part for part in parts if at[: len(part.steps)] == part.steps]
    part = max(around, key=lambda part: len(part.steps), default=None)
    return None if part is None else (*part.at, *at[len(part.steps) :])
