from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.campaign.examples import small
from tests.campaign.zoned import ZONED
from vindeby.campaign import Campaign
from vindeby.campaign.survey import survey


def _fingerprint(text: str, key: str = "farm0_t0_s0") -> str:
    return Campaign.loads(text).fingerprints()[key]


def test_a_mixed_farm_has_one_cell_and_a_zoned_one_a_cell_for_each_type() -> None:
    campaign = Campaign.loads(ZONED)
    assert campaign.total_configs == 8 == len(campaign.tasks())
    assert campaign.counts == "8 tasks = 4 cells x 2 seeds"
    cells = campaign.cells()
    names = [turbine.name for turbine in campaign.turbines]
    assert [(cell.farm_idx, cell.type_idx, cell.n_turbines) for cell in cells] == [
        (0, 0, 10),
        (0, 1, 8),
        (1, 0, 6),
        (2, 0, 6),
    ]
    assert [cell.zones for cell in cells] == [(5, 5), (5, 3), (3, 3), ()]
    assert [cell.mix for cell in cells] == [(), (), ((0, 4), (1, 2)), ((0, 2), (1, 4))]
    assert [cell.label(names) for cell in cells] == ["three", "five", "three+five", "three+five"]
    assert cells[3].spacing_m == 3 * 126.0


def test_a_campaign_with_zones_is_kept_and_read_again() -> None:
    campaign = Campaign.loads(ZONED)
    again = Campaign.loads(campaign.dumps())
    assert again == campaign
    assert again.fingerprints() == campaign.fingerprints()


def test_a_campaign_without_zones_is_written_as_before() -> None:
    text = Campaign.from_data(small()).dumps()
    assert not {"zones", "mix", "search", "rounds"} & set(json.dumps(text).replace(":", " ").split())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        n_turbines: 5\n", "        n_turbines: 6\n"),
        ("        boundary: [[0, 0], [2000, 0]", "        boundary: [[0, 1], [2000, 0]"),
        ("        capacity_mw: 15\n", "        capacity_mw: 15\n    search: in-turn\n"),
    ],
)
def test_what_decides_a_result_of_zones_changes_its_fingerprint(old: str, new: str) -> None:
    assert ZONED.count(old) == 1
    assert _fingerprint(ZONED.replace(old, new)) != _fingerprint(ZONED)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("farm1_t0_s1", "    rounds: 2\n", "    rounds: 3\n"),
        ("farm1_t0_s1", "mix: {five: 2, three: 1}", "mix: {five: 1, three: 2}"),
        ("farm2_t0_s1", "mix: {five: 4, three: 2}", "mix: {five: 3, three: 3}"),
        ("farm2_t0_s1", "rated_power_mw: 5,", "rated_power_mw: 5.1,"),
        ("farm2_t0_s1", "min_spacing: 3 D", "min_spacing: 4 D"),
    ],
)
def test_what_decides_a_result_of_a_mix_changes_its_fingerprint(key: str, old: str, new: str) -> None:
    assert ZONED.count(old) == 1
    assert _fingerprint(ZONED.replace(old, new), key) != _fingerprint(ZONED, key)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("farm0_t0_s0", "        capacity_mw: 15\n", "        n_turbines: 5\n"),
        ("farm0_t0_s0", "        capacity_mw: 15\n", "        capacity_mw: 15\n    search: together\n"),
        ("farm0_t0_s0", "      - name: west\n", "      - name: another\n"),
        ("farm2_t0_s0", "mix: {five: 4, three: 2}", "mix: {three: 2, five: 4}"),
        ("farm1_t0_s0", "search: in-turn\n    rounds: 2\n", "rounds: 2\n    search: in-turn\n"),
    ],
)
def test_what_does_not_decide_a_result_leaves_its_fingerprint(key: str, old: str, new: str) -> None:
    assert ZONED.count(old) == 1
    assert _fingerprint(ZONED.replace(old, new), key) == _fingerprint(ZONED, key)


def test_a_mix_of_the_campaign_is_for_farms_that_say_nothing_themselves() -> None:
    data = small()
    del data["capacity_mw"]
    data["mix"] = {"five": 3, "tabulated": 4}
    data["farms"][1]["n_turbines"] = 5
    cells = Campaign.from_data(data).cells()
    assert [(cell.farm_idx, cell.type_idx, cell.n_turbines) for cell in cells] == [
        (0, 0, 7),
        (1, 0, 5),
        (1, 1, 5),
    ]


def test_the_boundary_of_a_zone_can_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "west.csv").write_text("x [m],y [m]\n0,0\n2000,0\n2000,3000\n0,3000\n")
    written = "        boundary: [[0, 0], [2000, 0], [2000, 3000], [0, 3000]]\n"
    path = tmp_path / "zoned.yaml"
    path.write_text(ZONED.replace(written, "        boundary: {file: west.csv}\n", 1))
    assert Campaign.load(path).fingerprints() == Campaign.loads(ZONED).fingerprints()


def test_the_boundary_of_a_farm_is_all_its_zones_together() -> None:
    farm = Campaign.loads(ZONED).farms[0]
    assert farm.boundary.area_km2 == pytest.approx(12.0)
    assert farm.drawn_shape().area == pytest.approx(12e6)
    assert len(farm.drawn_shape().geoms) == 2, "the border of the two zones is drawn"  # type: ignore[attr-defined]


def test_a_survey_tells_of_each_zone_and_of_the_mix() -> None:
    found = survey(Campaign.loads(ZONED))
    assert [(zone.name, zone.n_turbines) for zone in found.cells[1].zones] == [("west", 5), ("east", 3)]
    assert found.cells[3].mix == (("three", 2), ("five", 4))
    assert found.cells[3].capacity_mw == 2 * 3.0 + 4 * 5.0
    assert [warning for warning in found.warnings if "layouts are searched" not in warning] == []


def test_a_survey_warns_of_a_full_zone_and_of_zones_that_overlap() -> None:
    crowded = survey(Campaign.loads(ZONED.replace("        n_turbines: 5\n", "        n_turbines: 900\n")))
    assert any("zone west: 900 turbines cannot stand" in text for text in crowded.warnings)
    text = ZONED.replace("        boundary: [[2000, 0]", "        boundary: [[1900, 0]")
    assert any(
        "zones west and east overlap by 0.15 km2" in one for one in survey(Campaign.loads(text)).warnings
    )
