"""What is compiled for a wake model is found again by the identity of the model, and by nothing less."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import config
from numba.extending import register_jitable

from vindeby.errors import ArgumentError
from vindeby.layout.moves import carried_moves, steady_moves, walk_loop
from vindeby.layout.placing import grid_wakes
from vindeby.layout.placing.steps import placing_kernel
from vindeby.wake import MODELS, Turbine, UniformSite, WakeModel, WindFarm, model_named
from vindeby.wake.compiling.code_digest import digest_of
from vindeby.wake.compiling.compiled import described, scalar
from vindeby.wake.loops.by_width import by_width_kernels
from vindeby.wake.loops.direct import direct_kernels
from vindeby.wake.loops.pair_tables import _fill_kernel
from vindeby.wake.loops.steady import steady_kernels
from vindeby.wake.loops.tabulated import tabulated_kernels
from vindeby.wake.loops.wind_access import Locality
from vindeby.wake.models.contract import Pair

pytestmark = pytest.mark.slow

LOCALITIES: tuple[Locality, ...] = ("local", "turned")
DEPTH = 0.1
TABLE = np.array([0.1])


@scalar
def slopes(data: Any, pair: Pair) -> tuple[float, float, float, float, float]:
    return DEPTH + TABLE[0], 0.0, 0.0, 0.0, 0.0


@scalar
def reach(
    data: Any, downwind: float, diameter: float, rotor: float, thrust: float, turbulence: float
) -> float:
    return 1e6


def own(**changes: Any) -> WakeModel:
    return replace(WakeModel("mine", (), slopes, reach, "squares", "free"), **changes)


def depth_of(model: WakeModel) -> float:
    """What the compiled code of a model gives as deficit; the quickest of all loops to compile."""
    one, out = np.array([1.0]), np.zeros((1, 1, 1))
    _fill_kernel(model)(model.data, one, one, one, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, out)
    return float(out[0, 0, 0])


def kept(tmp_path: Path) -> int:
    return len(list(tmp_path.rglob("*.nbc")))


def test_a_changed_global_is_seen_by_the_next_farm_and_by_no_farm_made_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(globals(), "TABLE", TABLE.copy())
    model = own()
    farm = WindFarm(UniformSite((1.0,), 9.0), Turbine.generic("t", 5, 100, 90), model)
    monkeypatch.setitem(globals(), "DEPTH", 0.3)
    assert depth_of(model) == pytest.approx(0.4)
    assert depth_of(farm.model) == pytest.approx(0.2)
    TABLE[0] = 0.2
    assert depth_of(model) == pytest.approx(0.5)
    assert depth_of(farm.model) == pytest.approx(0.2)


def test_code_compiled_before_a_change_is_not_kept_under_the_identity_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = (None, Pair(*[1.0] * 8))
    assert slopes(*arguments)[0] == pytest.approx(0.2)  # Numba compiles the value of the global in
    monkeypatch.setitem(globals(), "DEPTH", 0.6)
    assert depth_of(own()) == pytest.approx(0.7)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"superposition": "linear"},
        {"reference": "local"},
        {"tabulate": True},
        {"thrust_limit": 0.9},
        {"needs_turbulence": True},
        {"growth_constants": (0,), "constants": (1.0,)},
        {"reach": scalar(lambda data, downwind, diameter, rotor, thrust, turbulence: 1e5)},
        {"added_turbulence": slopes},
        {"free_wind_of": "target"},
        {"thrust_of": "free"},
        {"blockage": "self-similar-2020"},
        {"widths": model_named("nygaard-2022").widths},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_every_field_but_the_constants_is_part_of_the_identity(changes: dict[str, Any]) -> None:
    assert own(**changes).identity != own().identity


def test_every_field_is_tried_above() -> None:
    tried = {
        "name",
        "superposition",
        "reference",
        "tabulate",
        "thrust_limit",
        "needs_turbulence",
        "growth_constants",
        "free_wind_of",
        "thrust_of",
        "blockage",
        "widths",
    }
    functions = {
        "reach",
        "added_turbulence",
        "deficit_with_slopes",
    }
    assert {field.name for field in fields(WakeModel)} == tried | functions | {"constants"}


def test_models_that_differ_in_constants_share_their_code_and_not_their_results() -> None:
    first, second = own(constants=(1.0,)), own(constants=(2.0,))
    assert first != second
    assert _fill_kernel(first) is _fill_kernel(second)
    farms = [
        WindFarm(UniformSite((1.0,), 9.0), Turbine.generic("t", 5, 100, 90), replace(model_named("iea37"), constants=c))
        for c in ((0.03,), (0.06,))
    ]  # fmt: skip
    assert farms[0].aep([0, 0], [0, 500]) < farms[1].aep([0, 0], [0, 500])


def test_what_cannot_be_described_is_compiled_in_this_process_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    assert depth_of(own(name="kept")) == pytest.approx(0.2)
    assert kept(tmp_path) == 1

    @register_jitable  # type: ignore[untyped-decorator]
    def registered() -> float:
        return 0.3

    @numba.njit("float64()")  # type: ignore[untyped-decorator]
    def compiled_at_once() -> float:
        return 0.3

    @numba.vectorize  # type: ignore[untyped-decorator]
    def for_arrays(x: float) -> float:
        return x + 0.3

    for odd in (
        lambda *_: registered(),
        lambda *_: compiled_at_once(),
        lambda data, *_: for_arrays(np.zeros(1))[0],
    ):
        model = own(deficit_with_slopes=_two_arguments(odd))
        assert digest_of(model._what_code_is_made_of()).unknown
        assert model.with_fixed_code().identity == model.identity
        assert _fill_kernel(model) is _fill_kernel(replace(model))
        assert depth_of(model) == pytest.approx(0.3)
        assert kept(tmp_path) == 1


def _two_arguments(function: Callable[..., float]) -> Callable[..., float]:
    inner = scalar(function)

    def taking_two(data, pair):  # type: ignore[no-untyped-def]
        return inner(data, pair), 0.0, 0.0, 0.0, 0.0

    return scalar(taking_two)


def _loops(model: WakeModel) -> list[Any]:
    moves, steady = carried_moves.carried_kernels(model), steady_moves.steady_move_kernels(model, True)
    return [
        *direct_kernels(model), *tabulated_kernels(model), _fill_kernel(model), *grid_wakes._kernels(model).values(),
        placing_kernel(model, True), placing_kernel(model, False), *moves, *steady,
        *steady_moves.steady_move_kernels(model, False), *steady_kernels(model, True), *steady_kernels(model, False),
        *(walk_loop.walk_kernel(moves, *how) for how in itertools.product((False, True), repeat=2)),
        walk_loop.walk_kernel(steady, False, False),
        *(() if model.widths is None else by_width_kernels(model)),
        *(loop for locality in LOCALITIES for loop in _local_loops(model, locality)),
    ]  # fmt: skip


def _local_loops(model: WakeModel, locality: Locality) -> list[Any]:
    if model.superposition == "cumulative":  # not defined in local wind
        return []
    moves = carried_moves.carried_kernels(model, locality)
    return [*direct_kernels(model, locality), placing_kernel(model, False, locality), *moves]


@pytest.mark.parametrize("name", [*sorted(MODELS), "mine"])
def test_every_loop_goes_by_the_identity_of_its_model(name: str) -> None:
    model = own() if name == "mine" else model_named(name)
    loops = _loops(model)
    assert not digest_of(model._what_code_is_made_of()).unknown
    assert all(described(loop) is not None for loop in loops)  # each can be kept on disk
    other = _loops(replace(model, name="other"))
    assert not {id(loop) for loop in loops} & {id(loop) for loop in other}
    fixed = model.with_fixed_code()
    assert fixed.with_fixed_code() is fixed
    assert replace(fixed).identity == model.identity


def test_a_pickled_model_does_not_take_its_identity_along() -> None:
    fixed = model_named("jensen").with_fixed_code()
    read = pickle.loads(pickle.dumps(fixed))
    assert set(vars(read)) == {field.name for field in fields(WakeModel)}
    assert read.identity == fixed.identity


@pytest.mark.parametrize(
    "changes",
    [
        {"superposition": "linear"},
        {"reference": "local"},
        {"thrust_of": "free"},
        {"added_turbulence": slopes},
    ],
)
def test_tables_are_refused_to_a_model_they_would_be_wrong_for(changes: dict[str, Any]) -> None:
    for model in (own(tabulate=True), model_named("nygaard-2022")):
        with pytest.raises(
            ArgumentError, match=r"tabulate=True needs superposition='squares'.* set tabulate=False"
        ):
            replace(model, **changes)
        assert not replace(model, **changes, tabulate=False).tabulate


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"superposition": "square"},
            "superposition must be 'linear' or 'squares' or 'cumulative', not 'square'",
        ),
        ({"reference": None}, "reference must be 'free' or 'local', not None"),
        ({"thrust_of": "source"}, "thrust_of must be 'local' or 'free', not 'source'"),
        ({"thrust_of": "free", "blockage": "self-similar-2020"}, "blockage needs thrust_of='local'"),
        ({"growth_constants": (0,)}, "growth_constants holds 0, but the model has 0 constants"),
        (
            {"constants": (1.0,), "growth_constants": (-1,)},
            "growth_constants holds -1, but the model has 1 constants",
        ),
    ],
)
def test_a_model_that_no_loop_would_understand_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match="wake model 'mine'") as caught:
        own(**changes)
    assert words in str(caught.value)
