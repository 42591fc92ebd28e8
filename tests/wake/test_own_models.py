"""Energies of a user's wake model are those of its code as it is now, whatever earlier processes left on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vindeby.wake import Turbine, UniformSite

pytestmark = pytest.mark.slow

MODELS = """
import numba
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import WakeModel
import physics

NUMBER = 0.1
NUMBERS = (0.1, 0.9)
TABLE = physics.numpy.array([0.1, 0.9])


@scalar
def reach(data, downwind, diameter, rotor, thrust, turbulence):
    return 1e6


def model(deficit):
    @scalar
    def slopes(data, pair):
        return deficit(data, pair), 0.0, 0.0, 0.0, 0.0

    return WakeModel("mine", (), slopes, reach, "squares", "free")


@scalar
def with_literal(data, pair):
    return 0.1


@scalar
def with_global(data, pair):
    return NUMBER


@scalar
def with_tuple_and_array(data, pair):
    return 0.5 * (NUMBERS[0] + TABLE[0])


@scalar
def helped(data, pair):
    return helper(pair.thrust)


@numba.njit
def helper(thrust):
    return further(0.0)


@numba.njit
def further(thrust, extra=0.1):
    return thrust + extra


def closure(amount):
    @scalar
    def deficit(data, pair):
        return amount

    return deficit


@scalar
def of_module(data, pair):
    return 0.5 * (physics.HALF + physics.half())


models = {
    "literal": model(with_literal),
    "global": model(with_global),
    "tuple and array": model(with_tuple_and_array),
    "helper": model(helped),
    "closure": model(closure(0.1)),
    "module": model(of_module),
}
"""

PHYSICS = """
import numba
import numpy

HALF = 0.1


@numba.njit
def half():
    return HALF
"""

DRIVER = """
import importlib.util, json, sys
from pathlib import Path
import numpy as np
from vindeby.wake.loops.pair_tables import _fill_kernel
from vindeby.wake.models.contract import ModelData

answers = []
for folder in sys.argv[1:]:
    sys.path.insert(0, folder)
    sys.modules.pop("physics", None)
    spec = importlib.util.spec_from_file_location("mine", Path(folder, "mine.py"))
    mine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mine)
    for name, model in mine.models.items():
        fill, out = _fill_kernel(model), np.zeros((1, 1, 1))
        one = np.array([1.0])
        fill(ModelData(np.zeros(0), np.zeros((1, 1))), one, one, one, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, out)
        answers.append([name, out[0, 0, 0], sum(fill.stats.cache_hits.values())])
    del sys.path[0]
print(json.dumps(answers))
"""

NAMES = ["literal", "global", "tuple and array", "helper", "closure", "module"]


def answers(cache: Path, *arguments: object, script: str = DRIVER) -> Any:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(folder: Path, factor: float) -> Path:
    """Write the models with every 0.1 in them replaced."""
    folder.mkdir()
    (folder / "mine.py").write_text(MODELS.replace("0.1", repr(factor)))
    (folder / "physics.py").write_text(PHYSICS.replace("0.1", repr(factor)))
    return folder


def test_no_edit_of_anything_a_model_refers_to_is_answered_from_the_disk(tmp_path: Path) -> None:
    cache, before, after = tmp_path / "cache", write(tmp_path / "before", 0.1), write(tmp_path / "after", 0.4)
    assert answers(cache, before) == [[name, 0.1, 0] for name in NAMES]
    # Their functions have the same names, and Numba has given them the same numbers.
    assert answers(cache, after) == [[name, 0.4, 0] for name in NAMES]
    # Machine code of both can be loaded into one process.
    loaded = [[name, deficit, 1] for deficit in (0.1, 0.4) for name in NAMES]
    assert answers(cache, before, after) == loaded


ENERGY = """
import dataclasses, json, sys
from vindeby.wake import Turbine, UniformSite, WindFarm
from vindeby.wake.compiling.compiled import scalar
from vindeby.wake.models.contract import WakeModel


@scalar
def slopes(data, pair):
    return 0.1, 0.0, 0.0, 0.0, 0.0


@scalar
def reach(data, downwind, diameter, rotor, thrust, turbulence):
    return 1e6


model = WakeModel("mine", (), slopes, reach, "squares", "free")
model = dataclasses.replace(model, superposition=sys.argv[1])
turbine = Turbine.tabulated("t", 100, 90, [4, 12, 25], [0, 2e6, 2e6], [0.8, 0.7, 0.1])
farm = WindFarm(UniformSite((1.0,), 9.0), turbine, model, directions=[270.0])
print(json.dumps(farm.aep([0, 500, 1000], [0, 10, 20])))
"""


@pytest.fixture(scope="module")
def cache_of_squares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("cache")
    assert answers(cache, "squares", script=ENERGY) == pytest.approx(expected(0.1, "squares"), rel=1e-12)
    return cache


def expected(deficit: float, superposition: str) -> float:
    """The energy of three turbines in a row, by hand."""
    turbine = Turbine.tabulated("t", 100, 90, [4, 12, 25], [0, 2e6, 2e6], [0.8, 0.7, 0.1])
    second = 2**0.5 * deficit if superposition == "squares" else 2 * deficit
    speeds = 9.0 * (1.0 - np.array([0.0, deficit, second]))
    assert UniformSite((1.0,), 9.0).states([270.0]).probability.tolist() == [1.0]
    return float(turbine.power_at(speeds).sum()) * 8760.0 / 1e9


@pytest.mark.parametrize(("deficit", "superposition"), [(0.4, "squares"), (0.1, "linear")])
def test_the_energy_of_an_edited_model_is_that_of_a_fresh_cache(
    cache_of_squares: Path, deficit: float, superposition: str
) -> None:
    script = ENERGY.replace("return 0.1,", f"return {deficit},")
    energy = answers(cache_of_squares, superposition, script=script)
    assert energy == pytest.approx(expected(deficit, superposition), rel=1e-12)
