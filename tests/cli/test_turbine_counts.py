"""A campaign whose search chooses numbers of turbines and of types, from the command to every reader."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.campaign.counted import COUNTED
from tests.command import vindeby
from vindeby.assembly.physics import physics_checks
from vindeby.assembly.stored_layouts import read_neighbours
from vindeby.board.feed import Feed
from vindeby.campaign import Campaign
from vindeby.layout import Valuation
from vindeby.plots.layout import Drawn
from vindeby.report.gather import best_table
from vindeby.results.result_set import ResultSet
from vindeby.store.format.record import Record
from vindeby.store.read.database import Database

pytestmark = pytest.mark.slow

COSTS = {"three": 7.0, "five": 25}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counted")
    (folder / "campaign.yaml").write_text(COUNTED)
    done = vindeby(folder, "run", "campaign.yaml", "-o", "o.h5", "--workers", "1")
    assert done.returncode == 0, done.stderr
    return folder / "o.h5"


def test_check_says_the_ranges_and_the_objective(database: Path) -> None:
    done = vindeby(database.parent, "check", "campaign.yaml")
    assert done.returncode == 0, done.stderr
    assert "3 to 6" in done.stdout
    assert "0 to 4" in done.stdout
    assert "objective: AEP less the cost of turbines in GWh per year: 25 for each five" in done.stdout


def test_every_result_is_valid_and_nothing_is_missing(database: Path) -> None:
    for words in (("validate", "--deep"), ("missing",)):
        done = vindeby(database.parent, words[0], database.name, *words[1:], "--json")
        assert done.returncode == 0, done.stdout + done.stderr


def test_h5py_reads_what_was_chosen_and_what_was_tried(database: Path) -> None:
    with h5py.File(database) as file:
        for key in ("farm0_t0_s0", "farm0_t1_s1"):
            group, cost = file[key], COSTS["three" if "_t0_" in key else "five"]
            many = group["layout"].shape[1]
            assert group.attrs["n_turbines"] == many
            tried, aep = group["tried_turbines"][()], group["tried_aep_gwh"][()]
            assert tried.tolist() == [3, 4, 5, 6]
            assert group["tried_objective"][()] == pytest.approx(aep - cost * tried, rel=1e-12)
            best = int(np.argmax(group["tried_objective"][()]))
            assert (tried[best], aep[best]) == (many, group["aep"][()])
            assert group.attrs["objective"] == pytest.approx(group["tried_objective"][best], rel=1e-12)
        # A turbine of type five brings less than its cost, one of type three more.
        assert file["farm0_t0_s0"]["layout"].shape == (2, 6)
        assert file["farm0_t1_s0"]["layout"].shape == (2, 3)
        mixed = file["farm2_t0_s0"]
        assert mixed["tried_mix"].shape == (len(mixed["tried_turbines"]), 2)
        assert set(mixed["tried_mix"][()].sum(axis=1)) == {6}
        counts = np.bincount(mixed["types"][()], minlength=2).tolist()
        assert counts == [6, 0]
        assert counts in mixed["tried_mix"][()].tolist()
        assert "tried_turbines" not in file["farm1_t0_s0"]
        assert "objective" not in file["farm1_t0_s0"].attrs


def test_another_form_of_the_file_keeps_it(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.h5"
    copy.write_bytes(database.read_bytes())
    done = vindeby(tmp_path, "merge", "copy.h5", "--format", "table")
    assert done.returncode == 0, done.stderr
    with Database(database) as one, Database(copy) as other:
        assert {key: record.arrays["layout"].shape for key, record in one.items()} == {
            key: record.arrays["layout"].shape for key, record in other.items()
        }
        assert other["farm0_t0_s0"].arrays["tried_turbines"].tolist() == [3, 4, 5, 6]


def test_the_best_of_a_farm_is_the_best_by_its_objective(database: Path) -> None:
    results = ResultSet(database)
    worths = dict(zip([key.decode() for key in results.rows["key"]], results.worths(), strict=True))
    with Database(database) as stored:
        for key, record in stored.items():
            said = record.attributes.get("objective", float(record.arrays["aep"]))
            assert worths[key] == pytest.approx(said, rel=1e-12)
    listed = {(row[0], row[1]): row for row in best_table(results)}
    assert listed["plain", "three"][3] == "6 (of 3 to 6)"
    assert listed["fixed", "five"][3] == "4"
    assert listed["mixed", "three+five"][3].startswith("6 (")
    for place, seeds in ((("plain", "five"), ("farm0_t1_s0", "farm0_t1_s1")),):
        best = max(seeds, key=worths.__getitem__)
        assert listed[place][2] == best
        assert f" {best} (" in read_neighbours(database, None, *place)["source"]
    assert ("turbines", "6 (of 3 to 6)") in Drawn(results, "farm0_t0_s0").facts


def best_on_the_board(database: Path) -> dict[int, str]:
    viewed = Feed(ResultSet(database))
    viewed.look()
    shown = viewed.shown
    return {entry["farm"]: entry["key"] for entry in shown["best"]}


def test_the_board_shows_the_best_of_a_farm_by_its_objective(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = ResultSet(database)
    worths = dict(zip([key.decode() for key in results.rows["key"]], results.worths(), strict=True))
    for farm, key in best_on_the_board(database).items():
        assert worths[key] == max(worth for other, worth in worths.items() if f"farm{farm}_" in other)
    # With an objective that turns the order round, it shows what has the least energy.
    monkeypatch.setattr(ResultSet, "worths", lambda results, shown="": -results.rows["aep"])
    energy = dict(zip([key.decode() for key in results.rows["key"]], results.rows["aep"], strict=True))
    for farm, key in best_on_the_board(database).items():
        assert energy[key] == min(aep for other, aep in energy.items() if f"farm{farm}_" in other)


def test_losses_and_capacities_are_those_of_the_types_that_were_chosen(database: Path) -> None:
    results = ResultSet(database)
    mine = results.rows[results.rows["farm_idx"] == 2]
    loss = dict(zip(results.rows["key"].tolist(), results.wake_losses(), strict=True))
    for row, rated in zip(mine, results.mean_rated_mw(mine), strict=True):
        key = row["key"].decode()
        types, farm = results.own_types(key), results.wind_farm(results.cell(key))
        assert types is not None
        assert farm is not None
        assert rated == pytest.approx(np.array([3.0, 5.0])[types].mean())
        x, y = results.layout(key)
        assert loss[row["key"]] == pytest.approx(farm.wake_loss(x, y, types), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("count", "has 2 turbines, but the campaign asks for 3 to 6"),
        ("objective", "objective is 1, but its energy and turbines make"),
        ("mix", "turbines of type 'five', but the mix asks for 0 to 4"),
    ],
)
def test_what_the_campaign_does_not_allow_is_found(database: Path, change: str, words: str) -> None:
    key = "farm2_t0_s0" if change == "mix" else "farm0_t0_s0"
    with Database(database) as results:
        record = results[key]
    arrays, attributes = dict(record.arrays), dict(record.attributes)
    if change == "count":
        arrays["layout"] = arrays["layout"][:, :2]
    elif change == "mix":
        arrays["types"] = np.array([1, 1, 1, 1, 1, 0])
    else:
        attributes["objective"] = 1.0
    changed = Record(key, record.fingerprint, arrays, attributes)
    said = [text for check in physics_checks(Campaign.loads(COUNTED)) for text in check(changed)]
    assert [text for text in said if words in text], said


@pytest.mark.parametrize("farm", ["plain", "mixed"])
def test_stored_layouts_of_chosen_counts_can_be_evaluated(database: Path, farm: str) -> None:
    folder = database.parent
    (folder / f"{farm}.yaml").write_text(
        f"name: other wakes\nmethod: {{stored: {{farms: {farm}, seeds: best}}}}\nwake: bastankhah-2014\n"
    )
    done = vindeby(folder, "evaluate", "o.h5", "--with", f"{farm}.yaml", "-o", f"{farm}.h5", "--workers", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    checked = vindeby(folder, "validate", f"{farm}.h5")
    assert checked.returncode == 0, checked.stdout


def _searched(valuation: Valuation) -> float:
    """The objective of two turbines of the first type and three of the second that make 90 GWh."""
    x, types = np.zeros(5), np.array([0, 0, 1, 1, 1])
    return valuation.objective_of(valuation.parts(x, x, types), 5, 90.0)


def test_the_campaign_and_the_search_mean_the_same_by_an_objective() -> None:
    costs = Campaign.loads(COUNTED).objective
    assert costs is not None
    searched = _searched(Valuation.turbine_cost((7.0, 25)))
    assert costs.worth(90.0, {"three": 2, "five": 3}) == searched == 90.0 - 2 * 7.0 - 3 * 25
    each = Campaign.loads(
        COUNTED.replace("{turbine_cost_gwh: {five: 25, three: 7}}", "aep-per-turbine")
    ).objective
    assert each is not None
    assert each.worth(90.0, {"three": 2, "five": 3}) == 18.0 == _searched(Valuation("aep-per-turbine"))
