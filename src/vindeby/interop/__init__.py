"""The files, objects and engines that people already have: windIO, PyWake, WAsP, FLORIS, GeoJSON, xarray.

Names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vindeby.interop.files import ForeignFileWarning as ForeignFileWarning
    from vindeby.interop.files import read_site as read_site
    from vindeby.interop.files import read_turbine as read_turbine

_HOMES = {
    "ForeignFileWarning": "vindeby.interop.files",
    "read_site": "vindeby.interop.files",
    "read_turbine": "vindeby.interop.files",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
