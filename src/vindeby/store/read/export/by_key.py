"""All records as one ``xarray.Dataset`` over their keys, whatever they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment
from vindeby.store.read.export.columns import (
    array_column,
    array_names,
    attribute_column,
    attribute_names,
    missing_library,
    texts,
)


def dataset_by_key(segments: Sequence[Segment], root: Mapping[str, Attribute]) -> Any:
    """Arrays over ``key`` and their own axes, padded with NaN (0 for integers); attributes over ``key``."""
    try:
        import xarray
    except ImportError as error:
        raise missing_library("to_xarray", "xarray") from error
    variables: dict[str, Any] = {"fingerprint": ("key", texts(segments, "fingerprint"))}
    for name in attribute_names(segments):
        variables[name] = ("key", attribute_column(segments, name))
    for name in array_names(segments):
        values = array_column(segments, name)
        axes = [f"{name}_axis{number}" for number in range(values.ndim - 1)]
        variables[name] = (["key", *axes], values)
    return xarray.Dataset(variables, coords={"key": texts(segments, "key")}, attrs=dict(root))
