"""The campaign file as a JSON schema, for editors that complete and check fields while one types.

It is generated from the sections: types, ranges, choices and alternatives from their fields, descriptions from the
docstrings below the fields, short forms (``3 D``, a bare name) from ``Section.short_form`` and ``bare``, and from
``Section.may_be_in_a_file`` where a file may be named instead. What is right is never refused; what only the whole
campaign or a file can show is left to ``vindeby check``.
"""

import ast
import inspect
import itertools
import json
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from vindeby.campaign.campaign import Campaign
from vindeby.campaign.fields import ABOUT_WIND
from vindeby.campaign.sections.values import NamedOneOf, OneOf, Section, section_of

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FROM_FILE = {
    "type": "object",
    "properties": {"file": {"type": "string", "description": "A file beside the campaign file."}},
    "required": ["file"],
    "description": "The section in a file of its own, with options for reading it.",
}

_A_CALL = {
    "type": "object",
    "properties": {"call": {"type": "object", "required": ["returns"]}},
    "required": ["call"],
}
_CALLS_A_FUNCTION = {
    "description": "A function of one's own that says what it returns, and may have nothing to do with wind.",
    "properties": {
        "method": {"anyOf": [_A_CALL, {"type": "array", "contains": _A_CALL}]},
        **dict.fromkeys(ABOUT_WIND, False),
    },
    "required": ["name", "method", "seeds"],
}


def json_schema() -> dict[str, Any]:
    """Return the schema of a campaign file, as plain data."""
    schema = Campaign.model_json_schema(by_alias=True, schema_generator=_OfSections)
    wake = schema["$defs"]["WakeSection"]["anyOf"][0]["properties"]
    wake["options"] = {"type": "object", "description": "Options of pywake, floris or python, beside it."}
    schema["anyOf"] = [
        {"required": schema.pop("required")},
        _CALLS_A_FUNCTION,
        {"required": ["vary"]},
    ]
    farms = schema["properties"]["farms"]
    several = _FROM_FILE | {"description": "One farm for each feature of a geographic file."}
    schema["properties"]["farms"] = {"description": farms.pop("description"), "anyOf": [farms, several]}
    return {"$schema": _DIALECT, **schema, "title": "vindeby campaign"}


def schema_text() -> str:
    """Return the schema as the text of a file."""
    return json.dumps(json_schema(), indent=1) + "\n"


class _OfSections(GenerateJsonSchema):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        section: type[Section] = schema["cls"]
        full = _described(section, super().model_schema(schema))
        for name, field in section.model_fields.items():
            inner = section_of(section, name)
            written = full["properties"][field.alias or name]
            written["description"] = written["description"] or (_first_sentence(inner) if inner else "")
        if issubclass(section, OneOf):
            keys = full["properties"].keys() - {*section.beside}
            full["oneOf"] = [{"required": [key]} for key in full["properties"] if key in keys]
        others = [*_short_forms(section, full), *([_FROM_FILE] if section.may_be_in_a_file else ())]
        return {"description": full["description"], "anyOf": [full, *others]} if others else full

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _described(schema["cls"], super().dataclass_schema(schema))


def _described(section: type[Any], schema: JsonSchemaValue) -> JsonSchemaValue:
    about = dict(_field_descriptions(section))
    aliases = {field.alias: name for name, field in getattr(section, "model_fields", {}).items()}
    for key, written in schema["properties"].items():
        written.pop("title", None)
        written["description"] = about.get(aliases.get(key, key), "")
    return {**schema, "description": _first_sentence(section)}


def _short_forms(section: type[Section], full: JsonSchemaValue) -> Iterator[JsonSchemaValue]:
    if issubclass(section, NamedOneOf):
        yield {"enum": section.bare_names()}
    if key := section.bare[0]:
        written = full["properties"][key]
        yield written.get("anyOf", [written])[0]
    if section.short_form:
        yield section.short_form


def _first_sentence(section: type[Any]) -> str:
    return inspect.cleandoc(section.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def _field_descriptions(section: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield each field of a section with the docstring below it, fields of base classes first."""
    for holder in reversed(section.__mro__):
        if not (is_dataclass(holder) or issubclass(holder, Section)):
            continue
        (class_,) = ast.parse(textwrap.dedent(inspect.getsource(holder))).body
        body = class_.body if isinstance(class_, ast.ClassDef) else []
        for field, below in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                assert isinstance(field.target, ast.Name)
                yield field.target.id, inspect.cleandoc(ast.literal_eval(below.value)).replace("\n", " ")
