"""The comparison of lattices, by a quick judge where it holds, else by evaluations; and surplus points.

**The quick judge** knows nearly what lattices are worth, at a small part of the cost of an evaluation: enough to rank
them. All turbines are of the type there is most of, with the thrust of the free wind: in a direction with several wind
speeds, one thrust makes the wakes, and at other speeds they are scaled. Directions that are more than
``MOST_DIRECTIONS``, those of a time series, are rounded to whole degrees. What a search finds by this judge is
evaluated by the engine before it counts.

The wake of a turbine is felt at a place in the few directions next to that which blows straight from one to the
other: the loop begins there and goes to both sides until the wake is missed. On a lattice this depends only on the
rows and columns between two turbines. So for each offset the wakes are listed once, and each is added to all turbines
that have another one at this offset, a row at a time.

Shapes of lattices are compared away from any boundary: all turbines of an endless lattice stand in the same wakes, so
one of them is enough. A farm has an edge, and turbines near it have fewer neighbours: each wake is weighted by the
share of turbines that have a neighbour at this distance in a disc of the farm's area.

**Evaluations.** A lattice has long straight lines of turbines, and a search would soon find one whose lines lie
between the directions of any fixed choice. So some of the directions of a fine rose stand for all, in several parts
that have no direction in common. A lattice is first evaluated in one of them, the parts taking turns; a poor one is
rejected by that, and all others are evaluated in all directions.

**Surplus points.** Where a lattice has more points than there are turbines, the turbines are removed whose removal
costs least, as the quick judge knows it; by evaluations, those that make least. With ``rows`` only turbines at the ends
of rows are removed, so that no row has a gap that the area does not have.
"""

from collections.abc import Callable
from math import acos, atan2, ceil, cos, degrees, floor, hypot, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.layout.climbing.simplified_farm import thinned
from vindeby.layout.lattices.points import LatticePoints
from vindeby.layout.placing.construction import JudgesPoints
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.units import mean_power_to_aep_gwh
from vindeby.wake import ScenarioFarm, Turbine, WakeModel, WindFarm, WindStates
from vindeby.wake.compiling.compiled import kernel, scalar
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.wind import turn
from vindeby.wake.models.contract import Pair, once_per_model

POINTS = 257
"""The number of points of each power table, from no wake to no wind."""
LEAST = 1e-5
"""Wakes that take less of the wind than this, times the thrust coefficient, are left out."""
ABREAST = 1e-6
"""Turbines less than so many diameters downwind of another stand beside it."""


class QuickWind(NamedTuple):
    """By direction: where it blows from, the thrust coefficient and the turbulence intensity that make the wakes.

    ``direction`` (degrees) rises. ``power`` (directions, ``POINTS``) is the mean power (W) by the share of the wind
    that wakes take.
    """

    direction: FloatArray
    cosine: FloatArray
    sine: FloatArray
    thrust: FloatArray
    turbulence: FloatArray
    power: FloatArray


class Felt(NamedTuple):
    """Buffers for the directions in which a turbine is in a wake, and the share of wind speed lost there."""

    direction: IntArray
    share: FloatArray


@scalar
def power_left(table, share):
    """Return the power when wakes take this share of the wind, linear between the points."""
    at = min(share, 1.0) * (POINTS - 1)
    k = min(int(at), POINTS - 2)
    return table[k] + (at - k) * (table[k + 1] - table[k])


@scalar
def _next_direction(directions: FloatArray, blown_from: float) -> int:
    """Return the index of the first of the rising directions not below ``blown_from``, or their number."""
    low, high = 0, directions.size
    while low < high:
        middle = (low + high) // 2
        if directions[middle] < blown_from:
            low = middle + 1
        else:
            high = middle
    return low


