"""Prices that depend on the wind: what energy is sold for, against sums over the power in every wind state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.assembly.test_search_by_value import STEEP, found
from tests.command import vindeby
from tests.runner.campaigns import results
from vindeby.arrays import FloatArray
from vindeby.assembly.physics import CampaignCheck
from vindeby.assembly.search import problem_of
from vindeby.assembly.value import values_of, with_revenue
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.errors import CampaignError
from vindeby.runner import run
from vindeby.store.format.record import Record

X, Y = (
    np.array([300.0, 900.0, 2500.0, 3300.0, 4000.0, 5500.0]),
    np.array([500.0, 900.0, 700.0, 900.0, 1300.0, 600.0]),
)
SPEED = [6.0, 9.0, 12.0, 8.0, 10.5]
PRICES = [90.0, 70.0, 0.0, 110.0, 45.0]
SERIES = f"""\
site:
  time_series:
    wind_direction: [0, 90, 200, 200, 315]
    wind_speed: {SPEED}
    turbulence_intensity: 0.06
    weight: [1, 2, 2, 1, 4]
"""
_SITE = STEEP.index("site:\n"), STEEP.index("wake:")
STEPS = STEEP[: _SITE[0]] + SERIES + STEEP[_SITE[1] :].replace("METHOD", "[random-start, gradient]")
ROSE = STEEP.replace("METHOD", "[random-start, gradient]")
STATES = STEPS.replace("time_series:", "states:").replace(
    "weight: [1, 2, 2, 1, 4]", "probability: [0.1, 0.2, 0.2, 0.1, 0.4]"
)


def _priced(text: str, price: object) -> Campaign:
    return Campaign.loads(text.replace("objective: lcoe", f"objective: {{of: npv, price: {price}}}"))


def _revenue(campaign: Campaign) -> float:
    """As it is stored with a result."""
    arrays = {"layout": np.stack([X, Y]), "aep": np.array(90.0)}
    return float(with_revenue(campaign, campaign.cells()[0], arrays)["revenue_eur"])


@pytest.mark.parametrize("text", [STEPS, STATES], ids=["steps", "states"])
def test_the_revenue_is_the_sum_of_price_times_energy_of_each_step_or_state(text: str) -> None:
    campaign = _priced(text, PRICES)
    by_step = wind_farm(campaign, 0, 0).power(X, Y).sum(axis=0)
    hours = 8760.0 * np.array([1, 2, 2, 1, 4]) / 10.0
    expected = float((by_step * 1e-6 * hours * PRICES).sum())
    assert _revenue(campaign) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("text", [STEPS, STATES], ids=["steps", "states"])
def test_one_price_for_every_state_is_that_price(text: str) -> None:
    one, alike = _priced(text, 60.0), _priced(text, [60.0] * 5)
    cell = one.cells()[0]
    arrays = {"layout": np.stack([X, Y]), "aep": np.array(wind_farm(one, 0, 0).aep(X, Y))}
    expected = values_of(one, cell, arrays)
    assert values_of(alike, cell, with_revenue(alike, cell, arrays)) == pytest.approx(expected, rel=1e-12)
    assert "npv_eur" not in values_of(alike, cell, arrays)


@pytest.mark.slow
def test_the_slope_of_what_is_searched_by_is_that_of_the_revenue() -> None:
    campaign = _priced(STEPS, PRICES)
    problem, mean = problem_of(campaign, campaign.cells()[0]), float(np.mean(PRICES))

    def sold(x: FloatArray, y: FloatArray) -> float:
        power_w = wind_farm(campaign, 0, 0).power(x, y).sum(axis=0)
        return float(power_w @ (np.array([1, 2, 2, 1, 4]) / 10.0 * PRICES)) * 8760e-9 / mean

    energy, east, north = problem.farm.aep_and_gradient(X, Y)
    assert energy == pytest.approx(sold(X, Y), rel=1e-12)
    for turbine in (1, 4):
        step = np.zeros(6)
        step[turbine] = 1e-2
        slopes = (
            (sold(X + step, Y) - sold(X - step, Y)) / 2e-2,
            (sold(X, Y + step) - sold(X, Y - step)) / 2e-2,
        )
        assert slopes == pytest.approx((east[turbine], north[turbine]), rel=1e-4, abs=1e-9)


@pytest.mark.slow
def test_a_run_by_prices_stores_the_true_aep_and_its_revenue_and_can_be_validated(tmp_path: Path) -> None:
    campaign = _priced(STEPS.replace("gradient", "{random-search: {max_evaluations: 3}}"), PRICES)
    campaign = campaign.model_copy(update={"seeds": (0,)})
    assert run(campaign, tmp_path / "o.h5", workers=1).complete
    ((_, record),) = results(tmp_path / "o.h5").items()
    x, y = record.arrays["layout"]
    assert float(record.aep) == pytest.approx(wind_farm(campaign, 0, 0).aep(x, y), rel=1e-12)
    by_step = wind_farm(campaign, 0, 0).power(x, y).sum(axis=0)
    euros = float((by_step * 1e-6 * 876.0 * np.array([1, 2, 2, 1, 4]) * PRICES).sum())
    assert float(record.arrays["revenue_eur"]) == pytest.approx(euros, rel=1e-12)
    assert "npv_eur" in record.attributes
    assert "aep_searched" not in record.attributes, "what was searched by is not an energy"
    done = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert done.returncode == 0, done.stdout + done.stderr


def _record(campaign: Campaign, cell: Cell, seed: int, record: Record) -> Record:
    arrays = with_revenue(campaign, cell, record.arrays)
    return replace(
        record, arrays=arrays, attributes={**record.attributes, **values_of(campaign, cell, arrays)}
    )


@pytest.mark.slow
def test_a_search_by_prices_has_more_npv_than_one_by_their_mean() -> None:
    """Energy from the west is worth nothing here, and the search spends no room on it."""
    prices = [100.0, 100.0, 0.0, 0.0, 1.0]
    flat = STEPS.replace("objective: lcoe", "objective: {of: npv, price: 40.2}")
    worth = []
    for text in (STEPS.replace("objective: lcoe", f"objective: {{of: npv, price: {prices}}}"), flat):
        campaign, record = found(text)
        priced = _priced(STEPS, prices)
        cell = priced.cells()[0]
        x, y = record.arrays["layout"]
        true = wind_farm(priced, 0, 0).aep(x, y)
        stated = problem_of(campaign, cell).stated
        assert stated is None or stated.aep(x, y) == pytest.approx(true, rel=1e-12)
        full = _record(priced, cell, 0, replace(record, arrays={**record.arrays, "aep": np.array(true)}))
        assert list(CampaignCheck(priced, deep=True)(full)) == []
        worth.append(float(full.attributes["npv_eur"]))
        wrong = {**full.arrays, "revenue_eur": full.arrays["revenue_eur"] * 1.001}
        said = list(CampaignCheck(priced, deep=True)(replace(full, arrays=wrong)))
        assert [one for one in said if "revenue_eur is" in one]
        lost = {name: array for name, array in full.arrays.items() if name != "revenue_eur"}
        assert "has no revenue_eur" in list(CampaignCheck(priced)(replace(full, arrays=lost)))
        for broken in (np.empty(0), np.array(True), np.array([1.0, 2.0])):
            said = list(CampaignCheck(priced)(replace(full, arrays={**lost, "revenue_eur": broken})))
            assert "has no revenue_eur" in said
    assert worth[0] > worth[1]


def test_prices_decide_the_fingerprint_and_come_back_from_the_text() -> None:
    marks = {
        _priced(text, price).fingerprints()["farm0_t0_s0"]
        for text, price in (
            (STEPS, 60.0),
            (STEPS, PRICES),
            (STEPS, PRICES[::-1]),
            (STATES, PRICES),
        )
    }
    assert len(marks) == 4
    for campaign in (_priced(STEPS, PRICES), _priced(STATES, PRICES)):
        assert Campaign.loads(campaign.dumps()) == campaign
    assert _priced(STEPS, PRICES).objective.title.endswith("at 63 EUR per MWh")  # type: ignore[union-attr]


def test_prices_may_stand_in_a_file(tmp_path: Path) -> None:
    rows = "\n".join(f"2020-01-0{step + 1},{price}" for step, price in enumerate(PRICES))
    (tmp_path / "p.csv").write_text(f"time,price [EUR/MWh]\n{rows}\n")
    path = tmp_path / "c.yaml"
    path.write_text(STEPS.replace("objective: lcoe", "objective: {of: npv, price: p.csv}"))
    assert Campaign.load(path) == _priced(STEPS, PRICES)


@pytest.mark.parametrize(
    ("text", "price", "words"),
    [
        (STEPS, "[50, 60]", "has 2 prices, but the site has 5 steps|give one for each step of time_series"),
        (ROSE, "[50, 60]", "has 2 prices, but the site has no steps"),
        (STEPS, "[0, 0, 0, 0, 0]", "all prices are 0"),
        (STEPS, "[1, 2, -3, 4, 5]", "at least 0"),
        (f"{STEPS}scenarios: {{a: {{}}}}\n", str(PRICES), "cannot have scenarios|give one price"),
        (STEPS, "lost.csv", "no such file"),
        (STEPS, "cheap", "no such file"),
    ],
)
def test_prices_that_do_not_fit_are_refused(text: str, price: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text.replace("objective: lcoe", f"objective: {{of: npv, price: {price}}}"))
    with pytest.raises(CampaignError) as caught:
        Campaign.load(path)
    assert not [word for word in ("objective", *words.split("|")) if word not in str(caught.value)]


def test_a_file_without_prices_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(STEPS.replace("objective: lcoe", "objective: {of: npv, price: p.csv}"))
    for table, words in (
        ("time,load\n1,2\n", "p.csv:1: objective: names no column of price"),
        ("price\n1\nmany\n", "p.csv:3: objective: the price is not a number"),
    ):
        (tmp_path / "p.csv").write_text(table)
        with pytest.raises(CampaignError) as caught:
            Campaign.load(path)
        assert words in str(caught.value)
