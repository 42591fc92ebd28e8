"""windIO 2: a wind energy system and its parts, read into the sections of a campaign.

``read_system`` reads a whole system; ``parts`` has readers of a site, a resource, a turbine or a wind farm alone.
"""

from __future__ import annotations

from vindeby.interop.windio.farm import Layout as Layout
from vindeby.interop.windio.farm import WindFarms as WindFarms
from vindeby.interop.windio.notes import Notes as Notes
from vindeby.interop.windio.parts import read_boundary as read_boundary
from vindeby.interop.windio.parts import read_resource as read_resource
from vindeby.interop.windio.parts import read_turbine as read_turbine
from vindeby.interop.windio.parts import read_wind_farm as read_wind_farm
from vindeby.interop.windio.system import System as System
from vindeby.interop.windio.system import read_system as read_system

__all__ = [
    "Layout",
    "Notes",
    "System",
    "WindFarms",
    "read_boundary",
    "read_resource",
    "read_system",
    "read_turbine",
    "read_wind_farm",
]
