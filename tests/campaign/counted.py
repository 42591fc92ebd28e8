"""A small campaign with ranges of turbines and of types, for tests to change."""

from __future__ import annotations

COUNTED = """\
name: counted
n_turbines: {from: 3, to: 6}
objective: {turbine_cost_gwh: {five: 15, three: 7}}
farms:
  - name: plain
    boundary: [[0, 0], [1500, 0], [1500, 1500], [0, 1500]]
  - name: fixed
    boundary: [[0, 0], [2000, 0], [2000, 2000], [0, 2000]]
    n_turbines: 4
  - name: mixed
    boundary: [[0, 0], [3000, 0], [3000, 2000], [0, 2000]]
    n_turbines: 6
    mix: {five: {from: 0, to: 4}, three: {from: 1, to: 6}}
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
