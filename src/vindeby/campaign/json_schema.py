"""The campaign file as a JSON schema, for editors that complete and check fields while one types.

A schema cannot say everything that ``vindeby check`` checks, and a file may be shorter than what it means: a number
of seeds instead of their list, ``3 D``, a section in a file of its own. The rule here: what is right is never refused.
Where a short form is read, it has another JSON type than the full form, so any other type is accepted there; and any
section may be an object that names a ``file``.
"""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from vindeby.campaign.campaign import Campaign

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FROM_FILE = {
    "type": "object",
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "description": "The section in a file of its own.",
}

_A_CALL = {"type": "object", "required": ["call"]}
_CALLS_A_FUNCTION = {
    "description": "A function of one's own, which may have nothing to do with wind.",
    "properties": {"method": {"anyOf": [_A_CALL, {"type": "array", "contains": _A_CALL}]}},
    "required": ["name", "method"],
}


def json_schema() -> dict[str, Any]:
    """The schema of a campaign file, as plain data."""
    schema = Campaign.model_json_schema(by_alias=True, schema_generator=_WithShortForms)
    wake = schema["$defs"]["WakeModel"]["anyOf"][0]
    wake["properties"]["options"] = {"type": "object", "description": "Of an engine, beside it."}
    sections = {name: _or_from_file(section) for name, section in schema.get("$defs", {}).items()}
    schema |= schema.pop("anyOf")[0]  # a campaign is an object, but not all of it need be there
    schema["anyOf"] = [{"required": schema.pop("required")}, _CALLS_A_FUNCTION]
    farms = schema["properties"]["farms"]
    schema["properties"]["farms"] = {"anyOf": [farms, _FROM_FILE]}  # one farm for each feature
    return {"$schema": _DIALECT, **schema, "title": "vindeby campaign", "$defs": sections}


class _WithShortForms(GenerateJsonSchema):
    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """The full form, or a value of another type."""
        full = super().function_before_schema(schema)
        kind = self.resolve_ref_schema(full).get("type") if "$ref" in full else full.get("type")
        if kind is None:
            return full
        return {"anyOf": [full, {"not": {"type": kind}}]}


def _or_from_file(section: dict[str, Any]) -> dict[str, Any]:
    """A section, or an object that names the file that it is in; what no other field may stand beside stays inside."""
    closed = {name: section[name] for name in ("additionalProperties",) if name in section}
    if "anyOf" in section:
        about = {name: value for name, value in section.items() if name not in {"anyOf", *closed}}
        forms = [form | closed if form.get("type") == "object" else form for form in section["anyOf"]]
        return about | {"anyOf": [*forms, _FROM_FILE]}
    if section.get("type") != "object" or "file" in section.get("properties", {}):
        return section
    return {"anyOf": [section, _FROM_FILE]}
