"""Is the directory of a seal one that vindeby can have written?

A digest proves that a directory is what was sealed, not that whoever sealed it meant well. Before anything is
read by a directory, its types are checked, and that what it describes fits into the file: no number in it can
make a reader take more memory than the file has bytes. Unknown names are ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_NUMERIC = re.compile(r"[<|][biuf][1248]")
_TEXT = re.compile(r"S([1-9][0-9]{0,11})")
_KINDS = {"str": 0, "int": 8, "float": 8, "bool": 1}
_MARKS = ("key", "fingerprint", "status")
_CHECKSUM_WIDTH = 64
_MAXIMUM_DIMENSIONS = 32

# What the directory of each kind of file must hold: an object with these members, a list of such elements, a list with
# one element each; ``{str: ...}`` is an object with any names, and ``int`` a whole number from 0.
_SCHEMA = {"arrays": [(str, str, [int])], "attributes": [(str, str)]}
_CHUNK = {"widths": {str: int}, "count": int, "offset": int}
_SHARD = {"segments": [{**_CHUNK, "schema": _SCHEMA}]}
_DATABASE = {"root": {str: object}, "count": int, "schemas": [_SCHEMA], "layout": str}
_CLASSIC = {"chunks": [{**_CHUNK, "schema": int}]}
_TABLE = {"chunk_rows": int, "columns": [(str, str, str, [int])], "places": [[int]]}


class DirectoryError(ValueError):
    """The directory makes no sense; the message says where."""


def check_directory(directory: object, length: int) -> dict[str, Any]:
    """The directory of a file of ``length`` bytes, where it makes sense."""
    found = _mapping(directory, "it")
    _expect(found.get("published_ns", 0), int, "published_ns")
    kind = found.get("kind")
    if kind == "shard":
        _expect(found, _SHARD, "it")
        _check_chunks(found["segments"], [entry["schema"] for entry in found["segments"]], length)
    elif kind == "database":
        _check_database(found, length)
    else:
        raise DirectoryError(f"kind is {_shown(kind)}, not shard or database")
    return found


def _check_database(directory: dict[str, Any], length: int) -> None:
    _expect(directory, _DATABASE, "it")
    _expect(directory.get("additions", []), [(str, str, bool)], "additions")
    for name, value in directory["root"].items():
        if not isinstance(value, str | int | float | bool):
            raise DirectoryError(f"root.{name} is {_shown(value)}")
    if directory["layout"] == "classic":
        _expect(directory, _CLASSIC, "it")
        chunks, schemas = directory["chunks"], directory["schemas"]
        if any(chunk["schema"] >= len(schemas) for chunk in chunks):
            raise DirectoryError(f"a chunk has a schema that is not one of {len(schemas)}")
        _check_chunks(chunks, [schemas[chunk["schema"]] for chunk in chunks], length)
        if sum(chunk["count"] for chunk in chunks) != directory["count"]:
            raise DirectoryError(
                f"count is {directory['count']}, but the chunks have another number of records"
            )
    elif directory["layout"] == "table":
        _expect(directory, _TABLE, "it")
        _check_table(directory, length)
    else:
        raise DirectoryError(f"layout is {_shown(directory['layout'])}, not classic or table")


def _check_chunks(chunks: list[dict[str, Any]], schemas: list[dict[str, Any]], length: int) -> None:
    needed = 0
    for number, (chunk, schema) in enumerate(zip(chunks, schemas, strict=True)):
        row = _check_schema(schema, length) + _CHECKSUM_WIDTH
        texts = [f"attribute:{name}" for name, kind in schema["attributes"] if kind == "str"]
        for field in (*_MARKS, *texts):
            width = chunk["widths"].get(field, 0)
            if not 1 <= width <= length:
                raise DirectoryError(f"chunk {number}: the width of {_shown(field)} is {width}")
            row += width
        needed += max(chunk["count"], 1) * row
    _fits(needed, length, "the chunks")


def _check_table(directory: Mapping[str, Any], length: int) -> None:
    count, chunk_rows = directory["count"], directory["chunk_rows"]
    most = length if count else 1 << 40
    columns, places = directory["columns"], directory["places"]
    if len(columns) != len(places) or not 1 <= chunk_rows <= 1 << 32:
        raise DirectoryError(f"{len(columns)} columns, places of {len(places)}, {chunk_rows} rows in a chunk")
    known: dict[tuple[str, str, int], list[int]] = {}
    needed = 0
    for (path, field, dtype, shape), found in zip(columns, places, strict=True):
        needed += count * _type_size(dtype, path) * _elements(shape, path, most)
        known[field, "text" if dtype.startswith("S") else dtype, len(shape)] = shape
        if len(found) != -(-count // chunk_rows):
            raise DirectoryError(f"{_shown(path)} has {len(found)} chunks for {count} rows")
    _fits(needed, length, "the columns")
    if not columns or [columns[0][1], *columns[-1][1:3]] != ["key", "schema", "<i4"]:
        raise DirectoryError("the first column is not key, or the last is not schema")
    if count and not directory["schemas"]:
        raise DirectoryError("there are rows, and no schemas")
    for schema in directory["schemas"]:
        _check_schema(schema, most)
        _check_columns(schema, known)


def _check_columns(schema: Mapping[str, Any], known: Mapping[tuple[str, str, int], list[int]]) -> None:
    """Has each field of a schema a column that is wide enough?"""
    types = {"str": "text", "int": "<i8", "float": "<f8", "bool": "|b1"}
    wanted: list[tuple[str, str, list[int]]] = [(mark, "text", []) for mark in (*_MARKS, "checksum")]
    wanted += [(f"attribute:{name}", types[kind], []) for name, kind in schema["attributes"]]
    wanted += [(f"array:{name}", dtype, shape) for name, dtype, shape in schema["arrays"] if 0 not in shape]
    for field, kind, shape in wanted:
        column = known.get((field, kind, len(shape)))
        if column is None or any(one > other for one, other in zip(shape, column, strict=True)):
            raise DirectoryError(f"no column holds {_shown(field)}")


def _check_schema(schema: Mapping[str, Any], length: int) -> int:
    """The bytes that the numbers in a row of this schema take."""
    names = {f"attribute:{name}" for name, _ in schema["attributes"]}
    names |= {f"array:{name}" for name, _, _ in schema["arrays"]}
    if len(names) != len(schema["attributes"]) + len(schema["arrays"]):
        raise DirectoryError("a schema has a name twice")
    if any(kind not in _KINDS for _, kind in schema["attributes"]):
        raise DirectoryError(f"a schema has attributes {_shown(schema['attributes'])}")
    size = sum(_KINDS[kind] for _, kind in schema["attributes"])
    for name, dtype, shape in schema["arrays"]:
        if dtype.startswith("S"):
            raise DirectoryError(f"{_shown(name)} has type {_shown(dtype)}")
        size += _type_size(dtype, name) * _elements(shape, name, length)
    return size


def _type_size(dtype: str, name: str) -> int:
    text = _TEXT.fullmatch(dtype)
    if text is None and _NUMERIC.fullmatch(dtype) is None:
        raise DirectoryError(f"{_shown(name)} has type {_shown(dtype)}")
    return int(dtype[-1]) if text is None else int(text.group(1))


def _elements(shape: list[int], name: str, length: int) -> int:
    elements = math.prod(shape)
    if len(shape) > _MAXIMUM_DIMENSIONS or elements > length or max(shape, default=0) > 1 << 40:
        raise DirectoryError(f"{_shown(name)} has shape {_shown(shape)}, more than the file can hold")
    return elements


def _fits(needed: int, length: int, what: str) -> None:
    if needed > length:
        raise DirectoryError(f"{what} need {needed} bytes, and the file has {length}")


def _expect(value: object, pattern: Any, where: str) -> None:
    """DirectoryError where a value of the directory is not what the pattern says."""
    if isinstance(pattern, dict):
        found = _mapping(value, where)
        if str in pattern:
            pattern = dict.fromkeys(found, pattern[str])
        for name, inner in pattern.items():
            if name not in found:
                raise DirectoryError(f"{where} has no {_shown(name)}")
            _expect(found[name], inner, name)
    elif isinstance(pattern, list | tuple):
        if not isinstance(value, list) or (isinstance(pattern, tuple) and len(value) != len(pattern)):
            raise DirectoryError(f"{where} is {_shown(value)}, not a list of what it should hold")
        inners = pattern if isinstance(pattern, tuple) else pattern * len(value)
        for element, inner in zip(value, inners, strict=True):
            _expect(element, inner, where)
    elif pattern is int:
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise DirectoryError(f"{where} is {_shown(value)}, not a whole number")
    elif not isinstance(value, pattern):
        raise DirectoryError(f"{where} is {_shown(value)}, not {pattern.__name__}")


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DirectoryError(f"{where} is {_shown(value)}, not an object")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
