"""Sites and turbines of vindeby as PyWake objects (``to_pywake``), and back (``from_pywake``)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vindeby.campaign import Campaign
from vindeby.errors import ArgumentError
from vindeby.interop.engines import need_engine
from vindeby.wake import Site, Turbine


class PyWakeInput(NamedTuple):
    """The input of PyWake: call ``Model(found.site, found.wind_turbines)(x, y, **found.arguments)``."""

    site: Any
    wind_turbines: Any
    arguments: dict[str, Any]
    """The wind states: ``wd``, ``ws`` and ``TI``; for a time series also ``time``."""


def to_pywake(campaign: Campaign | Site, turbines: Turbine | Sequence[Turbine] | None = None) -> PyWakeInput:
    """Return PyWake's site and turbines with the wind and curves of a campaign, or of a site and turbines of vindeby.

    The types of a campaign's turbines are their places in its list. A time series is not a PyWake site: its steps are
    in ``arguments``, and a step's weight is not (PyWake counts all steps alike). ArgumentError says what cannot be
    converted.
    """
    need_engine("pywake")
    from vindeby.assembly.wind import site_of, turbine_of
    from vindeby.interop.pywake_objects.sites import pywake_site, wind_arguments
    from vindeby.interop.pywake_objects.turbines import wind_turbines_of

    if isinstance(campaign, Campaign):
        site, own = site_of(campaign), [turbine_of(turbine) for turbine in campaign.turbines]
    elif turbines is None:
        raise ArgumentError("to_pywake needs a Campaign, or a site and turbines")
    else:
        site, own = campaign, [turbines] if isinstance(turbines, Turbine) else list(turbines)
    states = site.states()
    order = slice(None) if states.step is None else np.argsort(states.step)
    return PyWakeInput(pywake_site(site), wind_turbines_of(own), wind_arguments(site, states, order))


def from_pywake(
    site: Any = None, wind_turbines: Any = None, *, turbulence_intensity: float | None = None
) -> dict[str, Any]:
    """Return the sections ``site`` and ``turbines`` of a campaign, as plain data for ``Campaign.from_data`` or YAML.

    ``site`` is an ``XRSite`` or a site made of one (``UniformSite``, ``UniformWeibullSite``, ...), also over a grid;
    ``wind_turbines`` a ``WindTurbine`` or ``WindTurbines`` with tabulated curves. ``turbulence_intensity`` is for sites
    that have none, or replaces theirs. What a campaign cannot say is refused (ArgumentError), with what and why.
    """
    need_engine("pywake")
    from vindeby.interop.pywake_objects.sites import from_xrsite
    from vindeby.interop.pywake_objects.turbines import turbine_sections

    if site is None and wind_turbines is None:
        raise ArgumentError("from_pywake needs a site, wind turbines, or both")
    sections: dict[str, Any] = {}
    if site is not None:
        sections["site"] = from_xrsite(site, turbulence_intensity)
    if wind_turbines is not None:
        sections["turbines"] = turbine_sections(wind_turbines)
    return sections
