"""exp(-z) without a branch, a table or a call, so that a compiler makes vector instructions of a loop around it."""

from __future__ import annotations

from vindeby.wake.compiling.compiled import inlined

LARGEST_Z = 60.0
"""Up to here the polynomial holds; exp(-60) is 9e-27."""


@inlined
def exp_of_minus(z: float) -> float:
    """exp(-z) for z from 0 to 60, to 2e-14 of itself up to 30 and to 1e-9 beyond: a polynomial to the power of 128."""
    s = z * (1.0 / 128.0)
    e = 1.0 / 3628800.0
    e = 1.0 / 362880.0 - s * e
    e = 1.0 / 40320.0 - s * e
    e = 1.0 / 5040.0 - s * e
    e = 1.0 / 720.0 - s * e
    e = 1.0 / 120.0 - s * e
    e = 1.0 / 24.0 - s * e
    e = 1.0 / 6.0 - s * e
    e = 0.5 - s * e
    e = 1.0 - s * e
    e = 1.0 - s * e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return e * e
