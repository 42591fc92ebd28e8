"""Cables: whole trees within capacity, without crossings, where cables may lie; the same every time."""

import sys

import numpy as np
import pytest
import shapely

from vindeby.arrays import FloatArray, IntArray
from vindeby.economy.cables import CableRouter, Routes
from vindeby.errors import DataError, InputError, TaskError

pytest.importorskip("optiwindnet")
pytestmark = pytest.mark.slow  # OptiWindNet compiles for some seconds when it is first used

TYPES = [(3, 368.9), (5, 428.9), (7, 737.1)]
HUB = np.array([[5000.0, 5000.0]])
WALL = np.array([[3000.0, 3000.0], [4500.0, 3000.0], [4500.0, 7000.0], [3000.0, 7000.0]])
SQUARE = np.array([[0.0, 0.0], [10_000.0, 0.0], [10_000.0, 10_000.0], [0.0, 10_000.0]])


def places(count: int, seed: int = 3) -> FloatArray:
    """Places in a square that keep away from the wall and from each other."""
    rng = np.random.default_rng(seed)
    found: list[FloatArray] = []
    wall = shapely.Polygon(WALL).buffer(100.0)
    while len(found) < count:
        place = rng.uniform(100.0, 9900.0, 2)
        if not wall.contains(shapely.Point(place)) and all(np.hypot(*(place - one)) > 500 for one in found):
            found.append(place)
    return np.array(found).T


def lines(routes: Routes) -> list[shapely.LineString]:
    return [shapely.LineString(line) for line in routes.lines()]


@pytest.mark.parametrize("method", ["heuristic", "hgs"])
def test_every_turbine_is_connected_within_the_capacity_of_its_cables(method: str) -> None:
    x, y = places(40)
    routes = CableRouter(HUB, TYPES, method=method).route(x, y)  # type: ignore[arg-type]
    assert sorted(routes.ends[:, 0].tolist()) == list(range(40))
    below: dict[int, int] = {}
    for turbine in range(40):  # counted again, by climbing from each turbine to its substation
        node = turbine
        while node >= 0:
            below[node] = below.get(node, 0) + 1
            node = int(routes.ends[node, 1])
        assert node == -1
    capacity = np.array([many for many, _ in TYPES])[routes.types]
    smaller = np.array([0, *(many for many, _ in TYPES)])[routes.types]
    carried = np.array([below[turbine] for turbine in range(40)])
    assert (carried <= capacity).all()
    assert (carried > smaller).all()
    assert (routes.carried() == carried).all()


def test_lengths_and_cost_are_those_of_the_lines() -> None:
    x, y = places(40)
    routes = CableRouter(HUB, TYPES).route(x, y)
    drawn = lines(routes)
    assert routes.lengths_m == pytest.approx([line.length for line in drawn], rel=1e-9)
    prices = [TYPES[kind][1] for kind in routes.types]
    assert routes.eur == pytest.approx(
        sum(price * line.length for price, line in zip(prices, drawn, strict=True)), rel=1e-9
    )
    for number, (lower, upper) in enumerate(routes.ends):
        start, end = routes.lines()[number][0], routes.lines()[number][-1]
        assert tuple(start) == (x[lower], y[lower])
        assert tuple(end) == (tuple(HUB[0]) if upper < 0 else (x[upper], y[upper]))


def test_the_kept_tree_costs_what_the_routes_cost() -> None:
    x, y = places(40)
    routes = CableRouter(HUB, TYPES, obstacles=[WALL]).route(x, y)
    tree = routes.tree()
    assert (tree.detour_m > 1.0).any()
    assert tree.eur(x, y) == pytest.approx(routes.eur, rel=1e-12)


def test_cables_avoid_obstacles_and_stay_inside_a_border() -> None:
    x, y = places(40)
    notch = np.array([[0.0, 0.0], [10_000.0, 0.0], [10_000.0, 10_000.0], [5100.0, 5600.0], [0.0, 10_000.0]])
    inside = shapely.contains_xy(shapely.Polygon(notch), x, y)
    for border in (None, notch):
        xi, yi = (x, y) if border is None else (x[inside], y[inside])
        routes = CableRouter(HUB, TYPES, border=border, obstacles=[WALL]).route(xi, yi)
        wall = shapely.Polygon(WALL).buffer(-1.001, join_style="mitre")
        assert not any(line.intersects(wall) for line in lines(routes))
        if border is not None:
            area = shapely.Polygon(notch).buffer(1.001, join_style="mitre")
            assert all(area.covers(line) for line in lines(routes))
    free = CableRouter(HUB, TYPES).route(x, y)
    assert any(line.intersects(wall) for line in lines(free))


@pytest.mark.parametrize("seed", range(4))
def test_no_two_cables_cross(seed: int) -> None:
    x, y = places(50, seed)
    routes = CableRouter(HUB, TYPES).route(x, y)
    assert routes.crossings() == []
    drawn = [line for line, points in zip(lines(routes), routes.lines(), strict=True) if len(points) == 2]
    assert not any(one.crosses(other) for one in drawn for other in drawn)


