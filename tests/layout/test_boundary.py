from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry.base import BaseGeometry

from tests.layout.cases import SHAPES
from vindeby.errors import ArgumentError
from vindeby.layout import Boundary

POLYGONS = [name for name in SHAPES if name != "circle"]


def boundary_and_area(shape: str) -> tuple[Boundary, BaseGeometry]:
    polygons, holes = SHAPES[shape]
    area = shapely.union_all([shapely.Polygon(ring) for ring in polygons])
    for ring in holes:
        area = area.difference(shapely.Polygon(ring))
    return Boundary(polygons, holes=holes), area


def scatter(boundary: Boundary, count: int) -> tuple[np.ndarray, np.ndarray]:
    west, south, east, north = boundary.bounds
    rng = np.random.default_rng(0)
    return rng.uniform(west - 2000, east + 2000, count), rng.uniform(south - 2000, north + 2000, count)


@pytest.mark.parametrize("shape", POLYGONS)
def test_the_signed_distance_is_shapelys_with_a_sign(shape: str) -> None:
    boundary, area = boundary_and_area(shape)
    x, y = scatter(boundary, 3000)
    expected = shapely.distance(area.boundary, shapely.points(x, y))
    expected = np.where(shapely.contains_xy(area, x, y), expected, -expected)
    np.testing.assert_allclose(boundary.distances(x, y), expected, rtol=0, atol=1e-6)


def test_on_an_edge_the_distance_is_0_whatever_the_sense_of_rotation() -> None:
    for ring in ([(0, 0), (100, 0), (100, 100), (0, 100)], [(0, 0), (0, 100), (100, 100), (100, 0)]):
        boundary = Boundary([ring], holes=[[(40, 40), (60, 40), (60, 60), (40, 60)]])
        np.testing.assert_allclose(
            boundary.distances([50.0, 100.0, 50.0], [0.0, 50.0, 40.0]), 0.0, atol=1e-12
        )
        assert (boundary.distances([50.0, 99.0, 50.0], [1.0, 50.0, 39.0]) > 0.0).all()


def test_a_circle_is_round_and_its_holes_are_empty() -> None:
    boundary = Boundary(circle=((10.0, 20.0), 100.0), holes=[[(0, 0), (20, 0), (20, 10), (0, 10)]],
                        round_holes=[((10.0, 70.0), 5.0)])  # fmt: skip
    x = [10.0, 110.0, 10.0, 10.0, 10.0, 111.0]
    y = [21.0, 20.0, 5.0, 70.0, 76.0, 20.0]
    np.testing.assert_allclose(boundary.distances(x, y), [11.0, 0.0, -5.0, -5.0, 1.0, -1.0], atol=1e-9)
    assert boundary.inside(x, y).tolist() == [True, True, False, False, True, False]
    assert boundary.bounds == (-90.0, -80.0, 110.0, 120.0)


def test_samples_fill_the_area_and_nothing_else() -> None:
    boundary, area = boundary_and_area("two")
    x, y = boundary.sample(np.random.default_rng(1), 20000)
    assert boundary.inside(x, y).all()
    left = shapely.Polygon(SHAPES["two"][0][0])
    assert abs(shapely.contains_xy(left, x, y).mean() - left.area / area.area) < 0.015


@settings(max_examples=30, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(-7e6, 7e6))
def test_a_move_of_the_frame_moves_the_distances_with_it(east: float, north: float) -> None:
    polygons, holes = SHAPES["hole"]
    shift = np.array([east, north])
    moved = Boundary([np.array(r) + shift for r in polygons], holes=[np.array(r) + shift for r in holes])
    x, y = np.linspace(-500, 9800, 40), np.linspace(9500, -300, 40)
    np.testing.assert_allclose(
        moved.distances(x + east, y + north), Boundary(polygons, holes=holes).distances(x, y), atol=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"polygons": []}, "give one of the two"),
        ({"polygons": [[(0, 0), (1, 0)]]}, "at least three"),
        ({"polygons": [[(0, 0), (1, 1), (1, 0), (0, 1)]]}, "crosses itself"),
        ({"polygons": [[(0, 0), (1, 0), (1, 1)]], "holes": [[(-1, -1), (3, -1), (3, 3), (-1, 3)]]}, "leave nothing"),
    ],
)  # fmt: skip
def test_what_is_no_area_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Boundary(**arguments)  # type: ignore[arg-type]


def test_the_area_is_without_round_holes_as_far_as_they_are_in_it() -> None:
    square = Boundary(
        [[(0, 0), (100, 0), (100, 100), (0, 100)]], round_holes=[((100, 50), 20), ((50, 50), 10)]
    )
    assert square.area_m2 == pytest.approx(1e4 - np.pi * (200.0 + 100.0), rel=1e-4)
    disc = Boundary(
        circle=((5, 5), 100),
        holes=[[(0, 0), (10, 0), (10, 10), (0, 10)]],
        round_holes=[((55, 5), 10), ((55, 5), 5)],
    )
    assert disc.area_m2 == pytest.approx(np.pi * (1e4 - 100.0) - 100.0, rel=1e-4)
