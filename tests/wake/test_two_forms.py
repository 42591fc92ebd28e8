"""Loops that count references to arrays and loops that do not share their small functions, in any order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import numpy as np
from vindeby.layout.moves.one_move import move_kernels, new_moves
from vindeby.wake import TimeSeriesSite, WindFarm, iea37_335mw

site = TimeSeriesSite(np.array([9.0, 8.0, 10.0]), np.array([270.0, 200.0, 90.0]))
farm = WindFarm(site, iea37_335mw(), "iea37")
x, y = np.array([0.0, 700.0, 900.0]), np.array([0.0, 50.0, 400.0])
moves = new_moves(farm, x, y, np.zeros(3, np.int64), 3)

def without_counting():
    return move_kernels(farm.model).settle(farm.data, farm.machines, farm.wind, moves) * 8760e-9

def counting():
    return [farm.aep(x, y) for _ in range(50)]

"""


@pytest.mark.parametrize(
    "order", ["without_counting(); found = counting()", "found = counting(); without_counting()"]
)
def test_what_is_compiled_first_changes_nothing(order: str, tmp_path: Path) -> None:
    # A process and a cache of its own: what was compiled in another order must not be at hand.
    code = f"{MEASURE}\n{order}\nassert np.ptp(found) == 0.0\nassert np.isclose(found[0], without_counting())"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in ("compiled", "loaded"):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
