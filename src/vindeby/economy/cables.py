"""The cables between turbines and substations: routed by OptiWindNet, never crossing each other.

A ``CableRouter`` is given where substations stand, which cables there are and where cables may lie; ``route`` gives the
``Routes`` of a layout, and called as a function it gives the ``CableTree`` that a search keeps between routings.
OptiWindNet (M. Souza de Alencar, DTU, MIT licence) is an extra and imported only when something is routed.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.economy.costs import CableTree
from vindeby.errors import ArgumentError, TaskError, library

RouterName = Literal["heuristic", "hgs", "milp"]
CableType = tuple[int, float]
"""How many turbines a cable can carry, and what a metre of it costs (EUR)."""

MILP_SECONDS = 60.0
"""Of the solver's own deterministic time, unless a time limit is given."""
_MILP_GAP = 5e-4
_HGS_ITERATIONS = 1000
"""Without an improvement, after which the genetic search ends."""
_SLACK_M = 1.0
"""A turbine may stand on the border or the edge of an obstacle, but for rounding; the router must not mind."""
_SHIFTS_M = (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)
"""OptiWindNet 0.3.2 fails for turbines that stand almost in a line: shift them until it does not, at random."""
_MOST_SUBSTATION_MOVES = 12
_TOUCH_M = 1e-3
"""A cable that passes a turbine as near as this passes through it."""


@dataclass(frozen=True, eq=False)
class Routes:
    """The cables of one layout.

    ``ends`` (cables, 2) are the ends of each, the one nearer to its substation last: ``i`` is turbine ``i``,
    ``-1 - s`` is substation ``s``. ``types`` (cables) count from 0. ``points`` (points, 2) are the corners of all
    cables in metres, ends included, and ``first`` (cables + 1) is where each begins among them.
    """

    ends: IntArray
    types: IntArray
    points: FloatArray
    first: IntArray
    substations: FloatArray
    eur_per_m: FloatArray
    """What a metre of each type costs."""

    @property
    def lengths_m(self) -> FloatArray:
        """The length of each cable, detours included."""
        return np.array([np.hypot(*np.diff(line, axis=0).T).sum() for line in self.lines()])

    @property
    def length_m(self) -> float:
        """Of all cables."""
        return float(self.lengths_m.sum())

    @property
    def eur(self) -> float:
        """What all cables cost."""
        return float(self.eur_per_m[self.types] @ self.lengths_m)

    def lines(self) -> list[FloatArray]:
        """The corners of each cable."""
        return np.split(self.points, self.first[1:-1])

    def tree(self) -> CableTree:
        """The same cables as a search keeps them."""
        straight = np.hypot(*(self.points[self.first[1:] - 1] - self.points[self.first[:-1]]).T)
        return CableTree(self.ends, self.eur_per_m[self.types], self.substations, self.lengths_m - straight)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """As they are stored with a result."""
        number = np.repeat(np.arange(len(self.ends), dtype=np.float64), np.diff(self.first))
        return {
            "substations": self.substations.T,
            "cable_ends": self.ends,
            "cable_types": self.types,
            "cable_points": np.vstack([number, self.points.T]),
        }

    @classmethod
    def stored(
        cls, arrays: Mapping[str, npt.NDArray[Any]], types: Sequence[CableType] = ()
    ) -> "Routes | None":
        """From the arrays of a result; None where it has none. Without types all lengths are right, and no cost."""
        if "cable_ends" not in arrays:
            return None
        number, x, y = arrays["cable_points"]
        first = np.searchsorted(number, np.arange(len(arrays["cable_ends"]) + 1))
        kinds = arrays["cable_types"]
        prices = [eur for _, eur in types] or [0.0] * (1 + int(kinds.max(initial=0)))
        points = np.column_stack([x, y])
        return cls(
            arrays["cable_ends"], kinds, points, first, arrays["substations"].T, np.array(prices, np.float64)
        )

    def carried(self) -> IntArray:
        """How many turbines each cable carries; ArgumentError where they do not all lead to a substation."""
        above = {int(lower): (number, int(upper)) for number, (lower, upper) in enumerate(self.ends)}
        count = np.zeros(len(self.ends), np.int64)
        for turbine in above:
            node, steps = turbine, 0
            while node >= 0:
                if node not in above or steps > len(above):
                    raise ArgumentError(f"the cables of turbine {turbine} do not lead to a substation")
                number, node = above[node]
                count[number] += 1
                steps += 1
        return count

    def crossings(self) -> list[tuple[int, int]]:
        """Pairs of cables that cross, or lie upon each other, or of which one passes through the turbine of the other.

        Two that meet in a corner, e.g. at a turbine, do not; nor do detours with the same two corners.
        """
        start, end = (
            np.delete(self.points, leave, axis=0) for leave in (self.first[1:] - 1, self.first[:-1])
        )
        owner = np.repeat(np.arange(len(self.ends)), np.diff(self.first) - 1)
        segments = np.atleast_1d(np.asarray(shapely.linestrings(np.stack([start, end], axis=1))))
        tree, turbines = shapely.STRtree(segments), self.points[self.first[:-1]]
        one, other = tree.query(segments, predicate="intersects")
        a, b, c, d = start[one], end[one], start[other], end[other]
        sides = np.stack([_side(a, b, c), _side(a, b, d), _side(c, d, a), _side(c, d, b)])
        apart = (sides[0] * sides[1] < 0) & (sides[2] * sides[3] < 0)
        length = np.maximum(np.hypot(*(b - a).T), _TOUCH_M)
        low, high = np.sort([((p - a) * (b - a)).sum(axis=1) / length for p in (c, d)], axis=0)
        upon = (sides == 0.0).all(axis=0) & (np.minimum(high, length) - np.maximum(low, 0.0) > _TOUCH_M)
        upon &= ~(_meet(a, c) & _meet(b, d)) & ~(_meet(a, d) & _meet(b, c))
        turbine, near = tree.query(shapely.points(turbines), predicate="dwithin", distance=_TOUCH_M)
        inside = ~_meet(turbines[turbine], start[near]) & ~_meet(turbines[turbine], end[near])
        pairs = np.column_stack([owner[one], owner[other]])[apart | upon]
        pairs = np.sort(np.vstack([pairs, np.column_stack([turbine, owner[near]])[inside]]), axis=1)
        return [(int(i), int(j)) for i, j in np.unique(pairs, axis=0) if i != j]


