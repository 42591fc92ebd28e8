"""The wind that a search step may ask for, and that the campaign's site must know."""

from __future__ import annotations

from collections.abc import Sequence

from vindeby.campaign.sections.method import Step
from vindeby.campaign.sections.site import Site
from vindeby.campaign.sections.turbulence import TurbulenceTable
from vindeby.campaign.sections.values import refusal


def refuse_unknown_wind(site: Site, steps: Sequence[Step]) -> None:
    """Refuse wind speeds and directions of a smart start that the site has no probability or turbulence for."""
    key, given = site.chosen
    known = turbulence_speeds(site)
    for index, step in enumerate(steps):
        start = step.smart_start
        for name in ("wind_speeds", "wind_directions"):
            values = None if start is None else getattr(start, name)
            at = ("method", index, "smart-start", name)
            if values is not None and key in ("time_series", "states"):
                told = f"has no meaning for a site of {given.title}, whose states are taken as they are"
                raise refusal(told, remedy="leave it out", at=at)
            if values is None or name != "wind_speeds" or known is None:
                continue
            outside = [speed for speed in values if not known[0] <= speed <= known[-1]]
            if outside:
                raise refusal(
                    f"has {outside[0]:g} m/s, but the turbulence intensity is known from {known[0]:g} to "
                    f"{known[-1]:g} m/s",
                    remedy="leave these wind speeds out, or add points to the turbulence intensity",
                    at=at,
                )


def turbulence_speeds(site: Site) -> tuple[float, ...] | None:
    """The wind speeds at which the turbulence intensity is given; None where it does not depend on them."""
    turbulence = getattr(site.chosen[1], "turbulence_intensity", None)
    return turbulence.wind_speeds if isinstance(turbulence, TurbulenceTable) else None