def make_list_felt(model: WakeModel) -> Callable[..., int]:
    """Make the loop that lists the directions in which a turbine is in the wake of one of the same size."""
    deficit, reach = model.deficit, model.reach

    @scalar
    def share_at(data, diameter, height, thrust, turbulence, far, aside):
        if far <= ABREAST * diameter or aside >= reach(data, far, diameter, diameter, thrust, turbulence):
            return 0.0
        return deficit(data, Pair(far, aside, 0.0, 2.0 * height, diameter, diameter, thrust, turbulence))

    @scalar
    def list_felt(data, diameter, height, wind, east, north, felt):
        directions = wind.direction.size
        straight = _next_direction(wind.direction, degrees(atan2(-east, -north)) % 360.0)
        many, left = 0, directions
        for side in range(2):
            d = straight - side
            while left > 0:
                d %= directions
                thrust, turbulence = wind.thrust[d], wind.turbulence[d]
                far, aside = turn(wind.cosine[d], wind.sine[d], east, north)
                share = share_at(data, diameter, height, thrust, turbulence, far, abs(aside))
                if share > LEAST * thrust:
                    felt.direction[many], felt.share[many] = d, share
                    many += 1
                elif thrust > 0.0:  # without thrust there is no wake to be missed
                    break
                d += 1 - 2 * side
                left -= 1
        return many

    made: Callable[..., int] = list_felt
    return made


NOTICED = 1e-3
"""Wakes that take less of the wind than this are left out: with them, lattices hardly change places."""


class LatticeGrid(NamedTuple):
    """A lattice's points by row and column, counted from 0, and buffers for wakes.

    ``there`` (rows x columns) is 1 where a turbine stands, from column ``first`` to ``last`` of each row.
    ``offset_row``, ``offset_column``, ``direction`` and ``wake`` list wakes, ``summed`` (directions, rows x columns) is
    their sum at each point.
    """

    row: IntArray
    column: IntArray
    first: IntArray
    last: IntArray
    columns: int
    there: FloatArray
    summed: FloatArray
    offset_row: IntArray
    offset_column: IntArray
    direction: IntArray
    wake: FloatArray


def lattice_grid(row: IntArray, column: IntArray, directions: int) -> LatticeGrid:
    row, column = row - row.min(), column - column.min()
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    there = np.zeros(rows * columns)
    there[row * columns + column] = 1.0
    first, last = np.full(rows, columns), np.full(rows, -1)
    np.minimum.at(first, row, column)
    np.maximum.at(last, row, column)
    most = (2 * rows - 1) * (2 * columns - 1) * directions
    r, c, direction = np.empty((3, most), np.int64)
    summed = np.empty((directions, rows * columns))
    return LatticeGrid(row, column, first, last, columns, there, summed, r, c, direction, np.empty(most))


@scalar
def _add_wake(grid, r, c, wake, summed):
    rows, columns = grid.first.size, grid.columns
    for target in range(max(0, r), min(rows, rows + r)):
        source = target - r
        begin = max(grid.first[target], grid.first[source] + c)
        end = min(grid.last[target], grid.last[source] + c) + 1
        if begin < end:
            here = summed[target * columns + begin : target * columns + end]
            cast = grid.there[source * columns + begin - c : source * columns + end - c]
            for k in range(end - begin):
                here[k] += wake * cast[k]


@once_per_model
def quick_energy(model: WakeModel) -> Callable[..., None]:  # noqa: C901  a loop and its parts
    """Compute the mean power (W) of every turbine of a lattice, or with ``losses`` what all lose without it."""
    list_felt, together = make_list_felt(model), superposition_of(model)
    term, taken = together.term, together.taken

    @scalar
    def list_wakes(data, diameter, height, wind, vectors, grid, felt):
        rows, columns, many = grid.first.size, grid.columns, 0
        for r in range(1 - rows, rows):
            for c in range(1 - columns, columns):
                if r == 0 and c == 0:
                    continue
                east, north = c * vectors[0] + r * vectors[2], c * vectors[1] + r * vectors[3]
                for f in range(list_felt(data, diameter, height, wind, east, north, felt)):
                    if felt.share[f] >= NOTICED:
                        grid.offset_row[many], grid.offset_column[many] = r, c
                        grid.direction[many], grid.wake[many] = felt.direction[f], term(felt.share[f])
                        many += 1
        return many

    @scalar
    def take_savings(grid, o, table, summed, out):
        rows, columns = grid.first.size, grid.columns
        for i in range(grid.row.size):
            r, c = grid.row[i] + grid.offset_row[o], grid.column[i] + grid.offset_column[o]
            if 0 <= r < rows and 0 <= c < columns and grid.there[r * columns + c] > 0.0:
                here = summed[r * columns + c]
                left = max(here - grid.wake[o], 0.0)
                out[i] -= power_left(table, taken(left)) - power_left(table, taken(here))

    @kernel(counts_references=False)
    def quick(data, diameter, height, wind, vectors, grid, felt, losses, out):
        out[:] = 0.0
        grid.summed[:] = 0.0
        many = list_wakes(data, diameter, height, wind, vectors, grid, felt)
        for o in range(many):
            d = grid.direction[o]
            _add_wake(grid, grid.offset_row[o], grid.offset_column[o], grid.wake[o], grid.summed[d])
        for d in range(wind.direction.size):
            for i in range(grid.row.size):
                summed = grid.summed[d, grid.row[i] * grid.columns + grid.column[i]]
                out[i] += power_left(wind.power[d], taken(summed))
        if losses:
            for o in range(many):
                d = grid.direction[o]
                take_savings(grid, o, wind.power[d], grid.summed[d], out)

    compiled: Callable[..., None] = quick
    return compiled


