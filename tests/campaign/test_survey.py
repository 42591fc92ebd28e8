from __future__ import annotations

import pytest

from tests.campaign.examples import changed, small
from vindeby.campaign import Campaign
from vindeby.campaign.survey import survey


def test_the_figures_of_a_cell_are_right() -> None:
    found = survey(Campaign.from_data(small()))
    cell = found.cells[1]
    assert (cell.farm, cell.type, cell.tasks, cell.n_turbines) == ("north", "tabulated", 3, 15)
    assert cell.area_km2 == pytest.approx(12.0)
    assert cell.density_mw_per_km2 == pytest.approx(30 / 12)
    assert cell.spacing_m == 240.0
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (
            "min_spacing",
            "3000 m",
            ("farm north, type five: 6 turbines cannot stand 3000 m apart", "1 more of its types"),
        ),
        ("farms.0.boundary", [[7, 55], [8, 55], [8, 56], [7, 56]], ("are they degrees?",)),
        (
            "farms.1.boundary.exclusions.0.circle.center",
            [3000, 8000],
            ("exclusions[0] lies outside the boundary",),
        ),
    ],
)
def test_what_cannot_work_is_warned_of(path: str, value: object, words: tuple[str, ...]) -> None:
    warnings = "\n".join(survey(Campaign.from_data(changed(path, value))).warnings)
    assert all(word in warnings for word in words), warnings


def test_a_coarse_step_of_directions_is_warned_of_with_what_it_means() -> None:
    (warning,) = survey(Campaign.from_data(changed("site.weibull.direction_step", 10))).warnings
    assert "searched in 36 directions" in warning
    assert "(aep) is stated in steps of 1 degree" in warning
    for step in (1, 0.5):
        assert survey(Campaign.from_data(changed("site.weibull.direction_step", step))).warnings == ()


def test_each_farm_is_warned_of_once() -> None:
    warnings = survey(Campaign.from_data(changed("min_spacing", "3000 m"))).warnings
    assert [warning.split(",")[0] for warning in warnings] == ["farm north", "farm south"]
