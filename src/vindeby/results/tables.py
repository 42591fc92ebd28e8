"""Results as tables and grids for other tools: columns with a value for each result, data frames, and datasets.

xarray and pandas are optional (``pip install "vindeby[xarray]"``) and loaded only when they are asked for. A dataset
by task has every farm, type and seed of the campaign, with NaN where a result is missing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import FloatArray, IntArray
from vindeby.campaign import Campaign
from vindeby.campaign.reading.readers import readers
from vindeby.campaign.tasks import EVALUATED_ARRAYS, RESULT_ARRAYS
from vindeby.errors import ArgumentError, DataError, VindebyError, library
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
    """What results lie along: a label for each place along it, and the place of each record; -1 for an unknown one."""

    labels: list[Any]
    place_of: dict[Any, int]
    """The place of each number; of each label where there are no numbers."""
    positions: NDArray[np.intp]

    @classmethod
    def of(cls, labels: Iterable[Any], numbers: Iterable[Any] | None, records: Iterable[Any]) -> Dimension:
        """Place records by their numbers along a dimension; by their labels where there are no numbers."""
        labels = [*labels]
        place = {number: index for index, number in enumerate(labels if numbers is None else numbers)}
        return cls(labels, place, np.array([place.get(number, -1) for number in records], np.intp))


class ResultTable:
    """The verified records of some rows of a result set, in bulk; damaged ones are left out.

    ``segments`` has the records, those of one schema together, and ``rows`` their rows in the same order.
    """

    def __init__(self, results: ResultSet, rows: NDArray[Any] | None = None) -> None:
        rows = results.rows if rows is None else rows
        self.results, self.campaign = results, results.campaign
        self.segments: list[Segment] = []
        number_of, order = {key: number for number, key in enumerate(rows["key"].tolist())}, list[int]()
        for segment in results.source.segments():
            found = [number_of.pop(key, -1) for key in segment.rows["key"].tolist()]
            mine = [place for place, number in enumerate(found) if number >= 0]
            if mine:
                self.segments.append(segment if len(mine) == len(segment) else segment.take(mine))
                order += [found[place] for place in mine]
        self.rows = rows[np.array(order, np.intp)]

    @cached_property
    def keys(self) -> list[str]:
        """The key of each record."""
        return texts(self.segments, "key")

    @cached_property
    def places(self) -> IntArray:
        """Farm, type and seed of each record, shape (records, 3)."""
        return np.array([self.rows[name] for name in PLACE], np.int64).reshape(3, -1).T

    @cached_property
    def is_canonical(self) -> list[bool]:
        """Whether the key of each record is that of its task."""
        places = self.rows[[*CELL, "ss_seed"]].tolist()
        return [self.results.axes.key_of(place) == key for key, place in zip(self.keys, places, strict=True)]

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """What results lie along: farms, types, the axes of the campaign, seeds."""
        farms, types, seeds = self.axes
        found = {
            "farm": Dimension.of(farms.values(), farms, self.places[:, 0].tolist()),
            "type": Dimension.of(types.values(), types, self.places[:, 1].tolist()),
        }
        for axis, known in self.results.axes.axes.items():
            column = self.values[axis].tolist()
            found[axis] = Dimension.of([*known, *sorted({*column} - {*known})], None, column)
        return found | {"seed": Dimension.of(seeds, seeds, self.places[:, 2].tolist())}

    def grid_place(self, place: ResultPlace) -> tuple[int, ...]:
        """Where a task stands along the dimensions."""
        values = self.results.axes.values_of(place.combination)
        numbers = (place.farm_idx, place.type_idx, *values, place.seed)
        along = zip(self.dimensions.values(), numbers, strict=True)
        return tuple(one.place_of[number] for one, number in along)

    @cached_property
    def values(self) -> dict[str, NDArray[Any]]:
        """The name of the value of each axis, for each record; empty where it has none."""
        axes = self.results.axes
        names = axes.names(self.rows[CELL].tolist())
        return {axis: np.array(names[axis], object) for axis in axes.axes}

    @cached_property
    def derived(self) -> dict[str, NDArray[Any]]:
        """What follows from each record and the campaign: wake loss, capacity factor, case."""
        return {} if self.campaign is None else self.results.derived(self.keys)

    @cached_property
    def axes(self) -> tuple[dict[int, str], dict[int, str], dict[int, str]]:
        """Farms, types and seeds of the campaign and of these records, by number, with their names."""
        known = self.results.axes
        there = self.places[(self.places >= 0).all(axis=1)]
        farms, types, seeds = (np.unique(there[:, column]) for column in range(3))
        along_seeds = dict.fromkeys([*known.seeds, *np.setdiff1d(seeds, known.seeds).tolist()], "")
        return _names(known.farms, farms, "farm"), _names(known.types, types, "t"), along_seeds

    def columns(self) -> dict[str, NDArray[Any]]:
        """What each record is, its energy, and what follows from it; names of mixes of types are those of cells."""
        (farms, types, _), cells = self.axes, self.results.axes.by_place
        labels = [
            types.get(place[1]) if (cell := cells.get(place)) is None else cell.label([*types.values()])
            for place in self.rows[CELL].tolist()
        ]
        return {
            "key": np.array(self.keys, object),
            "farm_idx": self.places[:, 0],
            "farm": np.array([farms.get(number) for number in self.places[:, 0].tolist()], object),
            "type_idx": self.places[:, 1],
            "type": np.array(labels, object),
            **self.values,
            "seed": self.places[:, 2],
            "aep": number_column(self.segments, "aep"),
            "n_turbines": layout_sizes(self.segments),
            "seconds": number_column(self.segments, "seconds"),
            "origin": np.array(origin_column(self.segments), object),
            "fingerprint": np.array(texts(self.segments, "fingerprint"), object),
            "checksum": np.array(texts(self.segments, "checksum"), object),
            **self.derived,
        }

    def degrees(self, crs: str | None = None) -> dict[str, FloatArray]:
        """Longitude and latitude of the middle of each layout, where they are known."""
        return degrees(crs or getattr(self.campaign, "crs", None), *middles(self.segments))

    def add_single_values(
        self, columns: dict[str, Any], taken: Collection[str] = (), *, scalars_only: bool
    ) -> None:
        """Add a column for each further attribute and each array of one value (``scalars_only``: of no axes)."""
        for name, values in self.further_attributes():
            columns[_free(name, columns, taken)] = (
                values.astype(object) if values.dtype.kind == "U" else values
            )
        for name in array_names(self.segments):
            shapes = set(shapes_of(self.segments, name))
            is_single = len(shapes) == 1 and math.prod(*shapes) == 1
            if name != "aep" and is_single and (shapes == {()} or not scalars_only):
                columns[_free(name, columns, taken)] = array_column(self.segments, name).reshape(-1)

    def further_attributes(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """The attributes that are not among the columns."""
        for name in attribute_names(self.segments):
            if name not in {*PLACE, *self.values, "aep", "n_turbines", "seconds", "origin"}:
                yield name, attribute_column(self.segments, name)


def _names(known: Sequence[str], found: IntArray, prefix: str) -> dict[int, str]:
    names = dict(enumerate(known))
    for number in np.setdiff1d(found, np.arange(len(known))).tolist():
        name = f"{prefix}{number}"
        while name in names.values():
            name += "'"
        names[number] = name
    return names


def degrees(crs: str | None, x: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """Return ``longitude`` and ``latitude`` of positions; nothing where they cannot be known here."""
    try:
        found: dict[str, FloatArray] = readers().longitude_latitude(crs, x, y)
    except VindebyError:  # pyproj is not installed, or no such places are in the system
        return {}
    return found


def _free(name: str, variables: Mapping[str, Any], taken: Collection[str] = _DESCRIPTIONS) -> str:
    while name in variables or name in taken:
        name = f"record_{name}"
    return name


def data_frame(database: Database, *, stale: bool = False) -> Any:
    """The results in the order of farm, type, combination, seed and key.

    With ``stale``, a column of that name marks what answers an older version of the campaign.
    """
    pd = library("pandas", "xarray", "to_dataframe")
    results = ResultSet(database.path, stale=stale, lenient=True)
    table = ResultTable(results)
    columns, places, types = table.columns(), table.places, table.axes[1]
    columns["type"] = np.array([types.get(number) for number in places[:, 1].tolist()], object)
    for name, number in zip(("farm_idx", "type_idx", "seed"), places.T, strict=True):
        is_known = number >= 0
        if not is_known.all():
            columns[name] = pd.arrays.IntegerArray(np.where(is_known, number, 0), ~is_known)
    first = (
        "key",
        "farm",
        "type",
        *table.values,
        "seed",
        "aep",
        "n_turbines",
        "seconds",
        "origin",
        "fingerprint",
    )
    del columns["checksum"]
    data: dict[str, Any] = {name: columns.pop(name) for name in first} | columns | table.degrees()
    if stale and table.campaign is not None:
        data["stale"] = np.isin(table.rows["key"], results.stale_rows["key"])
        for column, kept in (("farm", "farm"), ("type", "turbine"), *((axis, axis) for axis in table.values)):
            if kept in attribute_names(table.segments):
                said = attribute_column(table.segments, kept).astype(object)
                data[column] = np.where(data["stale"], said, data[column])
    table.add_single_values(data, _DESCRIPTIONS, scalars_only=False)
    order = np.lexsort(
        [np.array(table.keys, np.str_), *(table.rows[name] for name in ("ss_seed", *reversed(CELL)))]
    )
    frame = pd.DataFrame(data).iloc[order].reset_index(drop=True)
    frame.attrs["units"] = {"aep": "GWh/year", "seconds": "s"}
    return frame


def dataset(database: Database, by: Literal["task", "key"]) -> Any:
    """All results of a database over the tasks of its campaign, or over their keys."""
    if by not in ("task", "key"):
        raise ArgumentError(f"to_xarray: by must be 'task' or 'key', not {by!r}")
    table = ResultTable(ResultSet(database.path, lenient=True))
    root = table.results.source.attributes
    return dataset_by_key(table, root) if by == "key" else dataset_by_task(table, root)


def dataset_by_key(table: ResultTable, root: Mapping[str, Attribute]) -> Any:
    """Arrays over ``key`` and their own axes, padded with NaN (0 for integers); attributes over ``key``."""
    xarray, segments = library("xarray", "xarray", "to_xarray"), table.segments
    variables: dict[str, Any] = {"fingerprint": ("key", texts(segments, "fingerprint"))}
    for name in attribute_names(segments):
        variables[name] = ("key", attribute_column(segments, name))
    for name in array_names(segments):
        values = array_column(segments, name)
        axes = [f"{name}_axis{number}" for number in range(values.ndim - 1)]
        variables[name] = (["key", *axes], values)
    return xarray.Dataset(variables, coords={"key": table.keys}, attrs=dict(root))


def dataset_by_task(table: ResultTable, root: Mapping[str, Attribute]) -> Any:
    """A value of each variable for every farm, type and seed of the campaign; NaN where a result is missing."""
    xarray, segments = library("xarray", "xarray", "to_xarray"), table.segments
    grid = _Grid(table)
    task = tuple(table.dimensions)
    variables = {
        "aep": (task, grid.spread(number_column(segments, "aep"))),
        "n_turbines": (task, grid.spread(layout_sizes(segments), missing=0)),
        "seconds": (task, grid.spread(number_column(segments, "seconds"))),
        "key": (task, grid.spread(np.array(table.keys, np.str_))),
        "origin": (task, grid.spread(np.array(origin_column(segments), np.str_))),
        **{name: (task, grid.spread(column)) for name, column in table.derived.items()},
        **_positions(table, grid),
    }
    _add_arrays(variables, segments, grid, task)
    for name, values in table.further_attributes():
        variables[_free(name, variables)] = (task, grid.spread(values))
    coordinates = {
        **{
            name: (name, np.array(one.labels, np.int64 if name == "seed" else np.str_))
            for name, one in table.dimensions.items()
        },
        "turbine": ("turbine", np.arange(variables["x"][1].shape[-1])),
        "farm_idx": ("farm", np.array([*table.axes[0]], np.int64)),
        "type_idx": ("type", np.array([*table.axes[1]], np.int64)),
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
        # Of two results of one task, the one whose key says so is shown.
        order = np.argsort(~np.array(table.is_canonical, bool), kind="stable")
        order = order[(table.places[order] >= 0).all(axis=1)]
        where = [one.positions[order] for one in table.dimensions.values()]
        cells = np.ravel_multi_index(where, self.shape) if len(order) else np.empty(0, np.intp)
        self.cells, first = np.unique(cells, return_index=True)
        self.shown = order[first]
        left_out = len(table.places) - len(self.cells)
        if left_out:
            warnings.warn(
                f"{part_of(left_out, len(table.places), 'result')} left out: they name no farm, type and seed, or the "
                'same as another result; to_xarray(by="key") has all of them',
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
            'to_xarray(by="key") or to_dataframe()'
        )


def _positions(table: ResultTable, grid: _Grid) -> dict[str, Any]:
    """``x`` and ``y`` of every turbine, and where it is on Earth if that is known; NaN where a layout has fewer."""
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
        variables[_free(name, variables)] = ([*task, *own], grid.spread(values))
