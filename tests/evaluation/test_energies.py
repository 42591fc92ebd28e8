"""What an evaluation computes: losses that add up, internal wakes, weights, and what is the same whatever the order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluation.stored import TYPES, asked_of, campaign, compute, evaluated, farms, results, series
from tests.runner.campaigns import FULL
from vindeby import wake_models
from vindeby.assembly.evaluation import Energies
from vindeby.assembly.stored_layouts import TypedLayout
from vindeby.assembly.wind import wind_farm
from vindeby.campaign import Campaign

pytestmark = pytest.mark.slow

ONE: dict[str, Any] = {"farms": "farm a", "types": "small", "seeds": 0}
NEXT: dict[str, Any] = {"farm": "farm b", "type": "small", "seed": 0}
WAKES = sorted(wake_models) if FULL else ["cumulative-curl", "niayifar-2016", "nygaard-2022"]
"""All of them take a minute to compile."""


def test_a_neighbour_that_is_only_named_stands_with_its_best_layout(tmp_path: Path) -> None:
    made = compute(campaign(3, 2, turbines=TYPES[:1]), tmp_path / "layouts.h5")
    found, given = (
        results(made),
        {"farms": "farm a", "neighbours": {"some": ["farm b", {"farm": "farm c", "seed": 1}]}},
    )
    best = max(("farm1_t0_s0", "farm1_t0_s1"), key=lambda key: found[key].aep)
    (record,) = evaluated(made, tmp_path / "s.h5", **given)
    assert record.attributes["neighbour_layouts"] == f"{best}, farm2_t0_s1"


def test_losses_add_up_and_the_farm_alone_is_what_the_campaign_gives(source: Path, tmp_path: Path) -> None:
    nobody, beside = evaluated(
        source, tmp_path / "s.h5", **ONE, neighbours={"one_by_one": [NEXT]}, internal_wakes="both"
    )
    assert (nobody.attributes["neighbours"], beside.attributes["neighbours"]) == ("none", "farm b")
    assert nobody.aep == nobody.aep_alone == beside.aep_alone
    assert nobody.loss_external == 0.0
    assert nobody.aep_external == pytest.approx(nobody.aep_free, rel=1e-12)
    assert beside.loss_total == pytest.approx(beside.loss_internal + beside.loss_external, abs=1e-12)
    assert beside.loss_external_only == pytest.approx(1 - beside.aep_external / beside.aep_free, abs=1e-12)
    x, y = beside.layout
    assert nobody.aep == pytest.approx(wind_farm(campaign(10), 0).aep(x, y), rel=1e-12)
    assert beside.aep == pytest.approx(float(beside.turbine_aep.sum()), rel=1e-12)


def test_a_time_series_with_uncertain_directions_gives_what_the_campaign_gives(
    source: Path, tmp_path: Path
) -> None:
    wind = {**series(6, weight=[1, 2, 3, 1, 2, 3]), "direction_std_deg": 3.0}
    (found,) = evaluated(source, tmp_path / "s.h5", **ONE, site=wind)
    expected = wind_farm(Campaign.from_data({**campaign(10).to_data(), "site": wind}), 0).aep(*found.layout)
    assert found.aep == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("wake", WAKES)
def test_turbines_without_internal_wakes_stand_as_if_each_were_alone(wake: str) -> None:
    rng = np.random.default_rng(1)
    asked = Campaign.from_data({**campaign(2).to_data(), "site": series(12), "wake": wake})
    own, others = (
        TypedLayout(rng.uniform(0, 1500, n), rng.uniform(0, 1500, n), np.arange(n) % 2) for n in (4, 6)
    )
    energies = Energies(asked, asked.turbines, "float64")
    together = energies.among(own, [others], (0, 12), internal=False)
    for index in range(4):
        single = TypedLayout(own.x[[index]], own.y[[index]], own.types[[index]])
        alone = energies.among(single, [others], (0, 12), internal=True)
        assert together.power is not None
        assert alone.power is not None
        np.testing.assert_allclose(together.power[index], alone.power[0], rtol=1e-7)
    with_internal = energies.among(own, [others], (0, 12), internal=True)
    assert together.aep.sum() > with_internal.aep.sum()


def test_a_dated_series_with_weights_counts_each_step_by_its_weight(source: Path, tmp_path: Path) -> None:
    weights = [float(1 + step % 3) for step in range(20)]
    study = {
        **ONE,
        "site": series(20, times=True, weight=weights),
        "neighbours": {"together": [{**NEXT, "from": "2020-01-08"}]},
        "output": "power",
        "power_type": "float64",
    }
    (record,) = evaluated(source, tmp_path / "s.h5", **study)
    mean = (record.power * weights).sum(axis=1) / sum(weights)
    np.testing.assert_allclose(record.turbine_aep, mean * 8760 / 1e9, rtol=1e-12)
    (only_energy,) = evaluated(
        source, tmp_path / "t.h5", **{**study, "output": "aep", "power_type": "float32"}
    )
    assert only_energy.aep == record.aep
    assert "power" not in only_energy.arrays


def test_equal_sets_give_equal_bits_in_any_order(source: Path, tmp_path: Path) -> None:
    farms = [{**NEXT, "farm": name} for name in ("farm b", "farm d", "farm e")]
    rows = [{"combination": 1, **row} for row in farms] + [
        {"combination": 2, **row} for row in reversed(farms)
    ]
    rows.append({"combination": 3})
    one, two, empty = evaluated(source, tmp_path / "s.h5", **ONE, site=series(), neighbours={"table": rows})
    assert one.turbine_aep.tobytes() == two.turbine_aep.tobytes()
    assert empty.aep == empty.aep_alone


def test_what_combinations_have_in_common_is_computed_once(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed, among = list[tuple[int, int]](), Energies.among

    def counting(
        energies: Energies, own: TypedLayout, others: Any, period: tuple[int, int], **more: Any
    ) -> Any:
        computed.append(period)
        return among(energies, own, others, period, **more)

    monkeypatch.setattr(Energies, "among", counting)
    rows: list[dict[str, Any]] = [{**NEXT, "farm": f"farm {name}", "from": "2020-01-08"} for name in "bdb"]
    table = [{"combination": number, **row} for number, row in enumerate([{}, *rows])]
    evaluated(source, tmp_path / "s.h5", **ONE, site=series(20, times=True), neighbours={"table": table})
    assert sorted(computed) == [(0, 7), (0, 20), (7, 20), (7, 20)]


def test_the_evaluated_farm_is_not_its_own_neighbour(source: Path, tmp_path: Path) -> None:
    first, second = evaluated(
        source,
        tmp_path / "s.h5",
        farms=["farm a", "farm b"],
        types="small",
        neighbours={"both": [NEXT, {**NEXT, "farm": "farm a"}]},
    )
    assert (first.attributes["farm"], first.attributes["neighbour_layouts"]) == ("farm a", "farm1_t0_s0")
    assert (second.attributes["farm"], second.attributes["neighbour_layouts"]) == ("farm b", "farm0_t0_s0")


def test_turbines_that_the_campaign_has_standing_stay(source: Path, tmp_path: Path) -> None:
    here = {"name": "old", "type": "table", "positions": [[-400.0, 700.0], [-400.0, 1300.0]]}
    crowded = compute(campaign(2, 1, neighbours=here), tmp_path / "crowded.h5")
    (record,) = evaluated(crowded, tmp_path / "s.h5", farms="farm a", types="small")
    expected = wind_farm(campaign(2, 1, neighbours=here), 0, 0).aep(*record.layout)
    assert record.aep == record.aep_alone == pytest.approx(expected, rel=1e-12)


def test_groups_of_turbines_stand_in_a_combination_beside_stored_layouts(
    source: Path, tmp_path: Path
) -> None:
    """The groups of a combination are not there when the farm is alone, and may be of any type of the database."""
    old = {"name": "old", "type": "table", "positions": [[-400.0, 700.0], [-400.0, 1300.0]]}
    around = {"none": "none", "old": [old], "both": [NEXT, old]}
    none, group, both = evaluated(source, tmp_path / "s.h5", **ONE, site=series(), neighbours=around)
    assert none.aep_alone == group.aep_alone == both.aep_alone == none.aep > group.aep > both.aep
    with_group = campaign(10, neighbours=old, site=series())
    assert group.aep == pytest.approx(wind_farm(with_group, 0, 0).aep(*group.layout), rel=1e-12)


def test_a_mix_is_evaluated_with_the_types_of_its_turbines(tmp_path: Path) -> None:
    mixed = campaign(2, 1, n_turbines=None, mix={"small": 2, "table": 3})
    made = compute(mixed, tmp_path / "mixed.h5")
    (record,) = evaluated(made, tmp_path / "s.h5", farms="farm b", neighbours={"together": ["farm a"]})
    assert record.types.tolist() == [0, 0, 1, 1, 1]
    x, y = record.layout
    alone = wind_farm(mixed, [0, 1]).aep(x, y, record.types)
    assert record.aep_alone == pytest.approx(alone, rel=1e-12)
    assert record.aep < alone


def test_an_evaluated_farm_has_its_own_substations_of_those_by_name(tmp_path: Path) -> None:
    places = {farm["name"]: [[100.0 + farm["boundary"][0][0], 50.0]] for farm in farms(2)}
    cables = {"substations": places, "types": [[3, 400]]}
    costs = {"discount": 0.06, "years": 25, "turbine": {"capex": 1e6}, "cables": cables}
    stored = compute(campaign(2, seeds=1, costs=costs), tmp_path / "layouts.h5")
    made = asked_of(stored, farms="farm b", types="small", seeds=0)
    assert made.costs is not None
    assert made.costs.cables is not None
    assert [farm.name for farm in made.farms] == ["farm b"]
    assert made.costs.cables.substations_of("farm b") == ((2100.0, 50.0),)


def test_prices_by_wind_state_are_left_out_where_other_wind_and_neighbours_would_sell_otherwise(
    tmp_path: Path,
) -> None:
    costs = {"discount": 0.06, "years": 25, "turbine": {"capex": 1e6}}
    for price, kept in ((80.0, True), ([80.0], False)):
        asked = campaign(2, seeds=1, costs=costs, objective={"of": "npv", "price": price})
        stored = compute(asked, tmp_path / f"{kept}.h5")
        made = asked_of(stored, farms="farm b", types="small", seeds=0)
        assert (made.objective is not None) == kept


def test_a_list_of_combinations_that_grows_keeps_what_was_computed(source: Path) -> None:
    rows = [{"combination": name, **NEXT, "farm": name} for name in ("farm b", "farm c", "farm d")]

    def fingerprints(count: int, **more: Any) -> dict[str, str]:
        return asked_of(source, **ONE, neighbours={"table": rows[:count]}, **more).fingerprints()

    few, many = fingerprints(2), fingerprints(3)
    assert {key: many[key] for key in few} == few
    assert len(set(many.values())) == 3
    assert not set(fingerprints(2, internal_wakes="both").values()) & set(few.values())
    assert not set(fingerprints(2, wake={"jensen": {"k": 0.05}}).values()) & set(few.values())
