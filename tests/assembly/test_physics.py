from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.assembly.test_wind import EXAMPLE_16
from tests.campaign.examples import changed, small
from vindeby.assembly.physics import physics_checks
from vindeby.assembly.stored_turbines import closest_pair
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.store.format.record import Record

CAMPAIGN = Campaign.load("iea37-cs1-16")
LAYOUT = EXAMPLE_16 * (1 - 1e-7)
"""The published layout, drawn in a little: as published, rounding puts four turbines 0.03 mm outside."""
AEP = wind_farm(CAMPAIGN, 0).aep(*LAYOUT)


def record(layout: Any = LAYOUT, aep: Any = AEP, key: str = "farm0_t0_s3", **attributes: Any) -> Record:
    arrays = {"layout": np.asarray(layout), "aep": np.asarray(aep)}
    return Record(key, "", {name: array for name, array in arrays.items() if array.size}, attributes)


def complaints(given: Record, campaign: Campaign | None = CAMPAIGN, *, deep: bool = True) -> list[str]:
    return [text for check in physics_checks(campaign, deep=deep) for text in check(given)]


def test_a_right_result_has_nothing_to_complain_of() -> None:
    given = record(farm_idx=0, type_idx=0, ss_seed=3, n_turbines=16, diameter=130.0)
    assert complaints(given) == []


def moved(index: int, x: float, y: float) -> np.ndarray[Any, Any]:
    layout = LAYOUT.copy()
    layout[:, index] = x, y
    return layout


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (record(aep=0.0), "aep is 0: no energy was stored"),
        (record(aep=-3.0), "aep is -3, and must be positive"),
        (record(aep=np.nan), "aep is nan"),
        (record(aep=[1.0, 2.0]), "aep has the shape (2,)"),
        (record(aep=[]), "has no aep"),
        (record(layout=[]), "has no layout"),
        (record(layout=np.zeros((16, 2))), "layout has the shape (16, 2), not (2, n)"),
        (record(layout=moved(3, np.inf, 0)), "holds 1 values that are not finite"),
        (record(n_turbines=15), "n_turbines is 15, but the layout has 16"),
        (record(farm_idx=4, type_idx=0, ss_seed=3), "its attributes say farm4_t0_s3"),
        (record(farm_idx=0, type_idx=0, ss_seed=4), "its attributes say farm0_t0_s4"),
    ],
)
def test_what_no_layout_may_be_is_said_without_a_campaign_too(given: Record, words: str) -> None:
    assert any(words in text for text in complaints(given, None)), complaints(given, None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (record(layout=LAYOUT[:, :15]), "has 15 turbines, but the campaign asks for 16"),
        (record(layout=moved(6, 1300.001, 0)), "1 turbine stands outside the boundary, turbine 6 by 0.001 m"),
        (record(layout=moved(1, 259.9, 0)), "turbines 0 and 1 are 259.9 m apart, but must be 260 m"),
        (record(diameter=131.0), "diameter is 131.0, but type 0 of the campaign has 130"),
        (record(aep=AEP * 1.3), "but without any wakes it would be"),
        (record(aep=AEP * (1 + 1e-7)), "but the layout gives"),
    ],
)
def test_what_a_layout_of_the_campaign_may_not_be_is_said(given: Record, words: str) -> None:
    assert any(words in text for text in complaints(given)), complaints(given)


def test_rounding_is_not_cheating() -> None:
    layout = moved(6, 1300 + 5e-7, 0)
    given = record(layout=layout, aep=wind_farm(CAMPAIGN, 0).aep(*layout) * (1 + 1e-11))
    assert complaints(given) == []


def test_energy_is_computed_again_only_when_asked() -> None:
    assert complaints(record(aep=AEP * 0.999), deep=False) == []


def test_the_energy_of_a_function_of_the_users_own_is_judged_only_by_the_rated_power() -> None:
    calling = Campaign.from_data(
        CAMPAIGN.to_data() | {"method": {"call": {"function": "a.b:c", "energy": "own"}}}
    )
    full_gwh = 16 * 3.35 * 8.766
    assert complaints(record(aep=full_gwh * (1 - 1e-9)), calling) == []
    (found,) = complaints(record(aep=full_gwh * (1 + 1e-9)), calling)
    assert found.endswith("but at rated power all year it would be 469.857600 GWh")


def test_a_record_that_the_campaign_does_not_have_is_only_checked_as_a_layout() -> None:
    assert complaints(record(key="farm7_t0_s3", layout=moved(6, 9e9, 0))) == []
    assert complaints(record(key="another", layout=moved(6, 9e9, 0))) == []


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((3000.0, -8000.0), "outside the boundary, turbine 0 by 200 m"),  # in the middle of a round exclusion
        ((5000.0, -8500.0), "outside the boundary"),  # between the two polygons
        ((3500.0, -5600.0), None),
        ((8900.0, -8900.0), None),
    ],
)
def test_exclusions_and_gaps_between_polygons_are_outside(
    place: tuple[float, float], words: str | None
) -> None:
    data = changed("farms.1.n_turbines", 1)
    found = complaints(
        Record("farm1_t0_s0", "", {"layout": np.array(place)[:, None]}), Campaign.from_data(data)
    )
    found.remove("has no aep")
    assert found == [] if words is None else words in found[0]


def test_an_excluded_polygon_is_outside_by_the_distance_to_its_edge() -> None:
    data = small()
    data["farms"][0]["boundary"] = {
        "polygon": data["farms"][0]["boundary"],
        "exclusions": [[[1000, 1000], [2000, 1000], [2000, 2000], [1000, 2000]]],
    }
    data["farms"][0]["n_turbines"] = 1
    found = complaints(
        Record("farm0_t0_s0", "", {"layout": np.array([[1100.0], [1500.0]])}), Campaign.from_data(data)
    )
    assert "turbine 0 by 100 m" in found[1]


def test_the_closest_pair_is_found() -> None:
    assert closest_pair(np.array([0.0, 5.0, 5.0]), np.array([0.0, 0.0, 3.0])) == (3.0, 1, 2)
    assert closest_pair(np.array([1.0]), np.array([1.0]))[0] == np.inf
