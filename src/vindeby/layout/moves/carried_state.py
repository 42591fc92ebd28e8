"""The state of a layout in ``carried_moves`` in every direction, and the changes of a trial.

Who may be in whose wake is looked up in tables of reach by downwind distance.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.wake import ScenarioFarm, WakeModel, WindFarm
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.local_wind import LocalRows, LocalWindArrays, fill_row, rows_for
from vindeby.wake.loops.wind import wind_from
from vindeby.wake.loops.wind_access import Locality, OwnWind, access_of
from vindeby.wake.models.contract import Pair, once_per_model

MOST_BYTES = 256 * 2**20
"""The deficits of all pairs may take so much memory, and those of a trial as much again."""
SUMMED, SPEED, THRUST, KEPT = 0, 1, 2, 3
"""The indices in ``rows``: sum of wakes, and wind speed and thrust of the turbine's wakes; then their number."""
ROUGH = 1e-4
"""Deficits, and changes of deficits, that are left out of rough trials."""
POINTS = 2048
"""Downwind distances in a table of reach."""
ShortIntArray = npt.NDArray[np.int16]
"""Numbers of turbines: ``MOST_BYTES`` allows for fewer than 6000."""


class MoveKernels(NamedTuple):
    """The compiled loops of one model; power (W) is the mean over all wind, without that of neighbours.

    ``settle(data, turbines, wind, moves)`` takes the layout in ``moves`` as it is and returns its power;
    ``gained(data, turbines, wind, moves, turbine, x, y, needed)`` returns how much more it would be with one turbine
    elsewhere; a gain that is no more than ``needed`` may be a rough one, so none is with ``-inf``. ``keep``, of the
    same arguments but for the last and right after it, puts the turbine there.
    """

    settle: Callable[..., float]
    gained: Callable[..., float]
    keep: Callable[..., None]


class Reaches(NamedTuple):
    """The widest reach of wakes by downwind distance, with ``per_m`` points per metre (``edge``).

    It has one row for each pair of types (source x ``types`` + target), then as many for rough trials.
    """

    types: int
    edge: FloatArray
    per_m: float


def reaches_of(farm: WindFarm, x: FloatArray, y: FloatArray) -> Reaches:
    """Return the tables, up to twice the size of the layout, for the highest turbulence anywhere."""
    wind = farm.wind
    turbulence = float(wind.turbulence.max())
    if isinstance(wind, LocalWindArrays) and wind.grid.turbulence.size:
        turbulence = float(wind.grid.turbulence.max())
    size = 2.0 * float(np.hypot(np.ptp(x), np.ptp(y))) + 1000.0
    thrust = np.array([turbine.thrust_range()[1] for turbine in farm.turbines])
    edge = np.zeros((2 * len(thrust) ** 2, POINTS))
    _edge_kernel(farm.model)(farm.data, farm.turbine_arrays, thrust, turbulence, size / POINTS, edge)
    return Reaches(len(thrust), edge, POINTS / size)


@once_per_model
def _edge_kernel(model: WakeModel) -> Callable[..., None]:
    deficit, reach = model.deficit, model.reach

    @scalar
    def rough_reach(data, far, diameter, rotor, hubs, thrust, turbulence, most):
        """Return the distance, at most ``most``, at which the deficit falls below ``ROUGH``."""
        inside, outside = 0.0, most
        while outside - inside > 1e-3 * most:
            middle = 0.5 * (inside + outside)
            if deficit(data, Pair(far, middle, 0.0, hubs, diameter, rotor, thrust, turbulence)) < ROUGH:
                outside = middle
            else:
                inside = middle
        return outside

    @kernel()
    def fill_edges(data, turbines, thrust, turbulence, step, edge):
        types = thrust.size
        for pair in range(types * types):
            source, target = pair // types, pair % types
            diameter, rotor = turbines.diameter[source], turbines.diameter[target]
            hubs = turbines.hub_height[source] + turbines.hub_height[target]
            row, rough_row, last, rough_last = edge[pair], edge[types * types + pair], 0.0, 0.0
            for q in range(row.size + 1):
                here = reach(data, q * step, diameter, rotor, thrust[source], turbulence)
                rough = rough_reach(data, q * step, diameter, rotor, hubs, thrust[source], turbulence, here)
                if q:
                    row[q - 1], rough_row[q - 1] = max(last, here), max(rough_last, rough)
                last, rough_last = here, rough

    return fill_edges


