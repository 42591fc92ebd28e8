"""The files, objects and engines that people already have: windIO, PyWake, WAsP, FLORIS, GeoJSON, xarray.

Names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vindeby.interop.formats import ForeignFileWarning as ForeignFileWarning
    from vindeby.interop.formats import read_site as read_site
    from vindeby.interop.formats import read_turbine as read_turbine
    from vindeby.interop.pywake_objects import from_pywake as from_pywake
    from vindeby.interop.pywake_objects import to_pywake as to_pywake

_HOMES = {
    "ForeignFileWarning": "vindeby.interop.formats",
    "from_pywake": "vindeby.interop.pywake_objects",
    "read_site": "vindeby.interop.formats",
    "read_turbine": "vindeby.interop.formats",
    "to_pywake": "vindeby.interop.pywake_objects",
}
__all__ = [
    "ForeignFileWarning",
    "from_pywake",
    "read_site",
    "read_turbine",
    "to_pywake",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
