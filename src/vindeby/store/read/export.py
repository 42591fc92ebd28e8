"""Results for other tools: as ``xarray.Dataset`` and as ``pandas.DataFrame``, and progress for a notebook.

Everything here works on verified segments and knows no ``Database``. xarray and pandas are optional
(``pip install "vindeby[xarray]"``) and loaded only when they are asked for. ``dataset_by_task`` gives every farm, type
and seed of the campaign, with NaN where a result is missing; ``dataset_by_key`` all records as they are.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import RESULT_ARRAYS, parse_key
from vindeby.errors import CampaignError, DataError, library
from vindeby.notebook import heading, progress_bar, table
from vindeby.store.format.record import Attribute
from vindeby.store.format.rows import Segment, array_field, attribute_field
from vindeby.store.read.inspect import origins
from vindeby.text import plural

COMPUTED = "computed"
"""The origin of a result that vindeby computed; the others are those of ``origin.ORIGINS``."""
PLACE = ("farm_idx", "type_idx", "ss_seed")
"""The attributes that say which task of its campaign a record is the result of."""
UNKNOWN = -1


def _placed(segments: Sequence[Segment]) -> Iterator[tuple[Segment, slice]]:
    """Each segment with the places of its records among all records."""
    start = 0
    for segment in segments:
        yield segment, slice(start, start + len(segment))
        start += len(segment)


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
    return [shape for segment in segments if (shape := _shape(segment, name)) is not None]


def _shape(segment: Segment, name: str) -> tuple[int, ...] | None:
    return next((shape for array, _, shape in segment.schema.arrays if array == name), None)


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


def array_column(segments: Sequence[Segment], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """An array of every record, padded to the largest with NaN, or 0 for integers and booleans.

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
    for segment, rows in _placed(segments):
        shape = _shape(segment, name)
        if shape is not None and 0 not in shape:
            result[(rows, *(slice(length) for length in shape))] = segment.rows[array_field(name)]
    return result


def number_column(segments: Sequence[Segment], name: str) -> FloatArray:
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


def layout_sizes(segments: Sequence[Segment]) -> IntArray:
    """The number of turbines of each record, by its layout, else by its attribute; 0 where neither tells."""
    stated = number_column(segments, "n_turbines")
    sizes = np.where(np.isfinite(stated), stated, 0).astype(np.int64)
    for segment, rows in _placed(segments):
        if (count := turbines_in(segment)) is not None:
            sizes[rows] = count
    return sizes


def turbines_in(segment: Segment) -> int | None:
    """How many turbines the layouts of a segment have; None where it has no array of that form."""
    shape = _shape(segment, "layout") or ()
    return shape[1] if len(shape) == 2 and shape[0] == 2 else None


def places_of(segments: Sequence[Segment]) -> tuple[IntArray, BoolArray]:
    """Farm, type and seed of each record, UNKNOWN where nothing tells; and whether the key says the same.

    The attributes say it; of a record without them, the key does.
    """
    keys = [parse_key(key) for key in texts(segments, "key")]
    by_key = np.array([(UNKNOWN,) * 3 if place is None else place for place in keys], np.int64).reshape(-1, 3)
    found = by_key.copy()
    for segment, rows in _placed(segments):
        names = segment.rows.dtype.names or ()
        columns = [segment.rows[field] for field in map(attribute_field, PLACE) if field in names]
        if len(columns) == len(PLACE) and all(column.dtype.kind in "iu" for column in columns):
            stated = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
            usable = (stated >= 0).all(axis=1)
            found[rows][usable] = stated[usable]
    return found, (found == by_key).all(axis=1)


def campaign_in(text: str | None) -> Campaign | None:
    """The campaign that is kept with results; None where there is none that can be used."""
    if text is None:
        return None
    try:
        return Campaign.loads(text)
    except CampaignError:
        return None


Axis: TypeAlias = dict[int, str]
"""Numbers along one dimension, in order, and the name of each."""


def _axis(known: Sequence[str], found: IntArray, prefix: str) -> Axis:
    """Everything that a campaign names, then what only the results have."""
    names = dict(enumerate(known))
    for number in np.setdiff1d(found, np.arange(len(known))).tolist():
        name = f"{prefix}{number}"
        while name in names.values():
            name += "'"
        names[number] = name
    return names


