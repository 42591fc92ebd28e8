"""All records as one ``xarray.Dataset``; xarray is needed only here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import DataError, InputError
from vindeby.store.format.rows import Segment

if TYPE_CHECKING:
    from vindeby.store.read.database import Database


def to_xarray(database: Database) -> Any:
    """Arrays over ``key`` and their own axes, padded with NaN (0 for integers); attributes over ``key``."""
    try:
        import xarray
    except ImportError as error:
        raise InputError("to_xarray needs xarray; install it with: pip install xarray") from error
    segments = list(database.segments())
    keys = [key.decode() for segment in segments for key in segment.rows["key"].tolist()]
    variables: dict[str, Any] = {"fingerprint": ("key", _text(segments, "fingerprint"))}
    for name in sorted({name for segment in segments for name, _ in segment.schema.attributes}):
        variables[name] = ("key", _attribute(segments, name))
    for name in sorted({name for segment in segments for name, _, _ in segment.schema.arrays}):
        values = _array(segments, name)
        axes = [f"{name}_axis{number}" for number in range(values.ndim - 1)]
        variables[name] = (["key", *axes], values)
    return xarray.Dataset(variables, coords={"key": keys}, attrs=dict(database.attributes))


def _text(segments: Iterable[Segment], field: str) -> list[str]:
    return [text.decode() for segment in segments for text in segment.rows[field].tolist()]


def _attribute(segments: list[Segment], name: str) -> NDArray[Any]:
    values: list[Any] = []
    for segment in segments:
        kinds = dict(segment.schema.attributes)
        if name not in kinds:
            values += [float("nan")] * len(segment)
        elif kinds[name] == "str":
            values += _text([segment], f"attribute:{name}")
        else:
            values += segment.rows[f"attribute:{name}"].tolist()
    kinds_found = {type(value) for value in values}
    return np.array(values) if len(kinds_found) == 1 or str not in kinds_found else np.array(values, object)


def _array(segments: list[Segment], name: str) -> NDArray[Any]:
    found = [shape for segment in segments for array, _, shape in segment.schema.arrays if array == name]
    if len({len(shape) for shape in found}) != 1:
        raise DataError(f"array {name!r} has different numbers of axes in different records")
    largest = tuple(max(lengths) for lengths in zip(*found, strict=True))
    types = {dtype for segment in segments for array, dtype, _ in segment.schema.arrays if array == name}
    dtype = np.result_type(*[np.dtype(text) for text in types])
    everywhere = all(any(array == name for array, _, _ in segment.schema.arrays) for segment in segments)
    if not everywhere and dtype.kind != "f":
        dtype = np.dtype(np.float64)
    fill: Any = np.nan if dtype.kind == "f" else 0
    result = np.full((sum(map(len, segments)), *largest), fill, dtype)
    start = 0
    for segment in segments:
        shape = next((shape for array, _, shape in segment.schema.arrays if array == name), None)
        if shape is not None and 0 not in shape:
            inner = tuple(slice(length) for length in shape)
            result[(slice(start, start + len(segment)), *inner)] = segment.rows[f"array:{name}"]
        start += len(segment)
    return result
