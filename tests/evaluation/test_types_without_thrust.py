"""Types without thrust, as internal wakes are switched off: of any description, and with the longest of names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.evaluation.stored import TYPES
from vindeby.assembly.evaluation import passive
from vindeby.assembly.wind import turbine_of
from vindeby.campaign.sections.turbines import TurbineSection

_CUBIC = {
    "cubic": {"rated_power_mw": 5, "rotor_diameter_m": 126, "hub_height_m": 90, "rated_speed": 11, "ct": 0.8}
}


@pytest.mark.parametrize("description", [*TYPES, _CUBIC], ids=["generic", "table", "cubic"])
def test_a_type_without_thrust_has_the_same_power_whatever_its_name(description: dict[str, Any]) -> None:
    given = TurbineSection.model_validate({**description, "name": "x" * 120})
    before = turbine_of(given)
    after = passive(before)
    assert after.name != before.name
    for speed in np.arange(2.0, 30.0, 0.5):
        assert after.power_at(speed) == pytest.approx(before.power_at(speed), rel=1e-12)
        assert after.thrust_coefficient_at(speed) == 0.0
