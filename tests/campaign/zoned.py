"""A small campaign with zones and mixes, for tests to change."""

from __future__ import annotations

TWO_TYPES = """\
turbines:
  - name: three
    generic: {rated_power_mw: 3, rotor_diameter_m: 90, hub_height_m: 80}
  - name: five
    generic: {rated_power_mw: 5, rotor_diameter_m: 126, hub_height_m: 90}
min_spacing: 3 D
site:
  weibull:
    turbulence_intensity: 0.1
    direction_step: 30
    wind_speeds: [6, 9, 12]
    sectors:
      - {direction: 0, a: 9, k: 2, frequency: 0.2}
      - {direction: 90, a: 9.5, k: 2.1, frequency: 0.2}
      - {direction: 180, a: 10, k: 2.2, frequency: 0.3}
      - {direction: 270, a: 11, k: 2.3, frequency: 0.3}
wake: nygaard-2022
method:
  - random-start
  - random-search: {max_evaluations: 50}
seeds: 2
"""
"""What the farms of campaigns with several turbine types share."""

ZONED = (
    """\
name: zoned
farms:
  - name: together
    zones:
      - name: west
        boundary: [[0, 0], [2000, 0], [2000, 3000], [0, 3000]]
        n_turbines: 5
      - name: east
        boundary: [[2000, 0], [4000, 0], [4000, 3000], [2000, 3000]]
        capacity_mw: 15
  - name: in turn
    zones:
      - {name: west, boundary: [[0, 0], [2000, 0], [2000, 3000], [0, 3000]], mix: {five: 2, three: 1}}
      - {name: east, boundary: [[2000, 0], [4000, 0], [4000, 3000], [2000, 3000]], mix: {three: 3}}
    search: in-turn
    rounds: 2
  - name: mixed
    boundary: [[0, 0], [4000, 0], [4000, 3000], [0, 3000]]
    mix: {five: 4, three: 2}
"""
    + TWO_TYPES
)
