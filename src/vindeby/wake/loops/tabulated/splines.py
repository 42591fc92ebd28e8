"""Cubic B-splines on even grids: smooth tables that compiled loops read fast.

A B-spline needs four coefficients a dimension and is twice differentiable, so a gradient taken from it is the
exact gradient of the tabulated function. The coefficients come from the values by solving
c[i-1] + 4 c[i] + c[i+1] = 6 v[i] with the slopes at both ends, which are taken from six values each.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined

FloatArray = npt.NDArray[np.float64]

_ONE_SIDED: FloatArray = np.array([-137 / 60, 5, -5, 10 / 3, -5 / 4, 1 / 5])
"""Slope at the first of six points, exact for polynomials of degree five."""


def coefficients(values: FloatArray, axis: int, *, even: bool = False) -> FloatArray:
    """B-spline coefficients along an axis, with more rows at the ends so that four are always there.

    ``even``: the function is even about the first point, so that its slope there is 0.
    """
    v = np.moveaxis(np.array(values, np.float64), axis, 0)
    n = len(v)
    first = np.zeros_like(v[0]) if even else np.tensordot(_ONE_SIDED, v[:6], axes=1)
    last = -np.tensordot(_ONE_SIDED, v[::-1][:6], axes=1)
    v *= 6.0
    v[0] += 2.0 * first
    v[-1] -= 2.0 * last
    upper = np.ones(n - 1)
    upper[0] = 2.0
    diagonal = np.full(n, 4.0)
    for i in range(1, n):
        factor = (2.0 if i == n - 1 else 1.0) / diagonal[i - 1]
        diagonal[i] -= factor * upper[i - 1]
        v[i] -= factor * v[i - 1]
    v[n - 1] /= diagonal[n - 1]
    for i in range(n - 2, -1, -1):
        v[i] = (v[i] - upper[i] * v[i + 1]) / diagonal[i]
    before, after = v[1:2] - 2.0 * first, v[-2:-1] + 2.0 * last
    return np.moveaxis(np.concatenate([before, v, after, after]), 0, axis)


@inlined
def weights(t: float) -> tuple[float, float, float, float]:
    """Weights of four neighbouring coefficients at ``t`` in [0, 1] between the middle two."""
    u = 1.0 - t
    sixth = 1.0 / 6.0
    t2, u2 = t * t, u * u
    return (
        u2 * u * sixth,
        (0.5 * t - 1.0) * t2 + 4.0 * sixth,
        (0.5 * u - 1.0) * u2 + 4.0 * sixth,
        t2 * t * sixth,
    )


@inlined
def slope_weights(t: float) -> tuple[float, float, float, float]:
    """Derivatives of ``weights`` with ``t``."""
    u = 1.0 - t
    return -0.5 * u * u, (1.5 * t - 2.0) * t, (2.0 - 1.5 * u) * u, 0.5 * t * t
