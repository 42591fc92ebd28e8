"""Loops that count references to arrays and loops that do not share their small functions, in any order."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba.core.lowering import Lower
from numba.core.runtime import _nrt_python, rtsys

from vindeby.wake.compiling import compiled
from vindeby.wake.compiling.compiled import kernel, scalar, uncounted

pytestmark = pytest.mark.slow

FloatArray = npt.NDArray[np.float64]

MEASURE = """
import numpy as np
from vindeby.layout.moves.carried_moves import carried_kernels
from vindeby.layout.moves.carried_state import new_carried_moves
from vindeby.wake import TimeSeriesSite, WindFarm, iea37_335mw

site = TimeSeriesSite(np.array([9.0, 8.0, 10.0]), np.array([270.0, 200.0, 90.0]))
farm = WindFarm(site, iea37_335mw(), "iea37")
x, y = np.array([0.0, 700.0, 900.0]), np.array([0.0, 50.0, 400.0])
moves = new_carried_moves(farm, x, y, np.zeros(3, np.int64), 3)

def without_counting():
    return carried_kernels(farm.model).settle(farm.data, farm.turbine_arrays, farm.wind, moves) * 8760e-9

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


def test_a_part_that_counts_no_references_leaves_them_as_they_were() -> None:
    @scalar
    def total(array: FloatArray) -> float:
        found = 0.0
        for k in range(array.size):
            found += float(array[k:][0])
        return found

    @uncounted
    def add(array: FloatArray, out: FloatArray) -> None:
        for k in range(array.size):
            out[0] += total(array[k:])

    @kernel()
    def loop(out: FloatArray) -> None:
        for count in range(2, 5):
            array = np.ones(count)
            add(array, out)
            out[1:] += total(array[1:])

    out = np.zeros(2)
    loop(out)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(10):
        loop(out)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert out.tolist() == [11 * (3 + 6 + 10), 11 * (1 + 2 + 3)]
    assert after.alloc - before.alloc == after.free - before.free >= 30


@pytest.mark.parametrize("make", [scalar, uncounted])
def test_loops_take_a_function_without_what_only_python_needs(
    make: Callable[[Callable[..., Any]], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path)  # nothing compiled before is at hand
    tmp_path.chmod(0o700)
    made: list[str] = []

    def create(of: str) -> Callable[..., None]:
        original = getattr(Lower, of)

        def noted(lower: Lower, *args: Any, **named: Any) -> None:
            made.append(f"{of} {lower.func_ir.func_id.func_name}")
            original(lower, *args, **named)

        return noted

    for of in ("create_cpython_wrapper", "create_cfunc_wrapper"):
        monkeypatch.setattr(Lower, of, create(of))

    @make
    def twice(array: FloatArray) -> float:
        return 2.0 * float(array[0])

    @kernel()
    def loop(array: FloatArray) -> float:
        return float(twice(array))

    assert loop(np.array([3.0])) == 6.0
    assert [name.partition("[")[0] for name in made] == ["create_cpython_wrapper loop"]
    assert twice(np.array([3.0])) == 6.0  # Python has a form of its own
    assert loop(np.array([4.0])) == 8.0
