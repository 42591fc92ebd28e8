"""All results as one ``xarray.Dataset`` over farm, turbine type, seed and turbine."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.campaign.outline import Outline
from vindeby.campaign.tasks import RESULT_ARRAYS
from vindeby.errors import DataError
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment
from vindeby.store.read.export import columns
from vindeby.store.read.export.axes import Axis, axes_of

TASK = ("farm", "type", "seed")
_LARGEST = 1 << 30
"""So many values one variable may have: 8 GiB."""
_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "aep": RESULT_ARRAYS["aep"],
    "x": {"long_name": "turbine position, east", "units": "m"},
    "y": {"long_name": "turbine position, north", "units": "m"},
    "n_turbines": {"long_name": "number of turbines, 0 where there is no result", "units": "1"},
    "seconds": {"long_name": "computing time of the task", "units": "s"},
    "diameter": {"long_name": "rotor diameter", "units": "m"},
    "evaluations": {"long_name": "number of evaluations of the search", "units": "1"},
    "types": RESULT_ARRAYS["types"],
    "zone": RESULT_ARRAYS["zone"],
    "key": {"long_name": "key of the result, empty where there is none"},
    "origin": {"long_name": "where the result comes from, empty where there is none"},
    "farm": {"long_name": "name of the farm"},
    "type": {"long_name": "name of the turbine type"},
    "seed": {"long_name": "random seed"},
    "turbine": {"long_name": "number of the turbine in its layout"},
    "farm_idx": {"long_name": "number of the farm in the campaign"},
    "type_idx": {"long_name": "number of the turbine type in the campaign"},
}


def dataset_by_task(
    segments: Sequence[Segment], outline: Outline | None, root: Mapping[str, Attribute]
) -> Any:
    """A value of each variable for every farm, type and seed of the campaign; NaN where a result is missing."""
    try:
        import xarray
    except ImportError as error:
        raise columns.missing_library("to_xarray", "xarray") from error
    grid = _Grid.of(segments, outline)
    variables = {
        "aep": (TASK, grid.spread(columns.number_column(segments, "aep"))),
        "n_turbines": (TASK, grid.spread(columns.layout_sizes(segments), missing=0)),
        "seconds": (TASK, grid.spread(columns.number_column(segments, "seconds"))),
        "key": (TASK, grid.spread(np.array(columns.texts(segments, "key"), np.str_))),
        "origin": (TASK, grid.spread(np.array(columns.origin_column(segments), np.str_))),
        **_positions(segments, grid),
    }
    _add_arrays(variables, segments, grid)
    _add_attributes(variables, segments, grid)
    farms, types, seeds = grid.axes
    coordinates = {
        "farm": ("farm", np.array(farms.names, np.str_)),
        "type": ("type", np.array(types.names, np.str_)),
        "seed": ("seed", seeds.numbers),
        "turbine": ("turbine", np.arange(variables["x"][1].shape[-1])),
        "farm_idx": ("farm", farms.numbers),
        "type_idx": ("type", types.numbers),
    }
    # netCDF has no booleans among its attributes.
    attributes = {name: int(value) if isinstance(value, bool) else value for name, value in root.items()}
    return xarray.Dataset(_described(variables), coords=_described(coordinates), attrs=attributes)


@dataclass(frozen=True)
class _Grid:
    """Which records are shown, and in which cell of farms x types x seeds."""

    axes: tuple[Axis, Axis, Axis]
    shown: NDArray[np.intp]
    cells: NDArray[np.intp]

    @classmethod
    def of(cls, segments: Sequence[Segment], outline: Outline | None) -> _Grid:
        places, canonical = columns.places_of(segments)
        placed: NDArray[np.bool_] = np.all(places >= 0, axis=1)
        axes = axes_of(places[placed], outline)
        shape = tuple(map(len, axes))
        _refuse_too_large(math.prod(shape))
        # Of two results of one task, the one whose key says so is shown.
        order = np.argsort(~canonical, kind="stable")
        order = order[placed[order]]
        where = [axis.positions(places[order, column]) for column, axis in enumerate(axes)]
        cells = np.ravel_multi_index(tuple(where), shape) if len(order) else np.empty(0, np.intp)
        cells, first = np.unique(cells, return_index=True)
        left_out = len(places) - len(cells)
        if left_out:
            warnings.warn(
                f"{left_out:,} of {len(places):,} results are left out: they name no farm, type and seed, or the same "
                'as another result; to_xarray(by="key") has all of them',
                stacklevel=5,
            )
        return cls(axes, order[first], cells)

    def spread(self, column: NDArray[Any], missing: Any = None) -> NDArray[Any]:
        """A column, of a value or an array for each record, over farms, types and seeds."""
        shape = tuple(map(len, self.axes))
        inner = column.shape[1:]
        _refuse_too_large(math.prod(shape) * math.prod(inner))
        full = len(self.cells) == math.prod(shape)
        if missing is None:
            missing = "" if column.dtype.kind == "U" else np.nan
            if column.dtype.kind in "iub" and not full:
                column = column.astype(np.float64)
        result = np.empty((math.prod(shape), *inner), column.dtype)
        if not full:
            result[...] = missing
        result[self.cells] = column[self.shown]
        return result.reshape(*shape, *inner)


def _refuse_too_large(count: int) -> None:
    if count > _LARGEST:
        raise DataError(
            f"farms x types x seeds (x turbines) of these results make {count:,} values, more than {_LARGEST:,}; use "
            'to_xarray(by="key") or to_dataframe()'
        )


def _positions(segments: Sequence[Segment], grid: _Grid) -> dict[str, Any]:
    """``x`` and ``y`` of every turbine; NaN where a layout has fewer."""
    sizes = [columns.turbines_in(segment) for segment in segments]
    padded = np.full((2, sum(map(len, segments)), max((size or 0 for size in sizes), default=0)), np.nan)
    start = 0
    for segment, size in zip(segments, sizes, strict=True):
        if size:
            rows = slice(start, start + len(segment))
            padded[:, rows, :size] = segment.rows["array:layout"].transpose(1, 0, 2)
        start += len(segment)
    axes = (*TASK, "turbine")
    return {name: (axes, grid.spread(values)) for name, values in zip("xy", padded, strict=True)}


def _add_arrays(variables: dict[str, Any], segments: Sequence[Segment], grid: _Grid) -> None:
    """Whatever else records hold: a number, a value for each turbine, or an array with axes of its own."""
    layouts = all(columns.turbines_in(one) is not None for one in segments if _shape(one, "layout"))
    for name in columns.array_names(segments):
        shapes = columns.shapes_of(segments, name)
        if name == "aep" and all(math.prod(shape) == 1 for shape in shapes):
            continue
        if name == "layout" and layouts:
            continue
        if len(set(map(len, shapes))) > 1:
            warnings.warn(
                f"array {name!r} is left out: it has different numbers of axes in different results",
                stacklevel=4,
            )
            continue
        values = columns.array_column(segments, name)
        if values.dtype.kind in "iub" and len(set(shapes)) > 1:
            values = _padded_with_nan(values, segments, name)
        of_turbines = values.ndim == 2 and all(
            _shape(one, name) in (None, (columns.turbines_in(one),)) for one in segments
        )
        own = ["turbine"] if of_turbines else [f"{name}_axis{number}" for number in range(values.ndim - 1)]
        if of_turbines:
            missing = variables["x"][1].shape[-1] - values.shape[1]
            values = np.pad(values.astype(np.float64), ((0, 0), (0, missing)), constant_values=np.nan)
        variables[_free(name, variables)] = ([*TASK, *own], grid.spread(values))


def _padded_with_nan(values: NDArray[Any], segments: Sequence[Segment], name: str) -> NDArray[np.float64]:
    """Integers of different shapes as floats, so that what is no value does not read as 0."""
    result = np.full(values.shape, np.nan)
    start = 0
    for segment in segments:
        shape = _shape(segment, name)
        if shape is not None:
            here = (slice(start, start + len(segment)), *(slice(length) for length in shape))
            result[here] = values[here]
        start += len(segment)
    return result


def _add_attributes(variables: dict[str, Any], segments: Sequence[Segment], grid: _Grid) -> None:
    for name in columns.attribute_names(segments):
        if name not in {*columns.PLACE, "aep", "n_turbines", "seconds", "origin"}:
            values = columns.attribute_column(segments, name)
            variables[_free(name, variables)] = (TASK, grid.spread(values))


def _shape(segment: Segment, name: str) -> tuple[int, ...] | None:
    return next((shape for array, _, shape in segment.schema.arrays if array == name), None)


def _free(name: str, variables: Mapping[str, Any]) -> str:
    """A name that neither a dimension nor another variable has."""
    while name in variables or name in _DESCRIPTIONS.keys() - {"diameter", "evaluations", "types", "zone"}:
        name = f"record_{name}"
    return name


def _described(variables: Mapping[str, tuple[Any, NDArray[Any]]]) -> dict[str, Any]:
    return {
        name: (axes, values, dict(_DESCRIPTIONS.get(name, {}))) for name, (axes, values) in variables.items()
    }
