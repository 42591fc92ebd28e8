"""The IEA Wind reference plants: their published layouts give the energies that PyWake 2.6.20 computes for them.

``reference_plants.json`` holds the layouts of IEA-Wind-740-10-ROWP and IEA-Wind-2200-22-ROWP (Apache-2.0), the 2200-22
ones zone by zone: that of its wind farm file and the last one of its published optimisation. 3385.51 and 3429.63 GWh
are the published energies of the 740-10 plant, those of the last layout the published ones of the 2200-22 plant.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vindeby.assembly.search import problem_of
from vindeby.campaign import Campaign
from vindeby.layout import Layout

pytestmark = pytest.mark.slow

PLANTS: dict[str, Any] = json.loads(Path(__file__).with_name("reference_plants.json").read_text())
TOLERANCE = {"iea-740-10": 1e-9, "iea-2200-22": 1e-6}


@pytest.mark.parametrize("name", PLANTS)
def test_a_published_layout_gives_the_published_energy(name: str) -> None:
    plant = PLANTS[name]
    campaign = Campaign.load(plant["preset"])
    problem = problem_of(campaign, campaign.cells()[0])
    energy = problem.farm.turbine_aep(plant["x"], plant["y"])
    assert energy.sum() == pytest.approx(plant["aep_gwh"], rel=TOLERANCE[plant["preset"]])
    if "by_zone_gwh" in plant:
        by_zone = np.bincount(problem.zone_of, energy)
        np.testing.assert_allclose(by_zone, plant["by_zone_gwh"], rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in PLANTS if "2200" in name])
def test_a_published_layout_of_three_zones_keeps_to_the_rules(name: str) -> None:
    campaign = Campaign.load("iea-2200-22")
    problem = problem_of(campaign, campaign.cells()[0])
    assert problem.shortfalls(Layout.of(PLANTS[name]["x"], PLANTS[name]["y"])) == (0.0, 0.0)
