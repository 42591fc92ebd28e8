"""A farm again with other wind states or another wake model; everything else, local wind included, stays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy.typing as npt

from vindeby.wake import GriddedSite, Site, WakeModel, WindFarm, WindStates


def with_wind(farm: WindFarm, states: WindStates, model: WakeModel) -> WindFarm:
    """The farm in these wind states, with wakes by this model."""
    return WindFarm(
        _with_states(farm, states),
        farm.turbines,
        model,
        neighbours=farm.neighbours,
        threads=farm.threads,
        tabulate=farm.tabulated or farm.by_width,
    )


def _with_states(farm: WindFarm, states: WindStates) -> Site:
    """A site that has these wind states, and the farm's local wind if there is any."""
    same = _SameWind(states)
    return replace(farm.site, rose=same) if isinstance(farm.site, GriddedSite) else same


@dataclass(frozen=True, eq=False)
class _SameWind:
    """A site that has these wind states."""

    wind: WindStates

    def states(
        self,
        directions: npt.ArrayLike | None = None,  # noqa: ARG002  they were chosen before
        speeds: npt.ArrayLike | None = None,  # noqa: ARG002
    ) -> WindStates:
        return self.wind
