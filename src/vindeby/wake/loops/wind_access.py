"""Access to the free wind in the loops: the same for all turbines, or different for each.

The loops ask for the wind of a direction once and then for that of single turbines. Where the wind is the same
everywhere, these functions vanish when they are compiled: the loops are then what they would be without them.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, kernel, scalar
from vindeby.wake.loops.local_wind import LocalRows, LocalWindArrays, fill_row, local_wind_of, new_rows
from vindeby.wake.loops.superposition import Superposition, superposition_of_words
from vindeby.wake.loops.wind import DirectionWind, Wind, wind_from, wind_of
from vindeby.wake.models.contract import WakeModel
from vindeby.wake.sites.gridded_site import GriddedSite
from vindeby.wake.sites.site import Site, WindStates
from vindeby.wake.turbines.turbine import Turbine

Locality = Literal["uniform", "local", "turned"]
"""The wind is the same everywhere, differs from place to place, or differs and wakes follow its turning."""


class LocalStates(NamedTuple):
    """The wind states of one direction: ``speed`` as the site has it, and the free wind of every turbine."""

    speed: FloatArray
    rows: LocalRows


class OwnWind(NamedTuple):
    """The ``DirectionWind`` of one turbine, with cosine and sine of its rotation."""

    speed: FloatArray
    weight: FloatArray
    turbulence: FloatArray
    cosine: float
    sine: float


class WindAccess(NamedTuple):
    """The compiled functions that read the free wind.

    ``room(wind, n)``: room for the wind of ``n`` turbines; ``states(wind, d, room, x, y, types)``: the wind of a
    direction; ``at(states, i)``: that of turbine ``i``.
    ``rotate_to_local_wind(own, far, aside)``: the distances from a source with this wind, in its own direction, given
    those in the site's; ``rotate_back``: the slopes with the latter, of those with the former.
    """

    room: Callable[..., Any]
    states: Callable[..., Any]
    at: Callable[..., Any]
    rotate_to_local_wind: Callable[..., tuple[float, float]]
    rotate_back: Callable[..., tuple[float, float]]


@inlined
def _no_room(wind, n):
    return 0


@inlined
def _same_states(wind, d, room, x, y, types):
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


@scalar
def _local_states(wind, d, room, x, y, types):
    for i in range(x.size):
        fill_row(wind, d, types[i], x[i], y[i], room, i)
    return LocalStates(wind.speed[wind.first[d] : wind.first[d + 1]], room)


@inlined
def _own_wind(states: LocalStates, i: int) -> OwnWind:
    count, rows = states.speed.size, states.rows
    return OwnWind(
        rows.speed[i, :count], rows.weight[i, :count], rows.turbulence[i, :count], rows.cosine[i], rows.sine[i]
    )  # fmt: skip


@inlined
def _rotated(own: OwnWind, far: float, aside: float) -> tuple[float, float]:
    return own.cosine * far - own.sine * aside, own.cosine * aside + own.sine * far


@inlined
def _rotated_back(own: OwnWind, of_far: float, of_aside: float) -> tuple[float, float]:
    return own.cosine * of_far + own.sine * of_aside, own.cosine * of_aside - own.sine * of_far


_UNIFORM = WindAccess(_no_room, _same_states, _same_everywhere, _straight, _straight)
_LOCAL = WindAccess(_room_for_rows, _local_states, _own_wind, _straight, _straight)
_ACCESS = {
    "uniform": _UNIFORM,
    "local": _LOCAL,
    "turned": _LOCAL._replace(rotate_to_local_wind=_rotated, rotate_back=_rotated_back),
}


def access_of(locality: Locality) -> WindAccess:
    return _ACCESS[locality]


def superposition_for(model: WakeModel, locality: Locality) -> Superposition:
    of = None if locality == "uniform" else model.free_wind_of
    return superposition_of_words(model.superposition, model.reference, of)


class FreeWind(NamedTuple):
    """Wind without wakes, by turbine and wind state: speed (m/s), direction (degrees), turbulence, probability."""

    speed: FloatArray
    direction: FloatArray
    turbulence: FloatArray
    probability: FloatArray


def wind_and_locality(
    site: Site, states: WindStates, turbines: Sequence[Turbine]
) -> tuple[Wind | LocalWindArrays, Locality]:
    """Return the wind of a site for the compiled loops, and the kind of loops it needs."""
    if not isinstance(site, GriddedSite):
        return wind_of(states), "uniform"
    wind = local_wind_of(site, states, [turbine.hub_height_m for turbine in turbines])
    return wind, "turned" if site.turned_wakes else "local"


def free_wind_at(
    wind: Wind | LocalWindArrays, directions: FloatArray, x: FloatArray, y: FloatArray, types: IntArray
) -> FreeWind:
    """Return the free wind at turbines, (turbines, states); ``directions`` (degrees) are those of the wind."""
    shape = (len(x), len(wind.speed))
    everywhere = np.repeat(directions, np.diff(wind.first))
    if not isinstance(wind, LocalWindArrays):
        same = (wind.speed, everywhere, wind.turbulence, wind.weight)
        return FreeWind(*(np.array(np.broadcast_to(values, shape)) for values in same))
    speed, turned, turbulence, weight = (np.empty(shape) for _ in range(4))
    _at_all(wind, x, y, types, speed, turned, turbulence, weight)
    return FreeWind(speed, (everywhere + np.rad2deg(turned)) % 360.0, turbulence, weight)


def map_wind(
    site: Site, states: WindStates, height: float, point_x: FloatArray, point_y: FloatArray
) -> FloatArray:
    """Return the free wind speed of one wind state at map points; NaN outside the grid of the local wind."""
    if not isinstance(site, GriddedSite):
        return np.full(point_x.shape, float(states.speed[0]))
    wind = local_wind_of(site, states, [height])
    west, south, east, north = site.grid.bounds
    inside = (point_x >= west) & (point_x <= east) & (point_y >= south) & (point_y <= north)
    out = np.full(point_x.shape, np.nan)
    at = np.zeros(int(inside.sum()), np.int64)
    out[inside] = free_wind_at(wind, states.direction, point_x[inside], point_y[inside], at).speed[:, 0]
    return out


@kernel()
def _at_all(wind, x, y, types, speed, turned, turbulence, weight):
    """Fill in the wind of all turbines in all states; ``turned`` is in radians."""
    rows = new_rows(1, wind.most)
    for i in range(x.size):
        for d in range(wind.cosine.size):
            fill_row(wind, d, types[i], x[i], y[i], rows, 0)
            first = wind.first[d]
            for k in range(wind.first[d + 1] - first):
                speed[i, first + k] = rows.speed[0, k]
                turned[i, first + k] = np.arctan2(rows.sine[0], rows.cosine[0])
                turbulence[i, first + k] = rows.turbulence[0, k]
                weight[i, first + k] = rows.weight[0, k]
