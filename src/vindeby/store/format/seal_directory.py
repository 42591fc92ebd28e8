"""Is the directory of a seal one that vindeby can have written?

A digest proves that a directory is what was sealed, not that whoever sealed it meant well. Before anything is
read by a directory, its types are checked, and that what it describes fits into the file: no number in it can
make a reader take more memory than the file has bytes. Names that are not known are left alone.
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


class DirectoryError(ValueError):
    """The directory makes no sense; the message says where."""


def check_directory(directory: object, length: int) -> dict[str, Any]:
    """The directory of a file of ``length`` bytes, where it makes sense."""
    found = _mapping(directory, "it")
    kind = found.get("kind")
    _number(found.get("published_ns", 0), "published_ns", 1 << 63)
    if kind == "shard":
        _check_shard(found, length)
    elif kind == "database":
        _check_database(found, length)
    else:
        raise DirectoryError(f"kind is {_shown(kind)}, not shard or database")
    return found


def _check_shard(directory: Mapping[str, Any], length: int) -> None:
    needed = 0
    for number, entry in enumerate(_list(directory.get("segments"), "segments")):
        where = f"segments[{number}]"
        segment = _mapping(entry, where)
        schema = _mapping(segment.get("schema"), f"{where}.schema")
        widths = _mapping(segment.get("widths"), f"{where}.widths")
        row = _check_schema(schema, f"{where}.schema", length) + _CHECKSUM_WIDTH
        for field in (
            *_MARKS,
            *(f"attribute:{name}" for name, kind in schema["attributes"] if kind == "str"),
        ):
            row += _number(widths.get(field), f"{where}.widths[{field}]", length, at_least=1)
        count = _number(segment.get("count"), f"{where}.count", length)
        _number(segment.get("offset"), f"{where}.offset", length)
        needed += max(count, 1) * row
        _fits(needed, length, "segments")


def _check_database(directory: Mapping[str, Any], length: int) -> None:
    for name, value in _mapping(directory.get("root"), "root").items():
        if not isinstance(value, str | int | float | bool):
            raise DirectoryError(f"root.{name} is {_shown(value)}")
    for entry in _list(directory.get("additions", []), "additions"):
        addition = _list(entry, "additions")
        if [type(part) for part in addition] != [str, str, bool]:
            raise DirectoryError(f"additions has {_shown(addition)}")
    count = _number(directory.get("count"), "count", length)
    schemas = _list(directory.get("schemas"), "schemas")
    checks = {"classic": _check_classic, "table": _check_table}
    file_format = directory.get("layout")
    if not isinstance(file_format, str) or file_format not in checks:
        raise DirectoryError(f"layout is {_shown(file_format)}, not classic or table")
    checks[file_format](directory, schemas, count, length)


def _check_classic(directory: Mapping[str, Any], schemas: list[Any], count: int, length: int) -> None:
    sizes: dict[int, int] = {}
    texts_of = _check_offsets(directory, len(schemas), length)
    total = needed = 0
    for number, entry in enumerate(_list(directory.get("chunks"), "chunks")):
        where = f"chunks[{number}]"
        chunk = _mapping(entry, where)
        which = _number(chunk.get("schema"), f"{where}.schema", len(schemas) - 1)
        if which not in sizes:
            sizes[which] = _check_schema(schemas[which], f"schemas[{which}]", length)
        rows = _number(chunk.get("count"), f"{where}.count", length)
        width = _number(chunk.get("key_width"), f"{where}.key_width", length, at_least=1)
        for name in ("keys", "rows"):
            _number(chunk.get(name), f"{where}.{name}", length)
        texts = _list(chunk.get("texts"), f"{where}.texts")
        if len(texts) != 2:
            raise DirectoryError(f"{where}.texts has {len(texts)} numbers, not 2")
        for value in texts:
            _number(value, f"{where}.texts", length)
        _number(chunk.get("starts"), f"{where}.starts", length)
        widths = [_number(one, f"{where}.widths", length) for one in _list(chunk.get("widths"), where)]
        if len(widths) != texts_of[which]:
            raise DirectoryError(f"{where} has {len(widths)} widths for {texts_of[which]} texts")
        width += sum(widths)
        total += rows
        needed += max(rows, 1) * (sizes[which] + width)
        _fits(needed, length, "chunks")
    if total != count:
        raise DirectoryError(f"count is {count}, but the chunks have {total} records")


def _check_offsets(directory: Mapping[str, Any], schemas: int, length: int) -> list[int]:
    """Where the fields of a row stand, by schema; how many texts each has."""
    entries = _list(directory.get("offsets"), "offsets")
    if len(entries) != schemas:
        raise DirectoryError(f"there are {schemas} schemas, and offsets of {len(entries)}")
    counts = []
    for number, entry in enumerate(entries):
        where = f"offsets[{number}]"
        offsets = _mapping(entry, where)
        _number(offsets.get("stride"), f"{where}.stride", length, at_least=1)
        for part in ("texts", "values"):
            for pair in _list(offsets.get(part), f"{where}.{part}"):
                if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                    raise DirectoryError(f"{where}.{part} has {_shown(pair)}")
                _number(pair[1], f"{where}.{part}", length)
        counts.append(len(offsets["texts"]))
    return counts


def _check_table(directory: Mapping[str, Any], schemas: list[Any], count: int, length: int) -> None:
    chunk_rows = _number(directory.get("chunk_rows"), "chunk_rows", 1 << 32, at_least=1)
    columns = _list(directory.get("columns"), "columns")
    places = _list(directory.get("places"), "places")
    if len(columns) != len(places):
        raise DirectoryError(f"there are {len(columns)} columns, and places of {len(places)}")
    known: dict[tuple[str, str, int], list[int]] = {}
    needed = 0
    for number, (entry, found) in enumerate(zip(columns, places, strict=True)):
        field, dtype, shape, size = _check_column(entry, f"columns[{number}]", length if count else math.inf)
        known[field, "text" if dtype.startswith("S") else dtype, len(shape)] = shape
        needed += count * size
        where = f"places[{number}]"
        if len(_list(found, where)) != -(-count // chunk_rows):
            raise DirectoryError(f"{where} has {len(found)} chunks for {count} rows, {chunk_rows} in each")
        for value in found:
            _number(value, where, length)
    _fits(needed, length, "columns")
    ends = [_list(columns[place], "columns")[1] for place in (0, -1)] if columns else []
    if ends != ["key", "schema"] or ("schema", "<i4", 0) not in known:
        raise DirectoryError("the first column is not key, or the last is not schema")
    for number, entry in enumerate(schemas):
        _check_rows(entry, f"schemas[{number}]", known, length if count else math.inf)
    if count and not schemas:
        raise DirectoryError("there are rows, and no schemas")


def _check_column(entry: Any, where: str, length: float) -> tuple[str, str, list[int], int]:
    column = _list(entry, where)
    if len(column) != 4 or not all(isinstance(part, str) for part in column[:3]):
        raise DirectoryError(f"{where} is {_shown(column)}")
    text = _TEXT.fullmatch(column[2])
    if text is None and _NUMERIC.fullmatch(column[2]) is None:
        raise DirectoryError(f"{where} has type {_shown(column[2])}")
    itemsize = int(column[2][-1]) if text is None else int(text.group(1))
    shape = _list(column[3], where)
    return column[1], column[2], shape, itemsize * _elements(shape, where, length)


def _check_rows(
    schema: Any, where: str, known: Mapping[tuple[str, str, int], list[int]], length: float
) -> None:
    """Has each field of a schema a column that is wide enough?"""
    _check_schema(schema, where, length)
    types = {"str": "text", "int": "<i8", "float": "<f8", "bool": "|b1"}
    wanted: list[tuple[str, str, list[int]]] = [(mark, "text", []) for mark in (*_MARKS, "checksum")]
    wanted += [(f"attribute:{name}", types[kind], []) for name, kind in schema["attributes"]]
    wanted += [(f"array:{name}", dtype, shape) for name, dtype, shape in schema["arrays"] if 0 not in shape]
    for field, kind, shape in wanted:
        column = known.get((field, kind, len(shape)))
        if column is None or any(one > other for one, other in zip(shape, column, strict=True)):
            raise DirectoryError(f"{where}: no column holds {_shown(field)}")


def _check_schema(data: Any, where: str, length: float) -> int:
    """The bytes that the numbers in a row of this schema take."""
    schema = _mapping(data, where)
    names: set[str] = set()
    size = 0
    for entry in _list(schema.get("attributes"), f"{where}.attributes"):
        pair = _list(entry, f"{where}.attributes")
        if len(pair) != 2 or not isinstance(pair[0], str) or pair[1] not in list(_KINDS):
            raise DirectoryError(f"{where}.attributes has {_shown(pair)}")
        names.add(f"attribute:{pair[0]}")
        size += _KINDS[pair[1]]
    for entry in _list(schema.get("arrays"), f"{where}.arrays"):
        array = _list(entry, f"{where}.arrays")
        if len(array) != 3 or not all(isinstance(part, str) for part in array[:2]):
            raise DirectoryError(f"{where}.arrays has {_shown(array)}")
        if _NUMERIC.fullmatch(array[1]) is None:
            raise DirectoryError(f"{where}.arrays: {_shown(array[0])} has type {_shown(array[1])}")
        shape = _list(array[2], f"{where}.arrays")
        names.add(f"array:{array[0]}")
        size += int(array[1][-1]) * _elements(shape, f"{where}.arrays: {_shown(array[0])}", length)
    if len(names) != len(schema["attributes"]) + len(schema["arrays"]):
        raise DirectoryError(f"{where} has a name twice")
    return size


def _elements(shape: list[Any], where: str, length: float) -> int:
    if len(shape) > _MAXIMUM_DIMENSIONS:
        raise DirectoryError(f"{where} has {len(shape)} dimensions")
    sizes = [_number(size, f"{where} (shape)", 1 << 62) for size in shape]
    elements = math.prod(sizes)
    if elements > length or max(sizes, default=0) > 1 << 40:
        raise DirectoryError(f"{where} has shape {_shown(sizes)}, more than the file can hold")
    return elements


def _fits(needed: int, length: int, where: str) -> None:
    if needed > length:
        raise DirectoryError(f"{where} need {needed} bytes, and the file has {length}")


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DirectoryError(f"{where} is {_shown(value)}, not an object")
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise DirectoryError(f"{where} is {_shown(value)}, not a list")
    return value


def _number(value: object, where: str, at_most: int, *, at_least: int = 0) -> int:
    if type(value) is not int or not at_least <= value <= at_most:
        raise DirectoryError(f"{where} is {_shown(value)}, not a whole number from {at_least} to {at_most}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
