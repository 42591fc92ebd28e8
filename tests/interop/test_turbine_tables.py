"""Turbine curves as spreadsheets write them: units in headings, decimal commas, semicolons, a byte-order mark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interop.geo_files import CAMPAIGN
from vindeby.campaign import Campaign
from vindeby.campaign.survey import survey
from vindeby.errors import CampaignError

KW = (0.0, 66.6, 154.0, 2000.0)
SPEEDS, CT = (3.0, 4.0, 5.5, 25.0), (0.0, 0.818, 0.806, 0.053)


def table(power: str, factor: float, *, separator: str = ",", decimal: str = ".", first: str = "") -> str:
    rows = [separator.join(["Wind speed [m/s]", power, "Ct [-]"])]
    for speed, kilowatts, ct in zip(SPEEDS, KW, CT, strict=True):
        cells = [f"{speed:g}", f"{kilowatts * factor:.9g}", f"{ct:g}"]
        rows.append(separator.join(cell.replace(".", decimal) for cell in cells))
    return first + "\n".join(rows) + "\n"


def campaign_of(folder: Path, text: str) -> Campaign:
    (folder / "curve.csv").write_text(text, encoding="utf-8", newline="")
    described = {"rotor_diameter_m": 80, "hub_height_m": 70, "file": "curve.csv"}
    data = {
        **CAMPAIGN,
        "farms": [{"name": "a", "boundary": [[0, 0], [4000, 0], [4000, 3000]]}],
        "turbines": [{"name": "v80", "table": described}],
    }
    (folder / "c.yaml").write_text(json.dumps(data))
    return Campaign.load(folder / "c.yaml")


def curve_of(folder: Path, text: str) -> Any:
    return campaign_of(folder, text).turbines[0].table


@pytest.mark.parametrize(
    ("power", "factor"),
    [("Power [kW]", 1), ("power_kw", 1), ("power", 1), ("Power (W)", 1e3), ("power_w", 1e3), ("P [MW]", 1e-3),
     ("Power_MW", 1e-3)],
)  # fmt: skip
def test_power_is_read_in_the_unit_of_its_heading(tmp_path: Path, power: str, factor: float) -> None:
    curve = curve_of(tmp_path, table(power, factor))
    assert curve.power_kw == pytest.approx(KW, rel=1e-12)
    assert (curve.wind_speed, curve.ct) == (SPEEDS, CT)


@pytest.mark.parametrize(
    "text",
    [
        table("Power [kW]", 1, separator=";", decimal=","),
        table("Power [W]", 1e3, separator="\t", decimal=","),
        table("Power [MW]", 1e-3, separator=";", decimal=",", first="\ufeff"),
        table("Power [kW]", 1, separator=";", decimal=",", first="sep=;\n"),
        table("Power [kW]", 1, first="# measured\n"),
        table("Power [kW]", 1).replace("\n", "\r\n"),
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, text: str) -> None:
    assert curve_of(tmp_path, text).power_kw == pytest.approx(KW, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (table("Power [hp]", 1), "power is in hp; vindeby needs kW"),
        (table("Power [kW],Power [MW]", 1), "both name the power"),
        (table("Power [kW]", 1).replace("154", "n/a"), "the power is not a number"),
        (table("Power [kW]", 1).replace("154", ""), "has no power"),
        ("1,2,3\n4,5,6\n", "has no header"),
    ],
)
def test_broken_tables_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CampaignError) as caught:
        curve_of(tmp_path, text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('speed,power,ct\n3,"1,200",0.8\n4,"2,000",0.8\n', "may be a decimal comma or separate thousands"),
        ("speed;power;ct\n3,5;1.200;0,8\n4,5;2.000;0,8\n", "decimal commas and decimal points are mixed"),
        ("speed,power,ct\n3,5,100,0,8\n", "has 5 columns instead of 3"),
        ("speed,power,ct\n3,1_0,0.8\n", "the power is not a number"),
    ],
)
def test_numbers_that_can_be_read_in_two_ways_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CampaignError, match=words):
        curve_of(tmp_path, text.replace("speed", "wind_speed").replace("power", "power_kw"))


REFERENCE = """\
Wind Speed [m/s],Power [kW],Cp [-],Thrust [kN],Ct [-],,
3,40,0.48,22.6,0.82,,
8,700,0.44,158,0.80,,
12,2000,0.38,150,0.34,,
25,2000,0.04,90,0.05,,
"""


@pytest.mark.parametrize("force", ["Thrust [kN]", "thrust [kn]", "Thrust (N)", "Rotor thrust [MN]"])
def test_power_is_taken_where_cp_is_given_too_and_a_force_is_no_thrust_coefficient(
    tmp_path: Path, force: str
) -> None:
    campaign = campaign_of(tmp_path, REFERENCE.replace("Thrust [kN]", force))

    curve = campaign.turbines[0].table
    assert curve is not None
    assert (curve.power_kw, curve.cp) == ((40.0, 700.0, 2000.0, 2000.0), None)
    assert curve.ct == (0.82, 0.80, 0.34, 0.05)
    notes = [text for text in survey(campaign).warnings if "curve.csv" in text]
    assert "type v80, from curve.csv: power is taken, and the column of Cp is not used" in notes


def test_table_with_a_force_and_no_thrust_coefficient_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="names no column of ct"):
        curve_of(tmp_path, REFERENCE.replace("Ct [-]", "other"))