def axes_of(places: IntArray, campaign: Campaign | None) -> tuple[Axis, Axis, Axis]:
    """Farms, types and seeds of a campaign and of these results (a row of three numbers each)."""
    farms, types, seeds = (np.unique(places[:, column]) for column in range(3))
    known = ((), (), ()) if campaign is None else (campaign.farm_names, campaign.type_names, campaign.seeds)
    along_seeds = dict.fromkeys([*known[2], *np.setdiff1d(seeds, known[2]).tolist()], "")
    return _axis(known[0], farms, "farm"), _axis(known[1], types, "t"), along_seeds


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
_TAKEN = _DESCRIPTIONS.keys() - {"diameter", "evaluations", "types", "zone"}


def dataset_by_task(
    segments: Sequence[Segment], campaign: Campaign | None, root: Mapping[str, Attribute]
) -> Any:
    """A value of each variable for every farm, type and seed of the campaign; NaN where a result is missing."""
    xarray = library("xarray", "xarray", "to_xarray")
    grid = _Grid.of(segments, campaign)
    variables = {
        "aep": (TASK, grid.spread(number_column(segments, "aep"))),
        "n_turbines": (TASK, grid.spread(layout_sizes(segments), missing=0)),
        "seconds": (TASK, grid.spread(number_column(segments, "seconds"))),
        "key": (TASK, grid.spread(np.array(texts(segments, "key"), np.str_))),
        "origin": (TASK, grid.spread(np.array(origin_column(segments), np.str_))),
        **_positions(segments, grid),
    }
    _add_arrays(variables, segments, grid)
    for name, values in _further_attributes(segments):
        variables[_free(name, variables)] = (TASK, grid.spread(values))
    farms, types, seeds = grid.axes
    coordinates = {
        "farm": ("farm", np.array([*farms.values()], np.str_)),
        "type": ("type", np.array([*types.values()], np.str_)),
        "seed": ("seed", np.array([*seeds], np.int64)),
        "turbine": ("turbine", np.arange(variables["x"][1].shape[-1])),
        "farm_idx": ("farm", np.array([*farms], np.int64)),
        "type_idx": ("type", np.array([*types], np.int64)),
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
    def of(cls, segments: Sequence[Segment], campaign: Campaign | None) -> _Grid:
        places, canonical = places_of(segments)
        placed: BoolArray = np.all(places >= 0, axis=1)
        axes = axes_of(places[placed], campaign)
        shape = tuple(map(len, axes))
        _refuse_too_large(math.prod(shape))
        # Of two results of one task, the one whose key says so is shown.
        order = np.argsort(~canonical, kind="stable")
        order = order[placed[order]]
        positions = [{number: place for place, number in enumerate(axis)} for axis in axes]
        where = [
            [one[number] for one, number in zip(positions, row, strict=True)]
            for row in places[order].tolist()
        ]
        cells = np.ravel_multi_index(np.transpose(where), shape) if len(order) else np.empty(0, np.intp)
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
    largest = max((turbines_in(segment) or 0 for segment in segments), default=0)
    padded = np.full((2, sum(map(len, segments)), largest), np.nan)
    for segment, rows in _placed(segments):
        if size := turbines_in(segment):
            padded[:, rows, :size] = segment.rows["array:layout"].transpose(1, 0, 2)
    axes = (*TASK, "turbine")
    return {name: (axes, grid.spread(values)) for name, values in zip("xy", padded, strict=True)}


def _add_arrays(variables: dict[str, Any], segments: Sequence[Segment], grid: _Grid) -> None:
    """Whatever else records hold: a number, a value for each turbine, or an array with axes of its own."""
    layouts = all(turbines_in(one) is not None for one in segments if _shape(one, "layout"))
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
            _shape(one, name) in (None, (turbines_in(one),)) for one in segments
        )
        own = ["turbine"] if of_turbines else [f"{name}_axis{number}" for number in range(values.ndim - 1)]
        if of_turbines:
            missing = variables["x"][1].shape[-1] - values.shape[1]
            values = np.pad(values.astype(np.float64), ((0, 0), (0, missing)), constant_values=np.nan)
        variables[_free(name, variables)] = ([*TASK, *own], grid.spread(values))


def _free(name: str, variables: Mapping[str, Any], taken: Collection[str] = _TAKEN) -> str:
    """A name that neither a dimension nor another variable has."""
    while name in variables or name in taken:
        name = f"record_{name}"
    return name