def test_optiwindnet_finds_no_crossing_either() -> None:
    from optiwindnet.crossings import find_geometric_crossings

    x, y = places(60)
    router = CableRouter(HUB, TYPES, method="hgs", obstacles=[WALL])
    networks = list(router._networks(pytest.importorskip("optiwindnet.api"), np.stack([x, y], axis=1)))
    assert len(networks) == 2
    assert [find_geometric_crossings(network.G) for network in networks] == [[], []]


def test_a_searched_substation_leaves_an_obstacle() -> None:
    x, y = places(30)
    router = CableRouter(1, TYPES, obstacles=[WALL])
    (place,) = router._allowed(np.array([[3600.0, 5000.0]]), np.stack([x, y], axis=1))
    assert not shapely.Polygon(WALL).buffer(-1.0).contains(shapely.Point(place))
    assert np.hypot(*(place - [3000.0, 5000.0])) < 3.0


def test_crossing_cables_are_found() -> None:
    x, y = np.array([0.0, 0.0]), np.array([0.0, 100.0])
    stations = np.array([[100.0, 100.0], [100.0, 0.0]])
    points = np.array([[0.0, 0.0], [100.0, 100.0], [0.0, 100.0], [100.0, 0.0]])
    ends, first = np.array([[0, -1], [1, -2]]), np.array([0, 2, 4])
    routes = Routes(ends, np.zeros(2, np.int64), points, first, stations, np.array([1.0]))
    assert routes.crossings() == [(0, 1)]
    assert (
        Routes(ends, routes.types, points[[0, 3, 2, 1]], first, stations, np.array([1.0])).crossings() == []
    )
    assert CableRouter(stations, TYPES).route(x, y).crossings() == []


@pytest.mark.parametrize(
    ("one", "other", "cross"),
    [
        ([[0, 0], [10, 0]], [[2, 0], [8, 0]], True),
        ([[0, 0], [10, 10]], [[5, 5], [20, 20]], True),
        ([[-5, 0], [5, 0]], [[0, 0], [0, 5]], True),  # through a turbine
        ([[-5, 0.0005], [5, 0.0005]], [[0, 0], [0, -5]], True),
        ([[-5, 0.01], [5, 0.01]], [[0, 0], [0, -5]], False),
        ([[-5, 0], [0, 0]], [[0, 0], [5, 0]], False),  # one after the other
        ([[-5, 0], [0, 0], [5, 3]], [[0, 0], [0, 5]], False),  # around a turbine
        ([[-5, 2], [0, 0], [5, 0], [9, 1]], [[-5, -2], [0, 0], [5, 0], [9, -1]], False),  # the same detour
    ],
)
def test_cables_upon_each_other_and_through_turbines_are_found(one: list, other: list, cross: bool) -> None:  # type: ignore[type-arg]
    points = np.array([*one, *other], np.float64)
    ends, first = np.array([[0, -1], [1, -2]]), np.array([0, len(one), len(one) + len(other)])
    for turn in (0.0, 0.7):
        there = points @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        routes = Routes(ends, np.zeros(2, np.int64), there, first, HUB, np.array([1.0]))
        assert bool(routes.crossings()) == cross


def test_a_turbine_at_a_substation_is_connected_like_any_other() -> None:
    x, y = places(8)
    x, y = np.append(x, HUB[0, 0] + 5e-4), np.append(y, HUB[0, 1])
    routes = CableRouter(HUB, TYPES).route(x, y)
    assert routes.crossings() == []
    assert len(routes.carried()) == 9


def test_one_turbine_has_a_straight_cable_or_a_clear_refusal() -> None:
    x, y = np.array([1000.0]), np.array([5000.0])
    assert CableRouter(HUB, TYPES, border=SQUARE).route(x, y).length_m == pytest.approx(4000.0)
    stations = np.vstack([HUB, [[1000.0, 500.0]]])
    routes = CableRouter(stations, TYPES, obstacles=[WALL]).route(x, y)
    assert (routes.ends.tolist(), routes.length_m) == ([[0, -2]], 4500.0)
    for given in ({"obstacles": [WALL]}, {"border": SQUARE, "obstacles": [WALL]}):
        with pytest.raises(TaskError, match="no straight cable"):
            CableRouter(HUB, TYPES, **given).route(x, y)


def test_what_quicker_routers_found_is_kept_where_the_slow_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("optiwindnet.api")
    pytest.importorskip("ortools")

    def none_in_time(*_: object, **__: object) -> None:
        raise RuntimeError("no solution in time")

    monkeypatch.setattr(api, "MILPRouter", none_in_time)
    x, y = places(12)
    quick, slow = (CableRouter(HUB, TYPES, method=method).route(x, y) for method in ("hgs", "milp"))
    assert slow.points.tolist() == quick.points.tolist()


