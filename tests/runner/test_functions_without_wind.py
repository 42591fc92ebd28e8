"""A campaign whose function has nothing to do with wind leaves out all about it, and names what it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runner.campaigns import ROOT, calling, results
from vindeby.assembly.done import Judge
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell
from vindeby.errors import CampaignError
from vindeby.results.result_set import ResultSet
from vindeby.runner import run
from vindeby.runner.methods.method_protocol import InvalidResultError, TaskResult, checked_record
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import merge


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def plain(returns: Any = ("layout", "extra"), seeds: int = 3) -> dict[str, Any]:
    """A campaign of nothing but a function; the one that is called returns these arrays."""
    call = {"function": "tests.runner.functions:without_wind", "returns": list(returns)}
    return {"name": "plain", "method": {"call": call}, "seeds": seeds, "run": {"workers": 1}}


def test_it_runs_resumes_and_is_counted(tmp_path: Path) -> None:
    output = tmp_path / "o.h5"
    assert run(Campaign.from_data(plain(seeds=1)), output).complete
    summary = run(Campaign.from_data(plain()), output)
    assert (summary.complete, summary.done) == (True, 2)
    found = results(output)
    assert sorted(found) == ["farm0_t0_s0", "farm0_t0_s1", "farm0_t0_s2"]
    for record in found.values():
        assert record.attributes["returns"] == "layout, extra"
        assert not {"diameter", "n_turbines", "farm", "turbine"} & record.attributes.keys()


def test_the_campaign_that_is_kept_is_the_same_campaign() -> None:
    campaign = Campaign.from_data(plain())
    again = Campaign.loads(campaign.dumps())
    assert again == campaign
    assert again.fingerprints() == campaign.fingerprints()
    assert again.to_data().keys() == {"name", "description", "method", "seeds", "run"}


@pytest.mark.parametrize("key", ["wake", "n_turbines", "objective"])
def test_what_is_given_about_wind_needs_the_rest_of_it(key: str) -> None:
    given = {"wake": "jensen", "n_turbines": 3, "objective": "aep"}
    with pytest.raises(CampaignError, match="site: is missing; add it"):
        Campaign.from_data({**plain(), key: given[key]})


def test_returns_left_out_leaves_fingerprints_and_texts_as_they_were() -> None:
    campaign = calling("good")
    assert "returns" not in campaign.dumps()
    assert all(
        "returns" not in step.model_dump(by_alias=True, exclude_none=True)["call"] for step in campaign.method
    )


def _record(arrays: dict[str, Any], campaign: Campaign) -> Record:
    cell: Cell = campaign.cells()[0]
    return checked_record(campaign, cell, campaign.tasks()[0], TaskResult(arrays), 0.1)


def test_a_result_without_one_of_the_arrays_is_refused() -> None:
    campaign = Campaign.from_data(plain(["x", "value"]))
    with pytest.raises(InvalidResultError, match="did not return value, which the campaign names"):
        _record({"x": np.zeros(2)}, campaign)
    good = _record({"x": np.zeros(2), "value": 0.0, "more": 1}, campaign)
    judge = Judge(campaign)
    assert judge.why_not(good) == ""
    assert judge.why_not(Record(good.key, "", {"x": good.arrays["x"]}, {})) == "has no value"
    other = Record("farm0_t0_s7", "", dict(good.arrays), dict(good.attributes))
    assert "its attributes say farm0_t0_s0" in judge.why_not(other)


def test_a_result_without_energy_is_done_and_not_invalid(tmp_path: Path) -> None:
    output = tmp_path / "o.h5"
    campaign = Campaign.from_data(plain(["x"]))
    directory = RunDirectory(output).create()
    directory.freeze_campaign(campaign.dumps())
    ShardWriter(directory).publish([_record({"x": np.zeros(2)}, campaign)])
    merge(directory)
    assert ResultSet(output).rows["aep"].tolist() == [0.0]  # it is NaN for what is invalid


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"returns": []}, "returns"),
        ({"returns": ["x", "x"]}, "is listed twice"),
        ({"returns": ["a/b"]}, "cannot be the name of an array"),
        ({"returns": ["checksum"]}, "cannot be the name of an array"),
        ({"returns": "x"}, "returns"),
        ({"returns": [1]}, "returns"),
        ({}, "wake"),  # without it, everything about wind is needed
    ],
)
def test_what_is_wrong_is_refused(changed: dict[str, Any], message: str) -> None:
    data = plain()
    data["method"]["call"] = {"function": "a:b", **changed}
    with pytest.raises(CampaignError, match=message):
        Campaign.from_data(data)
