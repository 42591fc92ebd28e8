"""Zones that compete, and zones that are built one after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.layout.zoned_problems import EAST, WEST, mix_by_zone, three_zones
from vindeby.errors import ArgumentError
from vindeby.layout import (
    Boundary,
    Gradient,
    InTurn,
    Layout,
    LayoutProblem,
    RandomSearch,
    RandomStart,
    Zone,
    Zones,
)
from vindeby.wake import Neighbours, UniformSite, WindFarm, iea37_335mw


def _westerly(*stages: int) -> LayoutProblem:
    """A zone upwind and a zone downwind of it, three turbines each, in wind that is mostly from the west."""
    rose = np.full(16, 0.02)
    rose[12] = 0.7
    farm = WindFarm(UniformSite(rose.tolist(), 9.8), iea37_335mw(), "iea37")
    upwind, downwind = stages or (0, 0)
    zones = [Zone(Boundary([WEST]), 3, "upwind", upwind), Zone(Boundary([EAST]), 3, "downwind", downwind)]
    return LayoutProblem(farm, Zones(zones), 6, 390.0, "westerly")


def _own_gwh(problem: LayoutProblem, layout: Layout, z: int, without: tuple[int, ...] = ()) -> float:
    """The energy of a zone, by a farm made anew in which all other zones are neighbours."""
    mine = problem.zone_of == z
    others = ~mine & ~np.isin(problem.zone_of, without)
    farm = problem.farm
    beside = Neighbours(layout.x[others], layout.y[others], layout.types[others])
    alone = WindFarm(farm.site, farm.turbines, farm.model, neighbours=beside)
    return alone.aep(layout.x[mine], layout.y[mine], layout.types[mine])


def _with_zone(problem: LayoutProblem, layout: Layout, z: int, found: Layout) -> Layout:
    x, y, types = layout.x.copy(), layout.y.copy(), layout.types.copy()
    mine = problem.zone_of == z
    x[mine], y[mine], types[mine] = found.x, found.y, found.types
    return Layout(x, y, types)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_in_the_end_no_zone_can_improve_its_own_energy_by_its_own_method(seed: int) -> None:
    problem = _westerly()
    steps = [RandomStart(), Gradient(100)]
    found = InTurn(steps, rounds=200, maximise="own").run(problem, seed)
    assert (found.status, found.notes["settled"]) == ("converged", True)
    assert 2 < int(found.notes["rounds"]) < 200
    for z in range(2):
        mine = problem.zone_of == z
        own = _own_gwh(problem, found.layout, z)
        assert found.arrays["zone_aep"][z] == pytest.approx(own, rel=1e-12)
        others = Neighbours(found.x[~mine], found.y[~mine])
        farm = WindFarm(problem.farm.site, problem.farm.turbines, problem.farm.model, neighbours=others)
        zone = LayoutProblem(farm, problem.zones[z].boundary, 3, 390.0)
        start = Layout.of(found.x[mine], found.y[mine])
        again = Gradient(100).run(zone, seed, start)
        assert _own_gwh(problem, _with_zone(problem, found.layout, z, again.layout), z) <= own * (1 + 1e-9)
    assert found.aep_gwh == pytest.approx(float(found.arrays["zone_aep"].sum()), rel=1e-12)


def test_a_zone_that_maximises_its_own_energy_does_not_make_way_for_another() -> None:
    zones = [Zone(Boundary([WEST]), 1, "upwind"), Zone(Boundary([EAST]), 1, "downwind")]
    problem = replace(_westerly(), boundary=Zones(zones), n_turbines=2)
    start = Layout.of([1900.0, 2400.0], [1530.0, 1500.0])
    one_way = UniformSite([0.0, 0.0, 0.0, 1.0], 9.8)
    problem = replace(problem, farm=WindFarm(one_way, problem.farm.turbines, "iea37"))
    own = InTurn([Gradient(30)], rounds=3, maximise="own").run(problem, 0, start)
    for_all = InTurn([Gradient(30)], rounds=3, maximise="all").run(problem, 0, start)
    assert (own.x[0], own.y[0]) == (1900.0, 1530.0), "no turbine downwind takes anything from it"
    assert own.arrays["zone_aep"][1] > _own_gwh(problem, start, 1)
    assert abs(for_all.y[0] - 1530.0) > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("maximise", ["own", "all"])
def test_what_is_built_does_not_know_of_what_comes_later(maximise: str) -> None:
    steps = [RandomStart(), Gradient(20)]
    search = InTurn(steps, rounds=5, maximise=maximise)  # type: ignore[arg-type]
    found = search.run(_westerly(1, 2), 3)
    alone = replace(_westerly(), boundary=Zones([Zone(Boundary([WEST]), 3)]), n_turbines=3)
    first = search.run(alone, 3)
    assert found.x[:3].tobytes() == first.x.tobytes()
    assert found.y[:3].tobytes() == first.y.tobytes()
    other_order = search.run(_westerly(2, 1), 3)
    assert other_order.x[:3].tobytes() != first.x.tobytes()
    knowing = search.run(_westerly(), 3)
    assert _westerly().is_feasible(found.layout)
    assert knowing.x[:3].tobytes() != first.x.tobytes()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits_and_every_zone_keeps_its_mix() -> None:
    problem = mix_by_zone()
    search = InTurn([RandomStart(), RandomSearch(60)], rounds=3, maximise="own")
    one, same, other = search.run(problem, 5), search.run(problem, 5), search.run(problem, 6)
    assert (one.x.tobytes(), one.y.tobytes()) == (same.x.tobytes(), same.y.tobytes())
    assert one.x.tobytes() != other.x.tobytes()
    assert np.bincount(one.types[:4], minlength=2).tolist() == [3, 1]
    assert np.bincount(one.types[4:], minlength=2).tolist() == [1, 2]


@pytest.mark.slow
def test_rounds_end_when_nobody_moves_and_more_would_change_nothing() -> None:
    problem, steps = three_zones(), [RandomStart(), Gradient(40)]
    settled = InTurn(steps, rounds=200).run(problem, 2)
    rounds = int(settled.notes["rounds"])
    assert settled.notes["settled"] is True
    less = InTurn(steps, rounds=rounds - 1).run(problem, 2)
    assert less.layout.x.tobytes() == settled.layout.x.tobytes()
    assert (less.notes["settled"], less.status) == (False, "budget")


def test_something_else_to_maximise_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'own' or 'all', not 'both'"):
        InTurn([RandomStart()], maximise="both")  # type: ignore[arg-type]
