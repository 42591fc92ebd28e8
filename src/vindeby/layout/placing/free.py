"""The free wind at turbines and points of a smart start: the site's, or each place's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.wake import WindFarm
from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.loops.local_wind import LocalWind
from vindeby.wake.loops.wind_access import Locality, free_wind_at

__all__ = ["Free", "FreeAt", "free_at", "new_free", "stand_in"]

FloatArray = npt.NDArray[np.float64]


class Free(NamedTuple):
    """Free wind by turbine or point and wind state; empty where it is the same everywhere.

    ``speed``, ``turbulence``, ``cosine`` and ``sine`` (of the turning) belong to turbines, ``point_speed`` and
    ``point_weight`` to points.
    """

    speed: FloatArray
    turbulence: FloatArray
    cosine: FloatArray
    sine: FloatArray
    point_speed: FloatArray
    point_weight: FloatArray


def new_free(farm: WindFarm, points: FloatArray, most: int) -> Free:
    """Room for ``most`` turbines, and the wind at the points, at the hub height of type 0.

    ``points`` (x, y) are in the frame of the farm's layouts.
    """
    if not isinstance(farm.wind, LocalWind):
        none = np.empty((0, 0))
        return Free(none, none, none, none, none, none)
    types = np.zeros(len(points), np.int64)
    x, y = (np.ascontiguousarray(column) for column in points.T)
    at = free_wind_at(farm.wind, farm.states.direction, x, y, types)
    shape = (most, len(farm.states.speed))
    return Free(np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), at.speed, at.probability)


def stand_in(farm: WindFarm, free: Free, a: int, x: float, y: float, type_index: int) -> None:
    """Work out the free wind of turbine ``a``."""
    if not isinstance(farm.wind, LocalWind):
        return
    directions = farm.states.direction
    at = free_wind_at(farm.wind, directions, np.array([x]), np.array([y]), np.array([type_index], np.int64))
    turned = np.deg2rad(at.direction[0] - np.repeat(directions, np.diff(farm.wind.first)))
    free.speed[a], free.turbulence[a] = at.speed[0], at.turbulence[0]
    free.cosine[a], free.sine[a] = np.cos(turned), np.sin(turned)


class FreeAt(NamedTuple):
    """Compiled functions of (wind, state, turbine or point, state of the wind), and rotated distances."""

    speed: Callable[..., float]
    turbulence: Callable[..., float]
    point_speed: Callable[..., float]
    point_weight: Callable[..., float]
    rotate_to_local_wind: Callable[..., tuple[float, float]]


@inlined
def _site_speed(wind, state, a, s):  # noqa: ARG001
    return wind.speed[s]


@inlined
def _site_weight(wind, state, a, s):  # noqa: ARG001
    return wind.weight[s]


@inlined
def _site_turbulence(wind, state, a, s):  # noqa: ARG001
    return wind.turbulence[s]


@inlined
def _straight(state, a, s, far, aside):  # noqa: ARG001
    return far, aside


@inlined
def _own_speed(wind, state, a, s):  # noqa: ARG001
    return state.free.speed[a, s]


@inlined
def _own_turbulence(wind, state, a, s):  # noqa: ARG001
    return state.free.turbulence[a, s]


@inlined
def _own_point_speed(wind, state, c, s):  # noqa: ARG001
    return state.free.point_speed[c, s]


@inlined
def _own_point_weight(wind, state, c, s):  # noqa: ARG001
    return state.free.point_weight[c, s]


@inlined
def _rotated(state, a, s, far, aside):
    cosine, sine = state.free.cosine[a, s], state.free.sine[a, s]
    return cosine * far - sine * aside, cosine * aside + sine * far


def free_at(locality: Locality) -> FreeAt:
    """The functions for a kind of wind."""
    if locality == "uniform":
        return FreeAt(_site_speed, _site_turbulence, _site_speed, _site_weight, _straight)
    rotate_to_local_wind = _rotated if locality == "turned" else _straight
    return FreeAt(_own_speed, _own_turbulence, _own_point_speed, _own_point_weight, rotate_to_local_wind)
