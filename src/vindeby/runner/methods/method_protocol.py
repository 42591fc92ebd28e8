"""The interface between a worker and a method: prepare a farm and a type, then solve task after task.

Two kinds of methods fit this: the built-in search (``vindeby.assembly``) and a function of the user's own
(``call``). Whatever they give is checked here before it may be published.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy import ma  # loaded here: a task may leave no file descriptor to load it with
from numpy.typing import NDArray

from vindeby._version import __version__
from vindeby.assembly.physics import RETURNS
from vindeby.assembly.stored_turbines import largest_diameter_m, zone_array
from vindeby.assembly.value import CABLE_LENGTH, values_of, with_cables, with_revenue
from vindeby.campaign import Campaign, Task
from vindeby.campaign.tasks import Cell
from vindeby.economy.cables import Routes
from vindeby.errors import ArgumentError, TaskError
from vindeby.store.format.record import Attribute, Record


class InvalidResultError(TaskError):
    """The error for a result that is not a layout of the right size, or not finite."""


@dataclass(frozen=True)
class TaskResult:
    """The result of a method: named arrays and numbers, at least ``layout`` and ``aep``, and their origin."""

    arrays: Mapping[str, Any]
    """Arrays, or what NumPy makes arrays of."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


Solve: TypeAlias = Callable[[Task], TaskResult]
"""Finds the layout of one task of a farm and a type."""


class TaskMethod(Protocol):
    """A method that finds layouts, for a whole campaign."""

    def prepare(self, cell: Cell) -> Solve:
        """Set up what all tasks of a farm and a type share."""


def checked_record(
    campaign: Campaign,
    cell: Cell,
    task: Task,
    result: TaskResult,
    seconds: float,
    check: Callable[[Record], Iterable[str]] = lambda _: (),
) -> Record:
    """Return the record to publish; InvalidResultError if the result cannot be right.

    ``campaign`` is that of the cell's combination, whose values are attributes of the result.
    ``check`` says whether it is possible, as ``run``, ``missing`` and ``validate`` will: what they would not take
    for a result is not published as one.
    """
    arrays = {name: _checked_array(name, value) for name, value in result.arrays.items()}
    attributes: dict[str, Attribute] = {
        **result.attributes,
        "farm_idx": task.farm_idx,
        "type_idx": task.type_idx,
        "ss_seed": task.seed,
        "seconds": round(seconds, 6),
        "version": __version__,
        **campaign.combination.values,
    }
    names = campaign.returned_arrays
    if names is not None:
        _check_returned(arrays, names)
        attributes[RETURNS] = ", ".join(names)
    else:
        _check_layout(arrays, cell)
        _check_aep(arrays)
        arrays = with_revenue(campaign, cell, with_cables(campaign, cell, arrays))
        if (routes := Routes.stored(arrays)) is not None:
            attributes[CABLE_LENGTH] = routes.length_m
        attributes |= {
            "n_turbines": arrays["layout"].shape[1],
            "diameter": largest_diameter_m(campaign, cell),
            "farm": campaign.farms[task.farm_idx].name,
            "turbine": cell.label([turbine.name for turbine in campaign.turbines]),
            **values_of(campaign, cell, arrays),
        }
        if cell.zones:
            arrays["zone"] = zone_array(cell)
    try:
        record = Record(task.key, task.fingerprint, arrays, attributes)
    except ArgumentError as error:
        raise InvalidResultError(str(error)) from error
    wrong = "; ".join(check(record))
    if wrong:
        raise InvalidResultError(wrong)
    return record


def _checked_array(name: str, value: Any) -> NDArray[Any]:
    """Return a copy, since a function may still change the array it returned; a record checks the type.

    NumPy drops the masks of masked arrays in a list. Here the whole is masked then, so that the record refuses it.
    """
    parts = value if isinstance(value, list | tuple) else [value]
    is_masked = any(isinstance(part, ma.MaskedArray) for part in parts)
    try:
        array = ma.array(value) if is_masked else np.array(value, subok=False)
    except ValueError as error:
        raise InvalidResultError(f"{name} cannot be made an array: {error}") from error
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidResultError(f"{name} is not finite: {_first_bad(array)}")
    return array


def _check_returned(arrays: dict[str, NDArray[Any]], names: tuple[str, ...]) -> None:
    lacking = [name for name in names if name not in arrays]
    if lacking:
        raise InvalidResultError(
            f"the function did not return {', '.join(lacking)}, which the campaign names"
        )


def _check_layout(arrays: dict[str, NDArray[Any]], cell: Cell) -> None:
    layout = arrays.get("layout")
    if layout is None:
        raise InvalidResultError("there is no layout; give one of shape (2, n), x then y in metres")
    if layout.ndim != 2 or len(layout) != 2 or layout.shape[1] != cell.n_turbines:
        raise InvalidResultError(
            f"the layout has shape {layout.shape}, but {cell.n_turbines} turbines make (2, {cell.n_turbines})"
        )
    arrays["layout"] = layout.astype(np.float64)


def _check_aep(arrays: dict[str, NDArray[Any]]) -> None:
    aep = arrays.get("aep")
    if aep is None or aep.size != 1:
        raise InvalidResultError("there is no aep; give one number, in GWh per year")
    arrays["aep"] = aep = aep.astype(np.float64).reshape(())
    if not aep > 0.0:
        raise InvalidResultError(f"aep is {float(aep):g}; it must be positive, in GWh per year")


def _first_bad(array: NDArray[Any]) -> str:
    place = np.argwhere(~np.isfinite(np.atleast_1d(array)))[0]
    value = np.atleast_1d(array)[tuple(place)]
    return f"{value} at {list(map(int, place))}" if array.ndim else f"{value}"
