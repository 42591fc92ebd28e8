"""How wakes become one wind speed, and places are turned into the wind: by the formulas, and their slopes."""

from __future__ import annotations

from math import cos, hypot, radians, sin, sqrt

import numpy as np
import pytest

from vindeby.wake import UniformSite
from vindeby.wake.loops.superposition import (
    Superposition,
    superposition_of_words,
    turbulence_in_wakes,
)
from vindeby.wake.loops.wind import downwind_of, turn, turn_arrays, turn_back, wind_of

FREE, AT_SOURCE, DEFICITS = 10.0, 8.0, (0.2, 0.3)
WORDS = [("squares", "free"), ("squares", "local"), ("linear", "free"), ("linear", "local")]

EXPECTED = {
    ("squares", "free"): FREE * (1 - sqrt(0.2**2 + 0.3**2)),
    ("squares", "local"): FREE * (1 - sqrt((0.2 * 0.8) ** 2 + (0.3 * 0.8) ** 2)),
    ("linear", "free"): FREE - FREE * (0.2 + 0.3),
    ("linear", "local"): FREE - AT_SOURCE * (0.2 + 0.3),
}


LOCAL = {
    ("squares", "free", "target"): 12.0 * (1 - sqrt(0.2**2 + 0.3**2)),
    ("squares", "free", "source"): 12.0 - FREE * sqrt(0.2**2 + 0.3**2),
    ("squares", "local", "source"): 12.0 - AT_SOURCE * sqrt(0.2**2 + 0.3**2),
    ("linear", "free", "target"): 12.0 * (1 - 0.5),
    ("linear", "free", "source"): 12.0 - FREE * 0.5,
    ("linear", "local", "source"): 12.0 - AT_SOURCE * 0.5,
}
"""The wind at a rotor whose free wind is 12 m/s, behind sources whose free wind is FREE."""


@pytest.mark.parametrize("words", LOCAL)
def test_wakes_add_up_where_the_free_wind_differs(words: tuple[str, str, str]) -> None:
    functions = superposition_of_words(*words)
    together = Superposition(*(function.py_func for function in functions))  # type: ignore[attr-defined]
    scale = together.scale(AT_SOURCE, FREE)
    summed = sum(together.term(deficit * scale) for deficit in DEFICITS)
    assert together.wind_speed(12.0, summed) == pytest.approx(LOCAL[words], rel=1e-14)
    by_free = (together.wind_speed(12.01, summed) - together.wind_speed(11.99, summed)) / 0.02
    assert together.wind_speed_slope_free(summed) == pytest.approx(by_free, rel=1e-9)
    by_source = (together.scale(AT_SOURCE, 10.01) - together.scale(AT_SOURCE, 9.99)) / 0.02
    assert together.scale_slope_free(FREE) == pytest.approx(by_source, abs=1e-9)


def formulas(words: tuple[str, str]) -> Superposition:
    """The functions before they are compiled, which takes long; the tests of the loops run them compiled."""
    return Superposition(*(function.py_func for function in superposition_of_words(*words)))  # type: ignore[attr-defined]


def wind_behind(together: Superposition, deficits: tuple[float, ...], source_wind: float) -> float:
    terms = [together.term(deficit * together.scale(source_wind, FREE)) for deficit in deficits]
    return together.wind_speed(FREE, sum(terms))


@pytest.mark.parametrize("words", WORDS)
def test_wakes_add_up_as_the_words_say(words: tuple[str, str]) -> None:
    together = formulas(words)
    assert wind_behind(together, DEFICITS, AT_SOURCE) == pytest.approx(EXPECTED[words], rel=1e-14)
    assert wind_behind(together, (), AT_SOURCE) == FREE
    left = together.taken(sum(together.term(deficit) for deficit in DEFICITS))
    assert left == pytest.approx(hypot(*DEFICITS) if words[0] == "squares" else sum(DEFICITS))


@pytest.mark.parametrize("words", WORDS)
def test_the_way_back_gives_the_slopes_of_the_way_there(words: tuple[str, str]) -> None:
    together, step = formulas(words), 1e-6
    factor = together.scale(AT_SOURCE, FREE)
    summed = sum(together.term(deficit * factor) for deficit in DEFICITS)
    of_summed = together.wind_speed_back(1.0, FREE, summed)
    of_scaled = together.term_back(of_summed, DEFICITS[0] * factor)
    more, less = (wind_behind(together, (0.2 + by, 0.3), AT_SOURCE) for by in (step, -step))
    assert of_scaled * factor == pytest.approx((more - less) / (2 * step), rel=1e-6)
    more, less = (wind_behind(together, DEFICITS, AT_SOURCE + by) for by in (step, -step))
    shares = [
        together.term_back(of_summed, deficit * factor) * deficit * together.scale_slope(FREE) for deficit in DEFICITS
    ]  # fmt: skip
    assert sum(shares) == pytest.approx((more - less) / (2 * step), rel=1e-6, abs=1e-9)
    assert together.wind_speed_back(1.0, FREE, 0.0) == (0.0 if words[0] == "squares" else -1.0)


def test_added_turbulence_counts_as_squares() -> None:
    formula = turbulence_in_wakes.py_func  # type: ignore[attr-defined]
    assert formula(0.06, 0.08) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("direction", "along"), [(0.0, (0, -1)), (90.0, (-1, 0)), (270.0, (1, 0)), (225.0, None)]
)
def test_a_place_is_turned_into_the_wind_and_a_gradient_back(
    direction: float, along: tuple[float, float] | None
) -> None:
    wind = wind_of(UniformSite((1.0,), 9.0).states([direction]))
    cosine, sine = wind.cosine[0], wind.sine[0]
    downwind = along or (-sin(radians(direction)), -cos(radians(direction)))
    x, y = 300.0, -200.0
    far, aside = turn_arrays(cosine, sine, x, y)
    assert far == pytest.approx(x * downwind[0] + y * downwind[1], abs=1e-9)
    assert hypot(far, aside) == pytest.approx(hypot(x, y))
    assert downwind_of.py_func(cosine, sine, x, y) == far  # type: ignore[attr-defined]
    # The rotation keeps lengths, so turning slopes back undoes turning places.
    assert turn_back.py_func(cosine, sine, far, aside) == pytest.approx((x, y))  # type: ignore[attr-defined]
    assert turn.py_func is turn_arrays  # type: ignore[attr-defined]
    arrays = turn_arrays(wind.cosine[:, None], wind.sine[:, None], np.array([x, 0.0]), np.array([y, 0.0]))
    np.testing.assert_allclose(arrays, [[[far, 0.0]], [[aside, 0.0]]], atol=1e-9)


def test_the_four_ways_have_names_of_their_own_for_the_compiler() -> None:
    made = [function for words in WORDS for function in superposition_of_words(*words)]
    names = {function.py_func.__qualname__ for function in made}  # type: ignore[attr-defined]
    assert len(names) == len(made)
    assert superposition_of_words("squares", "free") is superposition_of_words("squares", "free")