@inlined
def is_downwind(far: float, i: Any, j: Any) -> bool:
    """Return whether ``i``, which is ``far`` downwind of ``j``, counts as downwind; of two abreast, one does."""
    return (far > 0.0) | ((far == 0.0) & (i > j))


def make_reaches(locality: Locality) -> Callable[..., bool]:
    """Make the test whether a turbine may be in the wake of another."""
    rotate, turned = access_of(locality).rotate_to_local_wind, locality == "turned"

    @inlined
    def reaches(moves, own, i, j, far, aside, rough):
        """Return whether ``i``, with its ``own`` free wind, may reach ``j``, ``far`` downwind and ``aside`` of it.

        Beyond the table every turbine may be reached.
        """
        far, aside = rotate(own, far, aside)
        if turned and far <= 0.0:
            return False
        types, point = moves.reaches.types, int(far * moves.reaches.per_m)
        pair = 0 if types == 1 else moves.types[i] * types + moves.types[j]
        return point >= POINTS or not abs(aside) >= moves.reaches.edge[pair + rough * types * types, point]

    return reaches


class CarriedMoves(NamedTuple):
    """A layout, turbines first and neighbours after them, and its state from move to move.

    ``counted`` turbines count. ``idle`` marks directions that never blow. By direction and turbine: places downwind and
    crosswind (``along``, ``across``), mean power (``watts``), a deficit that none of the turbine's wakes is above
    (``strongest``), and ``rows`` (directions, turbines, ``KEPT``, wind speeds). ``deficit`` (directions, source, wind
    speeds, target) holds where ``reached`` (directions, source, target), and ``targets`` lists whom a turbine reaches.
    ``order``: from upwind to downwind and ``total``: the power (W), when last settled.

    Then the last trial. By direction: where the moved turbine would stand (``new_along``, ``new_across``), whom it
    would reach (``new_targets``) and who would reach it (``new_sources``). By direction and turbine: ``new_rows``,
    ``new_watts``, ``new_deficit``, and its ``state``: 0 as before, 1 in other wakes, 2 with other wakes; those that are
    not as before are ``touched``, from upwind to downwind. Last, room for one step: how far downwind those touched are
    (``keys``); how ``far`` and ``aside`` those ``listed`` are, and the deficit (``value``).

    ``free`` has the free wind of every turbine where it differs from place to place, direction after direction, after
    each that of the moved turbine at its new place.
    """

    types: IntArray
    counted: int
    x: FloatArray
    y: FloatArray
    reaches: Reaches
    idle: BoolArray
    along: FloatArray
    across: FloatArray
    watts: FloatArray
    strongest: FloatArray
    rows: FloatArray
    deficit: FloatArray
    reached: BoolArray
    targets: ShortIntArray
    target_count: IntArray
    order: IntArray
    total: FloatArray
    new_along: FloatArray
    new_across: FloatArray
    new_targets: ShortIntArray
    new_target_count: IntArray
    new_sources: ShortIntArray
    new_source_count: IntArray
    new_rows: FloatArray
    new_watts: FloatArray
    new_deficit: FloatArray
    state: npt.NDArray[np.int8]
    touched: ShortIntArray
    touched_count: IntArray
    keys: FloatArray
    listed: ShortIntArray
    far: FloatArray
    aside: FloatArray
    value: FloatArray
    free: LocalRows


def can_carry(farm: WindFarm, turbines: int) -> bool:
    """Return whether these loops hold for a farm, and its pairs fit in memory."""
    if isinstance(farm, ScenarioFarm):
        return all(can_carry(part, turbines) for part in farm.parts)
    pairs = len(farm.wind.cosine) * turbines * turbines * farm.wind.most
    return farm.model.is_a_sum_of_pairs and 8 * pairs <= MOST_BYTES


