"""Parts of a windIO system from files of their own: a boundary, a resource, a turbine, a wind farm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vindeby.interop.windio import boundary, farm, resource, turbine
from vindeby.interop.windio.nodes import Node, open_root
from vindeby.interop.windio.notes import Notes


def _open(path: str | Path) -> Node:
    return open_root(Path(path))


def read_boundary(path: str | Path, notes: Notes | None = None) -> dict[str, Any] | None:
    """The boundary of a site file, as a campaign file has it; None where it has none."""
    return boundary.read_boundary(_open(path), notes or Notes())


def read_resource(
    path: str | Path, hub_heights: Sequence[float] = (), notes: Notes | None = None
) -> dict[str, Any]:
    """The wind of a resource or site file, as the section ``site`` of a campaign; what is missing is in ``notes``."""
    notes = notes or Notes()
    return resource.read_resource(_open(path), notes).site(hub_heights, notes)


def read_quantities(path: str | Path, notes: Notes | None = None) -> resource.Resource:
    """What a resource file holds, as arrays over named axes, even where no campaign could use it."""
    return resource.read_resource(_open(path), notes or Notes())


def read_turbine(path: str | Path, notes: Notes | None = None) -> dict[str, Any]:
    """A turbine type, as a campaign file has it."""
    return turbine.read_turbine(_open(path), notes or Notes())


def read_wind_farm(path: str | Path, notes: Notes | None = None) -> farm.WindFarms:
    """The turbine types and layouts of a wind farm file, which may hold several farms."""
    return farm.read_farms(_open(path), notes or Notes())
