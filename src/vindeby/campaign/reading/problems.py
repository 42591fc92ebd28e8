"""The errors of pydantic in words for the author of the file: file, line, field, value, remedy."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from vindeby.campaign.reading.places import set_whole
from vindeby.campaign.reading.yaml_text import Document, Path, field_name
from vindeby.campaign.sections.values import Section
from vindeby.errors import CampaignError, Problem

_Model = TypeVar("_Model", bound=BaseModel)

_WORDS: dict[str, tuple[str | None, str]] = {
    "missing": ("is missing", "add it"),
    "float_type": ("must be a number", "write a number, without quotes"),
    "int_type": ("must be a whole number", "write a whole number, without quotes"),
    "bool_type": ("must be true or false", "write true or false, without quotes"),
    "int_from_float": (None, "write a whole number"),
    "finite_number": ("must be a finite number", "write a finite number"),
    "string_type": ("must be text", "write text; put it in quotes if it looks like a number"),
    **dict.fromkeys(("list_type", "tuple_type"), ("must be a list", "write a list")),
    **dict.fromkeys(
        ("dict_type", "model_type", "dataclass_type", "dataclass_exact_type", "model_attributes_type"),
        ("must be a mapping", "write key: value lines"),
    ),
    "literal_error": ("must be {expected}", "write one of these"),
    "greater_than": ("must be greater than {gt}", "write a larger number"),
    "greater_than_equal": ("must be at least {ge}", "write a larger number"),
    "less_than": ("must be less than {lt}", "write a smaller number"),
    "less_than_equal": ("must be at most {le}", "write a smaller number"),
    "too_short": ("must have at least {min_length} entries, but has {actual_length}", "add what is lacking"),
    "too_long": (
        "must have at most {max_length} entries, but has {actual_length}",
        "remove what is too much",
    ),
    "string_pattern_mismatch": ("is not of the form {pattern}", "write it in this form"),
    "string_too_short": ("must not be empty", "write a word"),
    "string_too_long": ("must have at most {max_length} characters", "write fewer words"),
}
"""The message and the remedy by pydantic's name of the error."""
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_LONGEST_VALUE, _MOST_PROBLEMS = 80, 100


