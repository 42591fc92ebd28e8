"""Every coordinate of a campaign is compared with its farms: degrees, and places that are too far, are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.campaign.examples import small
from vindeby.campaign import Campaign
from vindeby.campaign.reading.yaml_text import write
from vindeby.errors import CampaignError

EAST, NORTH = 600_000.0, 6_100_000.0
DEGREES = [[11.8, 54.6], [11.9, 54.7]]
CABLES = {"types": [[3, 100.0]]}
COSTS = {"discount": 0.05, "years": 25, "turbine": {"capex": 5e6}}


def _projected() -> dict[str, Any]:
    """The small campaign with its farms where UTM has them."""
    data = small()
    for farm in data["farms"]:
        boundary = farm["boundary"]
        rings = [boundary] if isinstance(boundary, list) else boundary["polygons"]
        for ring in rings:
            ring[:] = [[x + EAST, y + NORTH] for x, y in ring]
        if isinstance(boundary, dict):
            boundary["exclusions"] = []
    return data


def _costs(**costs: Any) -> dict[str, Any]:
    return {**COSTS, **costs}


def _around(places: list[list[float]]) -> dict[str, Any]:
    return {"type": "five", "positions": places}


def _refused(data: dict[str, Any]) -> str:
    with pytest.raises(CampaignError) as caught:
        Campaign.from_data(data)
    return str(caught.value)


IN_DEGREES: dict[str, tuple[dict[str, Any], str]] = {
    "substations of all farms": (
        {"costs": _costs(cables={**CABLES, "substations": DEGREES})},
        "costs.cables.substations[",
    ),
    "substations of one farm": (
        {"costs": _costs(cables={**CABLES, "substations": {"north": DEGREES, "south": 1}})},
        "costs.cables.substations.north[",
    ),
    "neighbours": ({"neighbours": _around(DEGREES)}, "neighbours[0].positions["),
    "latitude first": ({"neighbours": _around([[54.6, 11.8]])}, "neighbours[0].positions[0]"),
    "neighbours of a scenario": (
        {"scenarios": {"built": {"weight": 1, "neighbours": [_around(DEGREES)]}}},
        "scenarios.built.neighbours[0].positions[",
    ),
}


@pytest.mark.parametrize("case", IN_DEGREES)
def test_degrees_beside_projected_farms_are_refused(case: str) -> None:
    change, field = IN_DEGREES[case]
    refused = _refused({**_projected(), **change})
    assert field in refused
    for words in ("km from farm '", "looks like longitude and latitude in degrees", "project them"):
        assert words in refused


def test_neighbours_of_one_farm_and_a_farm_in_degrees_are_refused() -> None:
    data = _projected()
    data["farms"][1]["neighbours"] = [_around(DEGREES)]
    assert "farms[1].neighbours[0].positions[" in (refused := _refused(data))
    assert "farm 'south'" in refused
    data = _projected()
    data["farms"][1]["boundary"] = [[7.1, 54.2], [7.5, 54.2], [7.5, 54.5]]
    assert "farms[1].boundary" in (refused := _refused(data))
    assert "degrees" in refused


def test_degrees_in_a_file_of_neighbours_are_refused_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "east.csv").write_text("x [m],y [m]\n11.8,54.6\n11.9,54.7\n")
    data = {**_projected(), "neighbours": {"type": "five", "file": "east.csv"}}
    path = tmp_path / "campaign.yaml"
    path.write_text(write(data))
    with pytest.raises(CampaignError, match=r"east\.csv:[23]: neighbours\[0\]\.positions\[[01]\].* degrees"):
        Campaign.load(path)


def test_what_is_too_far_from_the_farms_is_refused() -> None:
    def with_one_at(km: float) -> dict[str, Any]:
        return {
            **_projected(),
            "neighbours": _around([[EAST, NORTH], [EAST + 9000.0 + 1000.0 * km, NORTH - 5000.0]]),
        }

    assert Campaign.from_data(with_one_at(199)).neighbours
    assert "201 km from farm 'south'" in (refused := _refused(with_one_at(201)))
    assert "within 200 km of them" in refused


def test_a_refusal_names_the_system_of_the_campaign() -> None:
    assert "metres of EPSG:32632" in _refused(
        {**_projected(), "crs": "EPSG:32632", "neighbours": _around(DEGREES)}
    )


def test_farms_may_be_far_from_each_other_and_near_the_origin() -> None:
    data = _projected()
    data["farms"][1]["boundary"] = [[x + 400_000.0, y] for x, y in data["farms"][0]["boundary"]]
    assert len(Campaign.from_data(data).farms) == 2
    near = {**small(), "neighbours": _around([[50.0, 60.0]])}
    near["costs"] = _costs(cables={**CABLES, "substations": [[0.0, 0.0]]})
    assert Campaign.from_data(near).costs is not None
