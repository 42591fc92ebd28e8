"""Superposition: how the deficits of several wakes become one wind speed.

A source's deficits are multiplied by a ``scale``; these products, or their squares, are the ``term`` that is added to
the sum of the rotor downwind; ``wind_speed`` turns the free wind and that sum into the wind at the rotor. With f for
deficits, U_i and U_j for the free wind at the source and at the target and u for the wind in the wakes:

    squares, of the free wind of the target  u_j = U_j (1 - sqrt(sum f^2))
    squares, of the free wind of the source  u_j = U_j - sqrt(sum (U_i f)^2)
    squares, of the wind at the source       u_j = U_j - sqrt(sum (u_i f)^2)
    linear, of the free wind of the target   u_j = U_j (1 - sum f)
    linear, of the free wind of the source   u_j = U_j - sum U_i f
    linear, of the wind at the source        u_j = U_j - sum u_i f

Where the free wind is the same everywhere, the first formula is used for squares and the fifth for linear sums of its
fractions; where it differs from place to place, the model says whose it is (``free_wind_of``). ``scale`` knows nothing
but the source and ``wind_speed`` nothing but the target, so that a sum can gather sources in any order, and a
difference between two wakes of one source can be passed on.

The functions that end in ``back`` go the other way, for gradients: from the share that a result has in the total to
the share of what it was made of.
"""

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import NamedTuple

from vindeby.wake.compiling.compiled import inlined
from vindeby.wake.models.contract import WakeModel


class Superposition(NamedTuple):
    """The compiled functions of a superposition, each inlined into the loops that call it.

    ``scale(source_wind, free)``: what a source's deficits are multiplied by; ``scale_slope(free)``: its slope with the
    wind at the source. ``term(scaled)``: what a scaled deficit adds to the sum; ``term_back(of_summed, scaled)``: the
    share of the scaled deficit. ``taken(summed)``: how much a sum takes from the wind, in the unit of its terms before
    they were squared. ``wind_speed(free, summed)``: the wind that is left, negative if wakes take more than there is;
    ``wind_speed_back(of_speed, free, summed)``: the share of the sum. Sums must not be negative.
    ``scale_slope_free(free)`` and ``wind_speed_slope_free(summed)``: their slopes with the free wind at the source and
    at the target, where it differs from place to place.
    """

    scale: Callable[..., float]
    scale_slope: Callable[..., float]
    term: Callable[..., float]
    term_back: Callable[..., float]
    taken: Callable[..., float]
    wind_speed: Callable[..., float]
    wind_speed_back: Callable[..., float]
    scale_slope_free: Callable[..., float]
    wind_speed_slope_free: Callable[..., float]


def superposition_of(model: WakeModel) -> Superposition:
    """Return the functions for a model if the free wind is the same everywhere."""
    return superposition_of_words(model.superposition, model.reference)


@cache
def superposition_of_words(
    superposition: str, reference: str, free_wind_of: str | None = None
) -> Superposition:
    """Return the functions for these fields of a model; ``free_wind_of`` is None for uniform wind."""
    squares, of_free = superposition == "squares", reference == "free"
    of_target = of_free and (squares if free_wind_of is None else free_wind_of == "target")

    @inlined
    def scale(source_wind: float, free: float) -> float:
        if of_target:
            return 1.0
        return free if of_free else source_wind

    @inlined
    def scale_slope(free: float) -> float:
        return 0.0 if of_free else 1.0

    @inlined
    def scale_slope_free(free: float) -> float:
        return 1.0 if of_free and not of_target else 0.0

    @inlined
    def term(scaled: float) -> float:
        return scaled * scaled if squares else scaled

    @inlined
    def term_back(of_summed: float, scaled: float) -> float:
        return 2.0 * of_summed * scaled if squares else of_summed

    @inlined
    def taken(summed: float) -> float:
        return sqrt(summed) if squares else summed

    @inlined
    def wind_speed(free: float, summed: float) -> float:
        return free * (1.0 - taken(summed)) if of_target else free - taken(summed)

    @inlined
    def wind_speed_slope_free(summed: float) -> float:
        return 1.0 - taken(summed) if of_target else 1.0

    @inlined
    def wind_speed_back(of_speed: float, free: float, summed: float) -> float:
        whole = -free * of_speed if of_target else -of_speed
        if squares:
            # Without a wake the root is 0, and so is its slope with places.
            root = sqrt(summed)
            return 0.5 * whole / root if root > 0.0 else 0.0
        return whole

    return Superposition(
        scale, scale_slope, term, term_back, taken, wind_speed, wind_speed_back, scale_slope_free,
        wind_speed_slope_free,
    )  # fmt: skip


@inlined
def turbulence_in_wakes(free: float, added: float) -> float:
    """Return the turbulence intensity in wakes whose largest addition is ``added``."""
    return sqrt(free * free + added * added)
