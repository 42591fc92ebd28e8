"""A campaign with two objectives, from the file to the front."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.campaign.zoned import TWO_TYPES
from tests.command import vindeby
from vindeby.assembly.physics import CampaignCheck
from vindeby.campaign import Campaign
from vindeby.errors import CampaignError
from vindeby.store.read.database import Database

TWO_OBJECTIVES = """\
name: front
n_turbines: 6
objective: [aep, area]
farms:
  - name: plain
    boundary: [[0, 0], [1500, 0], [1500, 1500], [0, 1500]]
""" + TWO_TYPES.replace("seeds: 2", "seeds: 6")

COSTS = """\
costs:
  discount: 0.05
  years: 20
  turbine: {capex: 5.0e+6, opex: 1.0e+5}
"""
CABLES = TWO_OBJECTIVES.replace(
    "6\nobjective: [aep, area]",
    f"5\n{COSTS}  cables: {{substations: [[750, -200]], types: [[2, 300], [3, 400]]}}\nobjective: [aep, cable_length]",
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("front")
    (folder / "campaign.yaml").write_text(TWO_OBJECTIVES)
    done = vindeby(folder, "run", "campaign.yaml", "-o", "o.h5", "--workers", "1")
    assert done.returncode == 0, done.stderr
    return folder / "o.h5"


@pytest.mark.slow
def test_pareto_lists_every_result_by_both_objectives(database: Path) -> None:
    done = vindeby(database.parent, "pareto", "o.h5")
    assert done.returncode == 0, done.stderr
    assert "plain, three: 6 results" in done.stdout
    assert "AEP, GWh  area, km2" in done.stdout
    said = json.loads(vindeby(database.parent, "pareto", "o.h5", "--json").stdout)
    assert [front["type"] for front in said] == ["three", "five"]
    for front in said:
        points = {point["key"].rsplit("s")[-1]: point for point in front["points"]}
        assert {point["weight"] for point in points.values()} == {0.0, 0.5, 0.25, 0.75, 0.125, 0.625}
        assert points["3"]["area_km2"] < points["0"]["area_km2"], "with a large weight, the area is smaller"
        assert not points["0"]["is_dominated"] or points["0"]["lost_gwh"] > 0.0
        box = points["0"]["area_km2"] * front["points"][-1]["aep_gwh"]
        assert 0.0 <= front["hypervolume"] <= box
        assert front["reference"]["area_km2"] == max(point["area_km2"] for point in front["points"])


@pytest.mark.slow
def test_results_of_two_objectives_are_valid_and_none_is_missing(database: Path) -> None:
    for words in (("validate", "o.h5", "--deep"), ("missing", "o.h5")):
        done = vindeby(database.parent, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    campaign = Campaign.load(database.parent / "campaign.yaml")
    with Database(database) as opened:
        forged = opened["farm0_t0_s3"]
    forged = replace(forged, attributes={**forged.attributes, "weight": 0.5})
    assert list(CampaignCheck(campaign, deep=True)(forged)) == ["weight is 0.5, but that of seed 3 is 0.75"]
    assert "by a weight for each seed" in vindeby(database.parent, "check", "campaign.yaml").stdout


@pytest.mark.slow
def test_a_campaign_with_one_objective_has_no_front(database: Path) -> None:
    text = TWO_OBJECTIVES.replace("[aep, area]", "aep")
    (database.parent / "one.yaml").write_text(text)
    done = vindeby(database.parent, "pareto", "o.h5", "--campaign", "one.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "does not have two objectives, such as objective: [aep, cable_length]" in done.stderr


@pytest.mark.slow
def test_energy_against_cables_says_how_long_the_stored_cables_are(tmp_path: Path) -> None:
    pytest.importorskip("optiwindnet")
    (tmp_path / "campaign.yaml").write_text(CABLES.replace("max_evaluations: 50", "max_evaluations: 600"))
    done = vindeby(tmp_path, "run", "campaign.yaml", "-o", "o.h5", "--workers", "1", "--seeds", "4")
    assert done.returncode == 0, done.stderr
    for front in json.loads(vindeby(tmp_path, "pareto", "o.h5", "--json").stdout):
        points = {point["weight"]: point for point in front["points"]}
        with h5py.File(tmp_path / "o.h5") as file:
            for point in points.values():
                number, x, y = file[point["key"]]["cable_points"][:]
                same = np.diff(number) == 0
                length = np.hypot(np.diff(x), np.diff(y))[same].sum()
                assert point["cable_length_m"] == pytest.approx(length, rel=1e-12)
        assert points[0.75]["cable_length_m"] < points[0.0]["cable_length_m"]
        assert points[0.75]["aep_gwh"] < points[0.0]["aep_gwh"]
    again = vindeby(tmp_path, "validate", "o.h5", "--deep")
    assert again.returncode == 0, again.stdout + again.stderr


def test_two_objectives_are_kept_and_decide_the_fingerprint() -> None:
    campaign = Campaign.loads(TWO_OBJECTIVES)
    again = Campaign.loads(campaign.dumps())
    assert again.fingerprints() == campaign.fingerprints()
    more = Campaign.loads(TWO_OBJECTIVES.replace("seeds: 6", "seeds: 9"))
    assert campaign.fingerprints().items() < more.fingerprints().items(), "further seeds refine a front"
    single = Campaign.loads(TWO_OBJECTIVES.replace("[aep, area]", "aep"))
    assert not set(single.fingerprints().values()) & set(campaign.fingerprints().values())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "[aep, area]",
            "[area, aep]",
            ("objective", "must be 'aep'", "got 'area'"),
        ),
        ("[aep, area]", "[aep]", ("objective", "is not a pair of objectives")),
        ("[aep, area]", "[aep, beauty]", ("objective", "must be 'cable_length'", "got 'beauty'")),
        ("[aep, area]", "[aep, [area]]", ("objective", "must be 'cable_length'")),
        (
            "[aep, area]",
            "{of: lcoe, against: area}",
            ("objective.against", "exclude each other"),
        ),
        (
            "6\nobjective: [aep, area]",
            "6\nobjective: [aep, lcoe]",
            ("objective", "needs costs", "add costs"),
        ),
        (
            "6\nobjective: [aep, area]",
            f"6\n{COSTS}objective: [aep, cable_length]",
            ("objective", "there are no cables", "add cables: to costs"),
        ),
    ],
)
def test_a_pair_that_cannot_be_is_refused(old: str, new: str, words: tuple[str, ...]) -> None:
    with pytest.raises(CampaignError) as caught:
        Campaign.loads(TWO_OBJECTIVES.replace(old, new), "front.yaml")
    message = "\n".join(map(str, caught.value.args))
    assert all(word in message for word in ("front.yaml:", *words)), message
