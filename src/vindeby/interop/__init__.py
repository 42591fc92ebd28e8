"""The files, objects and engines that people already have: windIO, PyWake, WAsP, FLORIS, GeoJSON, xarray.

Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby.lazy import names_on_demand

if TYPE_CHECKING:
    from vindeby.interop.formats import ForeignFileWarning as ForeignFileWarning
    from vindeby.interop.formats import read_site as read_site
    from vindeby.interop.formats import read_turbine as read_turbine
    from vindeby.interop.pywake_objects import from_pywake as from_pywake
    from vindeby.interop.pywake_objects import to_pywake as to_pywake

__getattr__, __all__ = names_on_demand(
    __name__,
    {
        "vindeby.interop.formats": "ForeignFileWarning read_site read_turbine",
        "vindeby.interop.pywake_objects": "from_pywake to_pywake",
    },
)
