"""``from_pywake``: PyWake objects as sections of a campaign."""

from __future__ import annotations

from typing import Any

from vindeby.errors import ArgumentError
from vindeby.interop.engines.loading import need_pywake


def from_pywake(
    site: Any = None, wind_turbines: Any = None, *, turbulence_intensity: float | None = None
) -> dict[str, Any]:
    """The sections ``site`` and ``turbines`` of a campaign, as plain data for ``Campaign.from_data`` or a YAML file.

    ``site`` is an ``XRSite`` or a site made of one (``UniformSite``, ``UniformWeibullSite``, ...), also over a grid;
    ``wind_turbines`` a ``WindTurbine`` or ``WindTurbines`` with tabulated curves. ``turbulence_intensity`` is for sites
    that have none. What a campaign cannot say is refused (ArgumentError), with what and why.
    """
    need_pywake()
    from vindeby.interop.pywake_objects.from_sites import site_section
    from vindeby.interop.pywake_objects.from_turbines import turbine_sections

    if site is None and wind_turbines is None:
        raise ArgumentError("from_pywake needs a site, wind turbines, or both")
    sections: dict[str, Any] = {}
    if site is not None:
        sections["site"] = site_section(site, turbulence_intensity)
    if wind_turbines is not None:
        sections["turbines"] = turbine_sections(wind_turbines)
    return sections
