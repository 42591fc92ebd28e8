"""Sites given state by state, turbulence that depends on the wind, and turbine tables, in a campaign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.examples import SMALL, changed, small
from vindeby.assembly.wind import site_of, turbine_of
from vindeby.campaign import Campaign
from vindeby.campaign.survey import survey
from vindeby.errors import CampaignError

SERIES = {
    "wind_direction": [270, 10.5, 270],
    "wind_speed": [8, 9, 10.25],
    "turbulence_intensity": [0.1, 0.2, 0.05],
}
STATES = [
    {"wind_direction": 270, "wind_speed": 8, "probability": 0.25, "turbulence_intensity": 0.1},
    {"wind_direction": 10.5, "wind_speed": 9, "probability": 0.75, "turbulence_intensity": 0.2},
]


def of_site(**site: Any) -> Campaign:
    return Campaign.from_data(changed("site", site))


def of_turbine(**table: Any) -> Campaign:
    data = small()
    data["turbines"][1]["table"] = {"rotor_diameter_m": 80, "hub_height_m": 70, **table}
    return Campaign.from_data(data)


def identities(campaign: Campaign) -> list[str]:
    return [cell.identity for cell in campaign.cells()]


def test_a_series_reaches_the_engine_with_its_weights() -> None:
    states = site_of(of_site(time_series={**SERIES, "weight": [1, 2, 5]})).states()
    assert states.speed.tolist() == [9.0, 8.0, 10.25]
    assert states.probability.tolist() == [0.25, 0.125, 0.625]
    assert states.turbulence.tolist() == [0.2, 0.1, 0.05]
    even = site_of(of_site(time_series={**SERIES, "turbulence_intensity": 0.07})).states()
    assert even.probability.tolist() == [1 / 3] * 3
    assert set(even.turbulence.tolist()) == {0.07}


def test_states_are_probabilities_and_are_divided_only_where_that_is_asked_for() -> None:
    low = [{**state, "probability": state["probability"] * 0.996} for state in STATES]
    campaign = of_site(states=low)
    assert site_of(campaign).states().probability.sum() == pytest.approx(0.996, rel=1e-14)
    (warning,) = survey(campaign).warnings
    assert warning.startswith("site: the probabilities sum to 0.996, not to 1;")
    columns = {key: [state[key] for state in low] for key in low[0]}
    assert of_site(states=columns) == campaign
    divided = of_site(states={**columns, "normalise": True})
    assert site_of(divided).states().probability.tolist() == pytest.approx([0.75, 0.25], rel=1e-14)
    assert survey(divided).warnings == ()
    assert set(identities(divided)).isdisjoint(identities(campaign))
    assert identities(of_site(states={**columns, "normalise": False})) == identities(campaign)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('"9"', "must be a number (got '9'); write a number, without quotes"),
        ("true", "must be a number (got True); write a number"),
        ("[9]", "must be a number (got [9]); write a number"),
        ("null", "must be a number; write a number"),
    ],
)
def test_a_value_of_a_state_is_refused_with_its_field_and_line(
    written: str, words: str, tmp_path: Path
) -> None:
    text = (
        "site:\n  states:\n"
        "    - {wind_direction: 270, wind_speed: 8, probability: 0.5, turbulence_intensity: 0.1}\n"
        f"    - wind_direction: 90\n      wind_speed: {written}\n      probability: 0.5\n"
        "      turbulence_intensity: 0.1\n"
    )
    start = SMALL[: SMALL.index("site:")]
    path = tmp_path / "states.yaml"
    path.write_text(start + text + SMALL[SMALL.index("wake:") :])
    with pytest.raises(CampaignError) as refused:
        Campaign.load(path)
    line = start.count("\n") + 5
    assert f"states.yaml:{line}: site.states[1].wind_speed: {words}" in str(refused.value)


@pytest.mark.parametrize(("normalise", "total"), [(None, 0.995), (True, 1.0)])
@pytest.mark.parametrize("kind", ["weibull", "table"])
def test_sectors_and_tables_can_be_divided_by_their_sum(
    kind: str, normalise: bool | None, total: float
) -> None:
    speeds = [8] if kind == "table" else list(range(3, 26))
    about = {"turbulence_intensity": 0.1, "wind_speeds": speeds} | ({"normalise": True} if normalise else {})
    if kind == "table":
        site = {**about, "wind_directions": [0, 180], "probability": [[0.5], [0.495]]}
    else:
        sectors = [{"direction": d, "a": 8, "k": 9, "frequency": f} for d, f in ((0, 0.5), (180, 0.495))]
        site = {**about, "sectors": sectors}
    campaign = of_site(**{kind: site})
    inside = 1.0 if kind == "table" else np.exp(-((2.5 / 8) ** 9)) - np.exp(-((25.5 / 8) ** 9))
    assert site_of(campaign).states().probability.sum() / inside == pytest.approx(total, rel=1e-12)
    assert ["sum to 0.995" in warning for warning in survey(campaign).warnings] == [True] * (not normalise)


def test_defaults_that_are_written_out_change_no_identity_and_no_text() -> None:
    data = small()
    data["turbines"][1]["table"]["outside"] = "hold"
    data["site"]["weibull"]["normalise"] = False
    assert Campaign.from_data(data).cells() == Campaign.from_data(small()).cells()
    assert Campaign.from_data(data).dumps() == Campaign.loads(SMALL).dumps()


@pytest.mark.parametrize(
    ("turbulence", "at_45_degrees_and_6_m_s"),
    [
        ({"wind_speeds": [3, 9, 25], "values": [0.2, 0.1, 0.05]}, 0.15),
        ({"wind_directions": [0, 90, 180, 270], "values": [0.1, 0.2, 0.1, 0.2]}, 0.15),
        (
            {
                "wind_directions": [0, 90],
                "wind_speeds": [3, 9, 25],
                "values": [[0.3, 0.1, 0.1], [0.1, 0.1, 0.1]],
            },
            0.15,
        ),
    ],
)
@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
def test_turbulence_by_the_wind_reaches_the_engine(
    turbulence: dict[str, Any], at_45_degrees_and_6_m_s: float, interpolation: str
) -> None:
    data = changed("site.weibull.turbulence_intensity", turbulence)
    data["site"]["weibull"]["interpolation"] = interpolation
    campaign = Campaign.from_data(data)
    assert site_of(campaign).states([45.0], [6.0]).turbulence[0] == pytest.approx(
        at_45_degrees_and_6_m_s, rel=1e-14
    )
    assert Campaign.loads(campaign.dumps()) == campaign
    assert set(identities(campaign)).isdisjoint(identities(Campaign.from_data(small())))


def test_times_do_not_decide_a_result_but_every_number_does() -> None:
    plain = of_site(time_series=SERIES)
    times = ["2020-01-01T00:00", "2020-01-01T01:00", "2020-01-02"]
    timed = of_site(time_series={**SERIES, "times": times})
    assert identities(timed) == identities(plain)
    for name, values in SERIES.items():
        moved = of_site(time_series={**SERIES, name: [values[0], values[1], values[2] * 1.0001]})
        assert set(identities(moved)).isdisjoint(identities(plain)), name
    assert set(identities(of_site(time_series={**SERIES, "weight": [1, 1, 1]}))).isdisjoint(identities(plain))
    assert "2020-01-01T00:00 to 2020-01-02" in timed.site.about


def test_power_coefficients_make_powers_at_the_speeds_of_the_table() -> None:
    campaign = of_turbine(
        wind_speed=[4, 8, 12], cp=[0.2, 0.45, 0.4], ct=[0.8, 0.8, 0.4], air_density_kg_m3=1.2
    )
    turbine = turbine_of(campaign.turbines[1])
    area = np.pi * 40.0**2
    watts = 0.5 * 1.2 * area * np.array([0.2 * 64, 0.45 * 512, 0.4 * 1728])
    assert turbine.power_at([4, 8, 12, 6]).tolist() == pytest.approx([*watts, watts[:2].mean()], rel=1e-14)
    assert campaign.turbines[1].rated_power_mw == pytest.approx(watts.max() / 1e6, rel=1e-14)
    assert Campaign.loads(campaign.dumps()) == campaign


def test_thrust_may_have_speeds_of_its_own_and_both_may_be_zero_outside() -> None:
    table = {
        "wind_speed": [4, 8, 12],
        "power_kw": [70, 700, 2000],
        "ct": [0.8, 0.4],
        "ct_wind_speed": [3, 13],
    }
    hold, zero = (turbine_of(of_turbine(**table, **more).turbines[1]) for more in ({}, {"outside": "zero"}))
    assert hold.thrust_coefficient_at([2, 8, 14]).tolist() == pytest.approx([0.8, 0.6, 0.4], rel=1e-14)
    assert zero.thrust_coefficient_at([2, 8, 14]).tolist() == pytest.approx([0.0, 0.6, 0.0], rel=1e-14)
    assert hold.power_at([3.5, 12.5]).tolist() == [70e3, 2000e3]
    assert zero.power_at([3.5, 12.5]).tolist() == [0.0, 0.0]


def test_cubic_power_with_a_thrust_table() -> None:
    cubic = {"rated_power_mw": 10, "rotor_diameter_m": 198, "hub_height_m": 119, "rated_speed": 11}
    data = small()
    data["turbines"][0] = {"name": "c", "cubic": {**cubic, "ct": [0.8, 0.4], "ct_wind_speed": [4, 12]}}
    campaign = Campaign.from_data(data)
    turbine = turbine_of(campaign.turbines[0])
    assert turbine.thrust_coefficient_at([3, 10, 30]).tolist() == pytest.approx([0.8, 0.5, 0.4], rel=1e-14)
    assert float(turbine.power_at(7.5)) == pytest.approx(10e6 / 8, rel=1e-12)
    assert Campaign.loads(campaign.dumps()) == campaign


@pytest.mark.parametrize(
    ("power_kw", "words"),
    [
        (
            [70_000, 700_000, 2_000_000],
            "cannot be: 7e+08 W at 8 m/s are 444 of the power of the wind",
        ),
        ([0.07, 0.7, 2.0], "cannot be: the largest power is 2000 W, less than a hundredth"),
    ],
)
def test_power_in_other_units_is_refused(power_kw: list[float], words: str) -> None:
    data = small()
    data["turbines"][1]["table"] |= {"wind_speed": [4, 8, 12], "power_kw": power_kw, "ct": [0.8, 0.8, 0.4]}
    data |= {"n_turbines": 3}
    del data["capacity_mw"]
    with pytest.raises(CampaignError) as refused:
        Campaign.from_data(data)
    assert words in str(refused.value)
    assert "give power_kw in kW" in str(refused.value)


SPELLINGS = [
    "wind_direction,wind_speed,turbulence_intensity\n270,8,.1\n10.5,9,.2\n270,10.25,.05\n",
    "# from a mast\nWS [m/s]; WD [deg]; TI [-]; T [K]\n8;270;0,1;280\n9;10,5;0,2;\n10,25;270;0,05;281\n",
    "Wind speed (m/s)\tWind direction (deg)\tTurbulence intensity\n8\t270\t0.1\n9\t10.5\t0.2\n\n10.25\t270\t0.05\n",
    "temperature,ws_100m,wind_dir_deg,ti,wind_speed_std\n1,8,270,0.1,x\n1,9,10.5,0.2,\n1,10.25,270,0.05,\n",
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_series_from_a_file_is_that_of_the_lists(text: str, tmp_path: Path) -> None:
    (tmp_path / "wind.csv").write_text(text)
    start, end = SMALL.index("site:"), SMALL.index("wake:")
    path = tmp_path / "campaign.yaml"
    path.write_text(f"{SMALL[:start]}site: {{time_series: {{file: wind.csv}}}}\n{SMALL[end:]}")
    campaign = Campaign.load(path)
    assert campaign == of_site(time_series=SERIES)
    assert "wind.csv" not in campaign.dumps()


def test_states_and_curves_are_read_from_files_too(tmp_path: Path) -> None:
    (tmp_path / "rose.csv").write_text("ws,wd,freq_val\n8,270,0.25\n9,10.5,0.75\n")
    rows = "3,0,.8\n4,70,.8\n8,700,.8\n12,2000,.4\n25,2000,.1\n"
    (tmp_path / "curve.csv").write_text(f"wind_speed_m_s,power_kw,ct\n{rows}")
    start, end = SMALL.index("site:"), SMALL.index("wake:")
    curve = SMALL.index("      wind_speed: [3"), SMALL.index("capacity_mw")
    path = tmp_path / "campaign.yaml"
    path.write_text(
        f"{SMALL[: curve[0]]}      file: curve.csv\n{SMALL[curve[1] : start]}"
        f"site: {{states: {{file: rose.csv, turbulence_intensity: 0.06}}}}\n{SMALL[end:]}"
    )
    states = [{**state, "turbulence_intensity": 0.06} for state in STATES]
    campaign = Campaign.load(path)
    assert campaign.turbines == Campaign.loads(SMALL).turbines
    assert site_of(campaign).states().probability.tolist() == [0.75, 0.25]
    assert campaign.site.states is not None
    assert campaign.site.states.wind_speed == tuple(float(state["wind_speed"]) for state in states)

    (tmp_path / "curve.csv").write_text("ws,power,ct\n\n4,0,0.8\n3,50,0.8\n20,2000,0.2\n")
    with pytest.raises(
        CampaignError, match=r"curve\.csv:4: turbines\[\d\]\.table\.wind_speed\[1\]: must increase"
    ):
        Campaign.load(path)


SECTORS = [
    {"direction": 0.0, "a": 8.5, "k": 2.0, "frequency": 0.25},
    {"direction": 120.0, "a": 9.0, "k": 2.1, "frequency": 0.25},
    {"direction": 240.0, "a": 10.0, "k": 2.2, "frequency": 0.5},
]


def _loaded(folder: Path, site: dict[str, Any], text: str) -> Campaign:
    (folder / "wind.csv").write_text(text, encoding="utf-8")
    (folder / "c.yaml").write_text(json.dumps(changed("site", site)))
    return Campaign.load(folder / "c.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "direction,A,k,frequency\n0,8.5,2,0.25\n120,9,2.1,0.25\n240,10,2.2,0.5\n",
        "Sector;Weibull A [m/s];Weibull k [-];Frequency [%]\n1;8,5;2;25\n2;9;2,1;25\n3;10;2,2;50\n",
        "sector,scale [km/h],shape,freq\n0,30.6,2,0.25\n1,32.4,2.1,0.25\n2,36,2.2,0.5\n",
        "wd [deg],a,k,f\n120,9,2.1,0.25\n240,10,2.2,0.5\n360,8.5,2,0.25\n",
    ],
)
def test_sectors_of_a_weibull_site_may_stand_in_a_table(tmp_path: Path, text: str) -> None:
    campaign = _loaded(tmp_path, {"weibull": {"file": "wind.csv", "turbulence_intensity": 0.1}}, text)

    assert campaign.site.weibull is not None
    found = [sector.model_dump() for sector in campaign.site.weibull.sectors]
    assert [list(sector.values()) for sector in found] == [
        pytest.approx(list(sector.values()), rel=1e-14) for sector in SECTORS
    ]
    if text.startswith("direction"):
        inline = of_site(weibull={"sectors": SECTORS, "turbulence_intensity": 0.1})
        assert identities(campaign) == identities(inline)


def test_how_sectors_are_counted_is_reported(tmp_path: Path) -> None:
    text = "sector,a,k,f\n1,8.5,2,0.25\n2,9,2.1,0.25\n3,10,2.2,0.5\n"
    campaign = _loaded(tmp_path, {"weibull": {"file": "wind.csv", "turbulence_intensity": 0.1}}, text)

    wanted = "sectors are counted from 1: the first is centred on north, the others follow clockwise"
    assert f"site, from wind.csv: {wanted}" in survey(campaign).warnings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,k,f\n8,2,1\n", ("wind.csv:1:", "names no column of direction")),
        ("direction,a,k,f\n0,8,2,50\n180,8,2,50\n", ("wind.csv:2:", "frequency 50", "frequency [%]")),
        ("direction,a,k,f\n0,8,2,0.5\n100,8,2,0.5\n", ("sector 1 must be at 180 degrees",)),
        ("direction,a,k,f\n0,8,,0.5\n180,8,2,0.5\n", ("wind.csv:2:", "has no k")),
        (
            "direction,a,k,f\n180,8,2,0.5\n0,-8,2,0.5\n",
            ("wind.csv:3:", "sectors[0].a: must be greater than 0", "got -8.0"),
        ),
    ],
)
def test_table_of_sectors_that_is_wrong_is_refused(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(CampaignError) as caught:
        _loaded(tmp_path, {"weibull": {"file": "wind.csv", "turbulence_intensity": 0.1}}, text)
    for word in words:
        assert word in str(caught.value)


GAPS = (
    "time,wd,ws,ti\n2020-01-31T22:00,270,8,0.1\n2020-01-31T23:00,270,,0.1\n2020-02-01T00:00,271,nan,0.1\n"
    "2020-02-01T01:00,272,9,0.2\n2020-02-01T02:00,NA,9,0.2\n2020-02-01T03:00,273,10,\n2020-03-01T00:00,273,10,0.1\n"
)


@pytest.mark.parametrize("own", [True, False])
def test_steps_with_gaps_are_dropped_where_that_is_asked_for_and_counted(tmp_path: Path, own: bool) -> None:
    site = {"file": "wind.csv", "gaps": "drop"}
    campaign = _loaded(tmp_path, {"time_series": site} if own else site, GAPS)

    series = campaign.site.time_series
    assert series is not None
    assert series.wind_speed == (8.0, 9.0, 10.0)
    assert series.wind_direction == (270.0, 272.0, 273.0)
    assert series.times == ("2020-01-31T22:00", "2020-02-01T01:00", "2020-03-01T00:00")
    wanted = "site, from wind.csv: dropped for gaps: 4 of 7 steps (57.1%)"
    assert wanted in survey(campaign).warnings


@pytest.mark.parametrize("own", [True, False])
def test_refusal_of_a_gap_names_its_line_and_the_option(tmp_path: Path, own: bool) -> None:
    site = {"file": "wind.csv"}
    with pytest.raises(CampaignError) as caught:
        _loaded(tmp_path, {"time_series": site} if own else site, GAPS)
    (problem,) = caught.value.problems
    assert (problem.line, problem.message) == (6, "the wind direction is not a number")
    assert "gaps: drop" in str(problem.remedy)


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("fill", GAPS, ("gaps", "drop")),
        (["drop"], GAPS, ("gaps", "drop")),
        ("drop", "wd,ws,ti\n270,,0.1\n271,,0.1\n", ("every line has a gap",)),
        ("drop", "wd,ws,ti\n270,secret,0.1\n", ("is not a number",)),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_gaps_can_only_be_dropped(
    tmp_path: Path, own: bool, option: Any, text: str, words: tuple[str, ...]
) -> None:
    site = {"file": "wind.csv", "gaps": option}
    with pytest.raises(CampaignError) as caught:
        _loaded(tmp_path, {"time_series": site} if own else site, text)
    for word in words:
        assert word in str(caught.value)