CELLS = 6.0
"""Neighbours within so many sides of the square that each turbine has; further away, shapes make little difference."""


@scalar
def _share_with_neighbour(distance, radius):
    """Return the share of a disc that stays inside it after a shift by ``distance``."""
    t = 0.5 * distance / radius
    return 2.0 / pi * (acos(t) - t * sqrt(1.0 - t * t)) if t < 1.0 else 0.0


@once_per_model
def shape_power(model: WakeModel) -> Callable[..., None]:
    """Compute the mean power (W) of a turbine in lattices of these angles, aspects and skews, of one cell area."""
    list_felt, superposition = make_list_felt(model), superposition_of(model)
    term, taken = superposition.term, superposition.taken

    @kernel(counts_references=False)
    def power(data, diameter, height, wind, side, radius, shapes, felt, summed, out):
        most = min(CELLS * side, 2.0 * radius)
        for k in range(out.size):
            angle, aspect, skew = shapes[0, k], shapes[1, k], shapes[2, k]
            pitch = side / sqrt(aspect)
            ux, uy = pitch * cos(angle), pitch * sin(angle)
            vx, vy = skew * ux - aspect * uy, skew * uy + aspect * ux
            summed[:] = 0.0
            rows = floor(most / (aspect * pitch))
            for r in range(-rows, rows + 1):
                half = sqrt(max(most * most - (r * aspect * pitch) ** 2, 0.0)) / pitch
                for c in range(ceil(-half - r * skew), floor(half - r * skew) + 1):
                    if r == 0 and c == 0:
                        continue
                    east, north = c * ux + r * vx, c * uy + r * vy
                    share = _share_with_neighbour(hypot(east, north), radius)
                    for f in range(list_felt(data, diameter, height, wind, east, north, felt)):
                        summed[felt.direction[f]] += share * term(felt.share[f])
            out[k] = 0.0
            for d in range(summed.size):
                out[k] += power_left(wind.power[d], taken(summed[d]))

    compiled: Callable[..., None] = power
    return compiled


MOST_DIRECTIONS = 360
PER_LOOK, PER_SHAPE, MOST_PER_SHAPE = 10.0, 100.0, 0.25
"""A look is this part of an evaluation divided by the turbines, offsets against pairs; a shape, by their square. Both
are for one wind speed in a direction; of several, evaluations have most to themselves, but what they share."""


def can_judge_quickly(problem: LayoutProblem) -> bool:
    """Return whether there are no neighbours, the wind is uniform and vindeby adds up the wakes."""
    farm = problem.farm
    if (
        isinstance(farm, JudgesPoints | ScenarioFarm)
        or farm.locality != "uniform"
        or len(problem.neighbours.types)
    ):
        return False
    return farm.model.superposition != "cumulative"


def shares_of_evaluation(problem: LayoutProblem) -> tuple[float, float]:
    """Return the work of judging a lattice, and of judging a shape, in evaluations."""
    turbines, states = problem.n_turbines, problem.farm.states
    speeds = len(states.speed) / len(states.direction)
    look, shape = min(1.0, PER_LOOK / turbines), min(MOST_PER_SHAPE, PER_SHAPE / turbines**2)
    return look / speeds**0.5, shape / speeds**0.5


