"""What a user's function prints and raises in a compiled loop arrives as in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from vindeby.wake.compiling.compiled import kernel, scalar

FloatArray = npt.NDArray[np.float64]


def summed(function: Callable[[float], float]) -> Callable[[FloatArray], float]:
    """A loop that calls it."""

    @kernel()
    def loop(values: FloatArray) -> float:
        total = 0.0
        for k in range(values.size):
            total += function(values[k])
        return total

    return loop


def test_a_function_can_raise_what_it_computed() -> None:
    @scalar
    def positive(x: float) -> float:
        if x < 0.0:
            raise ValueError("negative", x)
        return x

    loop = summed(positive)
    assert loop(np.array([1.0, 2.0])) == 3.0
    with pytest.raises(ValueError, match=r"\('negative', -2\.5\)"):
        loop(np.array([1.0, -2.5]))


def test_a_function_can_print(capfd: pytest.CaptureFixture[str]) -> None:
    @scalar
    def shown(x: float) -> float:
        print("value", x)  # noqa: T201
        return x

    assert summed(shown)(np.array([1.0, 2.0])) == 3.0
    assert capfd.readouterr().out == "value 1.0\nvalue 2.0\n"
