"""The local wind of a campaign as ``wake`` computes with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vindeby import wake
from vindeby.campaign.sections.local_wind import AXES, LocalWind
from vindeby.campaign.sections.site import Site


def gridded_site(site: Site, local: LocalWind, rose: wake.Site | None) -> wake.Site:
    """A site whose wind is that of ``rose``, or of each place where the grid has probabilities, on the grid."""
    grid = wake.WindGrid(
        local.x,
        local.y,
        height=local.height,
        direction=local.wind_directions,
        **{name: _over_axes(local, name) for name in local.quantities},
    )
    interpolation = local.interpolation or getattr(site.chosen[1], "interpolation", None) or "linear"
    gridded = wake.GriddedSite(rose, grid, interpolation, local.position_interpolation, local.turned_wakes)
    if rose is not None:
        return gridded
    weibull = site.weibull
    assert weibull is not None, "the campaign's check lets no other site without a rose through"
    assert isinstance(weibull.turbulence_intensity, float), "nor another turbulence"
    return replace(
        gridded,
        default_directions=np.arange(round(360.0 / weibull.direction_step)) * weibull.direction_step,
        default_speeds=np.array(weibull.wind_speeds),
        turbulence_intensity=weibull.turbulence_intensity,
    )


def _over_axes(local: LocalWind, name: str) -> npt.NDArray[np.float64]:
    """The numbers over their own axes; over all four where the number of axes alone would not say which."""
    array = local.array(name)
    own = getattr(local, name).axes
    if len(own) == 3 and local.height is not None and local.wind_directions is not None:
        lengths = [len(getattr(local, axis)) for axis in AXES]
        return np.array(np.broadcast_to(array, lengths))
    return array.reshape([length for length, axis in zip(array.shape, AXES, strict=True) if axis in own])
