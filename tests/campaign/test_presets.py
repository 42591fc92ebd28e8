from __future__ import annotations

import pytest

from vindeby.campaign import Campaign, presets
from vindeby.campaign.survey import survey


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_is_a_valid_campaign_without_warnings(name: str) -> None:
    campaign = Campaign.load(name)
    assert campaign.name == name
    assert survey(campaign).warnings == ()


def test_the_presets_are_those_that_are_promised() -> None:
    assert presets.names() == (
        "energy-island",
        "energy-island-quick",
        "iea-2200-22",
        "iea-740-10",
        "iea37-cs1-16",
        "iea37-cs1-36",
        "iea37-cs1-64",
        "sandbank-lcoe",
    )


def test_energy_island_is_the_campaign_of_3000() -> None:
    campaign = Campaign.load("energy-island")
    assert (len(campaign.farms), len(campaign.turbines), len(campaign.seeds)) == (10, 6, 50)
    assert campaign.total_configs == len(campaign.tasks()) == 3000
    assert [cell.n_turbines for cell in campaign.cells()[:6]] == [100, 90, 83, 76, 71, 66]
    assert [turbine.rotor_diameter_m for turbine in campaign.turbines] == [195, 205, 214, 223, 231, 240]
    areas = [farm.boundary.area_km2 for farm in campaign.farms]
    assert min(areas) == pytest.approx(280.5, abs=0.05)
    assert max(areas) == pytest.approx(402.4, abs=0.05)


def test_the_quick_energy_island_is_a_part_of_the_whole() -> None:
    whole = {task.fingerprint: task for task in Campaign.load("energy-island").tasks()}
    quick = Campaign.load("energy-island-quick")
    assert quick.total_configs == 6
    parts = [whole[task.fingerprint].key for task in quick.tasks()]
    assert parts == [f"farm{farm}_t{type_}_s0" for farm in range(3) for type_ in (0, 5)]


@pytest.mark.parametrize(("count", "radius"), [(16, 1300), (36, 2000), (64, 3000)])
def test_the_case_study_presets_have_the_published_figures(count: int, radius: float) -> None:
    campaign = Campaign.load(f"iea37-cs1-{count}")
    circle, turbine, table = (
        campaign.farms[0].boundary.circle,
        campaign.turbines[0].cubic,
        campaign.site.table,
    )
    assert circle is not None
    assert turbine is not None
    assert table is not None
    assert (circle.radius_m, campaign.cells()[0].n_turbines, campaign.cells()[0].spacing_m) == (
        radius,
        count,
        260,
    )
    assert (turbine.rated_power_mw, turbine.cut_in, turbine.rated_speed, turbine.ct) == (3.35, 4, 9.8, 8 / 9)
    assert sum(map(sum, table.probability)) == pytest.approx(1.0, abs=1e-12)
    assert table.wind_directions == tuple(22.5 * index for index in range(16))


def test_the_reference_plants_have_the_turbines_of_their_rating() -> None:
    (small,) = Campaign.load("iea-740-10").cells()
    (large,) = Campaign.load("iea-2200-22").cells()
    assert (small.n_turbines, small.spacing_m) == (74, 396)
    assert (large.n_turbines, large.zones, large.spacing_m) == (100, (33, 33, 34), 1704)


def test_a_stored_campaign_names_only_the_run_options_that_were_chosen() -> None:
    """An option that a later version lacks must not close the databases of campaigns that never set it."""
    data = Campaign.load("energy-island-quick").to_data()
    del data["run"]
    plain, chosen = Campaign.from_data(data), Campaign.from_data(data | {"run": {"workers": 3}})
    assert "run" not in plain.to_data()
    assert chosen.to_data()["run"] == {"workers": 3}
    assert (Campaign.loads(chosen.dumps()), Campaign.loads(plain.dumps())) == (chosen, plain)