@pytest.mark.parametrize(("name", "method"), [("hybgensea", "hgs"), ("ortools", "milp")])
def test_a_missing_solver_is_named_with_its_extra(
    name: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=rf"{name}.*vindeby\[cables\]"):
        CableRouter(HUB, TYPES, method=method).route(*places(5))  # type: ignore[arg-type]


def test_a_group_without_turbines_does_not_move_its_substation(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[FloatArray] = []

    def begin(_: CableRouter, here: FloatArray, places: FloatArray) -> None:
        begun.append(here)
        raise TaskError("enough")

    monkeypatch.setattr(CableRouter, "_allowed", begin)
    alike = np.array(
        [[0.0, 0.0], [0.0, 0.0], [3000.0, 0.0]]
    )  # a group that begins at the second has no turbine
    with pytest.raises(TaskError):
        CableRouter(3, TYPES)._placed(alike, 3)
    assert sorted(begun[0].tolist()) == alike.tolist()


def test_the_same_layout_has_the_same_cables() -> None:
    x, y = places(30)
    router = CableRouter(HUB, TYPES, method="hgs", seed=4)
    one, again = router.route(x, y), router.route(x, y)
    assert all(value.tobytes() == again.arrays()[name].tobytes() for name, value in one.arrays().items())


def test_a_better_router_is_never_dearer() -> None:
    x, y = places(25)
    quick, slow = (CableRouter(HUB, TYPES, method=method).route(x, y).eur for method in ("heuristic", "hgs"))
    assert slow <= quick


def test_searched_substations_are_cheaper_and_keep_their_distance() -> None:
    x, y = places(40)
    found = CableRouter(2, TYPES, clearance_m=300.0, obstacles=[WALL], border=SQUARE).route(x, y)
    assert found.substations.shape == (2, 2)
    apart = np.hypot(*(np.stack([x, y], axis=1)[:, None] - found.substations).transpose(2, 0, 1))
    assert apart.min() >= 300.0 - 1e-6
    corners = CableRouter(np.array([[100.0, 100.0], [9900.0, 9900.0]]), TYPES).route(x, y)
    assert found.eur < corners.eur
    alone = CableRouter(1, TYPES).route(x, y)
    assert alone.eur < CableRouter(np.array([[2000.0, 8000.0]]), TYPES).route(x, y).eur


def test_turbines_almost_in_a_line_are_connected_where_they_stand() -> None:
    x = np.array([2220.005, 774.478, 1149.403, 1486.786, 2579.466, 423.223, 1845.673])
    y = np.array([4754.746, 1189.717, 2102.956, 2970.218, 5676.781, 285.639, 3842.030])
    routes = CableRouter(np.array([[1500.0, 3000.0]]), TYPES, border=SQUARE).route(x, y)
    assert routes.crossings() == []
    starts = np.array([line[0] for line in routes.lines()])
    assert starts.tolist() == np.stack([x, y], axis=1).tolist()
    assert routes.carried().max() <= 7
    assert routes.length_m < 6000.0


def test_routes_come_back_from_their_arrays() -> None:
    x, y = places(20)
    routes = CableRouter(HUB, TYPES, obstacles=[WALL]).route(x, y)
    again = Routes.stored(routes.arrays(), TYPES)
    assert again is not None
    assert again.eur == routes.eur
    assert (again.first == routes.first).all()
    assert Routes.stored({}) is None


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optiwindnet.api", None)
    with pytest.raises(InputError, match=r"vindeby\[cables\]"):
        CableRouter(HUB, TYPES).route(*places(5))


def test_turbines_at_one_place_are_refused_before_they_are_routed() -> None:
    router = CableRouter(np.array([[0.0, 0.0]]), [(5, 300.0)])
    with pytest.raises(TaskError, match="at one place"):
        router.route([500.0, 500.0, 900.0], [100.0, 100.0, 400.0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"cable_ends": np.array([[0, -1], [-1, -1]])},
        {"cable_ends": np.array([[0, -1], [0, -1]])},
        {"substations": np.array([[np.nan], [np.nan]])},
    ],
    ids=["a turbine without a cable", "a turbine with two", "a substation nowhere"],
)
def test_stored_cables_that_cannot_be_are_refused(wrong: dict[str, IntArray]) -> None:
    arrays = {
        "cable_ends": np.array([[0, -1], [1, -1]]),
        "cable_types": np.array([0, 0]),
        "cable_points": np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 5.0, 9.0, 5.0], [0.0, 5.0, 0.0, 5.0]]),
        "substations": np.array([[5.0], [5.0]]),
    }
    assert Routes.stored(arrays, TYPES) is not None
    with pytest.raises(DataError, match="its cables cannot be followed"):
        Routes.stored(arrays | wrong, TYPES)