class QuickJudge:
    """The energy of points that are turbines of one type, alone; ``evaluations`` is the work so far."""

    def __init__(self, problem: LayoutProblem) -> None:
        farm = problem.farm
        self.turbine = farm.turbines[int(np.bincount(problem.types_in_order()).argmax())]
        self.data, self.wind = farm.data, quick_wind(farm, self.turbine)
        self._kernel = quick_energy(farm.model)
        self._shape_kernel = shape_power(farm.model)
        many = problem.n_turbines
        self._look, self._shape = shares_of_evaluation(problem)
        self._radius = (many / pi) ** 0.5
        self.evaluations = 0.0

    def energy(self, points: LatticePoints, least: float = 0.0) -> float:  # noqa: ARG002  it takes the same time for all
        """Return the AEP (GWh) of turbines on all points."""
        return float(self._by_turbine(points, losses=False).sum())

    def losses(self, points: LatticePoints) -> FloatArray:
        """Return the AEP (GWh) that all would lose without each turbine."""
        return self._by_turbine(points, losses=True)

    def shape_energies(self, shapes: FloatArray, side: float) -> FloatArray:
        """Return the approximate AEP (GWh) of a turbine in lattices of these shapes, (3, shapes), and cell side.

        Nothing but the shape counts: not where the lattice is, nor what its area looks like.
        """
        out, summed = np.empty(shapes.shape[1]), np.empty(len(self.wind.direction))
        size = self.turbine.rotor_diameter_m, self.turbine.hub_height_m
        numbers = np.stack([shapes[0], np.exp(shapes[1]), shapes[2]])
        radius = self._radius * side
        self._shape_kernel(self.data, *size, self.wind, side, radius, numbers, self._new_felt(), summed, out)
        self.evaluations += self._shape * len(out)
        return out * mean_power_to_aep_gwh(1.0)

    def _new_felt(self) -> Felt:
        """Return buffers for one call, since searches in other threads use the same wind."""
        directions = len(self.wind.direction)
        return Felt(np.empty(directions, np.int64), np.empty(directions))

    def _by_turbine(self, points: LatticePoints, *, losses: bool) -> FloatArray:
        self.evaluations += self._look * (3 if losses else 1)
        out = np.empty(len(points.x))
        size = self.turbine.rotor_diameter_m, self.turbine.hub_height_m
        grid = lattice_grid(points.row, points.column, len(self.wind.direction))
        self._kernel(self.data, *size, self.wind, points.vectors, grid, self._new_felt(), losses, out)
        return out * mean_power_to_aep_gwh(1.0)


def quick_wind(farm: WindFarm, turbine: Turbine) -> QuickWind:
    """Return the wind by direction, with the power that is left by the share that wakes take."""
    direction, of_state = _directions(farm.states)
    taken = np.linspace(0.0, 1.0, POINTS)
    thrust, turbulence = np.empty(len(direction)), np.empty(len(direction))
    power = np.empty((len(direction), POINTS))
    for d in range(len(direction)):
        mine = of_state == d
        speed, weight = farm.states.speed[mine], farm.states.probability[mine]
        # Wakes count where less wind means less power.
        felt = weight * np.maximum(turbine.power_at(speed) - turbine.power_at(0.95 * speed), 0.0) + 1e-300
        every = turbine.thrust_coefficient_at(speed)
        thrust[d], turbulence[d] = np.average(np.stack([every, farm.states.turbulence[mine]]), 1, felt)
        strength = _centre_deficit(every) / max(float(_centre_deficit(thrust[d])), 1e-9)
        left = np.maximum(1.0 - strength[:, None] * taken, 0.0)
        power[d] = weight @ turbine.power_at(speed[:, None] * left)
    angle = np.deg2rad(90.0 - direction)
    return QuickWind(direction, np.cos(angle), np.sin(angle), thrust, turbulence, power)


def _directions(states: WindStates) -> tuple[FloatArray, IntArray]:
    """Return the directions with any wind, and the direction of each state (-1: none)."""
    direction = np.repeat(states.direction, np.diff(states.first))
    if len(states.direction) > MOST_DIRECTIONS:
        direction = np.rint(direction) % 360.0
    blows = states.probability > 0.0
    found, place = np.unique(direction[blows], return_inverse=True)
    of_state = np.full(len(direction), -1)
    of_state[blows] = place
    return found, of_state


def _centre_deficit(thrust: npt.ArrayLike) -> FloatArray:
    """Return the relative depth of wakes by momentum theory, some diameters downwind."""
    return np.asarray(1.0 - np.sqrt(1.0 - 0.5 * np.asarray(thrust)))


