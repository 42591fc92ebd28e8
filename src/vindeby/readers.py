"""The parts above ``vindeby.campaign`` that a campaign file may need: files of other tools, engines, wind farms.

``vindeby`` provides this module to ``vindeby.campaign``, which imports nothing of them. Each function imports a part
when it is first needed, and returns the module.
"""

from __future__ import annotations

from types import ModuleType


def formats() -> ModuleType:
    """Site and turbine files of other tools."""
    from vindeby.interop import formats

    return formats


def geographic() -> ModuleType:
    """Geographic files that a campaign names."""
    from vindeby.interop.geo import campaign_files

    return campaign_files


def windio() -> ModuleType:
    """A windIO system as the data of a campaign."""
    from vindeby.interop.windio import system

    return system


def engines() -> ModuleType:
    """PyWake, FLORIS and own wake models as engines."""
    from vindeby.interop import engines

    return engines


def wind() -> ModuleType:
    """The wind farms, sites and turbines that sections describe."""
    from vindeby.assembly import wind

    return wind


def stored_layout() -> ModuleType:
    """Layouts of a database."""
    from vindeby.assembly import stored_layout

    return stored_layout


def gridded_file() -> ModuleType:
    """Variables of a netCDF-4 file."""
    from vindeby.store.read import gridded_file

    return gridded_file
