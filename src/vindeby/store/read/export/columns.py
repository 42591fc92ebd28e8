"""Attributes and arrays of many records, of whatever schemas, as one column each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign.tasks import parse_key
from vindeby.errors import DataError, InputError
from vindeby.store.format.rows import Segment, array_field, attribute_field
from vindeby.store.read.origin import origins

COMPUTED = "computed"
"""The origin of a result that vindeby computed; the others are those of ``origin.ORIGINS``."""
PLACE = ("farm_idx", "type_idx", "ss_seed")
"""The attributes that say which task of its campaign a record is the result of."""
UNKNOWN = -1


def missing_library(function: str, library: str) -> InputError:
    """The error of a function whose library is not installed."""
    return InputError(
        f'{function} needs {library}, which is not installed; install it with: pip install "vindeby[xarray]"'
    )


def texts(segments: Sequence[Segment], field: str) -> list[str]:
    """A text field of every record."""
    return [text.decode(errors="replace") for segment in segments for text in segment.rows[field].tolist()]


def origin_column(segments: Sequence[Segment]) -> list[str]:
    """Where every record comes from, in a word."""
    found = [origin for segment in segments for origin in origins(segment.rows).tolist()]
    return [origin.decode() or COMPUTED for origin in found]


def attribute_names(segments: Sequence[Segment]) -> list[str]:
    """The names of all attributes that any record has."""
    return sorted({name for segment in segments for name, _ in segment.schema.attributes})


def array_names(segments: Sequence[Segment]) -> list[str]:
    """The names of all arrays that any record has."""
    return sorted({name for segment in segments for name, _, _ in segment.schema.arrays})


def shapes_of(segments: Sequence[Segment], name: str) -> list[tuple[int, ...]]:
    """The shapes that an array has in the records that have it."""
    return [shape for segment in segments for array, _, shape in segment.schema.arrays if array == name]


def attribute_column(segments: Sequence[Segment], name: str) -> NDArray[Any]:
    """An attribute of every record; NaN, or an empty text, where a record does not have it."""
    values: list[Any] = []
    for segment in segments:
        kinds = dict(segment.schema.attributes)
        if name not in kinds:
            values += [None] * len(segment)
        elif kinds[name] == "str":
            values += texts([segment], attribute_field(name))
        else:
            values += segment.rows[attribute_field(name)].tolist()
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else str(value) for value in values], dtype=np.str_)
    if any(value is None for value in values):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return np.array(values)


def array_column(segments: Sequence[Segment], name: str) -> NDArray[Any]:
    """An array of every record, padded to the largest with NaN (0 for integers and booleans)."""
    found = shapes_of(segments, name)
    if len({len(shape) for shape in found}) != 1:
        raise DataError(f"array {name!r} has different numbers of axes in different records")
    largest = tuple(max(lengths) for lengths in zip(*found, strict=True))
    types = {dtype for segment in segments for array, dtype, _ in segment.schema.arrays if array == name}
    dtype = np.result_type(*[np.dtype(text) for text in types])
    if len(found) < len(segments) and dtype.kind != "f":
        dtype = np.dtype(np.float64)
    fill: Any = np.nan if dtype.kind == "f" else 0
    result = np.full((sum(map(len, segments)), *largest), fill, dtype)
    start = 0
    for segment in segments:
        shape = next((shape for array, _, shape in segment.schema.arrays if array == name), None)
        if shape is not None and 0 not in shape:
            inner = tuple(slice(length) for length in shape)
            result[(slice(start, start + len(segment)), *inner)] = segment.rows[array_field(name)]
        start += len(segment)
    return result


def number_column(segments: Sequence[Segment], name: str) -> NDArray[np.float64]:
    """One number for each record, from the array or the attribute of this name; NaN where there is neither."""
    parts = [np.empty(0)]
    for segment in segments:
        values = np.full(len(segment), np.nan)
        for field in (array_field(name), attribute_field(name)):
            if field in (segment.rows.dtype.names or ()):
                column = segment.rows[field]
                if column.dtype.kind in "fiu" and column.size == len(segment):
                    values = np.asarray(column, np.float64).reshape(len(segment))
                    break
        parts.append(values)
    return np.concatenate(parts)


def layout_sizes(segments: Sequence[Segment]) -> NDArray[np.int64]:
    """The number of turbines of each record, by its layout, else by its attribute; 0 where neither tells."""
    parts = [np.empty(0, np.int64)]
    for segment in segments:
        count = turbines_in(segment)
        field = attribute_field("n_turbines")
        if count is not None:
            parts.append(np.full(len(segment), count, np.int64))
        elif field in (segment.rows.dtype.names or ()) and segment.rows[field].dtype.kind in "iu":
            parts.append(np.asarray(segment.rows[field], np.int64))
        else:
            parts.append(np.zeros(len(segment), np.int64))
    return np.concatenate(parts)


def turbines_in(segment: Segment) -> int | None:
    """How many turbines the layouts of a segment have; None where it has no array of that form."""
    shape = next((shape for name, _, shape in segment.schema.arrays if name == "layout"), ())
    return shape[1] if len(shape) == 2 and shape[0] == 2 else None


def places_of(segments: Sequence[Segment]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Farm, type and seed of each record, UNKNOWN where nothing tells; and whether the key says the same.

    The attributes say it; of a record without them, the key does.
    """
    keys = [parse_key(key) for key in texts(segments, "key")]
    by_key = np.array([(UNKNOWN,) * 3 if place is None else place for place in keys], np.int64).reshape(-1, 3)
    found = by_key.copy()
    start = 0
    for segment in segments:
        names = segment.rows.dtype.names or ()
        columns = [segment.rows[field] for field in map(attribute_field, PLACE) if field in names]
        if len(columns) == len(PLACE) and all(column.dtype.kind in "iu" for column in columns):
            stated = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
            usable = (stated >= 0).all(axis=1)
            found[start : start + len(segment)][usable] = stated[usable]
        start += len(segment)
    return found, (found == by_key).all(axis=1)
