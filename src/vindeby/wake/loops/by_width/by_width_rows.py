"""Where the loops of ``by_width`` keep the numbers that vector instructions read and write: rows of one array.

Rows of one array at constant distances are known not to overlap. Of several arrays a compiler would have to find that
out while running, and with so many of them it does not vectorise the loop at all. An entry of a row is a wind state or,
in time series, a turbine.
"""

from __future__ import annotations

from typing import Any

from vindeby.wake.compiling.compiled import inlined

ROW = 128
"""Entries of a row; more wind states or turbines are worked off in several goes."""
ROWS = 15
# The source, by wind state: the numbers of its width, ct D^2/8, ct, slopes of the numbers with ct, and turbulence.
N0, N1, N2, N3, STRENGTH, THRUST, S0, S1, S2, S3, TURBULENCE = (i * ROW for i in (*range(10), 14))
# The square of a deficit and t of ``gaussian_mean``; or, for the gradient, the slopes of the square and t.
VALUE, T, FAR, ASIDE = (i * ROW for i in range(10, 14))
OF_THRUST = VALUE
# By turbine, in time series: distances from the source to it, its hub height and its rotor's radius.
HEIGHT, RADIUS = N0, N1


@inlined
def put_numbers(room: Any, k: int, numbers: Any, diameter: float) -> None:
    """Keep what the wakes of a source depend on in one wind state, whose thrust is there already."""
    room[N0 + k], room[N1 + k], room[N2 + k], room[N3 + k] = numbers
    room[STRENGTH + k] = 0.125 * room[THRUST + k] * diameter * diameter


@inlined
def whole_vectors(count: int) -> int:
    """The count rounded up to whole vectors: results of leftover entries are not read, one by one they cost as much."""
    return (count + 7) // 8 * 8