def new_carried_moves(
    farm: WindFarm,
    x: FloatArray,
    y: FloatArray,
    types: IntArray,
    counted: int,
) -> CarriedMoves:
    """Return the arrays for a layout, neighbours included; call ``settle`` first."""
    n, wind, most = len(x), farm.wind, farm.wind.most
    directions = len(wind.cosine)
    each = (directions, n)
    # Probabilities that differ from place to place are worked out later: all directions count.
    local = isinstance(wind, LocalWindArrays) and wind.grid.frequency.size > 0
    idle = np.array([not local and not wind.weight[a:b].any() for a, b in pairwise(wind.first)])
    reaches = reaches_of(farm, x, y)
    return CarriedMoves(
        np.array(types, np.int64), counted, np.array(x), np.array(y), reaches, idle,
        np.zeros(each), np.zeros(each), np.zeros(each), np.zeros(each),
        np.zeros((*each, KEPT, most)), np.zeros((*each, most, n)), np.zeros((*each, n), np.bool_),
        np.zeros((*each, n), np.int16), np.zeros(each, np.int64),
        np.tile(np.arange(n), (directions, 1)), np.zeros(1), np.zeros(directions), np.zeros(directions),
        np.zeros(each, np.int16), np.zeros(directions, np.int64),
        np.zeros(each, np.int16), np.zeros(directions, np.int64),
        np.zeros((*each, KEPT, most)), np.zeros(each), np.zeros((*each, most, n)),
        np.zeros(each, np.int8), np.zeros(each, np.int16), np.zeros(directions, np.int64),
        np.zeros(n), np.zeros(n, np.int16), np.zeros(n), np.zeros(n), np.zeros(n),
        rows_for(0 if farm.locality == "uniform" else directions * (n + 1), most),
    )  # fmt: skip


class FreeWinds(NamedTuple):
    """The compiled functions by which the steps read the free wind of a turbine.

    ``own(moves, d, states, place)``: that of a turbine in direction ``d``; the place after the last turbine is that of
    the moved one where it would stand. ``fill(wind, moves, d, t, x, y, place)`` works it out for type ``t``.
    """

    own: Callable[..., Any]
    fill: Callable[..., None]


@inlined
def _same_wind(moves, d, states, place):
    return states


@inlined
def _nothing_to_fill(wind, moves, d, t, x, y, place):
    return None


@inlined
def _own_wind(moves, d, states, place):
    free, count, row = moves.free, states.speed.size, d * (moves.x.size + 1) + place
    return OwnWind(
        free.speed[row, :count], free.weight[row, :count], free.turbulence[row, :count],
        free.cosine[row], free.sine[row],
    )  # fmt: skip


@inlined
def _fill_own(wind, moves, d, t, x, y, place):
    fill_row(wind, d, t, x, y, moves.free, d * (moves.x.size + 1) + place)


def free_winds(locality: Locality) -> FreeWinds:
    if locality == "uniform":
        return FreeWinds(_same_wind, _nothing_to_fill)
    return FreeWinds(_own_wind, _fill_own)


def make_find_pairs(locality: Locality) -> Callable[..., None]:
    """Make the step that lists the turbines that a moved turbine would reach, and those that would reach it."""
    reaches, own_wind = make_reaches(locality), free_winds(locality).own

    @inlined
    def find_pairs(wind, moves, moved, rough):
        n = moves.x.size
        for d in range(moves.idle.size):
            targets = sources = 0
            states = wind_from(wind, d)
            for j in range(0 if moves.idle[d] else n):
                far, aside = moves.along[d, j] - moves.new_along[d], moves.across[d, j] - moves.new_across[d]
                if j == moved:
                    continue
                if is_downwind(far, j, moved):
                    if reaches(moves, own_wind(moves, d, states, n), moved, j, far, aside, rough):
                        moves.new_targets[d, targets] = j
                        targets += 1
                elif reaches(moves, own_wind(moves, d, states, j), j, moved, -far, -aside, rough):
                    moves.new_sources[d, sources] = j
                    sources += 1
            moves.new_target_count[d], moves.new_source_count[d] = targets, sources

    return find_pairs


@inlined
def _add_target(moves, d, i, j):
    if not moves.reached[d, i, j]:
        moves.reached[d, i, j] = True
        moves.targets[d, i, moves.target_count[d, i]] = j
        moves.target_count[d, i] += 1


@inlined
def _forget_pairs(moves, d, moved):
    for i in range(moves.x.size):
        moves.reached[d, moved, i] = False
        if moves.reached[d, i, moved]:
            moves.reached[d, i, moved] = False
            moves.target_count[d, i] -= 1
            last, q = moves.target_count[d, i], 0
            while moves.targets[d, i, q] != moved:
                q += 1
            moves.targets[d, i, q] = moves.targets[d, i, last]
    moves.target_count[d, moved] = 0


@inlined
def forget_trial(moves, d):
    """Discard the changes of the last trial."""
    for a in range(moves.touched_count[d]):
        moves.state[d, moves.touched[d, a]] = 0
    moves.touched_count[d] = 0


