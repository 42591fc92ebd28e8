from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import shapely
from shapely.geometry.base import BaseGeometry

from tests.campaign.examples import SMALL, changed, small
from vindeby.campaign import Campaign
from vindeby.campaign.sections.boundary import clean_ring, most_points
from vindeby.errors import CampaignError

SQUARE = "[[0, 0], [4000, 0], [4000, 3000], [0, 3000]]"


def load_with_boundary_file(tmp_path: Path, name: str, text: str) -> Campaign:
    (tmp_path / "areas").mkdir(exist_ok=True)
    (tmp_path / "areas" / name).write_text(text)
    (tmp_path / "c.yaml").write_text(SMALL.replace(SQUARE, f"{{file: areas/{name}}}"))
    return Campaign.load(tmp_path / "c.yaml")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "x,y\n0,0\n4000,0\n4000,3000\n0,3000\n"),
        ("a.csv", "# metres\n0, 0\n\n4000, 0\n4000, 3e3\n0, 3000\n0, 0\n"),
        ("a.yaml", "- [0, 0]\n- [4000, 0]\n- [4000, 3000]\n- [0, 3000]\n"),
        ("a.yaml", f"polygon: {SQUARE}\nexclusions: []\n"),
        ("a.json", '{"polygons": [[[0, 0], [4000, 0], [4000, 3000], [0, 3000]]]}'),
    ],
)
def test_a_boundary_from_a_file_is_the_one_written_inline(tmp_path: Path, name: str, text: str) -> None:
    loaded = load_with_boundary_file(tmp_path, name, text)
    assert loaded.tasks() == Campaign.loads(SMALL).tasks()
    assert "areas" not in loaded.dumps()  # the frozen campaign refers to no other file


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "0,0\n4000,0\nabc,3000\n", ("a.csv:3: farms[0].boundary: the x is not a number",)),
        ("a.csv", "0,0\n4000,0,1\n0,3000\n", ("a.csv:2: farms[0].boundary: has 3 columns instead of 2",)),
        ("a.csv", "0;0\n4000;0\n", ("a.csv:", "farms[0].boundary")),
        ("a.csv", "", ("a.csv:1: farms[0].boundary: has no rows below a header",)),
        (
            "a.csv",
            "0,0\n4000,3000\n4000,0\n0,3000\n",
            ("a.csv:1: farms[0].boundary.polygon[0]", "Self-intersection[2000 1500]"),
        ),
        ("a.yaml", "polygon: [[0, 0], [1, 1]]\n", ("a.yaml:1: farms[0].boundary.polygon[1]", "open")),
        (
            "a.yaml",
            "polygons:\n  - [[0, 0], [9, 0], [9, 9]]\n  -\n    - [0, 0]\n    - [1, x]\n    - [1, 1]\n",
            ("a.yaml:5: farms[0].boundary.polygons[1][1][1]: must be a number",),
        ),
        (
            "a.yaml",
            "polygn: []\n",
            ("a.yaml:1: farms[0].boundary: has a key that is not known", "known: polygon, polygons"),
        ),
    ],
)
def test_a_wrong_boundary_file_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, words: list[str]
) -> None:
    with pytest.raises(CampaignError) as caught:
        load_with_boundary_file(tmp_path, name, text)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_area_leaves_out_the_exclusions_and_counts_overlap_once() -> None:
    data = changed(
        "farms.0.boundary",
        {
            "polygons": [
                [[0, 0], [2000, 0], [2000, 1000], [0, 1000]],
                [[1000, 0], [3000, 0], [3000, 1000], [1000, 1000]],
            ],
            "exclusions": [[[0, 0], [500, 0], [500, 1000], [0, 1000]], [[90000, 0], [90001, 0], [90001, 1]]],
        },
    )
    assert Campaign.from_data(data).farms[0].boundary.area_km2 == pytest.approx(2.5, rel=1e-12)


def test_a_circle_has_the_area_of_a_circle() -> None:
    data = changed("farms.0.boundary", {"circle": {"center": [5, 5], "radius_m": 1300}})
    area = Campaign.from_data(data).farms[0].boundary.area_km2
    assert area == pytest.approx(math.pi * 1.3**2, rel=2e-4)


def test_the_closing_vertex_and_repeated_vertices_are_dropped() -> None:
    ring = ((0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0))
    assert clean_ring(ring) == ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0))


@pytest.mark.parametrize("spacing", [150.0, 333.0, 700.0])
@pytest.mark.parametrize(
    "area",
    [
        shapely.box(0, 0, 3000, 2000),
        shapely.Point(0, 0).buffer(1300),
        shapely.Polygon([(0, 0), (4000, 0), (4000, 300), (300, 300), (300, 4000), (0, 4000)]),
        shapely.MultiPolygon([shapely.box(0, 0, 10, 10), shapely.box(5000, 0, 5010, 10)]),
    ],
)
def test_the_bound_on_turbines_is_never_below_what_a_hexagonal_layout_reaches(
    area: BaseGeometry, spacing: float
) -> None:
    left, bottom, right, top = area.bounds
    best = 0
    for shift in np.linspace(0, spacing, 12, endpoint=False):
        rows = np.arange(bottom + shift % (spacing * 0.866), top + 1, spacing * math.sqrt(3) / 2)
        points = [
            (x, y)
            for index, y in enumerate(rows)
            for x in np.arange(left + (index % 2) * spacing / 2 + shift % 7, right + 1e-9, spacing)
        ]
        best = max(best, int(shapely.intersects_xy(area, np.array(points)).sum()) if points else 0)
    bound = most_points(area, spacing)
    assert best <= bound
    assert bound <= 2.6 * best + 4  # and it says something


def test_a_farm_has_the_amount_of_its_own_where_it_has_one() -> None:
    data = small()
    data["farms"][1]["n_turbines"] = 4
    counts = {
        task.farm_idx: task.n_turbines for task in Campaign.from_data(data).tasks() if task.type_idx == 0
    }
    assert counts == {0: 6, 1: 4}


@pytest.mark.parametrize(
    ("capacity", "rated", "count"), [(1000, 15, 66), (1000, 10, 100), (0.3, 0.1, 3), (29.99, 5, 5)]
)
def test_a_capacity_makes_as_many_turbines_as_fit_under_it(capacity: float, rated: float, count: int) -> None:
    data = changed("capacity_mw", capacity)
    data["turbines"] = [
        {"name": "t", "generic": {"rated_power_mw": rated, "rotor_diameter_m": 99, "hub_height_m": 99}}
    ]
    assert Campaign.from_data(data).tasks()[0].n_turbines == count
