"""Columns of verified records in bulk: keys, numbers, attributes and arrays, and the tasks that records are of.

Everything here works on segments and knows no ``Database``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import FloatArray, IntArray
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import parse_key
from vindeby.errors import CampaignError, DataError
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.origin import origins
from vindeby.store.format.rows import Segment, array_field, attribute_field

COMPUTED = "computed"
"""The origin of a result that vindeby computed; the others are those of ``origin.ORIGINS``."""
PLACE = ("farm_idx", "type_idx", "ss_seed")
"""The attributes that say which task of its campaign a record is the result of."""
UNKNOWN = -1


def placed(segments: Sequence[Segment]) -> Iterator[tuple[Segment, slice]]:
    """Yield each segment with the slice of its records among all records."""
    start = 0
    for segment in segments:
        yield segment, slice(start, start + len(segment))
        start += len(segment)


def texts(segments: Sequence[Segment], field: str) -> list[str]:
    """Return a text field of every record."""
    return [text.decode(errors="replace") for segment in segments for text in segment.rows[field].tolist()]


def origin_column(segments: Sequence[Segment]) -> list[str]:
    """Return the origin of every record, in one word."""
    found = [origin for segment in segments for origin in origins(segment.rows).tolist()]
    return [origin.decode() or COMPUTED for origin in found]


def attribute_names(segments: Sequence[Segment]) -> list[str]:
    """Return the names of all attributes that any record has."""
    return sorted({name for segment in segments for name, _ in segment.schema.attributes})


def array_names(segments: Sequence[Segment]) -> list[str]:
    """Return the names of all arrays that any record has."""
    return sorted({name for segment in segments for name, _, _ in segment.schema.arrays})


def shapes_of(segments: Sequence[Segment], name: str) -> list[tuple[int, ...]]:
    """Return the shapes that an array has in the records that have it."""
    return [shape for segment in segments if (shape := shape_of(segment, name)) is not None]


def shape_of(segment: Segment, name: str) -> tuple[int, ...] | None:
    """Return the shape of an array in the records of a segment; None if they have no array of this name."""
    return next((shape for array, _, shape in segment.schema.arrays if array == name), None)


def attribute_column(segments: Sequence[Segment], name: str) -> NDArray[Any]:
    """Return an attribute of every record; NaN, or an empty text, for records without it."""
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


def array_column(segments: Sequence[Segment], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """Return an array of every record, padded to the largest with NaN, or 0 for integers and booleans.

    With ``gaps``, those become floats where there is anything to pad. So they do where a record has no such array.
    """
    found = shapes_of(segments, name)
    if len({len(shape) for shape in found}) != 1:
        raise DataError(f"array {name!r} has different numbers of axes in different records")
    largest = tuple(map(max, zip(*found, strict=True)))
    types = {dtype for segment in segments for array, dtype, _ in segment.schema.arrays if array == name}
    dtype = np.result_type(*[np.dtype(text) for text in types])
    if dtype.kind != "f" and (len(found) < len(segments) or (gaps and len(set(found)) > 1)):
        dtype = np.dtype(np.float64)
    fill: Any = np.nan if dtype.kind == "f" else 0
    result = np.full((sum(map(len, segments)), *largest), fill, dtype)
    for segment, rows in placed(segments):
        shape = shape_of(segment, name)
        if shape is not None and 0 not in shape:
            result[(rows, *(slice(length) for length in shape))] = segment.rows[array_field(name)]
    return result


def number_column(segments: Sequence[Segment], name: str) -> FloatArray:
    """Return one number per record, from the array or the attribute of this name; NaN if it has neither."""
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


def layout_sizes(segments: Sequence[Segment]) -> IntArray:
    """Return the number of turbines of each record, by its layout, else by its attribute; 0 if unknown."""
    stated = number_column(segments, "n_turbines")
    sizes = np.where(np.isfinite(stated), stated, 0).astype(np.int64)
    for segment, rows in placed(segments):
        if (count := turbines_in(segment)) is not None:
            sizes[rows] = count
    return sizes


def turbines_in(segment: Segment) -> int | None:
    """Return the number of turbines of a segment's layouts; None if it has no array of shape (2, turbines)."""
    shape = shape_of(segment, "layout") or ()
    return shape[1] if len(shape) == 2 and shape[0] == 2 else None


def places_of(segments: Sequence[Segment]) -> IntArray:
    """Return the farm, type and seed of each record; UNKNOWN where neither attributes nor key state them.

    The attributes say it; of a record without them, the key does.
    """
    keys = [parse_key(key) for key in texts(segments, "key")]
    numbers = [(UNKNOWN,) * 3 if parts is None else parts[:3] for parts in keys]
    found = np.array(numbers, np.int64).reshape(-1, 3)
    for segment, rows in placed(segments):
        names = segment.rows.dtype.names or ()
        columns = [segment.rows[field] for field in map(attribute_field, PLACE) if field in names]
        if len(columns) == len(PLACE) and all(column.dtype.kind in "iu" for column in columns):
            stated = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
            usable = (stated >= 0).all(axis=1)
            found[rows][usable] = stated[usable]
    return found


def campaign_in(text: str | None) -> Campaign | None:
    """Return the campaign stored with results; None if there is none or it cannot be used."""
    if text is None:
        return None
    try:
        return Campaign.loads(text)
    except CampaignError:
        return None


def former_campaigns(run: RunDirectory, *texts: str | None) -> Iterator[Campaign]:
    """Yield earlier versions of a campaign, the latest first: ``texts``, then those in the run directory."""
    kept = (text for text in (*texts, *run.former_texts()) if text)
    yield from filter(None, map(campaign_in, dict.fromkeys(kept)))


def middles(segments: Sequence[Segment]) -> FloatArray:
    """Return x and y of the middle of each layout, shape (2, records); NaN for a record without a layout."""
    found = np.full((2, sum(map(len, segments))), np.nan)
    for segment, rows in placed(segments):
        if turbines_in(segment):
            found[:, rows] = segment.rows["array:layout"].mean(axis=2).T
    return found


def aligned(column: NDArray[Any], keys: Sequence[str], wanted: Sequence[str]) -> NDArray[Any]:
    """Return a column for the wanted keys; NaN, or an empty text, for keys that the column lacks."""
    places = {key: place for place, key in enumerate(keys)}
    none = np.array([""]) if column.dtype.kind == "U" else np.array([np.nan])
    return np.append(column, none)[[places.get(key, -1) for key in wanted]]
