"""The points of a lattice in an area: which they are, and how wide apart they can be."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, hypot, pi, sin

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.layout.lattice_cases import AREA, HOLE, Ring, lattices, problem_in
from vindeby.arrays import FloatArray
from vindeby.layout.lattices.points import Ground, PlaneLattice, reduced

pytestmark = pytest.mark.slow

Turn = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

ANY = lattices(250.0, 900.0)


def on_the_map(ground: Ground, lattice: PlaneLattice) -> FloatArray:
    points = ground.points(lattice)
    return np.stack([points.x + ground.origin[0], points.y + ground.origin[1]], axis=1)


def all_points(lattice: PlaneLattice, reach: int = 60) -> FloatArray:
    """All points near the anchor, as the definition says."""
    ux, uy, vx, vy = lattice.vectors
    i, j = (v.ravel() for v in np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1)))
    return np.stack([lattice.east + i * ux + j * vx, lattice.north + i * uy + j * vy], axis=1)


def same_points(a: FloatArray, b: FloatArray) -> bool:
    if len(a) != len(b):
        return False
    gaps = np.hypot(*(a[:, None, :] - b[None, :, :]).transpose(2, 0, 1))
    return len(a) == 0 or bool((gaps.min(axis=1) < 1e-6).all() and (gaps.min(axis=0) < 1e-6).all())


@settings(max_examples=60, deadline=None)
@given(lattice=ANY)
def test_points_are_those_of_the_definition_that_are_inside(lattice: PlaneLattice) -> None:
    ground = Ground(problem_in(AREA, HOLE))
    shape = shapely.Polygon(AREA, [HOLE])
    every = all_points(lattice) + ground.origin
    edge = shapely.distance(shape.boundary, shapely.points(every))
    assume(edge.min() > 1e-3)  # what is on the edge is a matter of rounding
    assert same_points(
        on_the_map(ground, lattice), every[shapely.contains_xy(shape, every[:, 0], every[:, 1])]
    )
    assert ground.counts(lattice).tolist() == [len(on_the_map(ground, lattice))]


def rotation(angle: float) -> Turn:
    c, s = cos(angle), sin(angle)
    return lambda x, y: (c * x - s * y, s * x + c * y)


@settings(max_examples=40, deadline=None)
@given(
    lattice=ANY,
    angle=st.floats(-pi, pi),
    mirrored=st.booleans(),
    shift=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)),
)
def test_a_turned_mirrored_and_shifted_area_has_the_points_turned_mirrored_and_shifted(
    lattice: PlaneLattice, angle: float, mirrored: bool, shift: tuple[float, float]
) -> None:
    turn, sign = rotation(angle), -1.0 if mirrored else 1.0

    def moved(x: FloatArray, y: FloatArray) -> FloatArray:
        return np.stack(turn(x, sign * y), axis=1) + shift

    def ring(corners: Ring) -> Ring:
        return tuple(map(tuple, moved(*np.array(corners).T).tolist()))

    here = Ground(problem_in(AREA, HOLE))
    there = Ground(problem_in(ring(AREA), ring(HOLE)))
    anchor = moved(np.array([lattice.east + here.origin[0]]), np.array([lattice.north + here.origin[1]]))[0]
    other = PlaneLattice(
        angle + sign * lattice.angle,
        sign * lattice.aspect,
        lattice.skew,
        lattice.pitch,
        *(anchor - there.origin),
    )
    found = on_the_map(here, lattice)
    edge = shapely.distance(
        shapely.Polygon(AREA, [HOLE]).boundary, shapely.points(all_points(lattice) + here.origin)
    )
    assume(edge.min() > 1e-3)
    expected = moved(found[:, 0], found[:, 1]) - shift
    assert same_points(on_the_map(there, other) - shift, expected)


@settings(max_examples=100, deadline=None)
@given(lattice=ANY)
def test_the_reduced_vectors_are_of_the_same_lattice_and_the_first_is_its_least_distance(
    lattice: PlaneLattice,
) -> None:
    ux, uy, vx, vy = reduced(lattice.vectors)
    points = all_points(
        PlaneLattice(lattice.angle, lattice.aspect, lattice.skew, lattice.pitch, 0.0, 0.0), 20
    )
    lengths = np.sort(np.hypot(points[:, 0], points[:, 1]))
    assert hypot(ux, uy) == pytest.approx(lengths[1], rel=1e-9)
    assert abs(ux * vy - uy * vx) == pytest.approx(lattice.pitch**2 * lattice.aspect, rel=1e-9)
    assert abs(ux * vx + uy * vy) <= 0.5 * hypot(ux, uy) ** 2 * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(lattice=ANY, count=st.integers(1, 60), spacing=st.floats(50.0, 600.0))
def test_the_widest_pitch_has_the_points_wanted_the_spacing_apart(
    lattice: PlaneLattice, count: int, spacing: float
) -> None:
    ground = Ground(problem_in(AREA, HOLE, count, spacing))
    pitch = ground.widest_pitch(lattice, ground.needed)

    def at(pitch: float) -> PlaneLattice:
        return PlaneLattice(lattice.angle, lattice.aspect, lattice.skew, pitch, lattice.east, lattice.north)

    narrowest = ground.narrowest(lattice)
    assert np.hypot(*reduced(at(narrowest).vectors)[:2]) >= spacing * (1 - 1e-12)
    if pitch == 0.0:
        assert ground.counts(at(narrowest))[0] < count
        return
    assert pitch >= narrowest
    points = on_the_map(ground, at(pitch * (1 - 1e-9)))
    assert len(points) >= count - 1  # the last may be on the edge
    gaps = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    assert gaps[np.triu_indices(len(points), 1)].min(initial=np.inf) >= spacing - 1e-6
