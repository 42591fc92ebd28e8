"""Results as tables and grids for other tools: columns with a value for each result, data frames, and datasets.

xarray and pandas are optional (``pip install "vindeby[xarray]"``) and loaded only when they are asked for. A dataset
by task has every farm, type and seed of the campaign, with NaN where a result is missing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import FloatArray, IntArray
from vindeby.campaign import Campaign
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.tasks import EVALUATED_ARRAYS, RESULT_ARRAYS
from vindeby.errors import DataError, VindebyError, library
from vindeby.results.result_set import CELL, ResultPlace, ResultSet
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment
from vindeby.store.read.columns import (
    PLACE,
    array_column,
    array_names,
    attribute_column,
    attribute_names,
    layout_sizes,
    middles,
    number_column,
    origin_column,
    placed,
    shape_of,
    shapes_of,
    texts,
    turbines_in,
)
from vindeby.store.read.database import Database
from vindeby.text import part_of

_LARGEST = 1 << 30
"""So many values one variable may have: 8 GiB."""
_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "aep": RESULT_ARRAYS["aep"],
    "x": {"long_name": "turbine position, east", "units": "m"},
    "y": {"long_name": "turbine position, north", "units": "m"},
    "n_turbines": {"long_name": "number of turbines, 0 where there is no result", "units": "1"},
    "seconds": {"long_name": "computing time of the task", "units": "s"},
    "key": {"long_name": "key of the result, empty where there is none"},
    "origin": {"long_name": "where the result comes from, empty where there is none"},
    "farm": {"long_name": "name of the farm"},
    "type": {"long_name": "name of the turbine type"},
    "seed": {"long_name": "random seed"},
    "turbine": {"long_name": "number of the turbine in its layout"},
    "farm_idx": {"long_name": "number of the farm in the campaign"},
    "type_idx": {"long_name": "number of the turbine type in the campaign"},
}
_OTHERS: Mapping[str, Mapping[str, str]] = {
    "diameter": {"long_name": "rotor diameter", "units": "m"},
    "evaluations": {"long_name": "number of evaluations of the search", "units": "1"},
    "types": RESULT_ARRAYS["types"],
    "zone": RESULT_ARRAYS["zone"],
    "wake_loss": {"long_name": "share of the wake-free energy that wakes take", "units": "1"},
    "capacity_factor": {"long_name": "AEP over that of all turbines at rated power", "units": "1"},
    "longitude": {"long_name": "longitude of the turbine", "units": "degrees_east"},
    "latitude": {"long_name": "latitude of the turbine", "units": "degrees_north"},
}


class Dimension(NamedTuple):
    """A dimension of results: a label for each position, and the position of each record; -1 for an unknown one."""

    labels: list[Any]
    place_of: dict[Any, int]
    """The place of each number; of each label where there are no numbers."""
    positions: NDArray[np.intp]

    @classmethod
    def of(cls, labels: Mapping[Any, Any], records: NDArray[Any]) -> Dimension:
        """Place records along a dimension with these labels, by number; -1 for a number that has none."""
        place = {number: index for index, number in enumerate(labels)}
        positions = np.array([place.get(number, -1) for number in records.tolist()], np.intp)
        return cls([*labels.values()], place, positions)


class ResultTable:
    """The verified records of some rows of a result set, in bulk; damaged ones are left out.

    ``segments`` has the records, those of one schema together, and ``rows`` their rows in the same order.
    """

    def __init__(self, results: ResultSet, chosen: NDArray[np.intp] | None = None) -> None:
        self.results, self.campaign = results, results.campaign
        self.segments: list[Segment] = []
        keys, order = results.rows["key"].tolist(), list[int]()
        number_of = {keys[row]: row for row in (range(len(keys)) if chosen is None else chosen.tolist())}
        for segment in results.source.segments():
            found = [number_of.pop(key, -1) for key in segment.rows["key"].tolist()]
            mine = [place for place, number in enumerate(found) if number >= 0]
            if mine:
                self.segments.append(segment if len(mine) == len(segment) else segment.take(mine))
                order += [found[place] for place in mine]
        self._order = np.array(order, np.intp)
        self.rows = results.rows[self._order]
        self.keys = [key.decode(errors="replace") for key in self.rows["key"].tolist()]

    @cached_property
    def names(self) -> dict[str, NDArray[Any]]:
        """The name of the farm, of the type or mix, and the value of each axis, of each record; None if unknown."""
        found = self.results.axes.names(self.rows[CELL].tolist())
        names = {name: np.array(column, object) for name, column in found.items()}
        for name, number in (("farm", "farm_idx"), ("type", "type_idx")):
            names[name][self.rows[number] < 0] = None
        return names

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """The farms, types, axes and seeds of the campaign, with further values that only records have."""
        known, rows = self.results.axes, self.rows
        placed_rows = rows[np.all([rows[name] >= 0 for name in PLACE], axis=0)]
        farms = _labels(known.farms, placed_rows["farm_idx"], "farm")
        types = _labels(known.types, placed_rows["type_idx"], "t")
        seeds = {seed: seed for seed in (*known.seeds, *np.unique(placed_rows["ss_seed"]).tolist())}
        values = {
            axis: [*axis_values, *sorted({*self.names[axis]})] for axis, axis_values in known.axes.items()
        }
        return {
            "farm": Dimension.of(farms, rows["farm_idx"]),
            "type": Dimension.of(types, rows["type_idx"]),
            **{axis: Dimension.of({one: one for one in values[axis]}, self.names[axis]) for axis in values},
            "seed": Dimension.of(seeds, rows["ss_seed"]),
        }

    def grid_place(self, place: ResultPlace) -> tuple[int, ...]:
        """Return the position of a task along the dimensions."""
        values = self.results.axes.values_of(place.combination)
        numbers = (place.farm_idx, place.type_idx, *values, place.seed)
        along = zip(self.dimensions.values(), numbers, strict=True)
        return tuple(one.place_of[number] for one, number in along)

    @cached_property
    def derived(self) -> dict[str, NDArray[Any]]:
        """The wake loss and the capacity factor of each record, if the campaign has wind."""
        return {name: column[self._order] for name, column in self.results.derived().items()}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the identity and the energy of each record, and the values that follow from it."""
        return {
            "key": np.array(self.keys, object),
            "farm_idx": self.rows["farm_idx"],
            "farm": self.names["farm"],
            "type_idx": self.rows["type_idx"],
            **self.names,
            "seed": self.rows["ss_seed"],
            "aep": number_column(self.segments, "aep"),
            "n_turbines": layout_sizes(self.segments),
            "seconds": self.rows["seconds"],
            "origin": np.array(origin_column(self.segments), object),
            "fingerprint": np.array(texts(self.segments, "fingerprint"), object),
            "checksum": np.array(texts(self.segments, "checksum"), object),
            **self.derived,
        }

    def degrees(self, crs: str | None = None) -> dict[str, FloatArray]:
        """Return longitude and latitude of the middle of each layout, if they are known."""
        return degrees(crs or getattr(self.campaign, "crs", None), *middles(self.segments))

    def add_single_values(self, columns: dict[str, Any]) -> None:
        """Add a column for each further attribute, and for each array of no axes."""
        for name, values in self.further_attributes():
            columns[_free(name, columns)] = values.astype(object) if values.dtype.kind == "U" else values
        for name in array_names(self.segments):
            if name != "aep" and set(shapes_of(self.segments, name)) == {()}:
                columns[_free(name, columns)] = array_column(self.segments, name)

    def further_attributes(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Give the attributes that are not among the columns."""
        for name in attribute_names(self.segments):
            if name not in {*PLACE, *self.results.axes.axes, "aep", "n_turbines", "seconds", "origin"}:
                yield name, attribute_column(self.segments, name)


def _labels(known: Sequence[str], found: IntArray, prefix: str) -> dict[int, str]:
    """Return a name for each number; no two are the same."""
    names = dict(enumerate(known))
    for number in np.setdiff1d(found, np.arange(len(known))).tolist():
        name = f"{prefix}{number}"
        while name in names.values():
            name += "'"
        names[number] = name
    return names


def degrees(crs: str | None, x: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """Return ``longitude`` and ``latitude`` of positions; empty if they cannot be known."""
    try:
        found: dict[str, FloatArray] = readers().longitude_latitude(crs, x, y)
    except VindebyError:  # pyproj is not installed, or no such places are in the system
        return {}
    return found


def _free(name: str, variables: Collection[str]) -> str:
    while name in variables:
        name = f"record_{name}"
    return name


def data_frame(database: Database) -> Any:
    """Return the results in the order of farm, type, combination, seed and key."""
    pd = library("pandas", "xarray", "to_dataframe")
    table = ResultTable(ResultSet(database.path, lenient=True))
    data: dict[str, Any] = table.columns()
    del data["checksum"]
    numbers = {name: data.pop(name) for name in ("farm_idx", "type_idx")}
    data |= numbers | table.degrees()
    table.add_single_values(data)
    order = np.lexsort(
        [np.array(table.keys, np.str_), *(table.rows[name] for name in ("ss_seed", *reversed(CELL)))]
    )
    frame = pd.DataFrame(data).iloc[order].reset_index(drop=True)
    for name in (*numbers, "seed"):
        if (frame[name] < 0).any():
            frame[name] = frame[name].astype("Int64").where(frame[name] >= 0)
    frame.attrs["units"] = {"aep": "GWh/year", "seconds": "s"}
    return frame


def dataset(database: Database) -> Any:
    """Return all results of a database over the tasks of its campaign."""
    table = ResultTable(ResultSet(database.path, lenient=True))
    return dataset_by_task(table, table.results.source.attributes)


def dataset_by_task(table: ResultTable, root: Mapping[str, Attribute]) -> Any:
    """Return a value of each variable for every farm, type and seed of the campaign; NaN if a result is missing."""
    xarray, segments = library("xarray", "xarray", "to_xarray"), table.segments
    grid = _Grid(table)
    task = tuple(table.dimensions)
    variables = {
        "aep": (task, grid.spread(number_column(segments, "aep"))),
        "n_turbines": (task, grid.spread(layout_sizes(segments), missing=0)),
        "seconds": (task, grid.spread(table.rows["seconds"])),
        "key": (task, grid.spread(np.array(table.keys, np.str_))),
        "origin": (task, grid.spread(np.array(origin_column(segments), np.str_))),
        **{name: (task, grid.spread(column)) for name, column in table.derived.items()},
        **_positions(table, grid),
    }
    _add_arrays(variables, segments, grid, task)
    for name, values in table.further_attributes():
        variables[_free(name, {**variables, **_DESCRIPTIONS})] = (task, grid.spread(values))
    coordinates = {
        **{
            name: (name, np.array(one.labels, np.int64 if name == "seed" else np.str_))
            for name, one in table.dimensions.items()
        },
        "turbine": ("turbine", np.arange(variables["x"][1].shape[-1])),
        "farm_idx": ("farm", np.array([*table.dimensions["farm"].place_of], np.int64)),
        "type_idx": ("type", np.array([*table.dimensions["type"].place_of], np.int64)),
    }
    # netCDF has no booleans among its attributes.
    attributes = {name: int(value) if isinstance(value, bool) else value for name, value in root.items()}
    data = xarray.Dataset(_described(variables), coords=_described(coordinates), attrs=attributes)
    if table.campaign is None or table.campaign.stored is None:
        return data
    return _with_dimensions(data, table.campaign)


def _with_dimensions(data: Any, campaign: Campaign) -> Any:
    """Name the dimensions of what was evaluated for stored layouts: turbines, and steps with their times."""
    for name in EVALUATED_ARRAYS.keys() & data.keys():
        about = dict(EVALUATED_ARRAYS[name])
        axes = enumerate(about.pop("dimensions", "").split())
        data[name] = data[name].rename(
            {f"{name}_axis{number}": axis for number, axis in axes if f"{name}_axis{number}" in data.dims}
        )
        data[name].attrs.update(about)
    series = campaign.site.time_series
    if "time" in data.dims and series is not None and series.times is not None:
        data = data.assign_coords(time=("time", np.array(series.times, "datetime64[ns]")))
    return data


def _described(variables: Mapping[str, tuple[Any, NDArray[Any]]]) -> dict[str, Any]:
    about = {**_DESCRIPTIONS, **_OTHERS}
    return {name: (axes, values, dict(about.get(name, {}))) for name, (axes, values) in variables.items()}


class _Grid:
    """The records that are shown, each with its place among farms x types x seeds."""

    def __init__(self, table: ResultTable) -> None:
        self.shape = tuple(len(one.labels) for one in table.dimensions.values())
        _refuse_too_large(math.prod(self.shape))
        # If two results answer one task, the one whose key is the task's is shown.
        tasks = map(table.results.axes.key_of, table.rows[[*CELL, "ss_seed"]].tolist())
        is_copy = [key != task for key, task in zip(table.keys, tasks, strict=True)]
        order = np.argsort(np.array(is_copy, bool), kind="stable")
        order = order[np.all([one.positions[order] >= 0 for one in table.dimensions.values()], axis=0)]
        where = [one.positions[order] for one in table.dimensions.values()]
        cells = np.ravel_multi_index(where, self.shape) if len(order) else np.empty(0, np.intp)
        self.cells, first = np.unique(cells, return_index=True)
        self.shown = order[first]
        left_out = len(table.rows) - len(self.cells)
        if left_out:
            warnings.warn(
                f"{part_of(left_out, len(table.rows), 'result')} left out: they name no farm, type and seed, or the "
                "same as another result; to_dataframe() has all of them",
                stacklevel=5,
            )

    def spread(self, column: NDArray[Any], missing: Any = None) -> NDArray[Any]:
        """Return a column, of a value or an array for each record, over farms, types and seeds."""
        inner, many = column.shape[1:], math.prod(self.shape)
        _refuse_too_large(many * math.prod(inner))
        full = len(self.cells) == many
        if missing is None:
            missing = "" if column.dtype.kind == "U" else np.nan
            if column.dtype.kind in "iub" and not full:
                column = column.astype(np.float64)
        result = np.empty((many, *inner), column.dtype)
        if not full:
            result[...] = missing
        result[self.cells] = column[self.shown]
        return result.reshape(*self.shape, *inner)


def _refuse_too_large(count: int) -> None:
    if count > _LARGEST:
        raise DataError(
            f"farms x types x seeds (x turbines) of these results make {count:,} values, more than {_LARGEST:,}; use "
            "to_dataframe()"
        )


def _positions(table: ResultTable, grid: _Grid) -> dict[str, Any]:
    """Return ``x`` and ``y`` of every turbine, and its place on Earth if known; NaN if a layout has fewer."""
    largest = max((turbines_in(segment) or 0 for segment in table.segments), default=0)
    padded = np.full((2, len(table.rows), largest), np.nan)
    for segment, rows in placed(table.segments):
        if size := turbines_in(segment):
            padded[:, rows, :size] = segment.rows["array:layout"].transpose(1, 0, 2)
    axes = (*table.dimensions, "turbine")
    places = dict(zip("xy", padded, strict=True)) | degrees(getattr(table.campaign, "crs", None), *padded)
    return {name: (axes, grid.spread(values)) for name, values in places.items()}


def _add_arrays(
    variables: dict[str, Any], segments: Sequence[Segment], grid: _Grid, task: tuple[str, ...]
) -> None:
    layouts = all(turbines_in(one) is not None for one in segments if shape_of(one, "layout"))
    for name in array_names(segments):
        shapes = shapes_of(segments, name)
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
        values = array_column(segments, name, gaps=True)
        of_turbines = values.ndim == 2 and all(
            shape_of(one, name) in (None, (turbines_in(one),)) for one in segments
        )
        own = ["turbine"] if of_turbines else [f"{name}_axis{number}" for number in range(values.ndim - 1)]
        if of_turbines:
            missing = variables["x"][1].shape[-1] - values.shape[1]
            values = np.pad(values.astype(np.float64), ((0, 0), (0, missing)), constant_values=np.nan)
        variables[_free(name, {**variables, **_DESCRIPTIONS})] = ([*task, *own], grid.spread(values))