def _further_attributes(segments: Sequence[Segment]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The attributes that no variable or column of its own stands for."""
    for name in attribute_names(segments):
        if name not in {*PLACE, "aep", "n_turbines", "seconds", "origin"}:
            yield name, attribute_column(segments, name)


def add_single_values(
    columns: dict[str, Any], segments: Sequence[Segment], taken: Collection[str] = (), *, scalars_only: bool
) -> None:
    """Add a column for each further attribute and each array of one value (``scalars_only``: of no axes)."""
    for name, values in _further_attributes(segments):
        columns[_free(name, columns, taken)] = values.astype(object) if values.dtype.kind == "U" else values
    for name in array_names(segments):
        shapes = set(shapes_of(segments, name))
        is_single = len(shapes) == 1 and math.prod(*shapes) == 1
        if name != "aep" and is_single and (shapes == {()} or not scalars_only):
            columns[_free(name, columns, taken)] = array_column(segments, name).reshape(-1)


def _described(variables: Mapping[str, tuple[Any, NDArray[Any]]]) -> dict[str, Any]:
    return {
        name: (axes, values, dict(_DESCRIPTIONS.get(name, {}))) for name, (axes, values) in variables.items()
    }


def dataset_by_key(segments: Sequence[Segment], root: Mapping[str, Attribute]) -> Any:
    """Arrays over ``key`` and their own axes, padded with NaN (0 for integers); attributes over ``key``."""
    xarray = library("xarray", "xarray", "to_xarray")
    variables: dict[str, Any] = {"fingerprint": ("key", texts(segments, "fingerprint"))}
    for name in attribute_names(segments):
        variables[name] = ("key", attribute_column(segments, name))
    for name in array_names(segments):
        values = array_column(segments, name)
        axes = [f"{name}_axis{number}" for number in range(values.ndim - 1)]
        variables[name] = (["key", *axes], values)
    return xarray.Dataset(variables, coords={"key": texts(segments, "key")}, attrs=dict(root))


def data_frame(segments: Sequence[Segment], campaign: Campaign | None) -> Any:
    """The results in the order of farm, type, seed and key."""
    pd = library("pandas", "xarray", "to_dataframe")
    places, _ = places_of(segments)
    farms, types, _ = axes_of(places[(places >= 0).all(axis=1)], campaign)
    keys = np.array(texts(segments, "key"), object)
    data: dict[str, Any] = {
        "key": keys,
        "farm": np.array([farms.get(number) for number in places[:, 0].tolist()], object),
        "type": np.array([types.get(number) for number in places[:, 1].tolist()], object),
        "seed": _numbers(pd, places[:, 2]),
        "aep": number_column(segments, "aep"),
        "n_turbines": layout_sizes(segments),
        "seconds": number_column(segments, "seconds"),
        "origin": np.array(origin_column(segments), object),
        "fingerprint": np.array(texts(segments, "fingerprint"), object),
        "farm_idx": _numbers(pd, places[:, 0]),
        "type_idx": _numbers(pd, places[:, 1]),
    }
    add_single_values(data, segments, _TAKEN, scalars_only=False)
    order = np.lexsort((keys.astype(str), places[:, 2], places[:, 1], places[:, 0]))
    frame = pd.DataFrame(data).iloc[order].reset_index(drop=True)
    frame.attrs["units"] = {"aep": "GWh/year", "seconds": "s"}
    return frame


def _numbers(pd: Any, numbers: IntArray) -> Any:
    """Whole numbers; with pandas' NA where one is not known."""
    known = numbers >= 0
    return numbers if known.all() else pd.arrays.IntegerArray(np.where(known, numbers, 0), ~known)


def progress(name: str, keys: Iterable[str], campaign: Campaign | None, bad_files: int = 0) -> str:
    """The progress of the results with these keys, as HTML.

    What is counted is what is there; whether each is valid, ``vindeby validate`` says.
    """
    places = [parse_key(key) for key in keys]
    bad = f"; {plural(bad_files, 'file')} with something wrong" if bad_files else ""
    if campaign is None:
        return heading(
            name, f"{plural(len(places), 'result')}; no campaign says how many there should be{bad}"
        )
    seeds, cells = set(campaign.seeds), {(cell.farm_idx, cell.type_idx) for cell in campaign.cells()}
    expected = [place for place in places if place and place[:2] in cells and place[2] in seeds]
    done, asked = Counter(place[0] for place in expected), Counter(farm for farm, _ in cells)
    others = len(places) - len(expected)
    more = f"; {plural(others, 'result')} of no task of this campaign" if others else ""
    title = f"{len(expected):,} of {plural(campaign.total_configs, 'result')} of campaign {campaign.name}{more}{bad}"
    rows = [
        (f"farm{index}", farm, f"{done[index]:,}", f"{asked[index] * len(seeds):,}")
        for index, farm in enumerate(campaign.farm_names)
    ]
    bar = progress_bar(len(expected), campaign.total_configs)
    return heading(name, title) + bar + table(("farm", "name", "results", "expected"), rows)
