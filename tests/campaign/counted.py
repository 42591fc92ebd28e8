"""A small campaign with ranges of turbines and of types, for tests to change."""

from __future__ import annotations

from tests.campaign.zoned import TWO_TYPES

COUNTED = (
    """\
name: counted
n_turbines: {from: 3, to: 6}
objective: {turbine_cost_gwh: {five: 25, three: 7}}
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
"""
    + TWO_TYPES
)
