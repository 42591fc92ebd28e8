"""A campaign on PyWake: what PyWake itself gives, by each way that a campaign asks for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from py_wake.flow_map import Points
from py_wake.literature import Bastankhah_PorteAgel_2014

from tests.interop.engine_campaigns import BASTANKHAH, X, Y, campaign, turbine, weibull
from vindeby.assembly.foreign_farm import ForeignFarm
from vindeby.assembly.search import pipeline_of, problem_of
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError, InputError
from vindeby.interop import to_pywake

pytestmark = pytest.mark.oracle

SERIES = {
    "time_series": {
        "wind_speed": [6.0, 9.0, 12.0, 7.5, 0.0],
        "wind_direction": [270.0, 10.0, 271.5, 95.0, 30.0],
        "turbulence_intensity": [0.06, 0.1, 0.07, 0.09, 0.08],
        "weight": [1.0, 2.0, 1.0, 3.0, 1.0],
    }
}
WINDY = {"time_series": {**SERIES["time_series"], "wind_speed": [6.0, 9.0, 12.0, 7.5, 5.0]}}
LOCAL = {
    "x": [-500.0, 1000.0, 2500.0],
    "y": [-500.0, 2500.0],
    "speedup": {"axes": ["x", "y"], "values": [1.0, 1.1, 1.05, 0.95, 0.9, 1.02]},
}


def pywake(given: Campaign) -> tuple[Any, dict[str, Any]]:
    found = to_pywake(given)
    return Bastankhah_PorteAgel_2014(found.site, found.wind_turbines, k=0.0324555), found.arguments


@pytest.mark.parametrize(
    "site",
    [
        weibull(),
        weibull(interpolation="nearest"),
        weibull(
            turbulence_intensity={
                "values": [0.05, 0.06, 0.08, 0.1],
                "wind_directions": [0.0, 90.0, 180.0, 270.0],
            }
        ),
        {**weibull(), "local": LOCAL},
    ],
    ids=["weibull", "nearest", "turbulence by direction", "local"],
)
def test_energy_power_and_gradient_are_those_of_pywake(site: dict[str, Any]) -> None:
    given = campaign(BASTANKHAH, site=site)
    farm, (model, wind) = wind_farm(given, 0), pywake(given)
    simulated = model(X, Y, **wind)
    np.testing.assert_allclose(farm.turbine_aep(X, Y), simulated.aep().sum(["wd", "ws"]).values, rtol=1e-10)
    np.testing.assert_allclose(farm.power(X, Y), simulated.Power.values, rtol=1e-10)
    np.testing.assert_allclose(farm.wind_speed(X, Y), simulated.WS_eff.values, rtol=1e-10)
    energy, east, north = farm.aep_and_gradient(X, Y)
    slopes = model.aep_gradients(x=np.array(X), y=np.array(Y), **wind)
    assert energy == pytest.approx(float(simulated.aep().sum()), rel=1e-10)
    np.testing.assert_allclose([east, north], slopes, rtol=1e-8, atol=1e-12)


def test_a_time_series_has_its_weights_and_turbulence() -> None:
    given = campaign(
        {"pywake": "py_wake.literature:Niayifar_PorteAgel_2016"}, site=SERIES, method=["smart-start"]
    )
    farm, found = wind_farm(given, 0), to_pywake(given)
    from py_wake.literature import Niayifar_PorteAgel_2016

    watts = Niayifar_PorteAgel_2016(found.site, found.wind_turbines)(X, Y, **found.arguments).Power.values
    np.testing.assert_allclose(farm.power(X, Y), watts, rtol=1e-10)
    weights = np.array(SERIES["time_series"]["weight"]) / 8.0
    assert farm.aep(X, Y) == pytest.approx(float((watts * weights).sum()) * 8760e-9, rel=1e-10)
    in_chunks = list(farm.power_steps(X, Y, steps_per_chunk=2))
    assert [steps for steps, _ in in_chunks] == [slice(0, 2), slice(2, 4), slice(4, 5)]
    np.testing.assert_allclose(np.hstack([part for _, part in in_chunks]), watts, rtol=1e-12)


def test_mixes_and_neighbours_stand_in_the_wakes_but_neighbours_do_not_count() -> None:
    around = {
        "turbines": [turbine("far", 1.2)],
        "positions": [[-800.0, 20.0], [-900.0, 850.0]],
        "type": "far",
    }
    given = campaign(
        BASTANKHAH,
        turbines=[turbine(), turbine("large", 1.3)],
        neighbours=[around],
        n_turbines=None,
        mix={"five": 3, "large": 2},
    )
    farm, types = wind_farm(given, [0, 1], 0), [0, 1, 0, 1, 0]
    found = to_pywake(farm.site, farm.turbines)
    model = Bastankhah_PorteAgel_2014(found.site, found.wind_turbines, k=0.0324555)
    all_x, all_y, all_types = [*X, -800.0, -900.0], [*Y, 20.0, 850.0], [*types, 2, 2]
    each = model(all_x, all_y, type=all_types, **found.arguments).aep().sum(["wd", "ws"]).values
    np.testing.assert_allclose(farm.turbine_aep(X, Y, types), each[:5], rtol=1e-10)
    energy, east, _ = farm.aep_and_gradient(X, Y, types)
    moved = np.array(X) + np.array([0.0, 0.01, 0.0, 0.0, 0.0])
    assert east[1] == pytest.approx((farm.aep(moved, Y, types) - energy) / 0.01, rel=1e-3)
    assert len(east) == 5


def test_points_of_a_smart_start_are_worth_what_pywakes_energy_map_says() -> None:
    given = campaign(BASTANKHAH)
    farm, (model, _) = wind_farm(given, 0), pywake(given)
    assert isinstance(farm, ForeignFarm)
    px, py = np.array([50.0, 800.0, 1500.0]), np.array([400.0, 300.0, 30.0])
    wind = {"wd": np.arange(0.0, 360.0, 30.0), "ws": np.array([6.0, 9.0])}
    standing = np.array(X), np.array(Y), np.zeros(5, np.int64)
    found = farm.point_energies(px, py, standing, wind["wd"], wind["ws"])[:, 0] * 8760e-9
    asked = model(X, Y, **wind).aep_map(Points(px, py, np.full(3, 90.0)), type=0).values
    np.testing.assert_allclose(found, asked, rtol=1e-10)


def test_smart_start_takes_the_best_point_each_time() -> None:
    given = campaign(BASTANKHAH)
    problem = problem_of(given, given.cells()[0])
    found = pipeline_of(given).run(problem, seed=0)
    model, _ = pywake(given)
    wind = {"wd": np.array([0.0, 90.0, 180.0, 270.0]), "ws": np.array([6.0, 8.0, 10.0, 12.0, 14.0])}
    chosen = list(zip(found.x.tolist(), found.y.tolist(), strict=True))
    for count in range(1, 4):
        x, y = found.x[:count], found.y[:count]
        free = [
            (px, py)
            for px in np.linspace(0.0, 2000.0, 5)
            for py in np.linspace(0.0, 2000.0, 5)
            if np.hypot(x - px, y - py).min() >= 378.0
        ]
        points = Points(*np.array(free).T, np.full(len(free), 90.0))
        worth = dict(zip(free, model(x, y, **wind).aep_map(points, type=0).values.tolist(), strict=True))
        assert worth[chosen[count]] == pytest.approx(max(worth.values()), rel=1e-12)
    stated = float(model.aep(found.x, found.y, **to_pywake(given).arguments))
    assert problem.stated_aep(found.layout) == pytest.approx(stated, rel=1e-10)


@pytest.mark.parametrize(
    ("step", "least_gain"),
    [
        ({"gradient": {"max_iterations": 6}}, 1e-3),
        ({"random-search": {"max_evaluations": 25}}, 1e-4),
        ({"annealing": {"max_evaluations": 25}}, 0.0),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_searches_make_a_layout_better(step: dict[str, Any], least_gain: float) -> None:
    small = campaign(
        BASTANKHAH, site=weibull(direction_step=90.0), method=["random-start", step], n_turbines=5
    )
    problem, pipeline = problem_of(small, small.cells()[0]), pipeline_of(small)
    start = pipeline.steps[0].run(problem, 1)
    found = pipeline.run(problem, 1)
    assert found.aep_gwh >= start.aep_gwh * (1.0 + least_gain)
    assert problem.is_feasible(found.layout)
    again = pipeline.run(problem, 1)
    np.testing.assert_array_equal([again.x, again.y], [found.x, found.y])


@pytest.mark.parametrize("deflection", ["jimenez:JimenezWakeDeflection", "gcl_hill_vortex:GCLHillDeflection"])
@pytest.mark.parametrize("site", [weibull(), WINDY], ids=["weibull", "series"])
def test_a_deflection_model_is_given_turbines_that_face_the_wind(deflection: str, site: Any) -> None:
    wake = {"pywake": "tests.interop.engine_campaigns:deflected", "options": {"deflection": deflection}}
    method = {"smart-start": {"grid_size": 5, "random_pct": 0}}
    given, plain = (campaign(one, site=site, method=method) for one in (wake, BASTANKHAH))
    farm, straight = wind_farm(given, 0), wind_farm(plain, 0)
    np.testing.assert_allclose(farm.turbine_aep(X, Y), straight.turbine_aep(X, Y), rtol=1e-9)
    for found, right in zip(
        farm.aep_and_gradient(X, Y)[1:], straight.aep_and_gradient(X, Y)[1:], strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=1e-7, atol=1e-12)
    problem = problem_of(given, given.cells()[0])
    assert pipeline_of(given).run(problem, 1).aep_gwh > 0.0  # smart start asks for wind at points


@pytest.mark.parametrize(
    ("wake", "words"),
    [
        ({"pywake": "py_wake.literature"}, "is not of the form package.module:function"),
        ({"pywake": "py_wake.literature:Nygaard_2022", "blockage": "self-similar-2020"}, "own wake models"),
        ({"pywake": "py_wake.literature:Nygaard_2022", "options": [1]}, "must be a mapping"),
        ({"jensen": {}, "options": {"k": 0.1}}, "goes with pywake, floris or python only"),
        ({"pywake": {"model": "a:b", "options": {"k": 1}}, "options": {"k": 1}}, "is given twice"),
        ({"pywake": "py_wake.literature:Nygaard_2022", "jensen": {}}, "exclude each other"),
        ({"pywake": {"model": "a:b", "colour": "red"}}, "colour"),
    ],
)
def test_a_campaign_that_names_an_engine_wrongly_is_refused(wake: Any, words: str) -> None:
    with pytest.raises(CampaignError, match=words):
        campaign(wake)


@pytest.mark.parametrize(
    ("wake", "words"),
    [
        ({"pywake": "no_such_module:Model"}, "No module named 'no_such_module'; is the module installed"),
        ({"pywake": "py_wake.literature:NoSuch"}, "py_wake.literature has no NoSuch"),
        ({"pywake": "py_wake.version:__version__"}, "is a str, not a class or function"),
        ({**BASTANKHAH, "options": {"colour": "red"}}, r"colour='red'\) raised TypeError"),
        ({"pywake": "builtins:max"}, "raised TypeError"),
        (
            {"pywake": "tests.interop.engine_campaigns:no_model"},
            "gives a NoneType, not a PyWake wind-farm model",
        ),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_with_a_reason(wake: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        wind_farm(campaign(wake), 0)


def test_the_missing_package_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "py_wake", None)
    with pytest.raises(InputError, match=r"pip install 'vindeby\[pywake\]'"):
        wind_farm(campaign(BASTANKHAH), 0)
    monkeypatch.setitem(sys.modules, "floris", None)
    from vindeby.interop.engines import need_engine

    with pytest.raises(InputError, match=r"pip install 'vindeby\[floris\]'"):
        need_engine("floris")


def test_the_model_and_its_options_are_in_the_fingerprint() -> None:
    other = {**BASTANKHAH, "options": {"k": 0.04}}
    prints = [
        campaign(wake).tasks()[0].fingerprint
        for wake in (BASTANKHAH, other, {"pywake": BASTANKHAH["pywake"]})
    ]
    assert len({*prints}) == 3
    given = campaign(BASTANKHAH)
    assert Campaign.loads(given.dumps()).fingerprints() == given.fingerprints()
