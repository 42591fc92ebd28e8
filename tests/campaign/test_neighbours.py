from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import SMALL, small
from tests.results.examples import campaign as results_campaign
from tests.results.examples import finished, publish, record
from vindeby.campaign import Campaign
from vindeby.campaign.neighbours import neighbours_of
from vindeby.campaign.survey import survey
from vindeby.store.format.record import Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.read.database import Database

V80: dict[str, Any] = {
    "name": "v80",
    "generic": {"rated_power_mw": 2, "rotor_diameter_m": 80, "hub_height_m": 70},
}
EAST: dict[str, Any] = {"name": "East", "turbines": [V80], "positions": [[5000, 500], [5500, 1500]]}


def among(*groups: dict[str, Any], south: list[dict[str, Any]] | None = None) -> Campaign:
    data = small()
    if groups:
        data["neighbours"] = list(groups)
    if south:
        data["farms"][1]["neighbours"] = south
    return Campaign.from_data(data)


def places(campaign: Campaign, farm_idx: int) -> list[tuple[float, float, str]]:
    return [(one.x, one.y, one.turbine.name) for one in neighbours_of(campaign, farm_idx)]


def loaded(folder: Path, text: str) -> Campaign:
    path = folder / "c.yaml"
    path.write_text(SMALL + text)
    return Campaign.load(path)


def test_neighbours_of_the_campaign_and_of_the_farm_both_count() -> None:
    campaign = among(EAST, south=[{"type": "five", "positions": [[9500, -7000]]}])
    assert places(campaign, 0) == [(5000, 500, "v80"), (5500, 1500, "v80")]
    assert places(campaign, 1) == [*places(campaign, 0), (9500, -7000, "five")]


def test_a_single_group_needs_no_list_and_types_may_differ_from_turbine_to_turbine() -> None:
    data = small()
    data["neighbours"] = {"type": ["five", "v80"], "turbines": [V80], "positions": [[5000, 0], [6000, 0]]}
    assert places(Campaign.from_data(data), 0) == [(5000, 0, "five"), (6000, 0, "v80")]


def test_a_group_may_have_a_type_of_the_same_name_as_the_campaign_has() -> None:
    own = {**V80, "name": "five"}
    (one,) = neighbours_of(among({"turbines": [own], "type": "five", "positions": [[5000, 0]]}), 0)
    assert one.turbine.rotor_diameter_m == 80


def test_the_stored_campaign_has_positions_and_descriptions_and_no_files(tmp_path: Path) -> None:
    (tmp_path / "east.csv").write_text("id;Easting;Northing;Turbine type\n1;5000,5;500;five\n2;6000;0;v80\n")
    text = "neighbours:\n  - file: east.csv\n    turbines:\n      - name: v80\n        generic: "
    campaign = loaded(tmp_path, text + "{rated_power_mw: 2, rotor_diameter_m: 80, hub_height_m: 70}\n")
    assert places(campaign, 1) == [(5000.5, 500, "five"), (6000, 0, "v80")]
    again = Campaign.loads(campaign.dumps())
    assert again == campaign
    assert again.fingerprints() == campaign.fingerprints()
    assert "east.csv" not in str([task.fingerprint for task in campaign.tasks()])
    assert campaign.groups[0].label == "east.csv"


def test_a_table_without_a_column_of_types_needs_the_type(tmp_path: Path) -> None:
    (tmp_path / "east.csv").write_text("x,y\n5000,0\n5000,900\n")
    campaign = loaded(tmp_path, "neighbours: {file: east.csv, type: five}\n")
    assert places(campaign, 0) == [(5000, 0, "five"), (5000, 900, "five")]


def test_a_campaign_without_neighbours_says_nothing_of_them() -> None:
    assert "neighbours" not in Campaign.from_data(small()).dumps()


def changed_keys(one: Campaign, other: Campaign) -> set[str]:
    before, after = one.fingerprints(), other.fingerprints()
    return {key for key in before if before[key] != after[key]}


@pytest.mark.parametrize(
    "change",
    [
        {"positions": [[5000.001, 500], [5500, 1500]]},
        {"positions": [[5000, 500], [5500, 1499.999]]},
        {"positions": [[5000, 500]]},
        {"turbines": [{**V80, "generic": {**V80["generic"], "hub_height_m": 71}}]},
        {"type": "five"},
    ],
)
def test_a_neighbour_that_moves_by_a_millimetre_changes_every_fingerprint(change: dict[str, Any]) -> None:
    campaign = among(EAST)
    assert changed_keys(campaign, among({**EAST, **change})) == set(campaign.fingerprints())


