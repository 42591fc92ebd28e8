"""The files, objects and engines that people already have: windIO, PyWake, WAsP, FLORIS, GeoJSON, xarray."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vindeby.interop.pywake_objects.from_pywake import from_pywake as from_pywake
    from vindeby.interop.pywake_objects.to_pywake import to_pywake as to_pywake

_HOMES = {
    "from_pywake": "pywake_objects.from_pywake",
    "to_pywake": "pywake_objects.to_pywake",
}

__all__ = [
    "from_pywake",
    "to_pywake",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vindeby.interop' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"vindeby.interop.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
