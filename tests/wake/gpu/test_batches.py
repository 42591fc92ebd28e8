"""Batches of layouts: every kernel beside the processors' loops, in Numba's CUDA simulator or on a card.

``make test-gpu`` sets VINDEBY_TEST_GPU=1 and runs them on the card of this machine; otherwise they are simulated.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba.core import config

from vindeby.errors import ArgumentError
from vindeby.wake import MODELS, Neighbours, TimeSeriesSite, Turbine, UniformSite, WakeModel, WindFarm
from vindeby.wake.gpu.devices import found_device
from vindeby.wake.scenarios import ScenarioFarm

FloatArray = npt.NDArray[np.float64]
ON_CARD = os.environ.get("VINDEBY_TEST_GPU") == "1"
LAYOUTS, COUNT = (64, 30) if ON_CARD else (2, 4)
TURBINES = [Turbine.generic("10 MW", 10, 198, 119), Turbine.generic("15 MW", 15, 240, 150)]
SITE = UniformSite((0.3, 0.2, 0.4, 0.1), 9.5, 0.07)
WIND: dict[str, Any] = {
    "directions": np.arange(0.0, 360.0, 2.0) if ON_CARD else [10.0, 262.0],
    "speeds": [6.0, 9.0, 10.5, 12.0, 24.0],
}
SAME = 1e-9


@pytest.fixture(autouse=True, scope="module")
def _cuda() -> Iterator[None]:
    """Numba's simulator, unless a card is to be tested."""
    before = config.ENABLE_CUDASIM
    config.ENABLE_CUDASIM = not ON_CARD
    found_device.cache_clear()
    yield
    config.ENABLE_CUDASIM = before
    found_device.cache_clear()


def layouts(seed: int = 0) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64]]:
    """Layouts far from the origin, and a type for each turbine."""
    rng = np.random.default_rng(seed)
    side = 700.0 * np.sqrt(COUNT)
    x, y = (rng.uniform(0.0, side, (LAYOUTS, COUNT)) + away for away in (6e5, 6.2e6))
    return x, y, rng.integers(0, 2, (LAYOUTS, COUNT))


def farm(wake: Any = "nygaard-2022", site: Any = SITE, **more: Any) -> WindFarm:
    beside = Neighbours([599500.0, 605000.0], [6200500.0, 6200900.0], [1, 0])
    return WindFarm(site, TURBINES, wake, neighbours=beside, **(WIND if site is SITE else {}), **more)


def assert_same(
    on_card: WindFarm,
    on_cores: WindFarm,
    tolerance: float,
    kinds: int = 2,
    places: tuple[FloatArray, FloatArray] | None = None,
) -> None:
    x, y, types = layouts()
    x, y = places or (x, y)
    types %= kinds
    expected = on_cores.aep_batch(x, y, types)
    assert on_card.device == "cuda"
    np.testing.assert_allclose(on_card.aep_batch(x, y, types), expected, rtol=tolerance)
    if on_cores.model.superposition != "cumulative":
        aep, *slopes = on_card.aep_and_gradient_batch(x, y, types)
        _, *right = on_cores.aep_and_gradient_batch(x, y, types)
        np.testing.assert_allclose(aep, expected, rtol=tolerance)
        for found, slope in zip(slopes, right, strict=True):
            np.testing.assert_allclose(found, slope, rtol=0, atol=10 * tolerance * np.abs(slope).max())


@pytest.mark.slow
def test_a_card_finds_the_energy_of_layouts() -> None:
    x, y, types = layouts()
    expected = farm("jensen").aep_batch(x, y, types)
    np.testing.assert_allclose(farm("jensen", device="cuda").aep_batch(x, y, types), expected, rtol=SAME)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if name != "cumulative-curl"])
def test_a_card_finds_the_energy_and_the_gradient_of_every_model(name: str) -> None:
    assert_same(farm(name, device="cuda", tabulate=False), farm(name, tabulate=False), SAME)