def test_names_of_neighbours_decide_nothing() -> None:
    renamed = {**EAST, "name": "Øst", "source": "elsewhere", "turbines": [{**V80, "name": "other"}]}
    assert not changed_keys(among(EAST), among(renamed))


def test_neighbours_of_one_farm_leave_the_fingerprints_of_the_others() -> None:
    keys = changed_keys(among(), among(south=[EAST]))
    assert keys == {key for key in among().fingerprints() if key.startswith("farm1")}


def test_spacing_in_diameters_depends_on_the_neighbour_and_is_in_the_fingerprint() -> None:
    data = small()
    data["neighbours"], data["min_spacing"] = [EAST], "378 m"  # 3 D of type five, but not of the neighbour
    keys = changed_keys(among(EAST), Campaign.from_data(data))
    assert "farm0_t0_s0" in keys


def test_check_warns_of_neighbours_inside_the_boundary() -> None:
    found = survey(among({"type": "five", "positions": [[2000, 1500], [12.3, 55.4]]}, {**EAST}))
    assert any("farm north: 2 neighbours inside the boundary" in text for text in found.warnings)


def test_check_says_where_neighbours_leave_no_room() -> None:
    grid = [[x, y] for x in range(0, 4001, 350) for y in range(0, 3001, 350)]
    found = survey(among({"type": "five", "positions": grid}))
    (text,) = [text for text in found.warnings if "cannot stand" in text and "farm north" in text]
    assert f"beside {len(grid)} neighbours" in text
    assert "no more than 0 can" in text
    assert found.cells[0].most_turbines == 0
    assert survey(among(EAST)).cells[0].most_turbines == survey(among()).cells[0].most_turbines


def energies(output: Path, cell: str) -> dict[str, float]:
    with Database(output) as database:
        return {key: float(database[key].arrays["aep"]) for key in database if key.startswith(cell)}


def test_a_result_of_a_database_brings_its_turbine_along(tmp_path: Path) -> None:
    finished(tmp_path / "west.h5", results_campaign(seeds=2))
    campaign = loaded(tmp_path, "neighbours: {database: west.h5, farm: south, type: tabulated, seed: 0}\n")
    (group,) = campaign.groups
    assert group.label == "west.h5 farm1_t1_s0 (south, tabulated, seed 0)"
    with Database(tmp_path / "west.h5") as database:
        layout = database["farm1_t1_s0"].arrays["layout"]
    assert np.array_equal(np.array(group.positions).T, layout)
    assert {one.turbine for one in neighbours_of(campaign, 0)} == {campaign.turbines[1]}
    assert Campaign.loads(campaign.dumps()) == campaign


def test_the_best_of_a_farm_is_the_one_with_the_most_energy_that_is_valid(tmp_path: Path) -> None:
    asked = results_campaign(seeds=4)
    run = publish(tmp_path / "west.h5", asked, lambda task: task.seed < 3)
    impossible = next(task for task in asked.tasks() if task.key == "farm0_t1_s3")
    good = record(asked, impossible)
    outside = {**good.arrays, "layout": good.arrays["layout"] + 1e5, "aep": good.arrays["aep"] * 1.2}
    ShardWriter(run).publish([Record(good.key, good.fingerprint, outside, good.attributes)])
    every = energies(tmp_path / "west.h5", "farm0_t1")
    assert max(every, key=every.__getitem__) == "farm0_t1_s3"
    del every["farm0_t1_s3"]
    best = max(every, key=every.__getitem__)

    campaign = loaded(tmp_path, "neighbours: {database: west.h5, farm: north, type: tabulated, name: W}\n")

    assert str(campaign.groups[0].source).startswith(f"west.h5 {best} (north, tabulated, seed ")
    assert campaign.groups[0].label == "W"


def test_neighbours_are_read_once_and_not_again_from_a_database_that_grew(tmp_path: Path) -> None:
    asked = results_campaign(seeds=1)
    finished(tmp_path / "west.h5", asked)
    campaign = loaded(tmp_path, "neighbours: {database: west.h5, farm: north, type: five, seed: 0}\n")
    text = campaign.dumps()
    (tmp_path / "west.h5").unlink()
    assert Campaign.loads(text).fingerprints() == campaign.fingerprints()