@inlined
def touch(moves, d, j, along):
    """Start the changed sum of a turbine from its stored one, and list the turbine by its position downwind."""
    if moves.state[d, j] == 0:
        moves.state[d, j] = 1
        b = moves.touched_count[d]
        moves.touched_count[d] = b + 1
        while b > 0 and is_downwind(moves.keys[b - 1] - along, moves.touched[d, b - 1], j):
            moves.keys[b], moves.touched[d, b] = moves.keys[b - 1], moves.touched[d, b - 1]
            b -= 1
        moves.keys[b], moves.touched[d, b] = along, j
        for k in range(moves.rows.shape[3]):
            moves.new_rows[d, j, SUMMED, k] = moves.rows[d, j, SUMMED, k]


@inlined
def list_targets(moves, d, i, moved, most, rough):
    """List the turbines that ``i`` reaches, except the moved one, and their distances; return their number.

    In a rough trial only those where a change of its deficits by ``most`` of them counts.
    """
    count = 0
    for q in range(moves.target_count[d, i]):
        j = moves.targets[d, i, q]
        if j == moved:
            continue
        if rough:
            largest = 0.0
            for k in range(moves.rows.shape[3]):
                largest = max(largest, moves.deficit[d, i, k, j])
            if largest * most < ROUGH:
                continue
        moves.listed[count] = j
        moves.far[count] = moves.along[d, j] - moves.along[d, i]
        moves.aside[count] = moves.across[d, j] - moves.across[d, i]
        count += 1
    return count


@inlined
def list_new_targets(moves, d):
    """List the turbines that the moved one would reach, and their distances; return their number."""
    for q in range(moves.new_target_count[d]):
        j = moves.new_targets[d, q]
        moves.listed[q] = j
        moves.far[q] = moves.along[d, j] - moves.new_along[d]
        moves.aside[q] = moves.across[d, j] - moves.new_across[d]
    return moves.new_target_count[d]


@inlined
def list_sources(moves, d, i, moved):
    """List the turbines that reach ``i`` with the move, and their distances; return their number."""
    place, side, count = moves.along[d, i], moves.across[d, i], 0
    if i == moved:
        place, side, count = moves.new_along[d], moves.new_across[d], moves.new_source_count[d]
        for q in range(count):
            moves.listed[q] = moves.new_sources[d, q]
    else:
        for j in range(moves.x.size):
            if moves.reached[d, j, i] and j != moved:
                moves.listed[count] = j
                count += 1
        for q in range(moves.new_target_count[d]):
            if moves.new_targets[d, q] == i:
                moves.listed[count] = moved
                count += 1
    for q in range(count):
        j = moves.listed[q]
        along, across = moves.along[d, j], moves.across[d, j]
        if j == moved:
            along, across = moves.new_along[d], moves.new_across[d]
        moves.far[q], moves.aside[q] = place - along, side - across
    return count


@inlined
def take_over_deficits(moves, d, i, j):
    """Store the new deficits of turbine ``i`` on ``j``."""
    _add_target(moves, d, i, j)
    for k in range(moves.rows.shape[3]):
        moves.deficit[d, i, k, j] = moves.new_deficit[d, i, k, j]
        moves.strongest[d, i] = max(moves.strongest[d, i], moves.deficit[d, i, k, j])


@inlined
def take_over(moves, d, moved):
    """Store the results of the last full trial in a direction in the layout's state."""
    _forget_pairs(moves, d, moved)
    for a in range(moves.touched_count[d]):
        i = moves.touched[d, a]
        moves.watts[d, i] = moves.new_watts[d, i]
        # Wakes that stay as they are were made with the wind speed and thrust that they had.
        for what in range(KEPT if moves.state[d, i] == 2 else SPEED):
            for k in range(moves.rows.shape[3]):
                moves.rows[d, i, what, k] = moves.new_rows[d, i, what, k]
        for q in range(moves.target_count[d, i] if moves.state[d, i] == 2 else 0):
            take_over_deficits(moves, d, i, moves.targets[d, i, q])
    for q in range(moves.new_target_count[d]):
        take_over_deficits(moves, d, moved, moves.new_targets[d, q])
    for q in range(moves.new_source_count[d]):
        take_over_deficits(moves, d, moves.new_sources[d, q], moved)
    moves.along[d, moved], moves.across[d, moved] = moves.new_along[d], moves.new_across[d]
