"""The axial induction of a rotor by its thrust coefficient, for the top-hat models: two published relations."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Literal

from vindeby.errors import ArgumentError
from vindeby.wake.compiling.compiled import scalar

Induction = Literal["madsen", "momentum"]


@scalar
def madsen(thrust: float) -> tuple[float, float]:
    """Induction a = 0.0883 ct^3 + 0.0586 ct^2 + 0.2460 ct, and its slope with ct.

    H. A. Madsen et al., Wind Energ. Sci. 5 (2020) 1-27.
    """
    induction = thrust * (0.2460 + thrust * (0.0586 + thrust * 0.0883))
    return induction, 0.2460 + thrust * (2.0 * 0.0586 + thrust * (3.0 * 0.0883))


@scalar
def momentum(thrust: float) -> tuple[float, float]:
    """Induction a = (1 - sqrt(1 - ct)) / 2 of momentum theory, and its slope with ct.

    Thrust coefficients above 1 count as 1, where a is 1/2; the slope, which has no bound towards 1, is 0 there.
    """
    if thrust >= 1.0:
        return 0.5, 0.0
    root = sqrt(1.0 - thrust)
    return 0.5 * (1.0 - root), 0.25 / root


_NAMED: dict[str, Callable[[float], tuple[float, float]]] = {"madsen": madsen, "momentum": momentum}


def induction_named(name: str) -> Callable[[float], tuple[float, float]]:
    """The compiled function of this name."""
    if name not in _NAMED:
        raise ArgumentError(f"induction must be one of {', '.join(map(repr, _NAMED))}, not {name!r}")
    return _NAMED[name]
