"""A site with changed wind: turned, with other speeds, or from uncertain directions.

**Directions that are not known well** (``direction_std_deg``): the wind of each state comes from directions at -2, -1,
0, 1 and 2 standard deviations around its own, weighted by the normal density, as in FLORIS' ``UncertainFlorisModel``
with its default sample points. The sum over them is another rose, so that nothing but the wind states changes. Where
states of different turbulence fall on the same direction and speed, they have their mean turbulence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.wake.sites.site import Site, TimeSeriesSite, WindStates

_SAMPLES = np.arange(-2.0, 3.0)
_SHARES = np.exp(-0.5 * _SAMPLES**2) / np.exp(-0.5 * _SAMPLES**2).sum()


@dataclass(frozen=True, eq=False)
class ChangedSite:
    """A site with every wind state changed alike; ``turned_deg`` is added to its directions."""

    rose: Site
    turned_deg: float = 0.0
    speed_factor: float = 1.0
    direction_std_deg: float = 0.0

    @property
    def is_only_turned(self) -> bool:
        """Return whether only the directions are changed, all by the same angle."""
        return (self.speed_factor, self.direction_std_deg) == (1.0, 0.0)

    def changed(self) -> Site:
        """Return the site itself if nothing is changed; a time series stays one, with five samples of each step."""
        if self.is_only_turned and not self.turned_deg:
            return self.rose
        if not isinstance(self.rose, TimeSeriesSite):
            return self
        site = self.rose
        samples, shares = (_SAMPLES, _SHARES) if self.direction_std_deg else (np.zeros(1), np.ones(1))
        speed, direction = (np.asarray(one, np.float64) for one in (site.wind_speed, site.wind_direction))
        weight = np.ones(speed.shape) if site.weight is None else np.asarray(site.weight, np.float64)
        turbulence = np.broadcast_to(np.asarray(site.turbulence_intensity), speed.shape)
        return TimeSeriesSite(
            wind_speed=np.tile(speed * self.speed_factor, len(samples)),
            wind_direction=self._turned(np.add.outer(self.direction_std_deg * samples, direction).ravel()),
            turbulence_intensity=np.tile(turbulence, len(samples)),
            weight=np.outer(shares, weight).ravel(),
            relative=site.relative or site.weight is None,
        )

    def _turned(self, direction: FloatArray) -> FloatArray:
        return np.mod(direction + self.turned_deg, 360.0)

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """Return the changed wind states; directions and speeds are chosen as they are without the change."""
        states = self.rose.states(directions, speeds)
        direction = self._turned(states.direction) if self.turned_deg else states.direction
        changed = replace(states, direction=direction, speed=states.speed * self.speed_factor)
        return _spread(changed, self.direction_std_deg) if self.direction_std_deg else changed


def _spread(states: WindStates, std_deg: float) -> WindStates:
    every = np.mod(np.add.outer(std_deg * _SAMPLES, states.direction), 360.0)
    direction, place = np.unique(np.round(every, 9) % 360.0, return_inverse=True)
    probability, turbulence = (one.reshape(states.shape) for one in (states.probability, states.turbulence))
    shape = (len(direction), states.shape[1])
    summed, weighted = np.zeros(shape), np.zeros(shape)
    for share, at in zip(_SHARES, place.reshape(every.shape), strict=True):
        often = share * probability + 1e-300  # wind that never blows has a turbulence, too
        np.add.at(summed, at, often)
        np.add.at(weighted, at, often * turbulence)
    return WindStates(
        direction=direction,
        first=np.arange(shape[0] + 1, dtype=np.int64) * shape[1],
        speed=np.tile(states.speed[: shape[1]], shape[0]),
        probability=summed.ravel(),
        turbulence=np.round(weighted / summed, 12).ravel(),
        shape=shape,
    )
