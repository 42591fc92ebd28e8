"""All results as one ``pandas.DataFrame``: one row per result, arrays of more than one value left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign.outline import Outline
from vindeby.store.format.rows import Segment
from vindeby.store.read.export import columns
from vindeby.store.read.export.axes import Axis, axes_of


def data_frame(segments: Sequence[Segment], outline: Outline | None) -> Any:
    """The results in the order of farm, type, seed and key."""
    try:
        import pandas as pd
    except ImportError as error:
        raise columns.missing_library("to_dataframe", "pandas") from error
    places, _ = columns.places_of(segments)
    farms, types, _ = axes_of(places[(places >= 0).all(axis=1)], outline)
    keys = np.array(columns.texts(segments, "key"), object)
    data: dict[str, Any] = {
        "key": keys,
        "farm": _names(farms, places[:, 0]),
        "type": _names(types, places[:, 1]),
        "seed": _numbers(pd, places[:, 2]),
        "aep": columns.number_column(segments, "aep"),
        "n_turbines": columns.layout_sizes(segments),
        "seconds": columns.number_column(segments, "seconds"),
        "origin": np.array(columns.origin_column(segments), object),
        "fingerprint": np.array(columns.texts(segments, "fingerprint"), object),
        "farm_idx": _numbers(pd, places[:, 0]),
        "type_idx": _numbers(pd, places[:, 1]),
    }
    shown = {*columns.PLACE, "aep", "n_turbines", "origin", "seconds"}
    for name in columns.attribute_names(segments):
        if name not in shown:
            values = columns.attribute_column(segments, name)
            data[_free(name, data)] = values.astype(object) if values.dtype.kind == "U" else values
    for name in columns.array_names(segments):
        shapes = columns.shapes_of(segments, name)
        if (
            name != "aep"
            and all(math.prod(shape) == 1 for shape in shapes)
            and len(set(map(len, shapes))) == 1
        ):
            data[_free(name, data)] = columns.array_column(segments, name).reshape(len(keys))
    order = np.lexsort((keys.astype(str), places[:, 2], places[:, 1], places[:, 0]))
    frame = pd.DataFrame(data).iloc[order].reset_index(drop=True)
    frame.attrs["units"] = {"aep": "GWh/year", "seconds": "s"}
    return frame


def _names(axis: Axis, numbers: NDArray[np.int64]) -> NDArray[Any]:
    by_number = dict(zip(axis.numbers.tolist(), axis.names, strict=True))
    return np.array([by_number.get(number) for number in numbers.tolist()], object)


def _numbers(pd: Any, numbers: NDArray[np.int64]) -> Any:
    """Whole numbers; with pandas' NA where one is not known."""
    known = numbers >= 0
    return numbers if known.all() else pd.arrays.IntegerArray(np.where(known, numbers, 0), ~known)


def _free(name: str, data: dict[str, Any]) -> str:
    while name in data:
        name = f"record_{name}"
    return name
