"""A campaign's farm among turbines that stand already: energy, search and validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.physics.oracle import (
    FREQUENCY,
    WEIBULL_A,
    WEIBULL_K,
    needs_pywake,
    pywake_generic,
    pywake_model,
    pywake_weibull_site,
    turbine_aep,
)
from vindeby.assembly.physics import physics_checks
from vindeby.assembly.search import pipeline_of, problem_of
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.store.format.record import Record

pytestmark = pytest.mark.oracle

OWN, THEIRS = (10, 195, 121), (2, 80, 70)
BESIDE = [[4600.0, 300.0], [4700.0, 1400.0], [-900.0, 800.0], [1500.0, 1200.0]]
KINDS = ["own", "theirs", "theirs", "theirs"]


def described(name: str, figures: tuple[int, int, int]) -> dict[str, Any]:
    keys = ("rated_power_mw", "rotor_diameter_m", "hub_height_m")
    return {"name": name, "generic": dict(zip(keys, figures, strict=True))}


def campaign(wake: str = "bastankhah-2014", **changes: Any) -> Campaign:
    sectors = [
        {"direction": 30.0 * index, "a": a, "k": k, "frequency": f}
        for index, (a, k, f) in enumerate(zip(WEIBULL_A, WEIBULL_K, FREQUENCY, strict=True))
    ]
    data: dict[str, Any] = {
        "name": "among",
        "farms": [{"name": "here", "boundary": [[0, 0], [4000, 0], [4000, 2500], [0, 2500]]}],
        "turbines": [described("own", OWN)],
        "neighbours": [
            {"turbines": [described("theirs", THEIRS)], "type": KINDS, "positions": BESIDE},
        ],
        "n_turbines": 5,
        "min_spacing": "3 D",
        "site": {"weibull": {"turbulence_intensity": 0.1, "direction_step": 30.0, "sectors": sectors}},
        "wake": wake,
        "method": [{"smart-start": {"grid_size": 8, "random_pct": 20}}, {"random-search": {"max_evaluations": 50}}],
        "seeds": 2,
    } | changes  # fmt: skip
    return Campaign.from_data({key: value for key, value in data.items() if value is not None})


LAYOUT = np.array([[200.0, 1200.0, 2400.0, 3300.0, 3900.0], [300.0, 2300.0, 500.0, 1900.0, 900.0]])


@needs_pywake
@pytest.mark.parametrize(("wake", "tolerance"), [("bastankhah-2014", 1e-10), ("nygaard-2022", 1e-6)])
def test_a_farm_among_neighbours_is_worth_what_pywake_says_of_its_own_turbines(
    wake: str, tolerance: float
) -> None:
    from py_wake.wind_turbines import WindTurbines

    farm = wind_farm(campaign(wake), 0, 0)
    both = WindTurbines.from_WindTurbine_lst([pywake_generic(*OWN), pywake_generic(*THEIRS)])
    oracle = pywake_model(wake, pywake_weibull_site(), both)
    x, y = np.hstack([LAYOUT, np.array(BESIDE).T])
    kinds = np.array([0] * 5 + [["own", "theirs"].index(kind) for kind in KINDS])
    theirs = turbine_aep(oracle, x, y, type=kinds, wd=np.arange(360.0))
    assert farm.aep(*LAYOUT) == pytest.approx(theirs[:5].sum(), rel=tolerance)
    assert farm.aep(*LAYOUT) < 0.999 * wind_farm(campaign(wake), 0).aep(*LAYOUT)


def test_types_that_are_the_same_are_one_type() -> None:
    farm = wind_farm(campaign(), 0, 0)
    assert [turbine.name for turbine in farm.turbines] == ["own", "theirs"]
    assert farm.neighbours is not None
    assert list(np.asarray(farm.neighbours.types)) == [0, 1, 1, 1]


@settings(max_examples=20, deadline=None)
@given(
    sector=st.integers(0, 11),
    between=st.floats(12.0, 18.0),
    away=st.floats(1.5e5, 1.9e5),
    count=st.integers(1, 6),
    kind=st.sampled_from(["own", "theirs"]),
)
def test_neighbours_out_of_reach_change_nothing(
    sector: int, between: float, away: float, count: int, kind: str
) -> None:
    """Between two of the twelve wind directions, no wake comes from there."""
    bearing = np.deg2rad(30.0 * sector + between)
    far = away * np.array([np.sin(bearing), np.cos(bearing)])
    places = [[*(far + 1000.0 * index)] for index in range(count)]
    beside = [{"turbines": [described("theirs", THEIRS)], "type": kind, "positions": places}]
    among = wind_farm(campaign(neighbours=beside), 0, 0, searched=True)
    alone = wind_farm(campaign(), 0, searched=True)
    assert among.aep(*LAYOUT) == pytest.approx(alone.aep(*LAYOUT), rel=1e-11)


def checked(layout: np.ndarray[Any, Any], asked: Campaign, energy: float | None = None) -> list[str]:
    gwh = wind_farm(asked, 0, 0).aep(*layout) if energy is None else energy
    record = Record("farm0_t0_s0", "", {"layout": layout, "aep": np.array(gwh)}, {})
    return [text for check in physics_checks(asked, deep=True) for text in check(record)]


def test_validation_counts_the_wakes_of_neighbours() -> None:
    asked = campaign()
    assert checked(LAYOUT, asked) == []
    (wrong,) = checked(LAYOUT, asked, wind_farm(asked, 0).aep(*LAYOUT))
    assert "but the layout gives" in wrong


def test_a_turbine_keeps_the_mean_of_both_spacings_from_a_neighbour() -> None:
    asked = campaign()
    needed = 3.0 * (195 + 80) / 2
    for gap, expected in (
        (needed + 1e-3, []),
        (needed - 1e-2, ["turbine 2 is 0.01 m too near to neighbour 3, at (1912.49, 1200)"]),
    ):
        layout = LAYOUT.copy()
        layout[:, 2] = 1500.0 + gap, 1200.0
        assert checked(layout, asked) == expected


def test_a_search_keeps_clear_of_neighbours_and_places_its_own_type_only() -> None:
    """The neighbours are the larger turbines, which a search that could choose would take."""
    beside = [{"turbines": [described("theirs", OWN)], "positions": BESIDE}]
    asked = campaign(n_turbines=9, turbines=[described("own", THEIRS)], neighbours=beside)
    (cell,) = asked.cells()
    problem = problem_of(asked, cell)
    found = pipeline_of(asked).prepare(problem)(0, None)
    assert set(found.types.tolist()) == {0}
    layout = np.stack([found.x, found.y])
    gaps = np.hypot(*(layout[:, :, None] - np.array(BESIDE).T[:, None, :]))
    assert gaps.min() >= 3.0 * (195 + 80) / 2 - 1e-6
    assert checked(layout, asked, problem.stated_aep(found.layout)) == []
    alone = campaign(n_turbines=9, neighbours=None)
    assert problem_of(alone, alone.cells()[0]).neighbours.x.size == 0