def spaced(pitch_m: float) -> tuple[FloatArray, FloatArray]:
    """Layouts whose turbines stand about so far apart."""
    rng, columns = np.random.default_rng(0), int(np.ceil(np.sqrt(COUNT)))
    place = np.stack([rng.permutation(columns**2)[:COUNT] for _ in range(LAYOUTS)])
    x, y = (pitch_m * (at + rng.uniform(0.0, 0.15, at.shape)) for at in (place % columns, place // columns))
    return x + 6e5, y + 6.2e6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turbines", "speeds", "pitch_m"),
    # 500 m apart, tables do not hold every pair; a warp works on four jobs, on two or on one
    [(1, 5, 500.0), (2, 5, 900.0), (1, 12, 900.0), (2, 20, 500.0)],
)
def test_the_kernel_by_table_gives_what_the_tables_of_the_processors_give(
    turbines: int, speeds: int, pitch_m: float
) -> None:
    """Several turbine types have no directions that are computed together with the opposite ones."""
    wind: dict[str, Any] = {"directions": [0.0, 82.0, 180.0], "speeds": np.linspace(5.0, 14.0, speeds)}
    on_cores = WindFarm(SITE, TURBINES[:turbines], **wind)
    on_card = on_cores.on("cuda")
    assert on_card._on_card.by_table
    assert on_cores.loops == "tabulated"
    assert_same(on_card, on_cores, SAME, turbines, spaced(pitch_m))


@pytest.mark.slow
def test_rotors_that_overlap_behind_each_other_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """And more pairs than there is room for at first."""
    from vindeby.wake.gpu import batches

    monkeypatch.setattr(batches, "PAIRS_PER_TURBINE", 0)
    on_card = farm(device="cuda")
    assert on_card._on_card.by_table
    assert_same(on_card, farm(), SAME)
    assert on_card._on_card._pairs > 0


@pytest.mark.slow
def test_a_card_evaluates_time_series() -> None:
    site = TimeSeriesSite(
        [8.0, 9.5, 11.0, 10.0, 14.0],
        [10.0, 95.0, 95.0, 200.0, 310.0],
        turbulence_intensity=[0.06, 0.1, 0.08, 0.07, 0.09],
    )
    assert_same(farm(site=site, device="cuda"), farm(site=site, tabulate=False), SAME)


@pytest.mark.slow
@pytest.mark.parametrize("tabulate", [True, False])
def test_a_layout_does_not_depend_on_its_batch(tabulate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = farm(device="cuda", tabulate=tabulate)
    x, y, types = layouts()
    together = one.aep_and_gradient_batch(x, y, types)
    from vindeby.wake.gpu import batches

    monkeypatch.setattr(batches, "MOST_SUMS", 1.0)
    assert one._on_card.layouts_at_once(COUNT) == 1
    alone = one.aep_and_gradient_batch(x, y, types)
    for values, same in zip(together, alone, strict=True):
        np.testing.assert_array_equal(values, same)


@pytest.mark.slow
def test_a_model_of_the_users_own_runs_on_a_card() -> None:
    own: WakeModel = replace(MODELS["jensen"](k=0.08), name="mine")
    assert_same(farm(own, device="cuda"), farm(own), SAME)


def test_threads_evaluate_a_batch_as_one_layout_after_another() -> None:
    x, y, types = layouts()
    one = farm("iea37", threads=2)
    aep, slope_x, slope_y = one.aep_and_gradient_batch(x, y, types)
    for i in range(LAYOUTS):
        expected = one.aep_and_gradient(x[i], y[i], types[i])
        assert aep[i] == expected[0]
        np.testing.assert_array_equal(slope_x[i], expected[1])
        np.testing.assert_array_equal(slope_y[i], expected[2])
    np.testing.assert_array_equal(one.aep_batch(x, y, types), [one.aep(*each) for each in zip(x, y, types)])  # noqa: B905
    assert one.aep_batch(x[:0], y[:0]).shape == (0,)
    assert one.aep_batch(x, y, 1).tolist() == one.aep_batch(x, y, np.ones(COUNT, int)).tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0, 2.0], [1.0, 2.0]), "shape \\(layouts, turbines\\)"),
        (([[1.0, 2.0]], [[1.0]]), "shape \\(layouts, turbines\\)"),
        (([[1.0, np.nan]], [[1.0, 2.0]]), "^x\\[1\\] is nan"),
        (([[1.0, 900.0], [1.0, np.nan]], [[1.0, 2.0], [3.0, 4.0]]), "layout 1: x\\[1\\] is nan"),
        (([[1.0, 900.0], [1.0]], [[1.0, 2.0], [3.0, 4.0]]), "x and y must be numbers"),
        (([[1.0, 900.0]], [[1.0, 2.0]], [[0, 1], [1]]), "types must be one index, or one for each turbine"),
        (([[1.0, 900.0]], [[1.0, 2.0]], [[0, 1], [0, 1]]), "types of all layouts"),
        (([[1.0, 900.0], [1.0, 900.0]], [[1.0, 2.0], [3.0, 4.0]], [0]), "types must be one index or 2"),
        ((np.zeros((0, 2)), np.zeros((0, 2)), [0, 0, 0]), "types must be one index or 2"),
        (([[1.0, 900.0]], [[1.0, 2.0]], [0, 2]), "from 0 to 1"),
    ],
)
def test_batches_that_cannot_be_are_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        farm("iea37").aep_batch(*given)