def _meet(one: FloatArray, other: FloatArray) -> BoolArray:
    """Which points of one are those of the other."""
    return np.asarray(np.hypot(*(one - other).T) <= _TOUCH_M)


def _side(start: FloatArray, end: FloatArray, point: FloatArray) -> FloatArray:
    """On which side of each line a point is: 1 left, -1 right, 0 on it to the micrometre."""
    line, there = end - start, point - start
    area = line[:, 0] * there[:, 1] - line[:, 1] * there[:, 0]
    return np.where(np.abs(area) <= 1e-6 * np.hypot(*line.T), 0.0, np.sign(area))


@dataclass(frozen=True, eq=False)
class CableRouter:
    """Routes the cables of layouts.

    ``substations`` are their places (m), or how many are to be placed where cables cost least; these keep
    ``clearance_m`` from turbines. ``types`` are the cables in order of capacity. ``border`` is the outer ring that
    cables stay in, if any, and ``obstacles`` are rings that they avoid.

    ``method`` is ``heuristic`` (a modified Esau-Williams, about 0.1 s), ``hgs`` (hybrid genetic search,
    seconds) or ``milp`` (mixed-integer programming by OR-tools' CP-SAT, a minute), each beginning with those before
    it: the shortest cables, each of the smallest type that carries what it must. The same layout has the same cables
    every time, except with ``seconds``, when hgs and milp end by the clock.
    """

    substations: FloatArray | int
    types: Sequence[CableType]
    method: RouterName = "heuristic"
    seconds: float | None = None
    seed: int = 0
    border: FloatArray | None = None
    obstacles: Sequence[FloatArray] = ()
    clearance_m: float = 0.0
    _area: Any = field(init=False, repr=False)
    _walls: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.substations, int):
            object.__setattr__(self, "substations", np.array(self.substations, np.float64).reshape(-1, 2))
        walls = shapely.union_all([shapely.Polygon(ring) for ring in self.obstacles])
        area = None if self.border is None else shapely.Polygon(self.border).difference(walls)
        object.__setattr__(self, "_area", None if area is None else area.buffer(_SLACK_M, join_style="mitre"))
        object.__setattr__(self, "_walls", walls.buffer(-_SLACK_M, join_style="mitre"))

    @property
    def count(self) -> int:
        """How many substations there are."""
        return self.substations if isinstance(self.substations, int) else len(self.substations)

    def __call__(self, x: FloatArray, y: FloatArray) -> CableTree:
        """The tree that a search keeps: always by the heuristic, whatever the method of the final routes."""
        return replace(self, method="heuristic").route(x, y).tree()

    def route(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Routes:
        """The cables of a layout; TaskError where none can be found."""
        places = np.column_stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
        if isinstance(self.substations, int):
            given = self._placed(places, self.substations)
            return replace(self, substations=given).route(places[:, 0], places[:, 1])
        if len(places) == 1:
            return self._straight(places)
        if len(np.unique(places.round(3), axis=0)) < len(places):
            raise TaskError("two turbines stand at one place, which OptiWindNet cannot connect")
        api = library("optiwindnet.api", "cables", "routing cables")
        for name in ("hybgensea", "ortools")[: 2 if self.method == "milp" else 1]:
            library(name, "cables", f"the router {self.method}")
        why = ""
        for shift_m in _SHIFTS_M:
            rng = np.random.default_rng([self.seed, int(shift_m)])
            shifted = places + shift_m * rng.uniform(-1.0, 1.0, places.shape)
            found: list[Routes] = []
            try:
                for network in self._networks(api, shifted, shift_m):
                    found.append(self._read(network.G, places))  # noqa: PERF401 - kept if the next one fails
            except Exception as error:  # noqa: BLE001 - OptiWindNet raises many kinds, and asserts
                why = why or f"{type(error).__name__}: {error}"
            if good := [routes for routes in found if not routes.crossings()]:
                return min(good, key=lambda one: one.eur)
            why = why or "its cables cross"
        many = f"{len(places)} turbines with the router {self.method}"
        raise TaskError(f"OptiWindNet found no cables for {many}: {why}; try another router, or another seed")

    def _networks(self, api: Any, places: FloatArray, shift_m: float = 0.0) -> Iterator[Any]:
        """What the quicker routers found, one after the other, then the router itself: the best of them is kept."""
        # With a time limit of 0 the genetic search counts iterations.
        seconds = self.seconds if self.seconds and self.method == "hgs" else 0.0
        routers = [api.EWRouter(), api.HGSRouter(time_limit=seconds, seed=self.seed)]
        networks = []
        for router in routers[: 1 if self.method == "heuristic" else 2]:
            networks.append(self._network(api, places, 1.5 * shift_m))
            with _iterations(_HGS_ITERATIONS):
                networks[-1].optimize(router=router)
            yield networks[-1]
        if self.method == "milp":
            limit = self.seconds or 20.0 * MILP_SECONDS
            options: dict[str, Any] = {"random_seed": self.seed}
            if self.seconds is None:
                options |= {"threads": 8, "interleave_search": True, "max_deterministic_time": MILP_SECONDS}
            exact = api.MILPRouter("ortools.cp_sat", limit, _MILP_GAP, solver_options=options)
            networks.sort(key=lambda network: network.length())
            networks[0].optimize(router=exact)
            yield networks[0]

    def _network(self, api: Any, places: FloatArray, margin_m: float) -> Any:
        """OptiWindNet's network, not routed yet, with so much more room for cables."""
        area = self._area
        if area is None and not self._walls.is_empty:  # it cannot have obstacles without a border
            hull = shapely.MultiPoint([*places, *np.array(self.substations)]).union(self._walls).envelope
            area = hull.buffer(hull.length, join_style="mitre").difference(self._walls)
        if area is not None and margin_m:
            area = area.buffer(margin_m, join_style="mitre")
        fence = (
            {}
            if area is None
            else {
                "borderC": shapely.get_coordinates(area.exterior)[:-1],
                "obstacleC_": [shapely.get_coordinates(hole)[:-1] for hole in area.interiors],
            }
        )
        stations = np.array(self.substations)
        return api.WindFarmNetwork(cables=list(self.types), turbinesC=places, substationsC=stations, **fence)

    def _straight(self, places: FloatArray) -> Routes:
        """The one cable of one turbine, to the nearest substation that a straight cable reaches."""
        stations = np.array(self.substations)
        lines = shapely.linestrings([[places[0], place] for place in stations])
        clear = ~shapely.intersects(self._walls, lines)
        if self._area is not None:
            clear &= shapely.covers(self._area, lines)
        if not clear.any():
            raise TaskError("no straight cable leads from the only turbine to a substation; move one of them")
        nearest = int(np.argmin(np.where(clear, np.hypot(*(stations - places[0]).T), np.inf)))
        ends, points = np.array([[0, -1 - nearest]]), np.vstack([places, stations[nearest]])
        return Routes(ends, np.zeros(1, np.int64), points, np.array([0, 2]), stations, self._prices)

    @property
    def _prices(self) -> FloatArray:
        return np.array([eur for _, eur in self.types], np.float64)

    def _read(self, graph: Any, places: FloatArray) -> Routes:
        """OptiWindNet's graph, in which corners of detours are nodes, as one cable for each turbine."""
        turbines, roots = len(places), self.count
        corners, real = graph.graph["VertexC"].copy(), graph.graph.get("fnT")
        corners[:turbines] = places
        found: dict[int, tuple[int, int, list[int]]] = {}
        for root in range(-roots, 0):
            ahead = [(root, root, child, [root]) for child in graph[root]]
            while ahead:
                parent, before, node, path = ahead.pop()
                path = [*path, node]
                if 0 <= node < turbines:
                    found[node] = parent, graph[before][node]["cable"], path
                    parent, path = node, [node]
                ahead += [(parent, node, child, path) for child in graph[node] if child != before]
        if len(found) != turbines:
            raise TaskError(f"OptiWindNet connected {len(found)} of {turbines} turbines")
        lines = [
            corners[path[::-1] if real is None else real[path[::-1]]]
            for _, _, path in (found[turbine] for turbine in range(turbines))
        ]
        ends = [
            (turbine, found[turbine][0] if found[turbine][0] >= 0 else -1 - (found[turbine][0] + roots))
            for turbine in range(turbines)
        ]
        return Routes(
            np.array(ends, np.int64),
            np.array([found[turbine][1] for turbine in range(turbines)], np.int64),
            np.concatenate(lines),
            np.concatenate([[0], np.cumsum([len(line) for line in lines])]),
            np.array(self.substations, np.float64),
            self._prices,
        )

    def _placed(self, places: FloatArray, count: int) -> FloatArray:
        """Begin amid groups of turbines, and go where the cables pull for as long as that is cheaper."""
        rng = np.random.default_rng(self.seed)
        here = places[rng.choice(len(places), min(count, len(places)), replace=False)]
        for _ in range(_MOST_SUBSTATION_MOVES):
            nearest = np.argmin(np.hypot(*(places[:, None] - here).transpose(2, 0, 1)), axis=1)
            groups = [places[nearest == s] for s in range(len(here))]
            here = np.array([one.mean(axis=0) if len(one) else here[s] for s, one in enumerate(groups)])
        best, least = here, np.inf
        for _ in range(_MOST_SUBSTATION_MOVES):
            here = self._allowed(here, places)
            routes = replace(self, substations=here, method="heuristic").route(*places.T)
            if not routes.eur < least:
                break
            best, least = here, routes.eur
            here = np.array([_pulled(routes, s) for s in range(len(here))])
        return best

    def _allowed(self, substations: FloatArray, places: FloatArray) -> FloatArray:
        """The nearest places, about, at which substations may stand: clear of turbines, where cables may lie."""
        moved = substations.copy()
        for s, place in enumerate(moved):
            nearest = places[np.argmin(np.hypot(*(places - place).T))]
            away = np.hypot(*(place - nearest))
            if away < self.clearance_m:
                toward = (place - nearest) / away if away > 0.0 else np.array([1.0, 0.0])
                moved[s] = nearest + self.clearance_m * toward
            point = shapely.Point(moved[s])
            room = point.buffer(1e6).difference(self._walls) if self._area is None else self._area
            if not room.covers(point):
                onto = shapely.shortest_line(room.buffer(-_SLACK_M), point)
                moved[s] = shapely.get_coordinates(onto)[0]
        return moved


@contextlib.contextmanager
def _iterations(most: int) -> Iterator[None]:
    """Let the genetic search end after so many iterations: OptiWindNet hands on a time limit only."""
    parameters = library("hybgensea", "cables", "routing cables").DEFAULT_ALGO_PARAMS
    usual = parameters["nbIter"]
    parameters["nbIter"] = most
    try:
        yield
    finally:
        parameters["nbIter"] = usual


def _pulled(routes: Routes, substation: int) -> FloatArray:
    """Where the cables that end at a substation would be cheapest, their other corners kept (Weiszfeld, 1937)."""
    mine = np.flatnonzero(routes.ends[:, 1] == -1 - substation)
    here: FloatArray = routes.substations[substation]
    if not len(mine):
        return here
    corners = routes.points[routes.first[mine + 1] - 2]
    prices = np.maximum(routes.eur_per_m[routes.types[mine]], 1e-9)
    for _ in range(100):
        weight = prices / np.maximum(np.hypot(*(corners - here).T), 1e-3)
        here = weight @ corners / weight.sum()
    return here


def zone_of(zones: Sequence[Any], x: FloatArray, y: FloatArray) -> IntArray:
    """The number of the polygon that each turbine stands in, or nearest to."""
    points = shapely.points(x, y)
    return np.asarray(np.argmin([shapely.distance(area, points) for area in zones], axis=0))


@dataclass(frozen=True, eq=False)
class ZonedRouter:
    """Routes each zone by itself, with a router of its own; a turbine is of the zone that it stands in."""

    zones: Sequence[Any]
    """Shapely's polygons."""
    routers: Sequence[CableRouter]

    def __call__(self, x: FloatArray, y: FloatArray) -> CableTree:
        """The tree that a search keeps."""
        quick = [replace(router, method="heuristic") for router in self.routers]
        return replace(self, routers=quick).route(x, y).tree()

    def route(self, x: FloatArray, y: FloatArray) -> Routes:
        """The cables of a layout; TaskError where none can be found, or those of two zones cross."""
        zone = zone_of(self.zones, x, y)
        mine = [np.flatnonzero(zone == number) for number in range(len(self.zones))]
        filled = [number for number in range(len(mine)) if len(mine[number])]
        parts = [self.routers[number].route(x[mine[number]], y[mine[number]]) for number in filled]
        ends, stations = [], 0
        for number, part in zip(filled, parts, strict=True):
            names = np.concatenate([mine[number], -1 - stations - np.arange(len(part.substations))[::-1]])
            ends.append(names[part.ends])  # -1 - s counts from the end
            stations += len(part.substations)
        sizes = np.concatenate([np.diff(part.first) for part in parts])
        routes = Routes(
            np.concatenate(ends),
            np.concatenate([part.types for part in parts]),
            np.concatenate([part.points for part in parts]),
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([part.substations for part in parts]),
            parts[0].eur_per_m,
        )
        if routes.crossings():
            raise TaskError("cables of two zones cross; keep them apart with within_area: true")
        return routes
