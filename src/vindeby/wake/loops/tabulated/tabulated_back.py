"""The walks of ``tabulated`` backwards, which pass on each turbine's share in the total: the gradient."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.superposition import superposition_of
from vindeby.wake.loops.tabulated.pair_steps import outside, settle_back, slopes_of_shares, wake_back
from vindeby.wake.loops.tabulated.pair_tables import NODES
from vindeby.wake.loops.wind import clear
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.turbines.curves import curves_at

FloatArray = npt.NDArray[np.float64]
WIDE = 3 * NODES
"""A pair's coefficients: the values, and the slopes with both distances."""


class Shares(NamedTuple):
    """The shares in the total, from the first turbine to the last: of their sums of wakes, thrusts and places.

    ``slope`` holds the slopes of the weights that a turbine's place on the thrust axis gives.
    """

    slope: FloatArray
    summed: FloatArray
    t: FloatArray
    along: FloatArray
    across: FloatArray


@scalar
def new_shares(n: int, most: int) -> Shares:
    """Room for ``n`` turbines and up to ``most`` wind speeds."""
    return Shares(
        np.empty((n, 4, most)), np.empty((n, most)), np.empty((n, most)), np.empty(n), np.empty(n)
    )  # fmt: skip


def make_walks_back(model: WakeModel) -> tuple[Callable[..., None], Callable[..., None]]:
    """The ways back of the walks ahead and behind."""
    pair_back = _make_pair_back(model)

    @inlined
    def pairs_back(data, tables, machines, farm, rows, states, shares, a, is_source):
        """All pairs of ``a``, which is the source of their wakes, or else the target."""
        for p in range(farm.first[a], farm.first[a + 1]):
            b = farm.other[p]
            source, target = (a, b) if is_source else (b, a)
            of_far, of_aside = pair_back(
                data, tables, machines, farm, rows, states, shares, p, a, b, source, target
            )
            shares.along[a] -= of_far
            shares.along[b] += of_far
            shares.across[a] -= of_aside
            shares.across[b] += of_aside

    @inlined
    def ahead_back(data, tables, machines, farm, rows, states, counted, shares):
        for a in range(farm.order.size - 1, -1, -1):
            clear(shares.t[a])
            slopes_of_shares(farm.share[a, :, : states.speed.size], shares.slope[a])
            pairs_back(data, tables, machines, farm, rows, states, shares, a, True)
            _turbine_back(machines, tables, farm, states, counted, shares, a)

    @inlined
    def behind_back(data, tables, machines, farm, rows, states, counted, shares):
        n = farm.order.size
        for a in range(n):
            clear(shares.t[a])
            slopes_of_shares(farm.share[a, :, : states.speed.size], shares.slope[a])
        for a in range(n):
            _turbine_back(machines, tables, farm, states, counted, shares, a)
            pairs_back(data, tables, machines, farm, rows, states, shares, a, False)

    return ahead_back, behind_back


@inlined
def _turbine_back(machines, tables, farm, states, counted, shares, a):
    i = farm.order[a]
    counts = 1.0 if i < counted else 0.0
    settle_back(
        machines, tables, farm.type_index[i], states, counts, farm.summed[a], farm.u[a],
        shares.t[a], shares.summed[a],
    )  # fmt: skip


def _make_pair_back(model: WakeModel) -> Callable[..., tuple[float, float]]:
    slopes_of, term_back = model.deficit_with_slopes, superposition_of(model).term_back

    @scalar
    def outside_back(data, tables, machines, source, target, far, aside, turbulence, u, of_summed, of_t):
        """A pair that the table does not hold: ``wake_back`` with the model itself."""
        rise = machines.hub_height[target] - machines.hub_height[source]
        heights = machines.hub_height[target] + machines.hub_height[source]
        diameter, rotor = machines.diameter[source], machines.diameter[target]
        of_far = of_aside = 0.0
        for k in range(turbulence.size):
            thrust = min(max(curves_at(machines, source, u[k])[1], 1e-12), 1.0 - 1e-12)
            value, d_far, d_aside, d_thrust, _ = slopes_of(
                data, far, aside, rise, heights, diameter, rotor, thrust, turbulence[k]
            )
            of_value = term_back(of_summed[k], value)
            of_far += of_value * d_far
            of_aside += of_value * d_aside
            t = sqrt(thrust) / (1.0 + sqrt(1.0 - thrust))
            per_t = 4.0 * sqrt(thrust * (1.0 - thrust)) / ((1.0 + t * t) * tables.per_thrust)
            of_t[k] += of_value * d_thrust * per_t
        return of_far, of_aside

    @inlined
    def pair_back(data, tables, machines, farm, rows, states, shares, p, a, b, source, target):
        """The pair ``p`` of ``a`` and ``b``: the wake of ``source`` (one of the two) on ``target``."""
        count = states.speed.size
        far, aside = farm.along[b] - farm.along[a], farm.across[b] - farm.across[a]
        source_type, target_type = farm.type_index[farm.order[source]], farm.type_index[farm.order[target]]
        if outside(tables, source_type, far):
            return outside_back(
                data, tables, machines, source_type, target_type, far, aside, states.turbulence,
                farm.u[source], shares.summed[target], shares.t[source],
            )  # fmt: skip
        of_far, of_aside = wake_back(
            rows[p * WIDE : (p + 1) * WIDE], farm.node[source, :count], farm.share[source],
            shares.slope[source], shares.summed[target], shares.t[source],
        )  # fmt: skip
        return of_far, of_aside if aside >= 0.0 else -of_aside

    return pair_back
