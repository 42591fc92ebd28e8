"""The search over the six numbers of a lattice: first its shape, then its position, then all of them.

Shape decides most, and shapes are judged at little cost where it does not matter what the area looks like
(``shapes``). The best few are put at many places of the area. Then all numbers are changed, each lattice against its
own changes only, and after each round the better ones go on. Where shapes cannot be compared, lattices are drawn
anywhere.

In an area so full that this finds too few lattices with enough points, the search goes on with lattices drawn
anywhere or near one of the best so far, beginning with the densest along its edges.

The pitch is not drawn: of a lattice's shape and a point of it, the widest pitch is taken at which enough points are
inside. What is drawn instead is how many that should be (``density``, points per turbine). A lattice with too few
points at the spacing is ranked by how much narrower it would have to be, so that in a full area the search first
finds one that fits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf, log, pi

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.layout.area.limits import Limits
from vindeby.layout.lattices.points import TRIANGULAR_ASPECT, Ground, LatticePoints, PlaneLattice
from vindeby.layout.problem import Layout, LayoutProblem

SHAPE_SPREAD = np.array([[0.5], [0.7], [0.5]])
"""The scale of random changes of shapes, in each number."""
SHAPE_FARTHEST, SHAPE_DECADES = 0.3, 1.5
"""Changes are up to this share of the spread, and so many powers of ten smaller, each scale alike."""
SHAPE_FIRST, SHAPE_ROUNDS, SHAPE_LEFT = 60, 6, 0.7
"""How many of those drawn are changed, in how many rounds, and which share of them goes on to the next."""
SHAPE_SAME = 1e-5
"""Shapes whose energies differ by less than this share are one, drawn twice or turned round."""
LEAST_RANGE, SHAPE_MOST, WITHOUT_SPACING = 0.05, 2.0, 1.5
"""For the logarithm of aspect: the least width of its range, its maximum, and that without a spacing."""


def widest_aspect(ground: Ground) -> float:
    """Return the logarithm of the largest aspect at which rows are not denser than the spacing."""
    most = 2.0 * log(ground.side / ground.spacing) if ground.spacing > 0.0 else WITHOUT_SPACING
    return min(max(most, log(TRIANGULAR_ASPECT) + LEAST_RANGE), SHAPE_MOST)


def draw_shapes(rng: np.random.Generator, many: int, most: float) -> FloatArray:
    """Return random shapes, with logarithms of aspect up to ``most``."""
    u = rng.random((4, many))
    least = log(TRIANGULAR_ASPECT)
    log_aspect = least + u[1] * (most - least)
    # Below this skew, the vector to the next row would be shorter than that along the row.
    shortest = np.sqrt(np.maximum(1.0 - np.exp(2.0 * log_aspect), 0.0))
    skew = (shortest + u[2] * (0.5 - shortest)) * np.where(u[3] < 0.5, 1.0, -1.0)
    return np.stack([pi * u[0], log_aspect, skew])


def keeps_spacing(shapes: FloatArray, ground: Ground) -> FloatArray:
    """Return whether neighbours in a row, neighbours in the next row, and rows satisfy the spacing."""
    aspect = np.exp(shapes[1])
    across = (shapes[2] - np.rint(shapes[2])) ** 2 + aspect**2
    shortest = ground.side**2 / aspect * np.minimum(across, 1.0)
    has_lanes = ground.side / aspect**0.5 >= ground.lane_pitch(aspect) * (1.0 - 1e-9)
    return np.asarray(shortest >= ground.spacing**2 * (1.0 - 1e-9)) & has_lanes


def best_shapes(
    energies: Callable[[FloatArray], FloatArray],
    ground: Ground,
    rng: np.random.Generator,
    looks: int,
    wanted: int,
) -> FloatArray:
    """Return the best ``wanted`` different shapes, best first, of ``looks`` random ones and as many variations."""
    most = widest_aspect(ground)

    def judged(shapes: FloatArray) -> FloatArray:
        shapes = ground.along_bearings(shapes)
        return np.where(keeps_spacing(shapes, ground), energies(shapes), -1.0)

    def best(shapes: FloatArray, worth: FloatArray, many: int) -> tuple[FloatArray, FloatArray]:
        order = np.argsort(-worth, kind="stable")[:many]
        return shapes[:, order], worth[order]

    shapes = draw_shapes(rng, looks, most)
    shapes, worth = best(shapes, judged(shapes), SHAPE_FIRST)
    for _ in range(SHAPE_ROUNDS):
        many, each = len(worth), max(1, looks // (SHAPE_ROUNDS * len(worth)))
        size = (3, many, each)
        step = SHAPE_FARTHEST * 10.0 ** (-SHAPE_DECADES * rng.random(size[1:])) * SHAPE_SPREAD[:, :, None]
        changed = rng.random(size) < 0.6
        near = shapes[:, :, None] + step * rng.standard_normal(size) * changed
        near[1] = np.minimum(near[1], most)
        found = judged(near.reshape(3, -1)).reshape(size[1:])
        at = np.arange(many), found.argmax(axis=1)
        better = found[at] > worth
        shapes = np.where(better, near[:, *at], shapes)
        worth = np.where(better, found[at], worth)
        shapes, worth = best(shapes, worth, max(wanted, int(np.ceil(SHAPE_LEFT * many))))
    order = np.argsort(-worth, kind="stable")
    differs = np.append(True, -np.diff(worth[order]) > SHAPE_SAME * worth[order][:-1])
    return shapes[:, order[differs][:wanted]]


DRAWS_PER_TRIAL, LEAST_DRAWS = 20, 2000
"""So many lattices are counted for each that may be judged; in a full area few have enough points."""
SHAPES_PER_TRIAL = 8
"""So many shapes are drawn for each lattice that is judged, and as many again near the best."""
SHAPES = 5
"""So many of the best shapes are looked at in the area."""
ROUNDS, LEFT = 3, 0.43
"""In how many rounds lattices are changed, and which share of them goes on to the next."""
DRAWS_PER_CHANGE = 5
"""So many changes are tried for each that may be judged."""
ANYWHERE_ELSE = 0.3
"""The share of changes, in the first round, that also move the lattice anywhere."""
FULL_AFTER, LONGEST_EDGES = 200, 20
"""An area is full if so many lattices had no room; then the densest lattices along its longest edges are looked at."""
CLOSEST = 0.5
"""Lattices that would have to be narrower than this share of the spacing are all alike."""
ANYWHERE = 0.25
"""In a full area, the share of lattices that are drawn anywhere; the others near one of the best."""
KEPT, NEAR = 8, 4
"""How many of the best are kept, and how many of these are drawn near to."""
SPREAD = np.array([0.5, 0.7, 0.5, 0.0, 1.0, 1.0])
"""How far apart lattices are, in each number: angle, log of aspect, skew, density (drawn anew), and place in sides of
``Ground``."""
DECADES = 2.0
"""Lattices near a good one are up to so many powers of ten nearer than that, each scale alike."""
WITH_SURPLUS, DENSEST = 0.15, 0.12
"""The share of lattices with more points than turbines, which cost three looks, and how many more at most."""


@dataclass(frozen=True, eq=False)
class LatticeCandidate:
    """A lattice, the points of it that turbines stand on, and its energy (GWh).

    Where too few points fit, ``points`` is None and ``score`` from -1 to 0: the share of the spacing that is missing.
    """

    numbers: FloatArray
    lattice: PlaneLattice
    score: float
    points: LatticePoints | None


class Search:
    """A search over lattices on a ground.

    ``judge`` says what points and energy a lattice with enough points comes to; a second number tells it the energy
    below which a lattice is not kept, so that it need not know that of a poorer one exactly. ``shape_energies``, of
    shapes and the side of a cell, says what shapes are worth, where that is known.
    """

    def __init__(
        self,
        ground: Ground,
        judge: Callable[[LatticePoints, float], tuple[LatticePoints, float]],
        rng: np.random.Generator,
        *,
        exact: bool,
        shape_energies: Callable[[FloatArray, float], FloatArray] | None = None,
    ) -> None:
        self.ground, self.judge, self.rng, self.exact = ground, judge, rng, exact
        self._shape_energies = shape_energies
        self._judged = self._draws = 0
        self.best: list[LatticeCandidate] = []
        self.most_placed = 0
        """The most turbines that any lattice had points for."""

    def run(self, trials: int, draws: int | None = None) -> list[LatticeCandidate]:
        """Return the best lattices, best first, after so many were judged, or so many drawn in total."""
        most = draws or max(DRAWS_PER_TRIAL * trials, LEAST_DRAWS)
        if draws is None:
            self._change(self._heads(trials), trials)
        full = max(self._draws, FULL_AFTER)
        while self._judged < trials and self._draws < most:
            if self._draws == full and self.best[0].points is None:
                self._densest_along_edges()
            if not self.best or self.rng.random() < ANYWHERE:
                self._look(self._drawn())
            else:
                one_of_the_best = int(min(len(self.best), NEAR) * self.rng.random() ** 2)
                self._look(self._near(self.best[one_of_the_best].numbers))
        return self.best

    def _look(self, numbers: FloatArray) -> LatticeCandidate:
        found = self.look_at(numbers)
        self._draws += 1
        self._judged += found.points is not None
        self._keep(found)
        return found

    def _heads(self, trials: int) -> list[LatticeCandidate]:
        energies, side = self._shape_energies, self.ground.side
        if energies is None:
            return []
        looks = SHAPES_PER_TRIAL * trials
        shapes = best_shapes(lambda shapes: energies(shapes, side), self.ground, self.rng, looks, SHAPES)
        heads = [np.array([*shape, 1.0, *self._anywhere()]) for shape in shapes.T]
        return [self._look(numbers) for numbers in heads if self._judged < trials]

    def _change(self, heads: list[LatticeCandidate], trials: int) -> None:
        for part in range(ROUNDS if heads else 0):
            each = ceil((trials - self._judged) / (ROUNDS - part) / len(heads))
            heads = [self._changed(head, each, trials, moves=part == 0) for head in heads]
            heads = sorted(heads, key=lambda one: -one.score)[: ceil(LEFT * len(heads))]

    def _changed(self, best: LatticeCandidate, each: int, trials: int, *, moves: bool) -> LatticeCandidate:
        enough, most = min(self._judged + each, trials), self._draws + DRAWS_PER_CHANGE * each
        while self._judged < enough and self._draws < most:
            numbers = self._near(best.numbers)
            if moves and self.rng.random() < ANYWHERE_ELSE:
                numbers[4:] = self._anywhere()
            found = self._look(numbers)
            if found.score > best.score:
                best = found
        return best

    def look_at(self, numbers: FloatArray) -> LatticeCandidate:
        """Return the candidate of these numbers at its widest pitch, with its energy."""
        ground, side = self.ground, self.ground.side
        angle, log_aspect, skew = ground.along_bearings(numbers[:3]).tolist()
        density, east, north = numbers[3:]
        shape = PlaneLattice(angle, float(np.exp(log_aspect)), skew, side, east * side, north * side)
        wanted = np.ceil(ground.needed * density - 1e-9).astype(np.int64)
        lattice = replace(shape, pitch=ground.widest_pitch(shape, wanted) or ground.narrowest(shape))
        counts = ground.counts(lattice)
        self.most_placed = max(self.most_placed, int(np.minimum(counts, ground.needed).sum()))
        if (counts < ground.needed).any():
            enough = ground.widest_pitch(shape, ground.needed, CLOSEST)
            return LatticeCandidate(numbers, lattice, min(enough / lattice.pitch, 1.0) - 1.0, None)
        least = self.best[-1].score if len(self.best) == KEPT else -inf
        points, score = self.judge(ground.points(lattice), least)
        return LatticeCandidate(numbers, lattice, score, points)

    def _keep(self, found: LatticeCandidate) -> None:
        if all(abs(found.score - other.score) > 1e-9 * abs(found.score) for other in self.best):
            self.best = sorted([*self.best, found], key=lambda one: -one.score)[:KEPT]

    def _densest_along_edges(self) -> None:
        """Try equilateral triangles with a row on an edge, beginning at one of its ends."""
        edges, side = self.ground.room.areas.edges, self.ground.side
        length = np.hypot(edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1])
        for ax, ay, bx, by in edges[np.argsort(-length, kind="stable")[:LONGEST_EDGES]]:
            angle = np.arctan2(by - ay, bx - ax)
            for x, y in ((ax, ay), (bx, by)):
                numbers = [angle, np.log(TRIANGULAR_ASPECT), 0.5, 1.0, x / side, y / side]
                self._keep(self.look_at(np.array(numbers)))

    def _anywhere(self) -> FloatArray:
        """Return a random position in the box around the area, in sides."""
        west, south, east, north = self.ground.room.box / self.ground.side
        return np.array([west, south]) + self.rng.random(2) * (east - west, north - south)

    def _drawn(self) -> FloatArray:
        shape = draw_shapes(self.rng, 1, widest_aspect(self.ground))[:, 0]
        return np.array([*shape, self._density(self.rng.random()), *self._anywhere()])

    def _near(self, good: FloatArray) -> FloatArray:
        u = self.rng.random(8)
        step = 10.0 ** (-DECADES * u[0]) * SPREAD * self.rng.standard_normal(6)
        numbers = np.where(u[1:7] < 0.5, good + step, good)
        numbers[1] = np.clip(numbers[1], -1.5, 2.0)
        if u[7] < 0.5:
            numbers[3] = self._density(self.rng.random())
        return np.asarray(numbers)

    def _density(self, u: float) -> float:
        if self.exact or u >= WITH_SURPLUS:
            return 1.0
        return 1.0 + DENSEST * u / WITH_SURPLUS


COUNTED = 600
"""Lattices that are counted before none is said to fit."""
CLOSEST_PUSHED = 0.85
"""The least spacing that is pushed apart, as a share of the one that is wanted."""
PUSH_ROUNDS = 300
"""How long turbines are pushed."""


def a_lattice_fits(problem: LayoutProblem) -> bool:
    """Return whether a lattice with enough points is found; for messages that suggest a remedy."""
    search = Search(Ground(problem), lambda points, _: (points, 1.0), np.random.default_rng(0), exact=True)
    return search.run(1, COUNTED)[0].points is not None


def pushed_apart(problem: LayoutProblem, ground: Ground, candidate: LatticeCandidate) -> Layout | None:
    """Return a layout near a lattice that fits only below the spacing; None if that fails."""
    given = candidate.lattice
    pitch = ground.widest_pitch(given, ground.needed, CLOSEST_PUSHED)
    if pitch == 0.0:
        return None
    points = ground.points(replace(given, pitch=pitch))
    # Surplus points: the first of each zone have to do.
    chosen = np.concatenate(
        [np.flatnonzero(points.zone == z)[:count] for z, count in enumerate(ground.needed)]
    )
    if len(chosen) < problem.n_turbines:
        return None
    types = problem.types_in_order()
    limits = Limits(problem, types)
    place, _ = limits.restore(np.stack([points.x[chosen], points.y[chosen]]), PUSH_ROUNDS)
    x, y = place + limits.origin[:, None]
    layout = Layout(x, y, types)
    return layout if problem.is_feasible(layout) else None
