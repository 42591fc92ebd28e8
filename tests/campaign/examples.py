"""A small valid campaign, as text and as data, for tests to change."""

from __future__ import annotations

import copy
from typing import Any

from vindeby.campaign.reading.yaml_text import read

SMALL = """\
name: small
farms:
  - name: north
    boundary: [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]
  - name: south
    boundary:
      polygons:
        - [[0, -9000], [4000, -9000], [4000, -5000]]
        - [[6000, -9000], [9000, -9000], [9000, -5000]]
      exclusions:
        - circle: {center: [3000, -8000], radius_m: 200}
turbines:
  - name: five
    generic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}
  - name: tabulated
    table:
      rotor_diameter_m: 80
      hub_height_m: 70
      wind_speed: [3, 4, 8, 12, 25]
      power_kw: [0, 70, 700, 2000, 2000]
      ct: [0.8, 0.8, 0.8, 0.4, 0.1]
capacity_mw: 30
min_spacing: 3 D
site:
  weibull:
    turbulence_intensity: 0.1
    sectors:
      - {direction: 0, a: 9, k: 2, frequency: 0.2}
      - {direction: 90, a: 9.5, k: 2.1, frequency: 0.2}
      - {direction: 180, a: 10, k: 2.2, frequency: 0.3}
      - {direction: 270, a: 11, k: 2.3, frequency: 0.3}
wake: nygaard-2022
method:
  - smart-start: {grid_size: 18, random_pct: 30}
  - gradient
seeds: 3
run:
  workers: 2
"""


def small() -> dict[str, Any]:
    """The campaign above as data of one's own."""
    data: dict[str, Any] = copy.deepcopy(read(SMALL, "small.yaml").data)
    return data


def changed(path: str, value: Any) -> dict[str, Any]:
    """The campaign above with one value changed; ``path`` is like ``farms.0.name``."""
    data = small()
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    holder: Any = data
    for step in steps:
        holder = holder[step]
    holder[last] = value
    return data