def checked(model: type[_Model], document: Document) -> _Model:
    """Return the model of a document's data; raise CampaignError with the first problems and the number of others."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        varied = set_whole(document.data, model.model_fields)
        details = [dict(one) for one in error.errors(include_url=False) if not _follows(one, varied)]
    found: dict[tuple[Path, Path], list[dict[str, Any]]] = {}
    for detail in details:
        found.setdefault(_paths(detail, document.data), []).append(detail)
    above = {path[:length] for path, _ in found for length in range(len(path))}
    meant = [
        (paths, kept) for paths, one in found.items() if (kept := _of_form_meant(one, paths[0] in above))
    ]
    meant.sort(key=lambda one: document.origin(one[0][1]).line or 0)
    problems = {_problem(model, one, document, *paths): None for paths, one in meant[:_MOST_PROBLEMS]}
    if (more := len(meant) - _MOST_PROBLEMS) > 0:
        wrong, remedy = f"there are {more:,} more problems", "correct those above, and check again"
        problems[Problem(document.origin(()).source, "", wrong, None, remedy)] = None
    raise CampaignError([*problems])


def _follows(detail: Mapping[str, Any], varied: Mapping[str, Any]) -> bool:
    """Return whether an error is due to another one.

    A list counts as too short because pydantic leaves out its entries that have errors; a field has the error of the
    first value of the axis that sets it.
    """
    given = detail["input"]
    return detail["loc"][:1] in [(name,) for name in varied] or (
        detail["type"] == "too_short"
        and isinstance(given, list | tuple)
        and len(given) >= detail["ctx"]["min_length"]
    )


def _of_form_meant(details: list[dict[str, Any]], is_wrong_inside: bool) -> list[dict[str, Any]]:
    """Return the errors at one path, without those about forms that the value was not meant to have.

    Where a field is, for example, a number or a table, pydantic reports for each of them why the value is not one.
    """
    others = [one for one in details if not one["type"].endswith(("_type", "literal_error"))]
    if is_wrong_inside:
        return others
    return [one for one in details if not (others and one["type"].endswith("_type"))]


def _paths(detail: Mapping[str, Any], data: Any) -> tuple[Path, Path]:
    """Return the path of what is wrong for messages, and that in the data as they were written."""
    path = _path_in_data(data, tuple(detail["loc"]), keep_last=detail["type"] in ("missing", *_UNKNOWN))
    path += tuple(detail.get("ctx", {}).get("at", ()))
    return path, _path_in_data(data, path, keep_last=True)


def _problem(
    model: type[BaseModel], details: list[dict[str, Any]], document: Document, path: Path, written: Path
) -> Problem:
    detail = details[0]
    origin, context = document.origin(written), detail.get("ctx", {})
    words = dict(_words(model, one, tuple(one["loc"])) for one in details)
    message, remedy = " or ".join(words), ", or ".join(dict.fromkeys(words.values()))
    shown = context.get("shown") if detail["type"] == "refused" else detail["input"]
    if shown is None or detail["type"] in ("missing", *_UNKNOWN):
        shown = value_at(document.data, written)
    if detail["type"] in _UNKNOWN and origin.line and origin.source != document.origin(()).source:
        shown = None  # what another file has under it is not for messages: it may be any file
    return Problem(origin.source, field_name(path), message, show(shown), remedy, origin.line)


def _words(model: type[BaseModel], detail: dict[str, Any], location: Path) -> tuple[str, str]:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "refused":
        return context["message"], context["remedy"]
    if kind in _UNKNOWN:
        *above, key = _in_a_value(model, location)
        return "is not a known key", nearest(str(key), sorted(set(keys_at(model, tuple(above)))))
    message, remedy = _WORDS.get(kind, (None, "correct it"))
    message = message or detail["msg"][:1].lower() + detail["msg"][1:]
    limits = {key: f"{value:g}" if isinstance(value, float) else value for key, value in context.items()}
    return message.format(**limits), remedy


def nearest(key: str, known: list[str]) -> str:
    """Describe the known key most like an unknown one, and list all known keys."""
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    message = f"known here: {', '.join(known)}"
    return f"did you mean {close[0]!r}? {message}" if close else message


def _path_in_data(data: Any, location: Path, *, keep_last: bool) -> Path:
    """Return the path of a location in the data as written in the file.

    Short forms (a bare list for a polygon, one step for a pipeline) lack levels that the location has.
    """
    path: Path = ()
    for index, step in enumerate(location):
        if _has(data, step):
            data = data[step]
        elif not (keep_last and index == len(location) - 1):
            continue
        path = (*path, step)
    return path


def _has(data: Any, step: str | int) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, list | tuple) and isinstance(step, int) and step < len(data)


def value_at(data: Any, path: Path) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path:
        if not _has(data, step):
            return None
        data = data[step]
    return data


def show(value: Any) -> str | None:
    """Return a value, shortened for a message; None for a large one, which would not help."""
    if value is None or (
        isinstance(value, BaseModel | dict | list | tuple) and len(repr(value)) > _LONGEST_VALUE
    ):
        return None
    text = repr(value) if not isinstance(value, tuple) else repr(list(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def keys_at(annotation: Any, location: Path) -> Iterator[str]:
    """Give the keys that a model has at a location."""
    if is_dataclass(annotation) and not location:
        yield from (field.name for field in fields(annotation))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields_by_key = {info.alias or name: info for name, info in annotation.model_fields.items()}
        if not location:
            yield from fields_by_key
            if issubclass(annotation, Section):
                yield from (*annotation.keys_of_reading, *(["file"] if annotation.may_be_in_a_file else ()))
        elif location[0] in fields_by_key:
            yield from keys_at(fields_by_key[str(location[0])].annotation, location[1:])
        else:  # a step that only says which form of a value was meant
            yield from keys_at(annotation, location[1:])
        return
    rest = location[1:] if location and isinstance(location[0], int) else location
    is_list = get_origin(annotation) in (tuple, list)
    for argument in get_args(annotation):
        yield from keys_at(argument, rest if is_list else location)


def _in_a_value(model: Any, location: Path) -> Path:
    """Return the location in a campaign of what is at a location in a value of an axis, or in a scenario."""
    kind, *inside = location
    if kind == "scenarios" and len(inside) > 1:
        return (*str(inside[1]).split("."), *inside[2:])
    if kind != "vary":
        return location
    if len(inside) > 2 and inside[0] not in model.model_fields:
        return (*str(inside[2]).split("."), *inside[3:])
    return (*inside[:1], *inside[2:])
