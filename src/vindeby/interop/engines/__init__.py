"""PyWake and FLORIS as engines of a campaign: they compute energies, vindeby does all else.

``vindeby.assembly.wind_farm`` loads ``engine_farm`` by name, because imports go one way.
"""

from __future__ import annotations

from collections.abc import Sequence

from vindeby.assembly.foreign_farm import Engine, ForeignFarm
from vindeby.campaign.sections.wake_model import FlorisEngine, PyWakeEngine
from vindeby.wake import Neighbours, Site, Turbine


def engine_farm(
    given: PyWakeEngine | FlorisEngine,
    site: Site,
    turbines: Sequence[Turbine],
    neighbours: Neighbours | None,
) -> ForeignFarm:
    """The farm of a campaign with its engine; InputError says what is missing or wrong."""
    engine: Engine
    if isinstance(given, PyWakeEngine):
        from vindeby.interop.engines.pywake_engine import PyWake  # only who uses it needs it

        engine = PyWake(given, site, turbines)
    else:
        from vindeby.interop.engines.floris_engine import Floris

        engine = Floris(given, turbines)
    return ForeignFarm(site, turbines, engine, given.title, neighbours=neighbours)


def load(given: PyWakeEngine | FlorisEngine) -> None:
    """Import all that an engine needs; InputError says what is missing or wrong."""
    if isinstance(given, PyWakeEngine):
        from vindeby.interop.engines.loading import find_model

        find_model(given)
        import vindeby.interop.pywake_objects.sites
        import vindeby.interop.pywake_objects.turbines  # noqa: F401
    else:
        from vindeby.interop.engines.loading import need_floris

        need_floris()
