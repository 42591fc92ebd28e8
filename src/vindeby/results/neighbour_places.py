"""Where the neighbours of a farm stand, for pictures: those that are near enough to be drawn beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vindeby.results.campaign_lookup import has_neighbours

if TYPE_CHECKING:
    from vindeby.campaign import Campaign

FloatArray = NDArray[np.float64]
Box = tuple[float, ...]
"""Left, bottom, right and top in metres."""
_SHARE = 0.5
"""Of the longer side of a farm: a neighbour within this of it is drawn, and one farther away is not."""


def neighbour_groups(campaign: Campaign | None, farm_idx: int) -> dict[str, FloatArray]:
    """The positions of every neighbour, x and y in metres, by the label of its group; none where no campaign tells."""
    if campaign is None or not has_neighbours(campaign, farm_idx):
        return {}
    from vindeby.campaign.neighbours import groups_of  # loads pydantic, which a look by the outline need not

    groups = groups_of(campaign, farm_idx)
    return {label: np.array([(one.x, one.y) for one in standing]).T for label, standing in groups.items()}


def neighbour_places(campaign: Campaign | None, farm_idx: int) -> FloatArray:
    """The positions of all neighbours together."""
    return np.hstack([np.empty((2, 0)), *neighbour_groups(campaign, farm_idx).values()])


def nearby(places: FloatArray, box: Sequence[float]) -> FloatArray:
    """Those of the positions that are in the box or not far from it."""
    left, bottom, right, top = box
    margin = _SHARE * max(right - left, top - bottom)
    x, y = places
    near = (x >= left - margin) & (x <= right + margin) & (y >= bottom - margin) & (y <= top + margin)
    return places[:, near]


def grown(box: Sequence[float], places: FloatArray) -> Box:
    """A box that has these positions in it too."""
    left, bottom, right, top = box
    if not places.size:
        return left, bottom, right, top
    (low_x, low_y), (high_x, high_y) = places.min(axis=1), places.max(axis=1)
    low = min(left, float(low_x)), min(bottom, float(low_y))
    return (*low, max(right, float(high_x)), max(top, float(high_y)))
