"""The parts of the reference that are generated from the source, so that they cannot differ from it.

A page holds a comment such as ``<!-- generated: commands -->``, which is replaced when the site is built.
The schema of the campaign file is written beside the pages, as ``schema/campaign.json``.
"""

import re
from pathlib import Path

import typer

from vindeby.campaign.json_schema import json_schema, schema_text
from vindeby.cli import COMMANDS
from vindeby.cli.app import build


def _table(titles, rows):
    lines = [titles, ["---"] * len(titles), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def commands():
    """Every command with its arguments and options, as its help page has them."""
    group = typer.main.get_command(build())
    root = typer.Context(group, info_name="vindeby")
    parts = []
    for name in COMMANDS:
        _, command, _ = group.resolve_command(root, [name])
        context = typer.Context(command, info_name=f"vindeby {name}")
        rows = [_help_row(param, context) for param in command.get_params(context) if param.name != "help"]
        usage = command.get_usage(context).removeprefix("Usage: ")
        parts += [f"## vindeby {name}", f"```text\n{usage}\n```", _inline(command.help)]
        parts += [_table(["argument or option", "what it is"], rows)]
        if command.epilog:
            parts += ["```text\n" + command.epilog.replace("\b\n", "") + "\n```"]
    return "\n\n".join(parts)


def _help_row(param, context):
    written, about = param.get_help_record(context)
    if param.param_type_name == "argument":
        written = param.metavar or written
    return [f"`{written}`", _inline(about)]


def _inline(text):
    """Text of a docstring as Markdown."""
    return re.sub(r"``?([^`]+)``?", r"`\1`", " ".join(text.split())).replace("<", "&lt;")


def campaign_fields():
    """Every section of the campaign file under its path, with its keys, their values and defaults."""
    schema = json_schema()
    sections = {"": schema, **_sections(schema)}
    links = {id(section): f"[section](#{_anchor(path)})" for path, section in sections.items()}
    by_name = {name: links.get(id(section), "any value") for name, section in schema["$defs"].items()}
    parts = []
    for path, section in sections.items():
        mapping = _mapping(section)
        parts += [f"## `{path}`" if path else "## The top level", _inline(mapping["description"])]
        forms = [_value(form, by_name) for form in section.get("anyOf", []) if path and form is not mapping]
        if forms:
            parts += [f"May also be given as: {', or '.join(forms)}."]
        required = mapping.get("required", [] if path else ["name", "method", "seeds"])
        rows = [
            [
                f"`{key}`",
                _value(field, by_name),
                _default(key, field, required),
                _inline(field["description"]),
            ]
            for key, field in mapping["properties"].items()
        ]
        parts += [_table(["key", "value", "default", "what it is"], rows)]
    return "\n\n".join(parts)


def _anchor(path):
    """The anchor that MyST gives a heading."""
    return re.sub(r"[^\w-]", "", path.lower())


def _sections(schema):
    """Every section that has keys, by the shortest path to it."""
    found, queue, seen = {}, [("", schema)], set()
    while queue:
        path, section = queue.pop(0)
        for key, field in _mapping(section)["properties"].items():
            for name, suffix in _named(field):
                inner = f"{path}.{key}{suffix}" if path else key + suffix
                if name not in seen and _mapping(schema["$defs"][name]):
                    seen.add(name)
                    found[inner] = schema["$defs"][name]
                    queue.append((inner, found[inner]))
    return found


def _mapping(section):
    """The form of a section that has keys."""
    forms = [section, *section.get("anyOf", [])]
    return next((form for form in forms if "additionalProperties" in form and "properties" in form), None)


def _named(field, suffix=""):
    """The sections that a field may hold, each with [] where it is in a list and .NAME where it is under a name."""
    if "$ref" in field:
        yield field["$ref"].rpartition("/")[2], suffix
    for form in [*field.get("anyOf", []), *field.get("oneOf", [])]:
        yield from _named(form, suffix)
    for key, added in (("items", "[]"), ("additionalProperties", ".NAME")):
        if isinstance(field.get(key), dict):
            yield from _named(field[key], suffix + added)
    for form in field.get("patternProperties", {}).values():
        yield from _named(form, f"{suffix}.NAME")


_TYPES = {
    "integer": "whole number",
    "boolean": "true or false",
    "string": "text",
    "object": "mapping",
    "null": "",
}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}


def _value(field, links):
    """What may be written for a field, in words."""
    forms = [*field.get("anyOf", []), *field.get("oneOf", [])]
    if "$ref" in field:
        return links[field["$ref"].rpartition("/")[2]]
    if forms and "properties" not in field:
        return " or ".join(dict.fromkeys(filter(None, (_value(form, links) for form in forms))))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{choice}`" for choice in field.get("enum", [field.get("const")]))
    if field.get("prefixItems"):
        return "pair of numbers" if len(field["prefixItems"]) == 2 else "list"
    if field.get("type") == "array":
        return f"list of {_value(field['items'], links)}" if field.get("items") else "list"
    if "file" in field.get("properties", {}):
        return "`{file: NAME}`"
    if "pattern" in field:
        return f"text like `{field['pattern']}`"
    return _kind(field)


def _kind(field):
    """The type of a single value, with its bounds."""
    bounds = [f"{word} {field[key]:,.12g}" for key, word in _BOUNDS.items() if key in field]
    kinds = field.get("type", "any value")
    words = (_TYPES.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    return f"{' or '.join(filter(None, words))} {', '.join(bounds)}".strip()


def _default(key, field, required):
    value = field.get("default")
    if value is None or value == "":
        return "required" if key in required else ""
    return "all defaults" if isinstance(value, dict) else f"`{value}`"


def changelog():
    """The changelog of the repository, with links as the pages of the site have them."""
    return (Path(__file__).parents[2] / "CHANGELOG.md").read_text().replace("](docs/", "](")


PAGES = {"commands": commands, "campaign fields": campaign_fields, "changelog": changelog}


def _fill(_app, _page, source):
    source[0] = re.sub(r"<!-- generated: (.*) -->", lambda found: PAGES[found[1]](), source[0])


def _publish_schema(app, error):
    if error is None and app.builder.format == "html":
        target = Path(app.outdir) / "schema" / "campaign.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(schema_text())


def setup(app):
    app.connect("source-read", _fill)
    app.connect("build-finished", _publish_schema)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
