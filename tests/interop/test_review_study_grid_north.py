"""A study in other wind, of layouts whose campaign lies turned against true north."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.studies import campaign, compute, series
from vindeby.evaluation.running import study_campaign

STATES = [{"wind_direction": 270, "wind_speed": 9, "probability": 1, "turbulence_intensity": 0.08}]


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = {"states": STATES, "grid_convergence_deg": 2.0}
    return compute(campaign(1, 1, site=site), tmp_path_factory.mktemp("turned") / "o.h5")


@pytest.mark.parametrize(("own", "turn"), [({}, 2.0), ({"grid_convergence_deg": 0.0}, 0.0)])
def test_other_wind_is_turned_as_that_of_the_campaign(turned: Path, own: dict[str, Any], turn: float) -> None:
    study = {"name": "study", "layouts": {"farms": "farm a"}, "site": {**series(5), **own}}
    assert study_campaign(turned, study).site.grid_convergence_deg == turn
