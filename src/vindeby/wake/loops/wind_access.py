"""How the loops get at the free wind: one for all turbines, or each turbine's own.

The loops ask for the wind of a direction once and then for that of single turbines. Where the wind is the same
everywhere, these functions vanish when they are compiled: the loops are then what they would be without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.loops.local.local_rows import LocalRows, make_fill_row, new_rows
from vindeby.wake.loops.superposition import Superposition, local_superposition_of, superposition_of
from vindeby.wake.loops.wind import DirectionWind, wind_from
from vindeby.wake.models.contract import WakeModel

FloatArray = npt.NDArray[np.float64]

Locality = Literal["uniform", "local", "turned"]
"""The wind is the same everywhere, differs from place to place, or differs and wakes follow its turning."""


class LocalStates(NamedTuple):
    """The wind states of one direction: ``speed`` as the site has it, and the free wind of every turbine."""

    speed: FloatArray
    rows: LocalRows


class OwnWind(NamedTuple):
    """``DirectionWind`` of one turbine, and cosine and sine of how far its wind is turned."""

    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray
    cosine: float
    sine: float


class WindAccess(NamedTuple):
    """Compiled functions.

    ``room(wind, n)``: room for the wind of ``n`` turbines; ``states(wind, d, room, x, y, type_index)``: the wind of a
    direction, ``states_with_slopes`` the same with slopes; ``at(states, i)``: that of turbine ``i``. ``swing(own, far,
    aside)``: the distances from a source with this wind, in its own direction, given those in the site's;
    ``swing_back``: the shares of the latter, of those of the former.
    """

    room: Callable[..., Any]
    states: Callable[..., Any]
    states_with_slopes: Callable[..., Any]
    at: Callable[..., Any]
    swing: Callable[..., tuple[float, float]]
    swing_back: Callable[..., tuple[float, float]]


@inlined
def _no_room(wind, n):
    return 0


@inlined
def _same_states(wind, d, room, x, y, type_index):
    return wind_from(wind, d)


@inlined
def _same_everywhere(states: DirectionWind, i: int) -> DirectionWind:
    return states


@inlined
def _straight(own, far, aside):
    return far, aside


@inlined
def _room_for_rows(wind, n):
    return new_rows(n, wind.most)


def _make_local_states(slopes: bool) -> Callable[..., LocalStates]:
    fill_row = make_fill_row(slopes)

    @scalar
    def local_states(wind, d, room, x, y, type_index):
        for i in range(x.size):
            fill_row(wind, d, type_index[i], x[i], y[i], room, i)
        return LocalStates(wind.speed[wind.first[d] : wind.first[d + 1]], room)

    compiled: Callable[..., LocalStates] = local_states
    return compiled


@inlined
def _own_wind(states: LocalStates, i: int) -> OwnWind:
    count, rows = states.speed.size, states.rows
    return OwnWind(
        rows.speed[i, :count], rows.weight[i, :count], rows.turbulence[i, :count], rows.cosine[i], rows.sine[i]
    )  # fmt: skip


@inlined
def _swung(own: OwnWind, far: float, aside: float) -> tuple[float, float]:
    return own.cosine * far - own.sine * aside, own.cosine * aside + own.sine * far


@inlined
def _swung_back(own: OwnWind, of_far: float, of_aside: float) -> tuple[float, float]:
    return own.cosine * of_far + own.sine * of_aside, own.cosine * of_aside - own.sine * of_far


_UNIFORM = WindAccess(_no_room, _same_states, _same_states, _same_everywhere, _straight, _straight)
_LOCAL = WindAccess(
    _room_for_rows, _make_local_states(False), _make_local_states(True), _own_wind, _straight, _straight
)
_ACCESS = {
    "uniform": _UNIFORM,
    "local": _LOCAL,
    "turned": _LOCAL._replace(swing=_swung, swing_back=_swung_back),
}


def access_of(locality: Locality) -> WindAccess:
    """The functions for a kind of wind."""
    return _ACCESS[locality]


def together_of(model: WakeModel, locality: Locality) -> Superposition:
    """How wakes combine in a kind of wind."""
    return superposition_of(model) if locality == "uniform" else local_superposition_of(model)


def identity_of(model: WakeModel, locality: Locality) -> str:
    """What tells the loops of a model and a kind of wind from others."""
    return model.identity if locality == "uniform" else f"{model.identity} {locality}"
