"""The published energy of the published layouts of IEA Wind Task 37, case study 1, to the last digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vindeby.wake import UniformSite, WindFarm, iea37_335mw

CASES = json.loads((Path(__file__).parent / "iea37_cs1.json").read_text())["layouts"]

# iea37-windrose.yaml of the case study
FREQUENCY = (
    *(0.025, 0.024, 0.029, 0.036, 0.063, 0.065, 0.100, 0.122),
    *(0.063, 0.038, 0.039, 0.083, 0.213, 0.046, 0.032, 0.022),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_published_energy(case: dict[str, Any]) -> None:
    farm = WindFarm(UniformSite(FREQUENCY, wind_speed=9.8), iea37_335mw(), "iea37")
    assert len(case["x"]) in (16, 36, 64)
    assert 1e3 * farm.aep(case["x"], case["y"]) == pytest.approx(case["aep_mwh"], abs=6e-5)