def test_batches_of_several_scenarios_are_refused() -> None:
    several = ScenarioFarm([farm("iea37"), farm("iea37", UniformSite((1.0,), 8.0))])
    for method in (several.aep_batch, several.aep_and_gradient_batch):
        with pytest.raises(ArgumentError, match="call the method of each of the parts"):
            method(*layouts())


def test_what_no_kernel_computes_is_refused_on_a_card_and_left_to_the_processors() -> None:
    blocked = MODELS["iea37"]().with_blockage("self-similar-2020")
    with pytest.raises(ArgumentError, match="blockage is evaluated on processors only"):
        farm(blocked, device="cuda")
    assert farm("cumulative-curl", device="auto").device == "cpu"
    with pytest.raises(ArgumentError, match="device must be"):
        farm(device="gpu")


KEPT = """
from vindeby.wake import Turbine, UniformSite, WindFarm
from vindeby.wake.compiling.compiled import watched
compiled = []
with watched(compiled.append):
    turbine = Turbine.generic("10 MW", 10, 198, 119)
    for wake in ("iea37", "nygaard-2022"):
        farm = WindFarm(UniformSite((1.0,), 9.5, 0.07), turbine, wake, directions=[270.0], device="cuda")
        farm.aep_and_gradient_batch([[0.0, 900.0]], [[0.0, 10.0]])
print(compiled.count("compiling"))
"""


DESCRIBED = """
import numba
from numba.core.registry import CPUDispatcher
from vindeby.wake import MODELS
from vindeby.wake.compiling.compiled import described
from vindeby.wake.gpu.by_state import by_state_kernel
from vindeby.wake.gpu.by_table import by_table_kernel
from vindeby.wake.gpu.turning import add_directions, sort_downwind

# What is compiled for a card alone cannot be described by all versions of numba-cuda.
assert isinstance(sort_downwind, CPUDispatcher)
model, kernels = MODELS["nygaard-2022"](), [add_directions]
for flag in (False, True):
    kernels += [by_state_kernel(one, gradient=flag, registers=80) for one in (model, MODELS["jensen"]())]
    kernels += [by_table_kernel(model, gradient=flag, registers=64)]
texts = [described(numba.njit(kernel.py_func)) for kernel in kernels]
print(len(texts), len({text for text in texts if text is not None}))
"""


@pytest.mark.slow
def test_each_kernel_can_be_described_for_the_disk_and_has_a_description_of_its_own() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DESCRIBED],
        env=environment, capture_output=True, text=True, check=True, timeout=240,
    )  # fmt: skip
    assert done.stdout == "7 7\n"


if ON_CARD:  # the simulator compiles nothing

    def test_kernels_are_kept_on_disk(tmp_path: Path) -> None:
        found = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", KEPT],
                env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
                capture_output=True, text=True, check=True, timeout=240,
            )  # fmt: skip
            found.append((int(done.stdout), len(list(tmp_path.glob("vindeby/kernel-*.nbc")))))
        (compiled, kept), again = found
        assert kept == 2
        assert compiled >= kept
        assert again == (0, kept)


@pytest.mark.skipif(ON_CARD, reason="there is a card")
def test_a_missing_card_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "ENABLE_CUDASIM", 0)
    found_device.cache_clear()
    if found_device().usable:
        return
    with pytest.raises(ArgumentError, match=r"device 'cuda' cannot be used: .*; use device 'auto' or 'cpu'"):
        farm("iea37", device="cuda")
    assert farm("iea37", device="auto").device == "cpu"
    found_device.cache_clear()
