"""Stored layouts in other wind, whose campaign lies turned against true north."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.stored import asked_of, campaign, compute, series

STATES = [{"wind_direction": 270, "wind_speed": 9, "probability": 1, "turbulence_intensity": 0.08}]


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = {"states": STATES, "grid_convergence_deg": 2.0}
    return compute(campaign(1, 1, site=site), tmp_path_factory.mktemp("turned") / "o.h5")


@pytest.mark.parametrize(("own", "turn"), [({}, 2.0), ({"grid_convergence_deg": 0.0}, 0.0)])
def test_other_wind_is_turned_as_that_of_the_campaign(turned: Path, own: dict[str, Any], turn: float) -> None:
    made = asked_of(turned, farms="farm a", site={**series(5), **own})
    assert made.site.grid_convergence_deg == turn
