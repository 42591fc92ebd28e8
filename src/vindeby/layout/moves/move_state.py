"""What ``one_move`` keeps of a layout, and where its steps find the free wind of a turbine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.layout.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.local.local_rows import LocalRows, make_fill_row
from vindeby.wake.loops.wind_access import Locality, OwnWind


class Moves(NamedTuple):
    """The layout in every direction; then room for a move. Turbines first, neighbours after them.

    ``along``, ``across``, ``order`` and ``watts`` are (directions, turbines); ``summed``, ``speed`` and
    ``thrust`` (directions, turbines, wind speeds); those beginning with ``new`` (turbines, wind speeds). ``free`` has
    the free wind of every turbine where it differs from place to place, direction after direction, and in its last row
    that of the moved turbine at its new place.
    """

    type_index: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    along: FloatArray
    across: FloatArray
    order: IntArray
    watts: FloatArray
    summed: FloatArray
    speed: FloatArray
    thrust: FloatArray
    new_summed: FloatArray
    new_speed: FloatArray
    new_thrust: FloatArray
    new_order: IntArray
    new_along: FloatArray
    new_across: FloatArray
    touched: npt.NDArray[np.bool_]
    free: LocalRows


class Trial(NamedTuple):
    """The turbine that moves, and where it would stand in the wind of direction ``d``."""

    d: int
    moved: int
    along: float
    across: float


class FreeWinds(NamedTuple):
    """Where the steps find the free wind of a turbine: all of compiled functions.

    ``settled(moves, d, states, i)``: that of turbine ``i`` where it stands; ``tried(moves, trial, states, i)``: where
    it would stand. ``fill(wind, d, moves, t, x, y, row)`` works it out, in a row of ``moves.free``.
    """

    settled: Callable[..., Any]
    tried: Callable[..., Any]
    fill: Callable[..., None]


@inlined
def _same_wind(moves, d, states, i):
    return states


@inlined
def _nothing_to_fill(wind, d, moves, t, x, y, row):
    return None


@inlined
def row_of(free, count, row):
    """The free wind in one row of ``free``."""
    return OwnWind(
        free.speed[row, :count], free.weight[row, :count], free.turbulence[row, :count],
        free.cosine[row], free.sine[row],
    )  # fmt: skip


@inlined
def _own_settled(moves, d, states, i):
    return row_of(moves.free, states.speed.size, d * moves.x.size + i)


@inlined
def _own_tried(moves, trial, states, i):
    row = trial.d * moves.x.size + i
    if i == trial.moved:
        row = moves.free.cosine.size - 1
    return row_of(moves.free, states.speed.size, row)


_FILL_ROW = make_fill_row(False)


@scalar
def _fill_own(wind, d, moves, t, x, y, row):
    _FILL_ROW(wind, d, t, x, y, moves.free, row)


def free_winds(locality: Locality) -> FreeWinds:
    """The functions for a kind of wind."""
    if locality == "uniform":
        return FreeWinds(_same_wind, _same_wind, _nothing_to_fill)
    return FreeWinds(_own_settled, _own_tried, _fill_own)
