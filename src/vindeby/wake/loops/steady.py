"""Loops for wakes that do not change with the wind: constant thrust, deficits as fractions of the free wind.

All wind speeds of a direction then share one wake, and so do opposite directions of a farm with one turbine type. Each
pair of turbines is evaluated once per direction. The mean power of a turbine over the wind speeds of a direction is a
function of the share of the wind that wakes leave, and that function is a power curve like any other: the sum of the
turbine's curves at all wind speeds, piece by piece, exact to rounding (``steady_wakes``).

No wake depends on the wind at its source, so there is no walk downwind: pairs are listed, evaluated in one loop that a
compiler can vectorise, and added up.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.wake.compiling.compiled import inlined, scalar, uncounted
from vindeby.wake.loops.frame import EnergyLoops, add_slopes, make_loop
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import clear, wind_of
from vindeby.wake.models.contract import ModelData, Pair, WakeModel, once_per_model
from vindeby.wake.sites.site import WindStates
from vindeby.wake.turbines.curves import (
    COLUMNS,
    TurbineArrays,
    curves_with_slopes,
    packed_curves,
    turbine_arrays,
)
from vindeby.wake.turbines.turbine import Turbine

FREE = 1.0
"""The free wind of the curves, which are functions of the share of the wind that wakes leave."""


class SteadyWakes(NamedTuple):
    """The data of these loops for a farm: ``thrust`` by type, ``curves`` by direction and type."""

    data: ModelData
    thrust: FloatArray
    curves: TurbineArrays
    types: int


def is_steady(model: WakeModel, turbines: Sequence[Turbine]) -> bool:
    """Return whether no wake of such a farm changes with a wind that is the same everywhere."""
    same = all(low == high for low, high in (turbine.thrust_range() for turbine in turbines))
    return same and model.reference == "free" and model.is_a_sum_of_pairs and not model.needs_turbulence


def steady_wakes(model: WakeModel, turbines: Sequence[Turbine], states: WindStates) -> SteadyWakes:
    """Return the thrust coefficients of the types, and the mean power (W) in each direction as curves."""
    wind, arrays = wind_of(states), turbine_arrays(turbines)
    pieces = []
    for first, last in zip(wind.first[:-1], wind.first[1:], strict=True):
        speed, weight = wind.speed[first:last], wind.weight[first:last]
        pieces += [_mean_curve(turbine, speed, weight) for turbine in turbines]
    sizes = (np.tile(sizes, len(wind.cosine)) for sizes in (arrays.diameter, arrays.hub_height))
    thrust = np.array([turbine.thrust_range()[0] for turbine in turbines])
    return SteadyWakes(model.data, thrust, packed_curves(pieces, *sizes), len(turbines))


def _mean_curve(turbine: Turbine, speed: FloatArray, weight: FloatArray) -> FloatArray:
    """Return rows of ``TurbineArrays.piece``: the mean power over these wind speeds, by the share that is left."""
    edges = np.unique(np.append(0.0, turbine.start / speed[speed > 0.0, None]))
    start, end = edges[edges <= FREE], edges[edges > FREE][:1]
    rows = np.zeros((len(start), COLUMNS))
    rows[:, 10], rows[:, 11] = start, np.append(start[1:], np.inf)
    # The middle of a piece tells which piece of the turbine's curve holds there, whatever rounding does at its ends.
    ends = np.concatenate([start[1:], end if len(end) else [start[-1] + 1.0]])
    middle = 0.5 * (start + ends)
    for u, w in zip(speed, weight, strict=True):
        at = np.maximum(np.searchsorted(turbine.start, u * middle, side="right") - 1, 0)
        here, (a, b, c, d) = u * start - turbine.start[at], turbine.power[at].T
        rows[:, 0] += w * (((d * here + c) * here + b) * here + a)
        rows[:, 1] += w * u * ((3.0 * d * here + 2.0 * c) * here + b)
        rows[:, 2] += w * u**2 * (3.0 * d * here + c)
        rows[:, 3] += w * u**3 * d
    return rows


class SteadyWorkspace(NamedTuple):
    """Scratch arrays of one direction, by turbine from upwind to downwind.

    The pairs of turbine ``a`` are those with ``other[first[a]:first[a + 1]]``, all after it. ``summed``: sums of wakes
    in this direction and in the opposite one; ``of_summed``: the slopes of the total power with them. ``along`` and
    ``across``: its slopes with the places.
    """

    first: npt.NDArray[np.uint64]
    other: npt.NDArray[np.uint32]
    summed: FloatArray
    of_summed: FloatArray
    along: FloatArray
    across: FloatArray


@once_per_model
def steady_kernels(model: WakeModel, one_type: bool) -> EnergyLoops:
    """Compile, or load from disk, the loops for a model and one type or several; their ``data`` are ``SteadyWakes``."""
    return EnergyLoops(
        make_loop(_new_workspace, _make_direction(model, one_type, gradient=False)),
        make_loop(_new_workspace, _make_direction(model, one_type, gradient=True)),
    )


@scalar
def _new_workspace(wind, types):
    n = types.size
    return SteadyWorkspace(
        np.empty(n + 1, np.uint64), np.empty(n * (n - 1) // 2 + 1, np.uint32), np.empty((2, n)), np.empty((2, n)),
        np.empty(n), np.empty(n),
    )  # fmt: skip


def _make_list_pairs(model: WakeModel, one_type: bool) -> Callable[..., int]:
    reach = model.reach

    @scalar
    def list_pairs(wakes, turbines, turned, room):
        """List the pairs in reach; return how many they are."""
        along, across, types, order = turned.along, turned.across, turned.types, turned.order
        n, count = np.uint64(along.size), np.uint64(0)
        diameter = rotor = turbines.diameter[0]
        thrust = wakes.thrust[0]
        for a in range(n):
            room.first[a] = count
            place, side = along[a], across[a]
            if not one_type:
                source = types[order[a]]
                diameter, thrust = turbines.diameter[source], wakes.thrust[source]
            for b in range(a + np.uint64(1), n):
                if not one_type:
                    rotor = turbines.diameter[types[order[b]]]
                # Every turbine is written down; the next one overwrites a turbine out of reach.
                room.other[count] = b
                edge = reach(wakes.data, along[b] - place, diameter, rotor, thrust, 0.0)
                count += np.uint64(abs(across[b] - side) < edge)
        room.first[n] = count
        return count

    return list_pairs


def _make_evaluate(model: WakeModel, one_type: bool, *, gradient: bool) -> Callable[..., None]:
    deficit, slopes = model.deficit, model.deficit_with_slopes

    @scalar
    def evaluate(wakes, turbines, turned, room, pairs):
        """Fill ``pairs``: distances downwind and crosswind, the deficit and, for a gradient, its slopes with both."""
        along, across, types, order = turned.along, turned.across, turned.types, turned.order
        downwind, crosswind, value = pairs[0], pairs[1], pairs[2]
        for a in range(np.uint64(along.size)):
            source = 0 if one_type else types[order[a]]
            height, diameter, thrust = (
                turbines.hub_height[source],
                turbines.diameter[source],
                wakes.thrust[source],
            )
            for p in range(room.first[a], room.first[a + np.uint64(1)]):
                b = room.other[p]
                target = 0 if one_type else types[order[b]]
                hub, rotor = turbines.hub_height[target], turbines.diameter[target]
                downwind[p], crosswind[p] = along[b] - along[a], across[b] - across[a]
                pair = Pair(
                    downwind[p], crosswind[p], hub - height, hub + height, diameter, rotor, thrust, 0.0
                )
                if gradient:
                    value[p], pairs[3, p], pairs[4, p], _, _ = slopes(wakes.data, pair)
                else:
                    value[p] = deficit(wakes.data, pair)

    return evaluate


def _make_add_wakes(model: WakeModel) -> Callable[..., None]:
    term = superposition_of(model).term

    @inlined
    def add_wakes(room, value):
        clear(room.summed[0])
        for a in range(np.uint64(room.along.size)):
            behind = 0.0
            for p in range(room.first[a], room.first[a + np.uint64(1)]):
                wake = term(value[p])
                room.summed[0, room.other[p]] += wake
                behind += wake
            room.summed[1, a] = behind

    return add_wakes


def _make_add_power(model: WakeModel, *, gradient: bool) -> Callable[..., None]:
    together = superposition_of(model)
    wind_speed, wind_speed_back = together.wind_speed, together.wind_speed_back

    @inlined
    def add_power(wakes, turned, room, side, d, counted, out):
        for a in range(turned.order.size):
            i, summed = turned.order[a], room.summed[side, a]
            curve = d * wakes.types + turned.types[i]
            power, _, slope, _ = curves_with_slopes(wakes.curves, curve, wind_speed(FREE, summed))
            if i < counted:
                out[i] += power
            if gradient:
                room.of_summed[side, a] = wind_speed_back(slope if i < counted else 0.0, FREE, summed)

    return add_power


def _make_slopes_of_pairs(model: WakeModel) -> Callable[..., None]:
    term_back = superposition_of(model).term_back

    @inlined
    def slopes_of_pairs(room, pairs):
        clear(room.along)
        clear(room.across)
        for a in range(np.uint64(room.along.size)):
            of_place = of_side = 0.0
            for p in range(room.first[a], room.first[a + np.uint64(1)]):
                b, value = room.other[p], pairs[2, p]
                of_value = term_back(room.of_summed[0, b], value) + term_back(room.of_summed[1, a], value)
                of_downwind, of_crosswind = of_value * pairs[3, p], of_value * pairs[4, p]
                room.along[b] += of_downwind
                room.across[b] += of_crosswind
                of_place -= of_downwind
                of_side -= of_crosswind
            room.along[a] += of_place
            room.across[a] += of_side

    return slopes_of_pairs


def _make_direction(model: WakeModel, one_type: bool, *, gradient: bool) -> Callable[..., None]:
    list_pairs, evaluate = (
        _make_list_pairs(model, one_type),
        _make_evaluate(model, one_type, gradient=gradient),
    )
    add_wakes, add_power = _make_add_wakes(model), _make_add_power(model, gradient=gradient)
    slopes_of_pairs = _make_slopes_of_pairs(model)

    @uncounted
    def both_directions(wakes, turbines, turned, room, pairs, d, opposite, counted, out):
        evaluate(wakes, turbines, turned, room, pairs)
        add_wakes(room, pairs[2])
        add_power(wakes, turned, room, 0, d, counted, out)
        if opposite >= 0:
            add_power(wakes, turned, room, 1, opposite, counted, out)
        elif gradient:
            clear(room.of_summed[1])
        if gradient:
            slopes_of_pairs(room, pairs)

    @inlined
    def one_direction(
        wakes, turbines, turned, room, wind, d, opposite, x, y, counted, out, out_x, out_y, kept
    ):
        pairs = np.empty((5 if gradient else 3, list_pairs(wakes, turbines, turned, room)))
        both_directions(wakes, turbines, turned, room, pairs, d, opposite, counted, out)
        if gradient:
            add_slopes(turned, x.size, wind.cosine[d], wind.sine[d], room, out_x, out_y)

    return one_direction