PARTS, PART_DIRECTIONS = 4, 90
"""At most so many parts are made, of at least so many directions each."""


def parts_of(problem: LayoutProblem) -> list[LayoutProblem]:
    """Return the problem in several sets of wind directions; the problem alone if it cannot be thinned."""
    speeds = len(problem.farm.states.speed)
    parts = (thinned(problem, PART_DIRECTIONS, speeds, offset) for offset in range(PARTS))
    different = {part.farm.states.direction[0]: part for part in parts if part is not None}
    return [*different.values()] or [problem]


def look_work(parts: list[LayoutProblem], problem: LayoutProblem) -> float:
    """Return the evaluations that a lattice takes in one part; all parts have equally many wind states."""
    return len(parts[0].farm.states.speed) / len(problem.farm.states.speed)


def on_points(problem: LayoutProblem, points: LatticePoints, origin: FloatArray) -> Layout:
    """Return the layout with turbines on these points, row by row, the types in their order."""
    return Layout(points.x + origin[0], points.y + origin[1], problem.types_in_order())


class ExactJudge:
    """A judge that evaluates lattices; positions are relative to ``origin``."""

    shape_energies = None
    """None, as the worth of a shape regardless of its position is unknown."""

    def __init__(self, problem: LayoutProblem, origin: FloatArray) -> None:
        self.problem, self.origin, self.parts = problem, origin, parts_of(problem)
        self.evaluations = 0.0
        """The number of evaluations of all wind states so far."""
        self._looks, self._look = 0, look_work(self.parts, problem)

    def energy(self, points: LatticePoints, least: float = 0.0) -> float:
        """Return the AEP (GWh), or an estimate from some directions if that is below ``least``."""
        layout = on_points(self.problem, points, self.origin)
        self._looks += 1
        if len(self.parts) > 1 and least > 0.0:
            self.evaluations += self._look
            guess = self.parts[self._looks % len(self.parts)].aep(layout)
            if guess < least:
                return guess
        self.evaluations += 1.0
        return self.problem.aep(layout)

    def losses(self, points: LatticePoints) -> FloatArray:
        """Return the AEP (GWh) of each turbine, all of the most frequent type, and of what stands of the farm."""
        self.evaluations += self._look
        kind = int(np.bincount(self.problem.types_in_order()).argmax())
        whole = self.problem.whole(Layout.of(points.x + self.origin[0], points.y + self.origin[1], kind))
        return self.parts[0].farm.turbine_aep(whole.x, whole.y, whole.types)


Judge = QuickJudge | ExactJudge


def judge_for(problem: LayoutProblem, origin: FloatArray) -> Judge:
    """Return the quickest judge that holds for the problem."""
    return QuickJudge(problem) if can_judge_quickly(problem) else ExactJudge(problem, origin)


def drop_surplus(judge: Judge, needed: IntArray, points: LatticePoints, *, rows: bool) -> LatticePoints:
    """Return the points without surplus ones, so that each zone has as many as it needs."""
    while True:
        surplus = np.bincount(points.zone, minlength=len(needed)) - needed
        if not surplus.any():
            return points
        open_to = surplus[points.zone] > 0
        if rows:
            open_to &= row_ends(points)
        candidates, losses = np.flatnonzero(open_to), judge.losses(points)
        goes = np.zeros(len(points.x), np.bool_)
        for c in candidates[np.argsort(losses[candidates], kind="stable")]:
            # No two of them are next to each other.
            near = (abs(points.row - points.row[c]) <= 1) & (abs(points.column - points.column[c]) <= 1)
            if surplus[points.zone[c]] > 0 and not (goes & near).any():
                goes[c] = True
                surplus[points.zone[c]] -= 1
        points = points.at(np.flatnonzero(~goes))


def row_ends(points: LatticePoints) -> BoolArray:
    """Return whether each point is the first or the last of its row in its zone."""
    ends = np.zeros(len(points.x), np.bool_)
    order = np.lexsort((points.column, points.row, points.zone))
    zone, row = points.zone[order], points.row[order]
    changes = (zone[1:] != zone[:-1]) | (row[1:] != row[:-1])
    ends[order] = np.append(True, changes) | np.append(changes, True)
    return ends
