"""What a user's function is given belongs to its task alone, and what cannot be stored is refused when returned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vindeby
from tests.runner.campaigns import calling, equal, one_cell, results
from tests.runner.misbehaving import campaign_of
from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.runner import CallTask, run
from vindeby.runner.protocol import Kind
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.validate import validate

pytestmark = pytest.mark.slow


def climbing(task: CallTask) -> dict[str, Any]:
    """An optimiser of the user's own: vindeby's random start, then one step along vindeby's gradient, if it helps."""
    start = vindeby.RandomStart().run(task.problem, seed=task.seed)
    same = vindeby.WindFarm(task.site, task.turbine, wake="nygaard-2022")
    aep_gwh, east, north = task.wind_farm.aep_and_gradient(start.x, start.y)
    assert aep_gwh == start.aep_gwh == same.aep(start.x, start.y)
    assert east.any()
    assert north.any()
    return {"layout": np.stack([start.x, start.y]), "aep": aep_gwh}


def test_an_optimiser_of_the_users_own_reaches_the_engine(tmp_path: Path) -> None:
    data = one_cell(calling("good", 1)).to_data()
    data["method"] = {"call": "tests.runner.test_given_and_returned:climbing"}
    campaign = Campaign.from_data(data)
    assert run(campaign, tmp_path / "out.h5", workers=1).complete
    (record,) = results(tmp_path / "out.h5").values()
    farm, kind = campaign.farms[0].name, campaign.turbines[0].name
    for by in (campaign.wind_farm(farm, kind), campaign.wind_farm(0, 0)):
        assert by.aep(*record.layout) == float(record.aep)
    assert record.attributes["aep_engine"] == float(record.aep)


def test_a_campaigns_wind_farm_is_asked_for_by_names_that_there_are() -> None:
    campaign = one_cell(calling("good", 1))
    with pytest.raises(ArgumentError, match="the campaign has no farm 'nowhere'; it has: "):
        campaign.wind_farm("nowhere", 0)
    with pytest.raises(ArgumentError, match="the campaign has no turbine type 7; it has: five"):
        campaign.wind_farm("north", 7)
    with pytest.raises(ArgumentError, match="only a task that vindeby made"):
        _ = CallTask(
            key="a",
            farm="b",
            boundary=campaign.farms[0].boundary,
            turbine=campaign.turbines[0],
            n_turbines=1,
            min_spacing_m=1.0,
            seed=1,
            site=campaign.site,
            parameters={},
        ).wind_farm


REFUSED = {
    "masked": "array 'extra' is a masked array",
    "masked inside": "array 'extra' is a masked array",
    "17 dimensions": "array 'extra' has 17 dimensions; at most 16",
    "object": "array 'extra' has type object",
    "nan": "extra is not finite: nan at [1]",
    "long double": "array 'extra' has type float128",
    "reserved": "'checksum' cannot be the name of an array",
    "ragged": "extra cannot be made an array",
}
KEPT = {"16 dimensions", "subclass", "nothing", "read-only", "shared"}


@pytest.mark.parametrize(("how", "added"), [("item", 3.0), ("nested", 3.0), ("copy", 3.0)])
def test_a_function_that_counts_in_its_parameters_gives_the_same_results_after_a_resume(
    how: str, added: float, tmp_path: Path
) -> None:
    parameters = {"how": how, "factor": 1.0, "nested": {"list": [1.0]}}
    campaign = campaign_of("changing_parameters", 12, parameters, workers=1)
    assert run(campaign, tmp_path / "straight.h5").complete
    run(campaign, tmp_path / "resumed.h5", part="2/3")
    assert run(campaign, tmp_path / "resumed.h5").complete
    straight = results(tmp_path / "straight.h5")
    assert equal(straight, results(tmp_path / "resumed.h5"))
    found = [float(record.aep - 50.0 - record.ss_seed / 1000) for record in straight.values()]
    assert found == pytest.approx([added] * 12)


def test_what_cannot_be_stored_is_refused_when_it_is_returned_and_the_rest_is_merged(tmp_path: Path) -> None:
    output = tmp_path / "out.h5"
    names = [*REFUSED, *sorted(KEPT)]
    extras = {str(seed): name for seed, name in enumerate(names)}
    summary = run(campaign_of("returning", len(names) + 3, {"extras": extras}), output)
    reasons = {names[int(key.rpartition("s")[2])]: failure for key, failure in summary.failed.items()}
    assert reasons.keys() == REFUSED.keys()
    for name, words in REFUSED.items():
        assert (reasons[name].kind, words in reasons[name].reason) == (Kind.INVALID, True), reasons[name]
    found = {name: results(output)[f"farm0_t0_s{names.index(name)}"] for name in KEPT}
    assert found["16 dimensions"].arrays["extra"].ndim == 16
    assert type(found["subclass"].arrays["extra"]) is np.ndarray
    assert found["nothing"].arrays["extra"].shape == (0, 3)
    assert np.array_equal(found["shared"].arrays["extra"], np.full(3, float(names.index("shared"))))
    merge(output, MergeOptions(file_format="table"))
    assert validate(output).valid
    assert len(results(output)) == len(KEPT) + 3
