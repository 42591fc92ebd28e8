"""windIO 2: a wind energy system and its parts, read into the sections of a campaign.

``read_system`` reads a whole system; the other functions read a part from a file of its own.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vindeby.interop.windio import farm, resource, turbine
from vindeby.interop.windio.nodes import Notes, open_root
from vindeby.interop.windio.system import System, read_system

__all__ = [
    "Notes",
    "System",
    "read_boundary",
    "read_resource",
    "read_system",
    "read_turbine",
    "read_wind_farm",
]


def read_boundary(path: str | Path, notes: Notes | None = None) -> dict[str, Any] | None:
    """The boundary of a site file, as a campaign file has it; None where it has none."""
    return farm.read_boundary(open_root(Path(path)), notes or Notes())


def read_resource(
    path: str | Path, hub_heights: Sequence[float] = (), notes: Notes | None = None
) -> dict[str, Any]:
    """The wind of a resource or site file, as the section ``site`` of a campaign; what is missing is in ``notes``."""
    notes = notes or Notes()
    return resource.site_section(resource.read_resource(open_root(Path(path)), notes), hub_heights, notes)


def read_turbine(path: str | Path, notes: Notes | None = None) -> dict[str, Any]:
    """A turbine type, as a campaign file has it."""
    return turbine.read_turbine(open_root(Path(path)), notes or Notes())


def read_wind_farm(
    path: str | Path, notes: Notes | None = None, *, allow_outside: bool = False
) -> farm.WindFarms:
    """The turbine types and layouts of a wind farm file, which may hold several farms."""
    return farm.read_farms(open_root(Path(path), allow_outside=allow_outside), notes or Notes())
