"""The cables between turbines and substations, routed by OptiWindNet without crossings.

A ``CableRouter`` is given where substations stand, which cables there are and where cables may lie; ``route`` gives the
``Routes`` of a layout, and called as a function it gives the ``CableTree`` that a search keeps between routings.
OptiWindNet (M. Souza de Alencar, DTU, MIT licence) is an extra and imported only when something is routed.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import shapely

from vindeby.arrays import FloatArray, IntArray
from vindeby.economy.costs import CableTree
from vindeby.errors import DataError, TaskError, library

RouterName = Literal["heuristic", "hgs", "milp"]
CableType = tuple[int, float]
"""A cable type: the most turbines that it can carry, and its cost (EUR per metre)."""

MILP_SECONDS = 60.0
"""The limit of the solver's deterministic time, unless a time limit is given."""
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
    """The cost per metre of each type."""

    @property
    def lengths_m(self) -> FloatArray:
        """The length of each cable (m), detours included."""
        return np.array([np.hypot(*np.diff(line, axis=0).T).sum() for line in self.lines()])

    @property
    def length_m(self) -> float:
        """The total length of all cables (m)."""
        return float(self.lengths_m.sum())

    @property
    def eur(self) -> float:
        """The cost of all cables (EUR)."""
        return float(self.eur_per_m[self.types] @ self.lengths_m)

    def lines(self) -> list[FloatArray]:
        """Return the corners of each cable."""
        return np.split(self.points, self.first[1:-1])

    def tree(self) -> CableTree:
        """Return the same cables in the form that a search uses."""
        straight = np.hypot(*(self.points[self.first[1:] - 1] - self.points[self.first[:-1]]).T)
        return CableTree(self.ends, self.eur_per_m[self.types], self.substations, self.lengths_m - straight)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that are stored with a result."""
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
        """Return the cables in the arrays of a result; None if it has none, DataError if they are not valid.

        Without types all lengths are right, and no cost.
        """
        if "cable_ends" not in arrays:
            return None
        names = ("cable_ends", "cable_types", "cable_points", "substations")
        ends, kinds, drawn, stations = (np.asarray(arrays.get(name, 0)) for name in names)
        wrong, count = "its cables cannot be followed: ", ends.shape[:1]
        whole = ends.dtype.kind in "iu" and kinds.dtype.kind in "iu"
        shapes = (kinds.shape, ends.shape[1:], drawn.shape[:-1], stations.shape[:-1])
        if not whole or shapes != (count, (2,), (3,), (2,)) or drawn.dtype.kind not in "fiu":
            raise DataError(f"{wrong}{', '.join(names)} are not arrays of numbers that fit together")
        first = np.searchsorted(drawn[0], np.arange(len(ends) + 1))
        ordered = (np.diff(drawn[0]) >= 0).all() and (first[0], first[-1]) == (0, drawn.shape[1])
        if not (ordered and np.isfinite(drawn).all()) or (np.diff(first) < 2).any():
            raise DataError(f"{wrong}cable_points does not have two points or more of each cable, in order")
        prices = np.array([eur for _, eur in types] or [0.0] * (1 + int(kinds.max(initial=0))), np.float64)
        known = (ends >= -stations.shape[1]).all() and (ends < len(ends)).all() and (kinds >= 0).all()
        each = np.array_equal(np.sort(ends[:, 0]), np.arange(len(ends))) and np.isfinite(stations).all()
        if not known or not each or (kinds >= len(prices)).any():
            raise DataError(f"{wrong}an end or type of a cable is unknown, or a turbine has none or two")
        return cls(ends, kinds, drawn[1:].T, first, stations.T, prices)

    def carried(self) -> IntArray:
        """Return the number of turbines on each cable; DataError if they do not all lead to a substation."""
        upper = self.ends[np.argsort(self.ends[:, 0]), 1]
        carried, ahead = np.zeros(len(upper), np.int64), np.arange(len(upper))
        for _ in upper:
            np.add.at(carried, ahead, 1)
            ahead = upper[ahead]
            ahead = ahead[ahead >= 0]
        if len(ahead):
            raise DataError(f"the cables of turbine {ahead[0]} do not lead to a substation")
        return carried[self.ends[:, 0]]

    def crossings(self) -> list[tuple[int, int]]:
        """Return the pairs of cables that cross or overlap, or where one passes through the other's turbine.

        Two that meet in a corner, e.g. at a turbine, do not; nor do detours with the same two corners.
        """
        segments = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in self.lines()])
        owner = np.repeat(np.arange(len(self.ends)), np.diff(self.first) - 1)
        long = np.hypot(*(segments[:, 1] - segments[:, 0]).T) > _TOUCH_M
        segments, owner = segments[long], owner[long]
        drawn, ends = np.asarray(shapely.linestrings(segments)), np.asarray(shapely.points(segments))
        one, other = shapely.STRtree(drawn).query(drawn, predicate="dwithin", distance=_TOUCH_M)
        apart = shapely.distance(ends[one][:, :, None], ends[other][:, None, :])
        shared = (apart <= _TOUCH_M).any(axis=2).sum(axis=1)
        touching = sum(
            (shapely.distance(ends[a], drawn[b][:, None]) <= _TOUCH_M).sum(axis=1)
            for a, b in ((one, other), (other, one))
        )
        # A corner that both have is an end of each; a third end on the other segment makes them overlap.
        wrong = (shared == 0) | ((shared == 1) & (touching > 2))
        pairs = np.sort(np.column_stack([owner[one], owner[other]])[wrong], axis=1)
        return [(int(i), int(j)) for i, j in np.unique(pairs, axis=0) if i != j]


@dataclass(frozen=True, eq=False)
class CableRouter:
    """A router of the cables of layouts.

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

    def __call__(self, x: FloatArray, y: FloatArray) -> CableTree:
        """Return the tree for a search, always by the heuristic, whatever the method of the final routes."""
        return replace(self, method="heuristic").route(x, y).tree()

    def route(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Routes:
        """Return the cables of a layout; TaskError if none can be found."""
        places = np.column_stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
        if isinstance(self.substations, int):
            return replace(self, substations=self._placed(places, self.substations)).route(*places.T)
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
        """Yield the networks of the quicker routers, then that of the router itself; the best counts."""
        stations, fence = np.array(self.substations), dict[str, Any]()
        if (room := self._room(places, stations, _SLACK_M + 1.5 * shift_m)) is not None:
            fence["borderC"] = shapely.get_coordinates(room.exterior)[:-1]
            fence["obstacleC_"] = [shapely.get_coordinates(hole)[:-1] for hole in room.interiors]
        # With a time limit of 0 the genetic search counts iterations.
        seconds = self.seconds if self.seconds and self.method == "hgs" else 0.0
        routers = [api.EWRouter(), api.HGSRouter(time_limit=seconds, seed=self.seed)]
        networks = []
        for router in routers[: 1 if self.method == "heuristic" else 2]:
            network = api.WindFarmNetwork(
                cables=list(self.types), turbinesC=places, substationsC=stations, **fence
            )
            with _iterations(_HGS_ITERATIONS):
                network.optimize(router=router)
            networks.append(network)
            yield network
        if self.method == "milp":
            limit = self.seconds or 20.0 * MILP_SECONDS
            options: dict[str, Any] = {"random_seed": self.seed}
            if self.seconds is None:
                options |= {"threads": 8, "interleave_search": True, "max_deterministic_time": MILP_SECONDS}
            exact = api.MILPRouter("ortools.cp_sat", limit, _MILP_GAP, solver_options=options)
            networks.sort(key=lambda network: network.length())
            networks[0].optimize(router=exact)
            yield networks[0]

    def _room(self, places: FloatArray, stations: FloatArray, slack_m: float = _SLACK_M) -> Any:
        """Return the area for cables, widened by ``slack_m``; None if cables may lie anywhere."""
        if self.border is None and not self.obstacles:
            return None
        walls = shapely.union_all([shapely.Polygon(ring) for ring in self.obstacles])
        if self.border is None:  # OptiWindNet cannot have obstacles without one
            hull = shapely.MultiPoint([*places, *stations]).union(walls).envelope
            outline = hull.buffer(hull.length, join_style="mitre")
        else:
            outline = shapely.Polygon(self.border)
        return outline.difference(walls).buffer(slack_m, join_style="mitre")

    def _straight(self, places: FloatArray) -> Routes:
        stations = np.array(self.substations)
        far, room = np.hypot(*(stations - places[0]).T), self._room(places, stations)
        if room is not None:
            far[~room.covers(shapely.linestrings([[places[0], place] for place in stations]))] = np.inf
        nearest = int(np.argmin(far))
        if far[nearest] == np.inf:
            raise TaskError("no straight cable leads from the only turbine to a substation; move one of them")
        ends, points = np.array([[0, -1 - nearest]]), np.vstack([places, stations[nearest]])
        return Routes(ends, np.zeros(1, np.int64), points, np.array([0, 2]), stations, self._prices)

    @property
    def _prices(self) -> FloatArray:
        return np.array([eur for _, eur in self.types], np.float64)

    def _read(self, graph: Any, places: FloatArray) -> Routes:
        """Return OptiWindNet's graph, in which corners of detours are nodes, as one cable per turbine."""
        networkx = library("networkx", "cables", "routing cables")
        stations, turbines = np.array(self.substations), len(places)
        corners, real = graph.graph["VertexC"].copy(), graph.graph.get("fnT")
        corners[:turbines] = places
        above: dict[int, list[int]] = {}  # the nodes from each one on to a turbine, or a substation
        for root in range(-len(stations), 0):
            for before, node in networkx.dfs_edges(graph, root):
                above[node] = [node, *(above[before] if before >= turbines else [before])]
        paths = [above[turbine] for turbine in range(turbines) if turbine in above]
        if len(paths) != turbines:
            raise TaskError(f"OptiWindNet connected {len(paths)} of {turbines} turbines")
        lines = [corners[path if real is None else real[path]] for path in paths]
        upper = np.array([path[-1] for path in paths])
        return Routes(
            np.column_stack([np.arange(turbines), np.where(upper < 0, -1 - (upper + len(stations)), upper)]),
            np.array([graph[path[0]][path[1]]["cable"] for path in paths], np.int64),
            np.concatenate(lines),
            np.concatenate([[0], np.cumsum([len(line) for line in lines])]),
            stations,
            self._prices,
        )

    def _placed(self, places: FloatArray, count: int) -> FloatArray:
        """Return substation positions: start among groups of turbines, move while cables get cheaper."""
        rng = np.random.default_rng(self.seed)
        here = places[rng.choice(len(places), min(count, len(places)), replace=False)]
        for _ in range(_MOST_SUBSTATION_MOVES):
            nearest = np.argmin(np.hypot(*(places[:, None] - here).transpose(2, 0, 1)), axis=1)
            for s in set(nearest.tolist()):
                here[s] = places[nearest == s].mean(axis=0)
        best, least = here, np.inf
        for _ in range(_MOST_SUBSTATION_MOVES):
            here = self._allowed(here, places)
            routes = replace(self, substations=here, method="heuristic").route(*places.T)
            if not routes.eur < least:
                break
            best, least = here, routes.eur
            here = np.array([_pulled(routes, s) for s in range(len(here))])
        return best

    def _allowed(self, stations: FloatArray, places: FloatArray) -> FloatArray:
        """Return the nearest allowed positions of substations: clear of turbines, in the area for cables."""
        room = self._room(places, stations, 0.0) or shapely.MultiPoint([*places, *stations]).buffer(1e5)
        if self.clearance_m:  # a little more, as circles are polygons here
            room = room.difference(shapely.MultiPoint(places).buffer(1.01 * self.clearance_m))
        nearest = shapely.shortest_line(room, shapely.points(stations))
        return shapely.get_coordinates(nearest).reshape(-1, 2, 2)[:, 0]


@contextlib.contextmanager
def _iterations(most: int) -> Iterator[None]:
    """Limit the iterations of the genetic search, for which OptiWindNet offers a time limit only."""
    parameters = library("hybgensea", "cables", "routing cables").DEFAULT_ALGO_PARAMS
    usual = parameters["nbIter"]
    parameters["nbIter"] = most
    try:
        yield
    finally:
        parameters["nbIter"] = usual


def _pulled(routes: Routes, substation: int) -> FloatArray:
    """Return the position with the cheapest cables for a substation, their other corners fixed (Weiszfeld, 1937)."""
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
