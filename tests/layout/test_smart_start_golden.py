from __future__ import annotations

import importlib.util
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.layout.cases import CASES, CIRCLE, FREQUENCY, SHAPES, TURBINES, WEIBULL_A, WEIBULL_K, Case
from vindeby.layout import Boundary, LayoutProblem, SmartStart
from vindeby.wake import MODELS, Neighbours, Turbine, WeibullSite, WindFarm

pytestmark = pytest.mark.slow

GOLDEN = json.loads(Path(__file__).with_name("golden.json").read_text())


def problem_of(case: Case) -> LayoutProblem:
    turbines = [Turbine.generic(name, *TURBINES[name]) for name in case.turbines]
    near = Neighbours(*np.array(case.neighbours).T) if case.neighbours else None
    site = WeibullSite(FREQUENCY, WEIBULL_A, WEIBULL_K, interpolation=case.interpolation)
    farm = WindFarm(site, turbines, case.model, neighbours=near)
    polygons, holes = SHAPES[case.shape]
    boundary = Boundary(polygons, holes=holes) if polygons else Boundary(circle=CIRCLE)
    spacing = [case.spacing * turbine.rotor_diameter_m for turbine in turbines]
    return LayoutProblem(farm, boundary, case.count, spacing if len(spacing) > 1 else spacing[0], case.name)


def method_of(case: Case) -> SmartStart:
    return SmartStart(case.grid_size, case.random_pct, case.speeds, case.directions)


# Every model's loops are compiled for it, which takes longest; by default those of two are.
CHOSEN = [
    case for case in CASES if case.model in ("nygaard-2022", "iea37") or os.environ.get("VINDEBY_FULL") == "1"
]


# TopFarm's figures were made before these models; the loops that place turbines are the same for all of them.
WITHOUT_TOPFARM = {"bastankhah-2016", "cumulative-curl", "gaussian", "top-hat", "turbopark-2020"}


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_smart_start_chooses_the_points_that_topfarm_chose(case: Case) -> None:
    expected = GOLDEN[case.name]
    result = method_of(case).run(problem_of(case), case.seed)
    assert result.x.tolist() == expected["x"]
    assert result.y.tolist() == expected["y"]
    assert result.types.tolist() == expected["types"]


def test_there_are_enough_configurations_to_speak_of_identity() -> None:
    assert len(CASES) >= 60
    assert {case.name for case in CASES} == set(GOLDEN)
    for interpolation in ("linear", "nearest"):
        models = {case.model for case in CASES if case.interpolation == interpolation}
        assert models == set(MODELS) - WITHOUT_TOPFARM


def test_the_interpolation_of_the_site_decides_where_topfarm_puts_turbines() -> None:
    """Otherwise the cases of one interpolation would say nothing about the other."""
    nearest = [name for name in GOLDEN if name.endswith("-nearest")]
    differ = [name for name in nearest if GOLDEN[name] != GOLDEN[name.removesuffix("-nearest")]]
    assert len(nearest) == len(GOLDEN) / 2
    assert len(differ) > 10


if importlib.util.find_spec("topfarm") is not None:  # the golden file stands for it where it is not installed

    def test_topfarm_still_chooses_these_points() -> None:
        from tests.layout.topfarm_oracle import smart_start

        case = CASES[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x, y, _ = smart_start(case)
        assert (x, y) == (GOLDEN[case.name]["x"], GOLDEN[case.name]["y"])
