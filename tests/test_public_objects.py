"""What public objects say of themselves: one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vindeby
from tests.results.examples import campaign, publish
from vindeby.runner.protocol import Failure, Kind
from vindeby.runner.resume import ResumeState
from vindeby.runner.summary import Summary

HOSTILE = 'a"<b>&\x1b[31m\n\u202eb'


def turbine(name: str = "fifteen") -> vindeby.Turbine:
    return vindeby.Turbine.generic(name, rated_power_mw=15, rotor_diameter_m=240, hub_height_m=150)


def farm() -> vindeby.WindFarm:
    neighbours = vindeby.Neighbours([9000.0, 9900.0], [0.0, 0.0])
    return vindeby.WindFarm(vindeby.UniformSite(), turbine(), "jensen", neighbours=neighbours)


def boundary() -> vindeby.Boundary:
    return vindeby.Boundary([[(0, 0), (4000, 0), (4000, 3000), (0, 3000)]])


def result() -> vindeby.Result:
    return vindeby.Result(vindeby.Layout.of([0, 1200.0, 0], [0, 0, 2400.0]), 515.2264, "converged", 7)


def result_record(key: str = "farm0_t0_s0") -> vindeby.Record:
    layout = np.array([[0.0, 1200.0, 0.0], [0.0, 0.0, 2400.0]])
    return vindeby.Record(key, "f" * 64, {"layout": layout, "aep": np.array(123.4567)}, {"ss_seed": 0})


def summary() -> Summary:
    return Summary(
        Path("out.h5"), 12, ResumeState(done=3), done=8, failed={"a": Failure(Kind.STUCK, "no")}, seconds=3.21
    )


OBJECTS = [
    (turbine, "<Turbine 'fifteen': 15 MW, rotor 240 m, hub 150 m>"),
    (
        lambda: vindeby.WeibullSite([0.4, 0.6], [9.2, 10.4], [2.1, 2.1], turbulence_intensity=0.08),
        "<WeibullSite: 2 sectors, A 9.2 to 10.4 m/s, k 2.1, turbulence intensity 0.08>",
    ),
    (
        lambda: vindeby.TableSite([[0.5, 0.5]], [8.0, 12.0]),
        "<TableSite: 1 sector, wind speed 8 to 12 m/s, turbulence intensity 0.1>",
    ),
    (vindeby.UniformSite, "<UniformSite: 1 sector, wind speed 12 m/s, turbulence intensity 0.1>"),
    (
        lambda: vindeby.TimeSeriesSite(np.linspace(3, 20, 5000), np.zeros(5000)),
        "<TimeSeriesSite: 5,000 steps, wind speed 3 to 20 m/s, turbulence intensity 0.1>",
    ),
    (
        farm,
        (
            "<WindFarm: <Turbine 'fifteen': 15 MW, rotor 240 m, hub 150 m>; "
            "<UniformSite: 1 sector, wind speed 12 m/s, turbulence intensity 0.1>; wake 'jensen'; "
            "<Neighbours: 2 turbines>>"
        ),
    ),
    (
        vindeby.wake_models["jensen"],
        "<WakeModel 'jensen': constants (0.1), superposition squares, deficits of the free wind>",
    ),
    (boundary, "<Boundary: 4 edges, 4 km x 3 km>"),
    (
        lambda: vindeby.Boundary(circle=((0, 0), 900.0), round_holes=[((0, 0), 50.0)]),
        "<Boundary: circle of radius 900 m, 1 round hole, 1.8 km x 1.8 km>",
    ),
    (
        lambda: vindeby.LayoutProblem(farm(), boundary(), 3, 480.0),
        "<LayoutProblem 'farm': 3 turbines, spacing 480 m, in <Boundary: 4 edges, 4 km x 3 km>>",
    ),
    (result, "<Result: 515.226 GWh/year, converged, <Layout: 3 turbines, 1.2 km x 2.4 km>>"),
    (lambda: vindeby.Layout.of([], []), "<Layout: 0 turbines>"),
    (vindeby.SmartStart, "SmartStart(grid_size=18, random_pct=30)"),
    (
        lambda: vindeby.SmartStart(wind_directions=np.arange(360.0)),  # type: ignore[arg-type]
        "SmartStart(grid_size=18, random_pct=30, wind_directions=<360 values>)",
    ),
    (
        lambda: vindeby.Pipeline([vindeby.RandomStart(), vindeby.Gradient()]),
        (
            "Pipeline(steps=[RandomStart(), "
            "Gradient(max_iterations=320, widening=None, wind='coarse-to-fine')])"
        ),
    ),
    (result_record, "<Record 'farm0_t0_s0': aep 123.457, layout float64[2, 3], 1 attribute>"),
    (summary, "<Summary 'out.h5': 11 of 12 results, not complete, 1 task failed; computed 8 in 3.2 s>"),
    (
        campaign,
        "<Campaign 'small': 12 tasks = 2 farms x 2 types x 3 seeds; wake nygaard-2022; search call>",
    ),
    (lambda: campaign().farms[0], "<Farm 'north': 12 km2>"),
    (lambda: campaign().farms[0].boundary, "<Boundary: polygon of 4 corners, 12 km2>"),
    (lambda: campaign().turbines[0], "<Turbine 'five': generic, 5 MW, rotor 126 m, hub 90 m>"),
    (lambda: campaign().site, "<Site: Weibull, 4 sectors, 3 to 25 m/s>"),
]


@pytest.mark.parametrize(("make", "text"), OBJECTS, ids=[text[:24] for _, text in OBJECTS])
def test_an_object_says_what_it_is_in_one_line(make: Any, text: str) -> None:
    assert repr(make()) == text
    assert str(make()) == text


def test_a_repr_of_values_that_cannot_be_used_does_not_fail() -> None:
    """They are refused when they are used; a debugger shows them before."""
    assert "?" in repr(vindeby.WeibullSite("x", [], [[1], [1, 2]]))


def test_names_with_any_character_stay_in_one_line() -> None:
    for shown in (
        turbine(HOSTILE),
        result_record(HOSTILE),
        vindeby.LayoutProblem(farm(), boundary(), 1, name=HOSTILE),
    ):
        assert repr(shown).isprintable()
    odd = vindeby.Record("k", "", {HOSTILE: np.array(1.0), "b" + HOSTILE: np.zeros(3)})
    assert repr(odd).isprintable()


def test_results_say_how_many_they_are(tmp_path: Path) -> None:
    publish(tmp_path / "out.h5", campaign(), lambda task: task.farm_idx == 1 or task.seed == 2)
    database, results = vindeby.open(tmp_path / "out.h5"), vindeby.ResultSet(tmp_path / "out.h5")
    assert repr(database) == f"<Database '{tmp_path}/out.h5': 8 results>"
    assert repr(results) == f"<ResultSet '{tmp_path}/out.h5': 8 results, campaign 'small'>"
