"""``validate --deep`` counts what it did not compute again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.worker_files import worker_file
from tests.command import vindeby
from tests.runner.campaigns import ROOT, calling, one_cell
from vindeby.assembly.physics import CampaignCheck
from vindeby.campaign import Campaign
from vindeby.runner import run
from vindeby.store.read.database import open_database as vindeby_open

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT))


def test_results_of_a_users_function_are_counted_as_not_computed_again(tmp_path: Path) -> None:
    run(calling("good", 5), tmp_path / "o.h5")
    done = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert done.returncode == 0
    assert done.stdout == "o.h5: valid: 20 records in 1 file, 20 not computed again (method call)\n"
    report = json.loads(vindeby(tmp_path, "validate", "o.h5", "--deep", "--json").stdout)
    assert report["not_computed_again"] == {"method call": 20}
    plain = vindeby(tmp_path, "validate", "o.h5")
    assert plain.stdout == "o.h5: valid: 20 records in 1 file\n"


def boasting(share: float, **call: str) -> Campaign:
    """Two results of a function that says it found so much of the energy that there is."""
    data = one_cell(calling("boastful", 2, {"share": share})).to_data()
    del data["method"][0]["call"]["energy"]
    data["method"][0]["call"] |= call
    return Campaign.from_data(data)


def test_an_energy_of_a_users_function_is_compared_with_the_wake_model(tmp_path: Path) -> None:
    said: list[str] = []
    assert run(boasting(1.02), tmp_path / "o.h5", workers=1, on_message=said.append).complete
    told = "2 results have an aep that differs from what the wake model gives (aep_engine) by more than 0.1 %"
    assert [text for text in said if told in text]
    with vindeby_open(tmp_path / "o.h5") as database:
        for record in database.values():
            assert float(record.arrays["aep"]) == pytest.approx(
                1.02 * float(record.attributes["aep_engine"]), rel=1e-12
            )
    other = replace(record, attributes={**record.attributes, "aep_engine": float(record.arrays["aep"])})
    wrong = [*CampaignCheck(boasting(1.02), deep=True)(other)]
    assert len(wrong) == 1
    assert wrong[0].startswith("aep_engine is ")
    for words in (("validate", "o.h5"), ("validate", "o.h5", "--deep")):
        done = vindeby(tmp_path, *words)
        assert (done.returncode, told in done.stdout, "by +2.00 %" in done.stdout) == (0, True, True)
        assert "not computed again" not in done.stdout
    vindeby(tmp_path, "report", "o.h5", "-o", "page.html")
    assert told in (tmp_path / "page.html").read_text()


def test_an_energy_within_the_tolerance_is_right_and_one_of_its_own_is_not_compared(tmp_path: Path) -> None:
    said: list[str] = []
    assert run(boasting(1.0005), tmp_path / "near.h5", workers=1, on_message=said.append).complete
    own = boasting(1.02, energy="own")
    assert run(own, tmp_path / "own.h5", workers=1, on_message=said.append).complete
    assert not [text for text in said if "aep_engine" in text]
    with vindeby_open(tmp_path / "own.h5") as database:
        assert "aep_engine" not in next(iter(database.values())).attributes
    for name in ("near.h5", "own.h5"):
        assert vindeby(tmp_path, "validate", name, "--deep").returncode == 0
    assert own.fingerprints() == boasting(1.02).fingerprints()  # comparing changes no result


def test_the_wind_farm_of_a_task_states_energies_as_validate_does_where_the_search_is_coarse(
    tmp_path: Path,
) -> None:
    data = boasting(1.0).to_data()
    data["site"] = {
        "weibull": {
            "sectors": [
                {"direction": 30 * n, "a": 9 + n % 3, "k": 2, "frequency": 1 / 12} for n in range(12)
            ],
            "turbulence_intensity": 0.08,
            "direction_step": 30,
        }
    }
    said: list[str] = []
    assert run(Campaign.from_data(data), tmp_path / "o.h5", workers=1, on_message=said.append).complete
    assert not [text for text in said if "aep_engine" in text]
    with vindeby_open(tmp_path / "o.h5") as database:
        for record in database.values():
            assert float(record.arrays["aep"]) == record.attributes["aep_engine"]
    deep = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert (deep.returncode, "aep_engine" in deep.stdout) == (0, False)


def test_without_a_campaign_nothing_is_computed_again(tmp_path: Path) -> None:
    campaign = one_cell(calling("good", 3))
    worker_file(tmp_path / "o.h5", campaign, campaign.tasks(), aep=50.0)
    done = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert "3 records in 1 file, 3 not computed again (no campaign)\n" in done.stdout
