"""Turbines in the compiled loops: a few flat arrays for all types.

A wind speed finds its piece of a curve through equal buckets, narrow enough that most hold one piece; a piece
is one row of numbers. This costs one multiplication, two loads and
rarely a second step, where a search costs a dozen branches.

A piece also holds, as a cubic, the variable in which ``pair_tables`` tabulates the thrust coefficient,
t = tan(theta/2) with ct = sin(theta)^2: wakes are smooth functions of it over the whole range, where they are not
of ct at either end. Pieces are split until the cubic is right to 1e-10.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray, IntArray
from vindeby.wake.compiling.compiled import inlined, scalar
from vindeby.wake.turbines.turbine import Turbine

FEWEST_BUCKETS = 256
"""Even for few pieces, so that hardly a bucket holds two: a second step that comes now and then costs most."""
MOST_BUCKETS = 2048
COLUMNS = 12
"""The numbers per piece: power (4), thrust coefficient (2), thrust variable (4), constant first; start and end."""


class TurbineArrays(NamedTuple):
    """The arrays of all turbine types; the first five are by type, the others concatenate the types."""

    diameter: FloatArray
    hub_height: FloatArray
    per_speed: FloatArray
    bucket_first: IntArray
    bucket_count: IntArray
    bucket: npt.NDArray[np.uint32]
    piece: FloatArray


def turbine_arrays(turbines: Sequence[Turbine]) -> TurbineArrays:
    diameters, heights = (
        np.array([getattr(turbine, name) for turbine in turbines])
        for name in ("rotor_diameter_m", "hub_height_m")
    )
    return packed_curves([_split(turbine) for turbine in turbines], diameters, heights)


def packed_curves(
    curves: Sequence[FloatArray], diameter: FloatArray, hub_height: FloatArray
) -> TurbineArrays:
    """Pack curves, given as rows of ``piece``, with the rotor diameter and the hub height (m) of each."""
    per_speed, bucket_first, bucket_count, buckets = [], [], [], []
    row = bucket_row = 0
    for piece in curves:
        start = piece[:, 10]
        top = max(float(start[-1]), 1.0)
        narrowest = float(np.diff(start).min(initial=top))
        count = int(np.clip(np.ceil(top / narrowest + 1e-9), FEWEST_BUCKETS, MOST_BUCKETS)) + 1
        edge = np.arange(count) * (top / (count - 1))
        # Just below the edge, since rounding may put a speed on the edge into the bucket above it.
        lowest = np.searchsorted(start, edge * (1 - 1e-12), side="right") - 1
        per_speed.append((count - 1) / top)
        bucket_first.append(bucket_row)
        bucket_count.append(count)
        buckets.append((row + np.maximum(lowest, 0)) * COLUMNS)
        row += len(start)
        bucket_row += count
    return TurbineArrays(
        diameter=diameter,
        hub_height=hub_height,
        per_speed=np.array(per_speed),
        bucket_first=np.array(bucket_first, np.int64),
        bucket_count=np.array(bucket_count, np.int64),
        bucket=np.concatenate(buckets).astype(np.uint32),
        piece=np.concatenate(curves).ravel(),
    )


def thrust_variable(thrust: float) -> float:
    """Return the variable t of a thrust coefficient."""
    ct = min(max(thrust, 0.0), 1.0)
    return sqrt(ct) / (1.0 + sqrt(1.0 - ct))


def _split(turbine: Turbine) -> FloatArray:
    """Return one row per piece, split where the cubic for t would not be exact enough."""
    rows: list[list[float]] = []
    ends = [*turbine.start[1:].tolist(), np.inf]
    for start, end, power, thrust in zip(
        turbine.start.tolist(), ends, turbine.power.tolist(), turbine.thrust.tolist(), strict=True
    ):
        waiting = [(start, end, 0)]
        while waiting:
            left, right, depth = waiting.pop()
            here = left - start
            ct = thrust[0] + thrust[1] * here
            cubic, error = _cubic_of_t(ct, thrust[1], right - left)
            middle = 0.5 * (left + right)
            if error > 1e-10 and depth < 12 and left < middle < right:
                waiting += [(middle, right, depth + 1), (left, middle, depth + 1)]
                continue
            a, b, c, d = power
            moved = [
                ((d * here + c) * here + b) * here + a,
                (3 * d * here + 2 * c) * here + b,
                3 * d * here + c,
                d,
            ]
            rows.append([*moved, ct, thrust[1], *cubic, left, right])
    return np.array(rows)


def _cubic_of_t(thrust: float, slope: float, length: float) -> tuple[list[float], float]:
    """Return the cubic (Hermite) of t over a piece with linear thrust, and its error half-way."""
    if slope == 0.0:
        return [thrust_variable(thrust), 0.0, 0.0, 0.0], 0.0

    def t_and_slope(ct: float) -> tuple[float, float]:
        ct = min(max(ct, 1e-12), 1.0 - 1e-12)
        t = thrust_variable(ct)
        return t, (1.0 + t * t) / (4.0 * sqrt(ct * (1.0 - ct))) * slope

    (t0, s0), (t1, s1) = t_and_slope(thrust), t_and_slope(thrust + slope * length)
    rise = (t1 - t0) / length
    if max(abs(s0), abs(s1)) > 3.0 * abs(
        rise
    ):  # a cubic with these slopes would leave the range between its ends
        s0 = s1 = rise
    c = (3.0 * rise - 2.0 * s0 - s1) / length
    d = (s0 + s1 - 2.0 * rise) / (length * length)
    half = 0.5 * length
    middle = ((d * half + c) * half + s0) * half + t0
    return [t0, s0, c, d], abs(middle - t_and_slope(thrust + slope * half)[0])


@scalar
def locate(turbines: TurbineArrays, type_index: int, wind_speed: float) -> np.uint64:
    """Return the index in ``piece`` of the row for a wind speed >= 0."""
    bucket = min(int(wind_speed * turbines.per_speed[type_index]), turbines.bucket_count[type_index] - 1)
    # Unsigned: no test for negative places.
    row = np.uint64(turbines.bucket[np.uint64(turbines.bucket_first[type_index] + bucket)])
    while wind_speed >= turbines.piece[row + np.uint64(11)]:
        row += np.uint64(COLUMNS)
    return row


@inlined
def curves_with_slopes(
    turbines: TurbineArrays, type_index: int, wind_speed: float
) -> tuple[float, float, float, float]:
    """Return power (W) and thrust coefficient of a type, and the slopes of both with wind speed."""
    turns = 1.0 if wind_speed > 0.0 else 0.0
    wind_speed = max(wind_speed, 0.0)
    row = locate(turbines, type_index, wind_speed)
    p = turbines.piece[row : row + COLUMNS]
    t = wind_speed - p[10]
    power = ((p[3] * t + p[2]) * t + p[1]) * t + p[0]
    return power, p[5] * t + p[4], turns * ((3.0 * p[3] * t + 2.0 * p[2]) * t + p[1]), turns * p[5]


@scalar
def curves_at(turbines: TurbineArrays, type_index: int, wind_speed: float) -> tuple[float, float]:
    """Return power (W) and thrust coefficient of a type."""
    return curves_with_slopes(turbines, type_index, wind_speed)[:2]
