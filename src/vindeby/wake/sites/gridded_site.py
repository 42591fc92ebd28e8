"""A site whose wind differs from place to place: another site's wind states, and a grid of what is local."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from vindeby.errors import ArgumentError
from vindeby.wake.sites.site import Interpolation, Site, WeibullSite, WindStates
from vindeby.wake.sites.wind_grid import WindGrid

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GriddedSite:
    """Local wind on a grid, as PyWake's ``XRSite`` has it.

    ``rose`` gives the wind states of the whole site: directions, speeds, probabilities and turbulence. ``grid``
    says what is different at a turbine, at the height of its hub:

    - ``speedup`` multiplies the wind speed of every state;
    - ``weibull_a``, ``weibull_k`` and ``sector_frequency`` replace the probabilities. ``rose`` may then be None; the
      states are those of ``default_directions`` and ``default_speeds`` (0, 1, ... 359 degrees and 3, 4, ... 25 m/s
      unless given) with ``turbulence_intensity``;
    - ``turbulence_intensity`` replaces that of the states;
    - ``turning`` is added to the wind direction. Wakes follow the turned wind of the turbine that casts them only if
      ``turned_wakes`` is set; without it turning is for output alone, as PyWake does by default.

    Values are linear in x, y and height (``position_interpolation="nearest"``: those of the nearest point), and over
    direction as ``interpolation`` says, where ``nearest`` of two equally near sectors is the next one clockwise.
    Turbulence intensity is always linear. Nothing is extended beyond the grid: a turbine outside is an error.
    """

    rose: Site | None
    grid: WindGrid
    interpolation: Interpolation = "linear"
    position_interpolation: Interpolation = "linear"
    turned_wakes: bool = False
    default_directions: npt.ArrayLike | None = None
    default_speeds: npt.ArrayLike | None = None
    turbulence_intensity: float = 0.1

    def __post_init__(self) -> None:
        for name in ("interpolation", "position_interpolation"):
            if getattr(self, name) not in get_args(Interpolation):
                raise ArgumentError(f"{name} must be 'linear' or 'nearest', not {getattr(self, name)!r}")
        if not isinstance(self.grid, WindGrid):
            raise ArgumentError(f"grid must be a WindGrid, not {self.grid!r}")
        if self.rose is None and not self.grid.has_weibull:
            raise ArgumentError(
                "a site without a rose needs weibull_a, weibull_k and sector_frequency in its grid; "
                "give these, or the rose"
            )
        if isinstance(self.rose, GriddedSite):
            raise ArgumentError(
                "the rose of a gridded site must be a site of uniform wind, not a gridded one"
            )
        if self.turned_wakes and self.grid.turning is None:
            raise ArgumentError("turned_wakes needs turning in the grid")

    def __repr__(self) -> str:
        return f"<GriddedSite: {self.grid!r} with {self.rose!r}>"

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """The wind states of the site; those of a place have its own speed, probability and turbulence.

        Where the grid holds probabilities, these are the ones at its middle, for pictures and summaries.
        """
        if not self.grid.has_weibull:
            assert self.rose is not None  # checked when the site was made
            return self.rose.states(directions, speeds)
        if self.rose is None:
            return self._at_the_middle().states(directions, speeds)
        states = self.rose.states(directions, speeds)
        if states.step is not None:
            raise ArgumentError(
                "a time series has its own weights; leave weibull_a, weibull_k and sector_frequency out of the grid"
            )
        own = self._at_the_middle().states(states.direction, states.speed[: states.shape[1]])
        return replace(states, probability=own.probability)

    def _at_the_middle(self) -> WeibullSite:
        """The wind at a point in the middle of the grid."""
        grid = self.grid
        sectors = 1 if grid.direction is None else len(grid.direction)

        def middle(name: str) -> FloatArray:
            values = grid.over_all_axes(name)
            x, y, height = (length // 2 for length in values.shape[:3])
            return np.array(np.broadcast_to(values[x, y, height], (sectors,)))

        return WeibullSite(
            middle("sector_frequency"),
            middle("weibull_a"),
            middle("weibull_k"),
            self.turbulence_intensity,
            self.interpolation,
            self.default_directions,
            self.default_speeds,
        )
