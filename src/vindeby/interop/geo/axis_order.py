"""Latitude before longitude, where the rest of the campaign gives it away.

Within 90 degrees both orders are places on Earth. But a file that lies far from everything else of the campaign, and
close to it with its axes swapped, has them in the wrong order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vindeby.interop.geo.areas import FloatArray

_FAR_DEGREES = 10.0
_NEAR_DEGREES = 3.0


def looks_swapped(points: FloatArray, others: Sequence[FloatArray]) -> bool:
    """Whether longitudes and latitudes would lie near most of the others only the other way round."""
    if np.abs(points).max() > 90.0:  # the other way round they would be no latitudes
        return False
    middle = np.median(points, axis=0)
    around = [np.median(other, axis=0) for other in others]
    votes = [
        _apart(middle, one) > _FAR_DEGREES and _apart(middle[::-1], one) < _NEAR_DEGREES for one in around
    ]
    return 2 * sum(votes) > len(votes)


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Roughly, in degrees of a great circle."""
    east = (one[0] - other[0] + 180.0) % 360.0 - 180.0
    return float(np.hypot(east * np.cos(np.radians(other[1])), one[1] - other[1]))
