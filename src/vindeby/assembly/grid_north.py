"""Wind directions relative to the north of the coordinates.

Wind is measured and described relative to true north; y of projected coordinates points to grid north, which differs
from it by up to some degrees away from the middle meridian of a UTM zone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vindeby import wake


def turned(site: wake.Site, convergence_deg: float | None) -> wake.Site:
    """The site with its directions relative to grid north, which lies ``convergence_deg`` clockwise of true north."""
    if not convergence_deg:
        return site
    if isinstance(site, wake.TimeSeriesSite):  # stays one: what is written by step needs its steps
        return replace(site, wind_direction=_from_grid_north(site.wind_direction, convergence_deg))
    return TurnedSite(site, convergence_deg)


def _from_grid_north(direction: npt.ArrayLike, convergence_deg: float) -> npt.NDArray[np.float64]:
    return np.mod(np.asarray(direction, np.float64) - convergence_deg, 360.0)


@dataclass(frozen=True, eq=False)
class TurnedSite:
    """A site as seen from coordinates whose north is not true north."""

    rose: wake.Site
    convergence_deg: float

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> wake.WindStates:
        """The same wind states, chosen by their true directions, with directions relative to grid north."""
        states = self.rose.states(directions, speeds)
        return replace(states, direction=_from_grid_north(states.direction, self.convergence_deg))
